/** Schedules checks: after each interval, and after events. */
import type { EventSubject, Kinds } from "../../core/kinds/kind.ts";
import type { State } from "../../core/model/index.ts";

export type { EventSubject };

/** Time in milliseconds after an event in which further events share its check. */
export const COALESCE_MS = 2_000;
/** Minimum time between a check and the next check for events, in milliseconds. */
const LEAST_GAP_MS = 10_000;
/** Delay of the first retry after a failure, in milliseconds. */
const RETRY_MS = 60_000;
/** Maximum delay after failures and conflicts, in milliseconds. A longer interval takes precedence. */
const MOST_BACKOFF_MS = 3_600_000;
/** Share of the request limit that checks for events may use. */
const SHARE = 0.5;

/** `whole`: checks all resources. `hinted`: checks only the objects of events. */
export type LookKind = "whole" | "hinted";

/** Result of a check. Times are monotonic, in milliseconds. */
interface LookEnd {
  readonly kind: LookKind;
  readonly at: number;
  /** Number of API requests of the check. */
  readonly requests: number;
  /** Smallest request limit of the accounts, per minute. */
  readonly perMinute: number;
  /**
   * `ended`: success, or an error that a person must correct. `troubled`: a retry costs requests and may fail again.
   * `failed`: the check itself failed, and a complete check follows soon.
   */
  readonly outcome: "ended" | "troubled" | "failed";
}

/**
 * Times of the next checks. Complete checks follow the interval and do not depend on events. Checks for events leave half of
 * the request limit to other programs.
 */
export class Schedule {
  readonly #intervalMs: number;
  #wholeAt: number;
  /** Time of the first event without a check. */
  #hintedSince: number | undefined;
  #hintedNotBefore = 0;
  /** Number of consecutive failures. */
  #troubles = 0;

  constructor(intervalMs: number, now: number) {
    this.#intervalMs = intervalMs;
    this.#wholeAt = now;
  }

  /** Registers an event. */
  hint(now: number): void {
    this.#hintedSince ??= now;
  }

  /** Removes waiting events: a check covers them, or they need none. */
  covered(): void {
    this.#hintedSince = undefined;
  }

  /** Makes a complete check due now. */
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
      // The complete check also covers the events of the failed check.
      this.#wholeAt = Math.min(this.#wholeAt, at + RETRY_MS * backoff);
    }
    this.#holdHints(at, (requests * 60_000) / (perMinute * SHARE));
    if (outcome !== "ended") this.#holdHints(at, Math.min(MOST_BACKOFF_MS, RETRY_MS * backoff));
  }

  /** Delays the next check for events, because the last events were irrelevant. */
  idle(now: number): void {
    this.#holdHints(now, 0);
  }

  /**
   * Delays checks for events after repeated corrections.
   * @param times Number of corrections in the last hour.
   * @returns the delay in milliseconds.
   */
  contended(now: number, times: number): number {
    const ms = Math.min(MOST_BACKOFF_MS, RETRY_MS * 2 ** Math.min(20, times - 1));
    this.#holdHints(now, ms);
    return ms;
  }

  #holdHints(now: number, ms: number): void {
    this.#hintedNotBefore = Math.max(this.#hintedNotBefore, now + Math.max(LEAST_GAP_MS, ms));
  }

  /** Returns the next check. If both are due, a complete check, because it covers all events. */
  next(): { readonly kind: LookKind; readonly at: number } {
    const since = this.#hintedSince ?? Number.POSITIVE_INFINITY;
    const at = Math.max(since + COALESCE_MS, this.#hintedNotBefore);
    return at < this.#wholeAt ? { kind: "hinted", at } : { kind: "whole", at: this.#wholeAt };
  }
}

/** Maximum number of waiting events. More cause a complete check. */
const MOST_HINTS = 100;
/** Maximum number of addresses in a partial check. More would cost as many requests as a complete check. */
const MOST_TARGETS = 10;

/** Limited queue of events that wait for a check. */
export class Hints {
  readonly #waiting = new Map<string, EventSubject>();
  #overflown = false;

  /** Adds an event. Equal events count once. */
  add(hint: EventSubject): void {
    const key = JSON.stringify([hint.event, hint.service ?? null, hint.invoice ?? null]);
    if (this.#waiting.size < MOST_HINTS || this.#waiting.has(key)) this.#waiting.set(key, hint);
    else this.#overflown = true;
  }

  /** Returns the waiting events, and empties the queue. */
  take(): { readonly hints: readonly EventSubject[]; readonly overflown: boolean } {
    const taken = { hints: [...this.#waiting.values()], overflown: this.#overflown };
    this.#waiting.clear();
    this.#overflown = false;
    return taken;
  }
}

/** Objects that events concern. */
interface Named {
  /** Addresses for a partial check. */
  readonly targets: readonly string[];
  /** True if a complete check is necessary. */
  readonly everything: boolean;
  /** Events about unknown objects. */
  readonly strangers: readonly EventSubject[];
}

/**
 * Finds the addresses that events concern, by the rules of each kind. An event without an id may concern any object.
 * @param open True if a declared resource has no object yet, or a pending creation. An unknown id may then belong to it.
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
