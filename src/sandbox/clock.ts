/** Time: the sandbox's clock, and the stored formats of instants and dates. */
import type { Store } from "./store/store.ts";

const OFFSET = "clock_offset_ms";
const FROZEN = "clock_frozen_ms";
/** Counters that belong to the clock. */
export const CLOCK_COUNTERS: readonly string[] = [OFFSET, FROZEN];

/**
 * The given clock plus an offset, or a frozen clock. The store contains the offset, so that it survives a restart. Methods that
 * change the clock must run inside a transaction.
 */
export class SandboxClock {
  readonly #base: { now(): number };
  readonly #store: Store;
  /** Due time of the step that is being performed. */
  #instant: number | undefined;

  constructor(base: { now(): number }, store: Store) {
    this.#base = base;
    this.#store = store;
  }

  /** Returns milliseconds since the epoch. */
  now(): number {
    return this.#instant ?? this.#counter(FROZEN) ?? this.#base.now() + (this.#counter(OFFSET) ?? 0);
  }

  /** Returns the present instant in the store's format: ISO 8601, UTC, milliseconds. */
  instant(): string {
    return new Date(this.now()).toISOString();
  }

  get frozen(): boolean {
    return this.#counter(FROZEN) !== undefined;
  }

  /** Moves the clock forward. A frozen clock stays frozen. */
  advance(ms: number): void {
    const name = this.frozen ? FROZEN : OFFSET;
    this.#store.table("counters").put({ id: name, value: (this.#counter(name) ?? 0) + ms });
  }

  /** Freezes the clock at the present or the given instant. */
  freeze(at = this.now()): this {
    this.#store.table("counters").put({ id: FROZEN, value: at });
    return this;
  }

  /** Lets the clock continue from the instant at which it was frozen. */
  resume(): this {
    if (this.frozen) this.place(this.now(), false);
    return this;
  }

  /** Sets the clock to another instant, earlier or later, running or frozen. */
  place(now: number, frozen: boolean): void {
    const counters = this.#store.table("counters");
    for (const id of CLOCK_COUNTERS) counters.remove(id);
    if (frozen) counters.put({ id: FROZEN, value: now });
    else counters.put({ id: OFFSET, value: now - this.#base.now() });
  }

  /** Performs work as of a past instant. */
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

/** Returns the date as `YYYY-MM-DD` in UTC. */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns the same day (or the given day) some months later. If that month is too short, returns its last day. */
export function addMonths(ms: number, months: number, day = new Date(ms).getUTCDate()): number {
  const date = new Date(ms);
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}

export const DAY_MS = 86_400_000;
