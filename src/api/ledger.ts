/** The window of §8, "60 requests per minute", in milliseconds. */
export const WINDOW_MS = 60_000;

/**
 * A request sent later may arrive sooner: sends are remembered a little longer than the window, so that the server
 * never counts more than we do.
 */
const MARGIN_MS = 1_000;

/**
 * Where the requests of one token are counted. In memory by default; a ledger on disk can be shared by all processes
 * that use the token. Each method is atomic. Times are milliseconds since the epoch.
 */
export interface Ledger {
  /**
   * Books one request at `now` if fewer than `limit` are booked: `waitMs` 0, and `left` more may follow at once.
   * Otherwise books nothing and says how long to wait before asking again.
   */
  reserve(now: number, limit: number): Promise<{ readonly waitMs: number; readonly left: number }>;
  /** Nobody may send before `until`. */
  pause(until: number): Promise<void>;
  /** The server says that only `left` requests remain until `until`: others use the token too. */
  lower(now: number, limit: number, left: number, until: number): Promise<void>;
}

/** A ledger for one process. */
export class MemoryLedger implements Ledger {
  /** When each booked request leaves the window, ascending. */
  #expiries: number[] = [];
  #pausedUntil = 0;

  async reserve(now: number, limit: number): Promise<{ waitMs: number; left: number }> {
    if (this.#pausedUntil > now) return { waitMs: this.#pausedUntil - now, left: 0 };
    this.#expire(now);
    const over = this.#expiries.length - limit;
    const blocking = over >= 0 ? this.#expiries[over] : undefined;
    if (blocking !== undefined) return { waitMs: blocking - now, left: 0 };
    this.#book(now + WINDOW_MS + MARGIN_MS, 1);
    return { waitMs: 0, left: Math.max(0, limit - this.#expiries.length) };
  }

  async pause(until: number): Promise<void> {
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
  }

  async lower(now: number, limit: number, left: number, until: number): Promise<void> {
    this.#expire(now);
    const foreign = limit - left - this.#expiries.length;
    if (foreign > 0) this.#book(until, foreign);
  }

  #book(expiry: number, count: number): void {
    for (let i = 0; i < count; i++) this.#expiries.push(expiry);
    this.#expiries.sort((a, b) => a - b);
  }

  /** Forgets what has left the window. A clock that was set back must not lock the token: nothing outlasts a window. */
  #expire(now: number): void {
    const latest = now + WINDOW_MS + MARGIN_MS;
    this.#expiries = this.#expiries.filter((expiry) => expiry > now).map((expiry) => Math.min(expiry, latest));
  }
}
