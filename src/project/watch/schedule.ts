/** When to look at the account next, and at what: the interval, and what events name. */
import type { EventSubject, Kinds } from "../../core/kinds/kind.ts";
import type { State } from "../../core/model/index.ts";

export type { EventSubject };

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

/** How a look ended. Times are monotonic, in milliseconds. */
interface LookEnd {
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

  /** Nothing waits any more: a look begins that covers what has come so far, or it was worth none. */
  covered(): void {
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
   * What is put right does not stay so. @param times how often within the hour: each time events lead to a look later.
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

  /** The next look: what at, and when. One at everything covers all events, so it goes first. */
  next(): { readonly kind: LookKind; readonly at: number } {
    const since = this.#hintedSince ?? Number.POSITIVE_INFINITY;
    const at = Math.max(since + COALESCE_MS, this.#hintedNotBefore);
    return at < this.#wholeAt ? { kind: "hinted", at } : { kind: "whole", at: this.#wholeAt };
  }
}

/** More than this waiting at once is as good as all. */
const MOST_HINTS = 100;
/** A look at more addresses than this costs as much as one at everything. */
const MOST_TARGETS = 10;

/** The events that wait for a look. Bounded, however many come. */
export class Hints {
  readonly #waiting = new Map<string, EventSubject>();
  #overflown = false;

  /** The same thing named twice is one hint. */
  add(hint: EventSubject): void {
    const key = JSON.stringify([hint.event, hint.service ?? null, hint.invoice ?? null]);
    if (this.#waiting.size < MOST_HINTS || this.#waiting.has(key)) this.#waiting.set(key, hint);
    else this.#overflown = true;
  }

  /** Takes what waits. */
  take(): { readonly hints: readonly EventSubject[]; readonly overflown: boolean } {
    const taken = { hints: [...this.#waiting.values()], overflown: this.#overflown };
    this.#waiting.clear();
    this.#overflown = false;
    return taken;
  }
}

/** What events mean for this project. */
interface Named {
  /** Addresses to look at. */
  readonly targets: readonly string[];
  /** It is better to look at everything. */
  readonly everything: boolean;
  /** Events about what is not ours, as far as is known. */
  readonly strangers: readonly EventSubject[];
}

/**
 * The addresses in the state that events name, by the rule of each kind. An event that names nothing may be about anything.
 * @param open a create has no known outcome, or something declared is not made yet: then an id that is not recorded may be ours.
 */
export function namedBy(hints: readonly EventSubject[], state: State, kinds: Kinds, open: boolean): Named {
  const resources = [...state.resources.values()];
  const targets = new Set<string>();
  const strangers: EventSubject[] = [];
  let everything = false;
  for (const hint of hints) {
    if (hint.service === undefined && hint.invoice === undefined) everything = true;
    const found = resources.filter(
      ({ address, attributes }) =>
        kinds.get(address.slice(0, address.indexOf(".")))?.isNamedBy?.(hint, attributes) === true,
    );
    for (const { address } of found) targets.add(address);
    if (found.length === 0) strangers.push(hint);
  }
  if (targets.size > MOST_TARGETS || (open && strangers.length > 0)) everything = true;
  return { targets: everything ? [] : [...targets], everything, strangers: everything ? [] : strangers };
}
