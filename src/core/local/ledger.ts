/** A ledger of requests: what it is asked, and what it learns. `rolling-window.ts` decides, ledgers keep what it decided. */
import type { RequestOutlook } from "../model/index.ts";

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
  /** Forecast of reservations from `now` on if no other client sends. Absent: unknown. */
  outlook?(now: number, limit: number): Promise<RequestOutlook>;
  /** Closes what it has open. It is opened again when it is needed. */
  close?(): void;
}

/** Answer to a request for a slot. */
export interface Reservation {
  /** 0: booked. Otherwise nothing is booked, and this is how long to wait before asking again. */
  readonly waitMs: number;
  /** Requests left in this minute. */
  readonly left: number;
  /** Why it has to wait, where the ledger knows. */
  readonly why?: WaitReason;
}

/** Why a request has to wait, and who sent the requests of the last minute. */
export interface WaitReason {
  /**
   * `budget`: as many are sent as the limit allows. `pause`: the host refused one and asked for a pause. `turn`: another
   * process is next. `spread`: after a refusal requests are spread over the minute.
   */
  readonly cause: "budget" | "pause" | "turn" | "spread";
  /** Requests a minute, as far as refusals taught it. */
  readonly limit: number;
  /** Requests of the last minute: of this process, of others on this machine, and what the host counts beyond them. */
  readonly own: number;
  readonly others: number;
  readonly elsewhere: number;
  /** Rest of the pause that the host asked for, in ms, even if it is longer than any pause kept. */
  readonly askedMs?: number;
  /** Moment of the refusal that began the pause, in milliseconds since the epoch. */
  readonly since?: number;
}

/** The answer to one request, as the ledger needs it. */
export interface Acceptance {
  readonly now: number;
  readonly sentAt: number;
  /** The limit that is kept to. */
  readonly limit: number;
  /** Requests that the host accepts until a moment, by its rate headers. */
  readonly budget?: { readonly remaining: number; readonly until: number };
}

/** A refusal of one request (429). */
export interface Refusal extends Omit<Acceptance, "budget"> {
  /** Pause that the host asks for, in ms. */
  readonly askedMs?: number | undefined;
  /** Added to the pause, in ms, so that not all come back at once. */
  readonly marginMs: number;
  /** The host's answers have rate headers: its refusals then add no knowledge of its limit. */
  readonly isCounted: boolean;
}

/** Event of a window. Equal events in equal order give equal windows in every process. */
export type LedgerEvent =
  | readonly [what: "reserve", now: number, limit: number, who: string]
  | readonly [what: "refuse", refusal: Refusal]
  | readonly [what: "accept", acceptance: Acceptance];
