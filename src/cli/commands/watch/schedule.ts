/** Events that come within this time of the first one are looked into together. */
export const COALESCE_MS = 2_000;
/** A look that events lead to comes at least this after the one before, whatever that was for. */
const LEAST_GAP_MS = 10_000;
/** After a failure the first look that comes early comes after this. */
const RETRY_MS = 60_000;
/** Failures and contention make no wait longer than this, unless the interval is. */
const MOST_BACKOFF_MS = 3_600_000;
/** What looks that events lead to may use of the request budget. */
const SHARE = 0.5;

/** `whole`: at everything; `hinted`: at what events have named. */
export type LookKind = "whole" | "hinted";

/** How a look ended. Times are milliseconds since the epoch. */
export interface LookEnd {
  readonly kind: LookKind;
  readonly at: number;
  /** API requests that it took. */
  readonly requests: number;
  /** The smallest request budget of the accounts, per minute. */
  readonly perMinute: number;
  /** `ended`: in order, or refused by something that a person has to mend; `troubled`: another try costs requests and may fail again. */
  readonly outcome: "ended" | "troubled" | "failed";
}

/**
 * When to look next. Looks at everything come at the interval, whatever happens: with every event lost they are enough.
 * Events only add looks, as many as leave half of the request budget to others.
 */
export class Schedule {
  readonly #intervalMs: number;
  #wholeAt: number;
  /** Since when events wait. */
  #hintedSince: number | undefined;
  #hintedNotBefore = 0;
  /** In succession. */
  #troubles = 0;

  constructor(intervalMs: number, now: number) {
    this.#intervalMs = intervalMs;
    this.#wholeAt = now;
  }

  /** An event has come that may be worth a look. */
  hint(now: number): void {
    this.#hintedSince ??= now;
  }

  /** Nothing waits any more: a look begins that heeds what has come so far, or it was worth none. */
  heeded(): void {
    this.#hintedSince = undefined;
  }

  /** Events have named so much, or so little, that a look at everything is due, as soon as one of theirs is. */
  widen(now: number): void {
    this.#wholeAt = Math.min(this.#wholeAt, now);
  }

  ended({ kind, at, requests, perMinute, outcome }: LookEnd): void {
    this.#troubles = outcome === "ended" ? 0 : this.#troubles + 1;
    const backoff = 2 ** Math.min(20, Math.max(0, this.#troubles - 1));
    if (kind === "whole") {
      const most = Math.max(this.#intervalMs, MOST_BACKOFF_MS);
      this.#wholeAt = at + Math.min(most, this.#intervalMs * backoff);
    } else if (outcome === "failed") {
      // What the events named is not forgotten: a look at everything finds it.
      this.#wholeAt = Math.min(this.#wholeAt, at + RETRY_MS * backoff);
    }
    this.#holdHints(at, (requests * 60_000) / (perMinute * SHARE));
    if (outcome !== "ended") this.#holdHints(at, Math.min(MOST_BACKOFF_MS, RETRY_MS * backoff));
  }

  /** Events were about something else: finding that out is not free either. */
  idle(now: number): void {
    this.#holdHints(now, 0);
  }

  /**
   * What is put right does not stay so. @param times how often within the hour: each time events are heeded later.
   * @returns milliseconds for which they are not.
   */
  contended(now: number, times: number): number {
    const ms = Math.min(MOST_BACKOFF_MS, RETRY_MS * 2 ** Math.min(20, times - 1));
    this.#holdHints(now, ms);
    return ms;
  }

  #holdHints(now: number, ms: number): void {
    this.#hintedNotBefore = Math.max(this.#hintedNotBefore, now + Math.max(LEAST_GAP_MS, ms));
  }

  /** The next look: what at, and when. One at everything heeds all events, so it goes first. */
  next(): { readonly kind: LookKind; readonly at: number } {
    const { at } = this.#hinted();
    return at < this.#wholeAt ? { kind: "hinted", at } : { kind: "whole", at: this.#wholeAt };
  }

  /** Milliseconds until the next look at everything. */
  untilWhole(now: number): number {
    return Math.max(0, this.#wholeAt - now);
  }

  #hinted(): { readonly at: number } {
    if (this.#hintedSince === undefined) return { at: Number.POSITIVE_INFINITY };
    return { at: Math.max(this.#hintedSince + COALESCE_MS, this.#hintedNotBefore) };
  }
}
