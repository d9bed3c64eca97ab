/** Time: the sandbox's clock, and the forms that instants and dates are kept in. */
import type { Store } from "./store/store.ts";

const OFFSET = "clock_offset_ms";
const FROZEN = "clock_frozen_ms";
/** The counters that are the clock's own. */
export const CLOCK_COUNTERS: readonly string[] = [OFFSET, FROZEN];

/**
 * The given clock plus an offset, or standing still. Both are kept in the store, so that they survive a restart. All that
 * changes them runs inside a transaction.
 */
export class SandboxClock {
  readonly #base: { now(): number };
  readonly #store: Store;
  /** The instant at which something falls due, while it is being done: later than that it may be reported, not done. */
  #instant: number | undefined;

  constructor(base: { now(): number }, store: Store) {
    this.#base = base;
    this.#store = store;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#instant ?? this.#counter(FROZEN) ?? this.#base.now() + (this.#counter(OFFSET) ?? 0);
  }

  /** The present instant as the store keeps it: ISO 8601, UTC, milliseconds. */
  instant(): string {
    return new Date(this.now()).toISOString();
  }

  get frozen(): boolean {
    return this.#counter(FROZEN) !== undefined;
  }

  /** Moves the clock forward; a clock that stands still stands still there. */
  advance(ms: number): void {
    const name = this.frozen ? FROZEN : OFFSET;
    this.#store.table("counters").put({ id: name, value: (this.#counter(name) ?? 0) + ms });
  }

  /** Time stands still from now on, or at the given instant. */
  freeze(at = this.now()): void {
    this.#store.table("counters").put({ id: FROZEN, value: at });
  }

  /** Time goes on from where it stands. */
  resume(): void {
    const frozen = this.#counter(FROZEN);
    if (frozen === undefined) return;
    this.#store.table("counters").put({ id: OFFSET, value: frozen - this.#base.now() });
    this.#store.table("counters").remove(FROZEN);
  }

  /** Puts the clock to another instant, earlier or later, from which it goes on or at which it stands still. */
  place(now: number, frozen: boolean): void {
    const counters = this.#store.table("counters");
    for (const id of CLOCK_COUNTERS) counters.remove(id);
    if (frozen) counters.put({ id: FROZEN, value: now });
    else counters.put({ id: OFFSET, value: now - this.#base.now() });
  }

  /** Does the work as of an instant that has passed. */
  at<T>(instant: number, work: () => T): T {
    const before = this.#instant;
    this.#instant = instant;
    try {
      return work();
    } finally {
      this.#instant = before;
    }
  }

  #counter(id: string): number | undefined {
    return this.#store.table("counters").get(id)?.value;
  }
}

/** `YYYY-MM-DD` in UTC. */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The same day (or the given day) some months later; the last day of the month where that day does not exist. */
export function addMonths(ms: number, months: number, day = new Date(ms).getUTCDate()): number {
  const date = new Date(ms);
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}

export const DAY_MS = 86_400_000;
