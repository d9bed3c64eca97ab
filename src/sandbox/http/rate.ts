/** The request limit (§8: "60 requests per minute per token"). How the minute is counted is not said: the profile does. */
import type { Profile } from "../profile/profile.ts";
import { Refusal } from "../refusal.ts";

const WINDOW_MS = 60_000;

/** What the answer's headers say about the window. */
export interface RateState {
  limit: number;
  remaining: number;
  /** When there is room again (a fixed window: when it closes), in milliseconds since the epoch. */
  resetsAt: number;
  exceeded: boolean;
}

/** How a token's requests are counted. `take` counts one unless it exceeds the limit: a refused request costs nothing more. */
interface Budget {
  take(now: number): boolean;
  /** What is left, without counting anything. */
  look(now: number): Omit<RateState, "limit" | "exceeded">;
  /** What it remembers, in numbers: for snapshots. Nothing when it is as new. */
  kept: readonly number[];
}

/** A window that the first request opens and that closes a minute later. */
class FixedWindow implements Budget {
  readonly #limit: number;
  #opened: number | undefined;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(now: number): boolean {
    if (this.#opened === undefined || now >= this.#opened + WINDOW_MS || now < this.#opened) {
      this.#opened = now;
      this.#used = 0;
    }
    if (this.#used >= this.#limit) return false;
    this.#used += 1;
    return true;
  }

  look(now: number): ReturnType<Budget["look"]> {
    const opened = this.#opened;
    if (opened === undefined || now >= opened + WINDOW_MS || now < opened)
      return { remaining: this.#limit, resetsAt: now };
    return { remaining: this.#limit - this.#used, resetsAt: opened + WINDOW_MS };
  }

  get kept(): readonly number[] {
    return this.#opened === undefined ? [] : [this.#opened, this.#used];
  }

  set kept([opened, used = 0]: readonly number[]) {
    this.#opened = opened;
    this.#used = used;
  }
}

/** No minute, wherever it begins, has more requests than the limit. */
class SlidingWindow implements Budget {
  readonly #limit: number;
  #taken: number[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(now: number): boolean {
    this.#taken = this.#within(now);
    if (this.#taken.length >= this.#limit) return false;
    this.#taken.push(now);
    return true;
  }

  look(now: number): ReturnType<Budget["look"]> {
    const taken = this.#within(now);
    const [oldest] = taken;
    return { remaining: this.#limit - taken.length, resetsAt: oldest === undefined ? now : oldest + WINDOW_MS };
  }

  get kept(): readonly number[] {
    return this.#taken;
  }

  set kept(taken: readonly number[]) {
    this.#taken = [...taken];
  }

  #within(now: number): number[] {
    return this.#taken.filter((at) => at > now - WINDOW_MS && at <= now);
  }
}

/**
 * A bucket of as many as the limit, refilled evenly: after a pause a whole minute's requests may come at once. Counted in
 * sixty-thousandths of a request, of which each millisecond brings as many as the limit: whole numbers, nothing to round.
 */
class Bucket implements Budget {
  readonly #limit: number;
  #filled: { at: number; level: number } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(now: number): boolean {
    const level = this.#level(now);
    const enough = level >= WINDOW_MS;
    this.#filled = { at: now, level: enough ? level - WINDOW_MS : level };
    return enough;
  }

  look(now: number): ReturnType<Budget["look"]> {
    const level = this.#level(now);
    const missing = Math.max(0, WINDOW_MS - level);
    return { remaining: Math.floor(level / WINDOW_MS), resetsAt: now + Math.ceil(missing / this.#limit) };
  }

  get kept(): readonly number[] {
    return this.#filled === undefined ? [] : [this.#filled.at, this.#filled.level];
  }

  set kept([at, level]: readonly number[]) {
    this.#filled = at === undefined || level === undefined ? undefined : { at, level };
  }

  #level(now: number): number {
    const full = this.#limit * WINDOW_MS;
    if (this.#filled === undefined || now < this.#filled.at) return full;
    return Math.min(full, this.#filled.level + (now - this.#filled.at) * this.#limit);
  }
}

const BUDGETS: Readonly<Record<Profile["rate"], new (limit: number) => Budget>> = {
  fixed: FixedWindow,
  sliding: SlidingWindow,
  bucket: Bucket,
};

/** What all windows remember, by the id of the token; for snapshots. */
export interface KeptRates {
  rule: Profile["rate"];
  budgets: [number, number[]][];
}

export class RateWindows {
  readonly #budgets = new Map<number, Budget>();
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
    const budget = this.#budgets.get(tokenId) ?? new BUDGETS[this.#rule](this.#limit);
    this.#budgets.set(tokenId, budget);
    const exceeded = !budget.take(now);
    return { limit: this.#limit, ...budget.look(now), exceeded };
  }

  /** What the token has left, without counting anything. Undefined when the limit is switched off. */
  look(tokenId: number, now: number): RateState | undefined {
    if (this.#limit === 0) return undefined;
    const left = this.#budgets.get(tokenId)?.look(now) ?? { remaining: this.#limit, resetsAt: now };
    return { limit: this.#limit, ...left, exceeded: false };
  }

  clear(): void {
    this.#budgets.clear();
  }

  save(): KeptRates {
    const budgets = [...this.#budgets].map(([id, { kept }]): [number, number[]] => [id, [...kept]]);
    return { rule: this.#rule, budgets: budgets.filter(([, kept]) => kept.length > 0).sort(([a], [b]) => a - b) };
  }

  /** Goes on from there; anew where the minute was counted by another rule. */
  load({ rule, budgets }: KeptRates): void {
    this.clear();
    if (rule !== this.#rule) return;
    for (const [id, kept] of budgets) {
      const budget = new BUDGETS[rule](this.#limit);
      budget.kept = kept;
      this.#budgets.set(id, budget);
    }
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
