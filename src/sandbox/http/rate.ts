/**
 * Limits requests (§8: "60 requests per minute per token"). §8 does not define how a minute is counted. The profile
 * determines the rule.
 */
import type { Profile } from "../profile/profile.ts";
import { Refusal } from "../refusal.ts";
import type { Token } from "../store/records.ts";

const WINDOW_MS = 60_000;

/** State of a rate window, for the headers of a response. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Time at which the next request is allowed, in milliseconds since the epoch. For a fixed window, its end. */
  resetsAt: number;
  exceeded: boolean;
}

/**
 * Counts the requests of a token. `kept` contains the stored numbers, at first none. Returns the remaining requests, the
 * numbers without expired ones, and the numbers to store after another request.
 */
type RateRule = (
  kept: readonly number[],
  limit: number,
  now: number,
) => Pick<RateState, "remaining" | "resetsAt"> & {
  readonly kept: readonly number[];
  readonly counted: readonly number[];
};

/** A window starts with a request and ends a minute later. Stores its start and its number of requests. */
const fixed: RateRule = ([opened = Number.NEGATIVE_INFINITY, used = 0], limit, now) => {
  const isOpen = now >= opened && now < opened + WINDOW_MS;
  const [from, before] = isOpen ? [opened, used] : [now, 0];
  const resetsAt = isOpen ? opened + WINDOW_MS : now;
  return { remaining: limit - before, resetsAt, kept: [from, before], counted: [from, before + 1] };
};

/** No period of one minute has more requests than the limit. Stores the times of the last minute's requests. */
const sliding: RateRule = (taken, limit, now) => {
  const kept = taken.filter((at) => at > now - WINDOW_MS && at <= now);
  const [oldest = now - WINDOW_MS] = kept;
  return { remaining: limit - kept.length, resetsAt: oldest + WINDOW_MS, kept, counted: [...kept, now] };
};

/**
 * Token bucket: it starts full, with `limit` requests, and refills evenly within a minute. Levels are integers: 60,000 units
 * are one request, and each millisecond adds `limit` units. Stores the time of the last request, and the level after it.
 */
const bucket: RateRule = ([at, before], limit, now) => {
  const full = limit * WINDOW_MS;
  const isNew = at === undefined || before === undefined || now < at;
  const level = isNew ? full : Math.min(full, before + (now - at) * limit);
  const resetsAt = now + Math.ceil(Math.max(0, WINDOW_MS - level) / limit);
  return { remaining: Math.floor(level / WINDOW_MS), resetsAt, kept: [now, level], counted: [now, level - WINDOW_MS] };
};

const RULES: Readonly<Record<Profile["rate"], RateRule>> = { fixed, sliding, bucket };

/** Rate windows in a snapshot, by token id. */
export interface KeptRates {
  rule: Profile["rate"];
  budgets: [number, number[]][];
}

/** Rate window of a token, for the control. */
export interface RateView {
  token_id: number;
  /** Name of the token, never its value. */
  token: string;
  customer_id: number;
  /** Requests per minute (§8). 0 without a limit. */
  limit: number;
  used: number;
  left: number;
  /** Time at which the next request is allowed (ISO 8601). Null if no request is counted. */
  resets_at: string | null;
}

export class RateWindows {
  readonly #kept = new Map<number, readonly number[]>();
  readonly #limit: number;
  readonly #rule: Profile["rate"];

  /** @param limit Requests per minute. 0 for no limit. */
  constructor(limit: number, rule: Profile["rate"] = "fixed") {
    this.#limit = limit;
    this.#rule = rule;
  }

  /** Counts a request of a token. Undefined without a limit. */
  take(tokenId: number, now: number): RateState | undefined {
    if (this.#limit === 0) return undefined;
    const before = this.#look(tokenId, now);
    const exceeded = before.remaining < 1;
    this.#kept.set(tokenId, exceeded ? before.kept : before.counted);
    const { remaining, resetsAt } = this.#look(tokenId, now);
    return { limit: this.#limit, remaining, resetsAt, exceeded };
  }

  /** Returns the window of a token without counting a request. */
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

  /** Restores the windows of a snapshot. If its rule is another one, all windows start empty. */
  load({ rule, budgets }: KeptRates): void {
    this.clear();
    if (rule !== this.#rule) return;
    for (const [id, kept] of budgets) this.#kept.set(id, kept);
  }
}

/** Returns the 429 response. The format of `Retry-After` depends on the profile: seconds, rounded up, a date, or none. */
export function tooManyRequests(state: RateState, now: number, profile: Profile): Refusal {
  const headers = retryAfter(state.resetsAt - now, now, profile);
  if (profile.rate_headers === "full") headers["X-RateLimit-Reset"] = String(Math.ceil(state.resetsAt / 1000));
  return new Refusal(429, "Too Many Attempts.", { headers });
}

/** Returns the `Retry-After` header of a 429 response. @param ms Time until the next request is allowed, in milliseconds. */
export function retryAfter(ms: number, now: number, profile: Profile): Record<string, string> {
  if (profile.retry_after === "none") return {};
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  const isDate = profile.retry_after === "date";
  return { "Retry-After": isDate ? new Date(now + seconds * 1000).toUTCString() : String(seconds) };
}

/** Returns the rate headers of every response to a known token. */
export function rateHeaders(state: RateState | undefined, profile: Profile): Record<string, string> {
  if (state === undefined || profile.rate_headers === "none") return {};
  return { "X-RateLimit-Limit": String(state.limit), "X-RateLimit-Remaining": String(state.remaining) };
}
