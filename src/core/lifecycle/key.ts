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

/** A request takes its time to arrive. Of a lifetime that is short it is the half. */
const ON_THE_WAY_MS = 60_000;

/**
 * How long one run may repeat an order without looking, in milliseconds, at a host that is said to remember its key for
 * `lifetimeMs`: what leaves just before that arrives after it, and would order again.
 */
export const repeatWithinMs = (lifetimeMs: number): number => lifetimeMs - Math.min(ON_THE_WAY_MS, lifetimeMs / 2);
