/** Time: the sandbox's clock, and the stored formats of instants and dates. */
import type { Store } from "./store/store.ts";

const OFFSET = "clock_offset_ms";
const FROZEN = "clock_frozen_ms";
/** Ids of the clock's rows in `counters`. */
export const CLOCK_COUNTERS: readonly string[] = [OFFSET, FROZEN];

/**
 * Clock of the sandbox: the base clock plus an offset, or a frozen time. Both are in the store, so that they survive a
 * restart. Methods that change the clock must run inside a transaction.
 */
export class SandboxClock {
  readonly #base: { now(): number };
  readonly #store: Store;
  /** Due time of the current step, in milliseconds since the epoch. Undefined outside a step. */
  #instant: number | undefined;

  constructor(base: { now(): number }, store: Store) {
    this.#base = base;
    this.#store = store;
  }

  /** Returns milliseconds since the epoch. */
  now(): number {
    return this.#instant ?? this.#counter(FROZEN) ?? this.#base.now() + (this.#counter(OFFSET) ?? 0);
  }

  /** Returns the current time in the format of the store: ISO 8601, UTC, with milliseconds. */
  instant(): string {
    return new Date(this.now()).toISOString();
  }

  get frozen(): boolean {
    return this.#counter(FROZEN) !== undefined;
  }

  /** Moves the clock forward by `ms` milliseconds. A frozen clock stays frozen. */
  advance(ms: number): void {
    const name = this.frozen ? FROZEN : OFFSET;
    this.#store.table("counters").put({ id: name, value: (this.#counter(name) ?? 0) + ms });
  }

  /** Freezes the clock, at the current time by default. */
  freeze(at = this.now()): this {
    this.#store.table("counters").put({ id: FROZEN, value: at });
    return this;
  }

  /** Lets a frozen clock continue from its time. */
  resume(): this {
    if (this.frozen) this.place(this.now(), false);
    return this;
  }

  /** Sets the clock to any time, running or frozen. */
  place(now: number, frozen: boolean): void {
    const counters = this.#store.table("counters");
    for (const id of CLOCK_COUNTERS) counters.remove(id);
    if (frozen) counters.put({ id: FROZEN, value: now });
    else counters.put({ id: OFFSET, value: now - this.#base.now() });
  }

  /** Runs `work` with the clock at `instant`, in milliseconds since the epoch. */
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

/** Adds calendar months to a time. `day` is the day of the resulting month, or its last day if the month is shorter. */
export function addMonths(ms: number, months: number, day = new Date(ms).getUTCDate()): number {
  const date = new Date(ms);
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}

export const DAY_MS = 86_400_000;
