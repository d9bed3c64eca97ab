import { createHash } from "node:crypto";

/**
 * The Idempotency-Key of an order (§4): a function of what the order *is*, never of its payload and never random, so
 * that any run, on any machine, with or without state, sends the same key for the same declared order.
 * @param name the declared `reference`, or the resource's address.
 * @param generation 1, and one more each time a service known to be gone is ordered anew on purpose.
 * @returns 46 characters of `[a-z0-9-]`.
 */
export function idempotencyKey(project: string, name: string, generation: number): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([project, name, generation]))
    .digest("hex");
  return `hostform-1-${digest.slice(0, 35)}`;
}

/** How long the API is trusted to remember an Idempotency-Key, unless it is said (§8: the retention is not specified). */
const KEY_LIFETIME_MS = 600_000;

/**
 * A request takes its time to arrive, the second longer than the first perhaps: one that leaves just before its key is
 * forgotten arrives after that, and would order again. Of a lifetime that is short it is the half.
 */
const ON_THE_WAY_MS = 60_000;

/** The moment after which a key first sent at `since` (ISO 8601) must not be relied on, in milliseconds since the epoch. */
export const keyExpiry = (since: string, lifetimeMs = KEY_LIFETIME_MS): number =>
  Date.parse(since) + lifetimeMs - Math.min(ON_THE_WAY_MS, lifetimeMs / 2);

/** Whether a key first sent at `since` (ISO 8601) may still be relied on. A time in the future or unreadable may not. */
export function keyIsTrusted(since: string, now: number, lifetimeMs = KEY_LIFETIME_MS): boolean {
  return now >= Date.parse(since) && now <= keyExpiry(since, lifetimeMs);
}
