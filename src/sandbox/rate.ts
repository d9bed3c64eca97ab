/** The request limit (§8): a fixed window per token, opened by the first request in it. */
import type { Profile } from "./profile.ts";
import { Refusal } from "./refusal.ts";

const WINDOW_MS = 60_000;

/** What the answer's headers say about the window. */
export interface RateState {
  limit: number;
  remaining: number;
  /** When the window closes, in milliseconds since the epoch. */
  resetsAt: number;
  exceeded: boolean;
}

export class RateWindows {
  readonly #windows = new Map<number, { opened: number; used: number }>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts one request of the token. Undefined when the limit is switched off. A refused request costs nothing more. */
  take(tokenId: number, now: number): RateState | undefined {
    if (this.#limit === 0) return undefined;
    let window = this.#windows.get(tokenId);
    if (window === undefined || now >= window.opened + WINDOW_MS || now < window.opened) {
      window = { opened: now, used: 0 };
      this.#windows.set(tokenId, window);
    }
    const exceeded = window.used >= this.#limit;
    if (!exceeded) window.used += 1;
    return { limit: this.#limit, remaining: this.#limit - window.used, resetsAt: window.opened + WINDOW_MS, exceeded };
  }

  clear(): void {
    this.#windows.clear();
  }
}

/** The 429. `Retry-After` is in whole seconds, rounded up, or a date, or absent, as the profile says. */
export function tooManyRequests(state: RateState, now: number, profile: Profile): Refusal {
  const headers: Record<string, string> = {};
  const seconds = Math.max(1, Math.ceil((state.resetsAt - now) / 1000));
  if (profile.retry_after === "seconds") headers["Retry-After"] = String(seconds);
  if (profile.retry_after === "date") headers["Retry-After"] = new Date(now + seconds * 1000).toUTCString();
  if (profile.rate_headers === "full") headers["X-RateLimit-Reset"] = String(Math.ceil(state.resetsAt / 1000));
  return new Refusal(429, "Too Many Attempts.", { headers });
}

/** The headers of every answer to a known token. */
export function rateHeaders(state: RateState | undefined, profile: Profile): Record<string, string> {
  if (state === undefined || profile.rate_headers === "none") return {};
  return { "X-RateLimit-Limit": String(state.limit), "X-RateLimit-Remaining": String(state.remaining) };
}
