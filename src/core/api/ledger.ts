import { RollingWindow, type Turn } from "./rolling-window.ts";

export { WINDOW_MS } from "./rolling-window.ts";

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
  readonly #window = new RollingWindow();

  async reserve(now: number, limit: number): Promise<Turn> {
    return this.#window.reserve(now, limit, "here");
  }

  async pause(until: number): Promise<void> {
    this.#window.pause(until);
  }

  async lower(now: number, limit: number, left: number, until: number): Promise<void> {
    this.#window.lower(now, limit, left, until);
  }
}
