/** The request limit (§8: "60 requests per minute per token"). How the minute is counted is open: the profile decides. */
import type { Profile } from "../profile/profile.ts";
import { Refusal } from "../refusal.ts";
import type { Token } from "../store/records.ts";

const WINDOW_MS = 60_000;

/** The window, for the headers of an answer. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Time of the next free place (a fixed window: when it closes), in milliseconds since the epoch. */
  resetsAt: number;
  exceeded: boolean;
}

/**
 * How a token's requests are counted, by the numbers that are kept of them, none at first: the room that is left, those numbers
 * without what no longer counts, and the numbers to keep once another request is counted.
 */
type RateRule = (
  kept: readonly number[],
  limit: number,
  now: number,
) => Pick<RateState, "remaining" | "resetsAt"> & {
  readonly kept: readonly number[];
  readonly counted: readonly number[];
};

/** A window that the first request opens and that closes a minute later. Kept: when it was opened, and its requests. */
const fixed: RateRule = ([opened = Number.NEGATIVE_INFINITY, used = 0], limit, now) => {
  const isOpen = now >= opened && now < opened + WINDOW_MS;
  const [from, before] = isOpen ? [opened, used] : [now, 0];
  const resetsAt = isOpen ? opened + WINDOW_MS : now;
  return { remaining: limit - before, resetsAt, kept: [from, before], counted: [from, before + 1] };
};

/** No minute, wherever it begins, has more requests than the limit. Kept: the instants of the last minute. */
const sliding: RateRule = (taken, limit, now) => {
  const kept = taken.filter((at) => at > now - WINDOW_MS && at <= now);
  const [oldest = now - WINDOW_MS] = kept;
  return { remaining: limit - kept.length, resetsAt: oldest + WINDOW_MS, kept, counted: [...kept, now] };
};

/**
 * A bucket that holds the limit and refills evenly: after a pause a whole minute's requests may come at once. Counted in
 * sixty-thousandths of a request, of which each millisecond adds as many as the limit, so that all numbers are whole.
 * Kept: the instant of the last request, and the level after it.
 */
const bucket: RateRule = ([at, before], limit, now) => {
  const full = limit * WINDOW_MS;
  const isNew = at === undefined || before === undefined || now < at;
  const level = isNew ? full : Math.min(full, before + (now - at) * limit);
  const resetsAt = now + Math.ceil(Math.max(0, WINDOW_MS - level) / limit);
  return { remaining: Math.floor(level / WINDOW_MS), resetsAt, kept: [now, level], counted: [now, level - WINDOW_MS] };
};

const RULES: Readonly<Record<Profile["rate"], RateRule>> = { fixed, sliding, bucket };

/** The state of all windows, by the id of the token; for snapshots. */
export interface KeptRates {
  rule: Profile["rate"];
  budgets: [number, number[]][];
}

/** The rate window of a token, as the control shows it. */
export interface RateView {
  token_id: number;
  /** Name of the token, never its value. */
  token: string;
  customer_id: number;
  /** Requests a minute (§8); 0: the limit is switched off. */
  limit: number;
  used: number;
  left: number;
  /** Time of the next free place, ISO 8601; null while nothing has been used. */
  resets_at: string | null;
}

export class RateWindows {
  readonly #kept = new Map<number, readonly number[]>();
  readonly #limit: number;
  readonly #rule: Profile["rate"];

  /** @param limit requests a minute; 0 = no limit. */
  constructor(limit: number, rule: Profile["rate"] = "fixed") {
    this.#limit = limit;
    this.#rule = rule;
  }

  /** Counts one request of the token. Undefined when the limit is switched off. */
  take(tokenId: number, now: number): RateState | undefined {
    if (this.#limit === 0) return undefined;
    const before = this.#look(tokenId, now);
    const exceeded = before.remaining < 1;
    this.#kept.set(tokenId, exceeded ? before.kept : before.counted);
    const { remaining, resetsAt } = this.#look(tokenId, now);
    return { limit: this.#limit, remaining, resetsAt, exceeded };
  }

  /** The window of the token, without counting a request. */
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

  /** Restores the state; windows of another rule start empty. */
  load({ rule, budgets }: KeptRates): void {
    this.clear();
    if (rule !== this.#rule) return;
    for (const [id, kept] of budgets) this.#kept.set(id, kept);
  }
}

/** The 429. `Retry-After` is in whole seconds, rounded up, or a date, or absent, as the profile says. */
export function tooManyRequests(state: RateState, now: number, profile: Profile): Refusal {
  const headers = retryAfter(state.resetsAt - now, now, profile);
  if (profile.rate_headers === "full") headers["X-RateLimit-Reset"] = String(Math.ceil(state.resetsAt / 1000));
  return new Refusal(429, "Too Many Attempts.", { headers });
}

/** The `Retry-After` of a 429 after which there is room again in so many milliseconds. */
export function retryAfter(ms: number, now: number, profile: Profile): Record<string, string> {
  if (profile.retry_after === "none") return {};
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  const isDate = profile.retry_after === "date";
  return { "Retry-After": isDate ? new Date(now + seconds * 1000).toUTCString() : String(seconds) };
}

/** The headers of every answer to a known token. */
export function rateHeaders(state: RateState | undefined, profile: Profile): Record<string, string> {
  if (state === undefined || profile.rate_headers === "none") return {};
  return { "X-RateLimit-Limit": String(state.limit), "X-RateLimit-Remaining": String(state.remaining) };
}
