import { Chance } from "./chance.ts";

interface Timer {
  readonly at: number;
  /** Sequence number. Timers of the same time fire in this order. */
  readonly turn: number;
  fire(): void;
  cancelled: boolean;
}

/** Start time of every history. */
export const START = Date.parse("2026-11-21T10:00:00Z");

/**
 * Time, random values and log of one history. Every event has a timer. The time advances to the next timer only when
 * no work is left at the current time. Uses no real timer and no real I/O.
 */
export class World {
  readonly chance: Chance;
  /** Milliseconds since the epoch. */
  now = START;
  /** Log of the history, one line for each event. */
  readonly history: string[] = [];
  /** Detected violations that belong to no single check. */
  readonly breaches: string[] = [];
  /** Number of incomplete responses to password resets since the last complete response, by service id. */
  readonly cutResets = new Map<string, number>();
  #timers: Timer[] = [];
  #turns = 0;

  constructor(seed: number) {
    this.chance = new Chance(seed);
  }

  note(line: string): void {
    this.history.push(`${((this.now - START) / 1000).toFixed(3)} ${line}`);
  }

  /**
   * Calls `fire` after `ms` milliseconds of virtual time.
   * @returns A function that cancels the timer.
   */
  after(ms: number, fire: () => void): () => void {
    const timer: Timer = { at: this.now + Math.max(0, ms), turn: this.#turns++, fire, cancelled: false };
    push(this.#timers, timer);
    return () => {
      timer.cancelled = true;
    };
  }

  /** Resolves after `ms` milliseconds of virtual time. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /**
   * Advances the time until `work` ends.
   * @returns Undefined if no timer is left that could end `work`.
   */
  async run<T>(work: Promise<T>): Promise<{ readonly value: T } | undefined> {
    let end: { readonly value: T } | { readonly error: unknown } | undefined;
    work.then(
      (value) => {
        end = { value };
      },
      (error: unknown) => {
        end = { error };
      },
    );
    for (;;) {
      await quiet();
      if (end !== undefined) break;
      const next = this.#next();
      if (next === undefined) return undefined;
      this.now = Math.max(this.now, next.at);
      next.fire();
    }
    if ("error" in end) throw end.error;
    return end;
  }

  #next(): Timer | undefined {
    for (;;) {
      const next = pop(this.#timers);
      if (next === undefined || !next.cancelled) return next;
    }
  }
}

/**
 * Waits until all work that needs no time is done: promises, ticks and immediates. Work that starts in one round runs
 * in the next round. Each record needs one round, and a change may write several records before it waits for time.
 */
async function quiet(): Promise<void> {
  for (let round = 0; round < 8; round++) await new Promise(setImmediate);
}

const before = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.turn < b.turn);

/** Adds a timer to a binary heap with the earliest timer first. */
function push(heap: Timer[], timer: Timer): void {
  heap.push(timer);
  for (let at = heap.length - 1; at > 0; ) {
    const above = (at - 1) >> 1;
    const [child, parent] = [heap[at], heap[above]];
    if (child === undefined || parent === undefined || !before(child, parent)) return;
    heap[at] = parent;
    heap[above] = child;
    at = above;
  }
}

function pop(heap: Timer[]): Timer | undefined {
  const [least] = heap;
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return least;
  heap[0] = last;
  for (let at = 0; ; ) {
    let least = at;
    for (const below of [2 * at + 1, 2 * at + 2]) {
      const [child, best] = [heap[below], heap[least]];
      if (child !== undefined && best !== undefined && before(child, best)) least = below;
    }
    if (least === at) break;
    const [child, parent] = [heap[least], heap[at]];
    if (child === undefined || parent === undefined) break;
    heap[at] = child;
    heap[least] = parent;
    at = least;
  }
  return least;
}
