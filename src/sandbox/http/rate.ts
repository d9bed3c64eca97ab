/**
 * Limits requests (§8: "60 requests per minute per token"). The specification does not define how a minute is counted, so the
 * profile decides.
 */
import type { Profile } from "../profile/profile.ts";
import { Refusal } from "../refusal.ts";
import type { Token } from "../store/records.ts";

const WINDOW_MS = 60_000;

/** State of the window for the headers of a response. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Time when the next request is allowed, in milliseconds since the epoch. For a fixed window, it is the end of the window. */
  resetsAt: number;
  exceeded: boolean;
}

/**
 * Counts a token's requests from the stored numbers, which are empty at first. Returns the remaining requests, the stored numbers
 * without expired ones, and the numbers to store after another request.
 */
type RateRule = (
  kept: readonly number[],
  limit: number,
  now: number,
) => Pick<RateState, "remaining" | "resetsAt"> & {
  readonly kept: readonly number[];
  readonly counted: readonly number[];
};

/** A window that begins with the first request and ends a minute later. Stored: its start and its number of requests. */
const fixed: RateRule = ([opened = Number.NEGATIVE_INFINITY, used = 0], limit, now) => {
  const isOpen = now >= opened && now < opened + WINDOW_MS;
  const [from, before] = isOpen ? [opened, used] : [now, 0];
  const resetsAt = isOpen ? opened + WINDOW_MS : now;
  return { remaining: limit - before, resetsAt, kept: [from, before], counted: [from, before + 1] };
};

/** No period of one minute has more requests than the limit. Stored: the instants of the last minute. */
const sliding: RateRule = (taken, limit, now) => {
  const kept = taken.filter((at) => at > now - WINDOW_MS && at <= now);
  const [oldest = now - WINDOW_MS] = kept;
  return { remaining: limit - kept.length, resetsAt: oldest + WINDOW_MS, kept, counted: [...kept, now] };
};

/**
 * A bucket with the size of the limit that refills evenly. After a pause, the requests of a complete minute are allowed at once.
 * The unit is 1/60,000 of a request. Each millisecond adds as many units as the limit, so that all numbers are integers. Stored:
 * the instant of the last request, and the level after it.
 */
const bucket: RateRule = ([at, before], limit, now) => {
  const full = limit * WINDOW_MS;
  const isNew = at === undefined || before === undefined || now < at;
  const level = isNew ? full : Math.min(full, before + (now - at) * limit);
  const resetsAt = now + Math.ceil(Math.max(0, WINDOW_MS - level) / limit);
  return { remaining: Math.floor(level / WINDOW_MS), resetsAt, kept: [now, level], counted: [now, level - WINDOW_MS] };
};

const RULES: Readonly<Record<Profile["rate"], RateRule>> = { fixed, sliding, bucket };

/** State of all windows by token id, for snapshots. */
export interface KeptRates {
  rule: Profile["rate"];
  budgets: [number, number[]][];
}

/** Rate window of a token, as the control shows it. */
export interface RateView {
  token_id: number;
  /** Name of the token, never its value. */
  token: string;
  customer_id: number;
  /** Requests per minute (§8). 0 if the limit is disabled. */
  limit: number;
  used: number;
  left: number;
  /** Time when the next request is allowed (ISO 8601). Null if no request was counted. */
  resets_at: string | null;
}

export class RateWindows {
  readonly #kept = new Map<number, readonly number[]>();
  readonly #limit: number;
  readonly #rule: Profile["rate"];

  /** @param limit requests per minute. 0 disables the limit. */
  constructor(limit: number, rule: Profile["rate"] = "fixed") {
    this.#limit = limit;
    this.#rule = rule;
  }

  /** Counts one request of the token. Undefined if the limit is disabled. */
  take(tokenId: number, now: number): RateState | undefined {
    if (this.#limit === 0) return undefined;
    const before = this.#look(tokenId, now);
    const exceeded = before.remaining < 1;
    this.#kept.set(tokenId, exceeded ? before.kept : before.counted);
    const { remaining, resetsAt } = this.#look(tokenId, now);
    return { limit: this.#limit, remaining, resetsAt, exceeded };
  }

  /** Returns the window of the token without counting a request. */
  view({ id, name, customer_id }: Pick<Token, "id" | "name" | "customer_id">, now: number): RateView {
    const limit = this.#limit;
    const { remaining: left, resetsAt } = this.#look(id, now);
    const resets_at = left === limit ? null : new Date(resetsAt).toISOString();
    return { token_id: id, token: name, customer_id, limit, used: limit - left, left, resets_at };
  }

  #look(tokenId: number, now: number): ReturnType<RateRule> {
    return RULES[this.#rule](this.#kept.get(tokenId) ?? [], this.#limit, now);
  }

  clear(): void {
    this.#kept.clear();
  }

  save(): KeptRates {
    const budgets = [...this.#kept].map(([id, kept]): [number, number[]] => [id, [...kept]]);
    return { rule: this.#rule, budgets: budgets.filter(([, kept]) => kept.length > 0).sort(([a], [b]) => a - b) };
  }

  /** Restores the state. Windows of another rule start empty. */
  load({ rule, budgets }: KeptRates): void {
    this.clear();
    if (rule !== this.#rule) return;
    for (const [id, kept] of budgets) this.#kept.set(id, kept);
  }
}

/** Returns the 429 response. The profile decides whether `Retry-After` is in whole seconds (rounded up), a date, or missing. */
export function tooManyRequests(state: RateState, now: number, profile: Profile): Refusal {
  const headers = retryAfter(state.resetsAt - now, now, profile);
  if (profile.rate_headers === "full") headers["X-RateLimit-Reset"] = String(Math.ceil(state.resetsAt / 1000));
  return new Refusal(429, "Too Many Attempts.", { headers });
}

/** Returns the `Retry-After` header of a 429 response. @param ms time until the next request is allowed. */
export function retryAfter(ms: number, now: number, profile: Profile): Record<string, string> {
  if (profile.retry_after === "none") return {};
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  const isDate = profile.retry_after === "date";
  return { "Retry-After": isDate ? new Date(now + seconds * 1000).toUTCString() : String(seconds) };
}

/** Returns the headers of every response to a known token. */
export function rateHeaders(state: RateState | undefined, profile: Profile): Record<string, string> {
  if (state === undefined || profile.rate_headers === "none") return {};
  return { "X-RateLimit-Limit": String(state.limit), "X-RateLimit-Remaining": String(state.remaining) };
}
