/** The request limit (§8: "60 requests per minute per token"). How the minute is counted is not said: the profile does. */
import type { Profile } from "../profile/profile.ts";
import { Refusal } from "../refusal.ts";
import type { Token } from "../store/records.ts";

const WINDOW_MS = 60_000;

/** What the answer's headers say about the window. */
export interface RateState {
  limit: number;
  remaining: number;
  /** When there is room again (a fixed window: when it closes), in milliseconds since the epoch. */
  resetsAt: number;
  exceeded: boolean;
}

/**
 * How a token's requests are counted, and what is remembered of them: numbers, none in the beginning. `take` counts one
 * unless it exceeds the limit (a refused request costs nothing more); `look` counts nothing.
 */
interface RateRule {
  take(
    kept: readonly number[],
    limit: number,
    now: number,
  ): { readonly kept: readonly number[]; readonly exceeded: boolean };
  look(kept: readonly number[], limit: number, now: number): { readonly remaining: number; readonly resetsAt: number };
}

/** A window that the first request opens and that closes a minute later: when it was opened, and how many it has had. */
const fixed: RateRule = {
  take(kept, limit, now) {
    const [opened = now, used = 0] = kept;
    const open = now < opened + WINDOW_MS && now >= opened;
    const [from, before] = open ? [opened, used] : [now, 0];
    const exceeded = before >= limit;
    return { kept: [from, exceeded ? before : before + 1], exceeded };
  },
  look([opened, used = 0], limit, now) {
    if (opened === undefined || now >= opened + WINDOW_MS || now < opened) return { remaining: limit, resetsAt: now };
    return { remaining: limit - used, resetsAt: opened + WINDOW_MS };
  },
};

/** No minute, wherever it begins, has more requests than the limit: the instants of the last minute. */
const sliding: RateRule = {
  take(kept, limit, now) {
    const taken = lastMinute(kept, now);
    const exceeded = taken.length >= limit;
    return { kept: exceeded ? taken : [...taken, now], exceeded };
  },
  look(kept, limit, now) {
    const taken = lastMinute(kept, now);
    const [oldest] = taken;
    return { remaining: limit - taken.length, resetsAt: oldest === undefined ? now : oldest + WINDOW_MS };
  },
};

const lastMinute = (taken: readonly number[], now: number): number[] =>
  taken.filter((at) => at > now - WINDOW_MS && at <= now);

/**
 * A bucket of as many as the limit, refilled evenly: after a pause a whole minute's requests may come at once. Counted in
 * sixty-thousandths of a request, of which each millisecond brings as many as the limit: whole numbers, nothing to round.
 * What is kept: the instant of the last request, and the level after it.
 */
const bucket: RateRule = {
  take(kept, limit, now) {
    const level = levelOf(kept, limit, now);
    const exceeded = level < WINDOW_MS;
    return { kept: [now, exceeded ? level : level - WINDOW_MS], exceeded };
  },
  look(kept, limit, now) {
    const level = levelOf(kept, limit, now);
    const missing = Math.max(0, WINDOW_MS - level);
    return { remaining: Math.floor(level / WINDOW_MS), resetsAt: now + Math.ceil(missing / limit) };
  },
};

function levelOf([at, level]: readonly number[], limit: number, now: number): number {
  const full = limit * WINDOW_MS;
  if (at === undefined || level === undefined || now < at) return full;
  return Math.min(full, level + (now - at) * limit);
}

const RULES: Readonly<Record<Profile["rate"], RateRule>> = { fixed, sliding, bucket };

/** What all windows remember, by the id of the token; for snapshots. */
export interface KeptRates {
  rule: Profile["rate"];
  budgets: [number, number[]][];
}

/** The rate window of a token, for people to look at. */
export interface RateView {
  token_id: number;
  /** Name of the token, never its value. */
  token: string;
  customer_id: number;
  /** Requests a minute (§8); 0: the limit is switched off. */
  limit: number;
  used: number;
  left: number;
  /** When there is room again; null while nothing has been used. ISO 8601. */
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
    const { kept, exceeded } = RULES[this.#rule].take(this.#kept.get(tokenId) ?? [], this.#limit, now);
    this.#kept.set(tokenId, kept);
    return { limit: this.#limit, ...RULES[this.#rule].look(kept, this.#limit, now), exceeded };
  }

  /** What the token has left, without counting anything. Undefined when the limit is switched off. */
  look(tokenId: number, now: number): RateState | undefined {
    if (this.#limit === 0) return undefined;
    const left = RULES[this.#rule].look(this.#kept.get(tokenId) ?? [], this.#limit, now);
    return { limit: this.#limit, ...left, exceeded: false };
  }

  /** The same for people to look at. */
  view({ id, name, customer_id }: Token, now: number): RateView {
    const limit = this.#limit;
    const { remaining: left, resetsAt } = this.look(id, now) ?? { remaining: limit, resetsAt: now };
    const resets_at = left === limit ? null : new Date(resetsAt).toISOString();
    return { token_id: id, token: name, customer_id, limit, used: limit - left, left, resets_at };
  }

  clear(): void {
    this.#kept.clear();
  }

  save(): KeptRates {
    const budgets = [...this.#kept].map(([id, kept]): [number, number[]] => [id, [...kept]]);
    return { rule: this.#rule, budgets: budgets.filter(([, kept]) => kept.length > 0).sort(([a], [b]) => a - b) };
  }

  /** Goes on from there; begins again where the minute was counted by another rule. */
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
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  switch (profile.retry_after) {
    case "seconds":
      return { "Retry-After": String(seconds) };
    case "date":
      return { "Retry-After": new Date(now + seconds * 1000).toUTCString() };
    case "none":
      return {};
  }
}

/** The headers of every answer to a known token. */
export function rateHeaders(state: RateState | undefined, profile: Profile): Record<string, string> {
  if (state === undefined || profile.rate_headers === "none") return {};
  return { "X-RateLimit-Limit": String(state.limit), "X-RateLimit-Remaining": String(state.remaining) };
}
