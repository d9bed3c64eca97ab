import { Chance } from "./chance.ts";

interface Timer {
  readonly at: number;
  /** Timers of the same instant fire in the order in which they were set. */
  readonly turn: number;
  fire(): void;
  cancelled: boolean;
}

/** When every history begins. */
export const START = Date.parse("2026-11-21T10:00:00Z");

/**
 * Time, chance and the record of one history. Nothing happens spontaneously: whatever takes time sets a timer, and time
 * goes on, to the next timer, only when nothing is left to do at the present instant. No real timer, no real I/O.
 */
export class World {
  readonly chance: Chance;
  /** Milliseconds since the epoch. */
  now = START;
  /** What happened, a line for each event. */
  readonly history: string[] = [];
  /** What must not happen, whatever it is about, as it was noticed. */
  readonly breaches: string[] = [];
  /** For each service id, the answers to a password reset that ended in the middle since the last whole one. */
  readonly cutResets = new Map<string, number>();
  #timers: Timer[] = [];
  #turns = 0;

  constructor(seed: number) {
    this.chance = new Chance(seed);
  }

  note(line: string): void {
    this.history.push(`${((this.now - START) / 1000).toFixed(3)} ${line}`);
  }

  /** Calls `fire` after `ms` milliseconds of virtual time. @returns what takes it back. */
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
   * Lets time go on until `work` has ended.
   * @returns undefined when nothing is left that could end it: every part of it hangs.
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
 * Waits until all that can go on without time has gone on: promises, ticks, and immediates. What was set in the course of
 * one round comes in the next: each record waits for one, and a change may make several before it waits for time.
 */
async function quiet(): Promise<void> {
  for (let round = 0; round < 8; round++) await new Promise(setImmediate);
}

const before = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.turn < b.turn);

/** A binary heap: the least first. */
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
