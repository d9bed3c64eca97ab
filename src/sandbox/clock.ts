/** Time: the sandbox's clock, and the forms that instants and dates are kept in. */
import type { Store } from "./store.ts";

const OFFSET = "clock_offset_ms";

/** The given clock plus an offset, which is kept in the store so that it survives a restart. */
export class SandboxClock {
  readonly #base: { now(): number };
  readonly #store: Store;

  constructor(base: { now(): number }, store: Store) {
    this.#base = base;
    this.#store = store;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#base.now() + (this.#store.table("counters").get(OFFSET)?.value ?? 0);
  }

  /** The present instant as the store keeps it: ISO 8601, UTC, milliseconds. */
  instant(): string {
    return new Date(this.now()).toISOString();
  }

  /** Moves the clock forward (inside a transaction). */
  advance(ms: number): void {
    const offset = this.#store.table("counters").get(OFFSET)?.value ?? 0;
    this.#store.table("counters").put({ id: OFFSET, value: offset + ms });
  }
}

/** `YYYY-MM-DD` in UTC. */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The same day some months later; the last day of the month where that day does not exist. */
export function addMonths(ms: number, months: number): number {
  const date = new Date(ms);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}

export const DAY_MS = 86_400_000;
