/** The request limit (§8: "60 requests per minute per token"). How the minute is counted is open: the profile decides. */
import type { Profile } from "../profile/profile.ts";
import { Refusal } from "../refusal.ts";
import type { Token } from "../store/records.ts";

const WINDOW_MS = 60_000;

/** The window, for the headers of an answer. */
export interface RateState {
  limit: number;
  remaining: number;
  /** When there is room again (a fixed window: when it closes), in milliseconds since the epoch. */
  resetsAt: number;
  exceeded: boolean;
}

/**
 * How a token's requests are counted, and the numbers that are kept of them, none at first. `take` counts one unless it
 * exceeds the limit (a refused request is not counted); `look` counts none.
 */
interface RateRule {
  take(
    kept: readonly number[],
    limit: number,
    now: number,
  ): { readonly kept: readonly number[]; readonly exceeded: boolean };
  look(kept: readonly number[], limit: number, now: number): { readonly remaining: number; readonly resetsAt: number };
}

/** A window that the first request opens and that closes a minute later. Kept: when it was opened, and its requests. */
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

/** No minute, wherever it begins, has more requests than the limit. Kept: the instants of the last minute. */
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
 * A bucket that holds the limit and refills evenly: after a pause a whole minute's requests may come at once. Counted in
 * sixty-thousandths of a request, of which each millisecond adds as many as the limit, so that all numbers are whole.
 * Kept: the instant of the last request, and the level after it.
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

  /** The window of the token, without counting a request. */
  view({ id, name, customer_id }: Pick<Token, "id" | "name" | "customer_id">, now: number): RateView {
    const limit = this.#limit;
    const { remaining: left, resetsAt } = RULES[this.#rule].look(this.#kept.get(id) ?? [], limit, now);
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
