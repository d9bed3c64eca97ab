/** Interface of a ledger of requests. `rolling-window.ts` decides, and a ledger stores its decisions. */
import type { RequestOutlook } from "../model/index.ts";

/**
 * Counter of the requests of one token. In memory by default. All processes with the token can share a ledger on disk. Each method
 * is atomic. Times are in milliseconds since the epoch, limits in requests a minute.
 */
export interface Ledger {
  /**
   * Books one request at `now` if the limit allows one. Then `waitMs` is 0, and `left` further requests may follow in this minute.
   * Otherwise books nothing and returns the wait before the next call.
   */
  reserve(now: number, limit: number): Promise<Reservation>;
  /** Records a 429 response. No process may send before the end of the pause. */
  refuse(refusal: Refusal): Promise<void>;
  /** Records an accepted request. */
  accept(acceptance: Acceptance): Promise<void>;
  /** Forecast of reservations from `now` on if no other client sends. Absent: unknown. */
  outlook?(now: number, limit: number): Promise<RequestOutlook>;
  /** Closes open resources. The next call opens them again. */
  close?(): void;
}

/** Result of {@link Ledger.reserve}. */
export interface Reservation {
  /** 0: booked. Otherwise the wait before the next call, in milliseconds; nothing is booked. */
  readonly waitMs: number;
  /** Requests left in this minute. */
  readonly left: number;
  /** Reason of the wait, if known. */
  readonly why?: WaitReason;
}

/** Reason of a wait, and the requests of the last minute by sender. */
export interface WaitReason {
  /**
   * `budget`: the limit is used up. `pause`: the pause after a 429 is not over. `turn`: another process is next. `spread`: after a
   * 429, requests are spread over the minute.
   */
  readonly cause: "budget" | "pause" | "turn" | "spread";
  /** Limit in requests a minute, lowered by refusals. */
  readonly limit: number;
  /** Requests of the last minute: of this process, of other processes on this machine, and all further ones counted by the host. */
  readonly own: number;
  readonly others: number;
  readonly elsewhere: number;
  /** Remaining pause by the host's response, in milliseconds. May exceed the longest pause that hostform keeps. */
  readonly askedMs?: number;
  /** Time of the pause's 429, in milliseconds since the epoch. */
  readonly since?: number;
}

/** Accepted request. */
export interface Acceptance {
  readonly now: number;
  readonly sentAt: number;
  /** Limit in use, in requests a minute. */
  readonly limit: number;
  /** Remaining requests until a time, from the host's rate headers. */
  readonly budget?: { readonly remaining: number; readonly until: number };
}

/** A 429 response to one request. */
export interface Refusal extends Omit<Acceptance, "budget"> {
  /** Pause from the host's response, in milliseconds. */
  readonly askedMs?: number | undefined;
  /** Random addition to the pause, in milliseconds, so that processes do not return simultaneously. */
  readonly marginMs: number;
  /** True if the host's responses have rate headers. A 429 then gives no further information about the limit. */
  readonly isCounted: boolean;
}

/** Event of a window. Equal events in equal order give equal windows in every process. */
export type LedgerEvent =
  | readonly [what: "reserve", now: number, limit: number, who: string]
  | readonly [what: "refuse", refusal: Refusal]
  | readonly [what: "accept", acceptance: Acceptance];
