/** Where the requests of the last minute are counted. */
import type { RequestOutlook } from "../model/index.ts";
import { type Acceptance, type Refusal, type Reservation, RollingWindow } from "./rolling-window.ts";

/**
 * Where the requests of one token are counted. In memory by default; a ledger on disk can be shared by all processes
 * that use the token. Each method is atomic. Times are milliseconds since the epoch, limits are requests a minute.
 */
export interface Ledger {
  /**
   * Books one request at `now` if one may be sent: `waitMs` 0, and `left` more may follow in this minute. Otherwise books
   * nothing and says how long to wait before asking again.
   */
  reserve(now: number, limit: number): Promise<Reservation>;
  /** The host refused a request (429): nobody may send before it wants to be asked again. */
  refuse(refusal: Refusal): Promise<void>;
  /** The host took a request. */
  accept(acceptance: Acceptance): Promise<void>;
  /** What may leave from `now` on if nobody else sends, for estimates. Absent: nothing is known. */
  outlook?(now: number, limit: number): Promise<RequestOutlook>;
  /** Closes what it has open. It is opened again when it is needed. */
  close?(): void;
}

/** A ledger for one process. */
export class MemoryLedger implements Ledger {
  readonly #window = new RollingWindow();

  async reserve(now: number, limit: number): Promise<Reservation> {
    return this.#window.reserve(now, limit, "here");
  }

  async refuse(refusal: Refusal): Promise<void> {
    this.#window.refuse(refusal);
  }

  async accept(acceptance: Acceptance): Promise<void> {
    this.#window.accept(acceptance);
  }

  async outlook(now: number, limit: number): Promise<RequestOutlook> {
    return this.#window.outlook(now, limit);
  }
}
