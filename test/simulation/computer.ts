import type { Clock } from "../../src/core/model/index.ts";
import type { Life, Pause } from "./life.ts";
import { SimulatedTurns } from "./turns.ts";
import type { World } from "./world.ts";

/**
 * A computer: its wall clock, its monotonic clock, the store of its processes, and the running processes. A user may
 * set the wall clock. The monotonic clock stops while the computer sleeps.
 */
export class Computer {
  readonly turns: SimulatedTurns;
  readonly #world: World;
  readonly #lives = new Set<Life>();
  /** Offset of the wall clock from the world's time, in ms. */
  #aheadMs = 0;
  /** Total time of all sleeps in ms, and the start of the current sleep. */
  #sleptMs = 0;
  #asleepSince: number | undefined;
  #awaken: (() => void)[] = [];
  /** Time of the last wake of each process that was stopped separately. */
  readonly #wokeAt = new WeakMap<Life, number>();

  constructor(world: World) {
    this.#world = world;
    this.turns = new SimulatedTurns(world);
  }

  get isAsleep(): boolean {
    return this.#asleepSince !== undefined;
  }

  /** Resolves when the computer wakes. */
  wakes(): Promise<void> {
    return new Promise((resolve) => this.#awaken.push(resolve));
  }

  runs(life: Life): void {
    this.#lives.add(life);
    life.atDeath(() => this.#lives.delete(life));
  }

  ended(life: Life): void {
    this.#lives.delete(life);
  }

  /** Sets the wall clock. */
  set(byMs: number): void {
    this.#aheadMs += byMs;
    this.#world.note(`a wall clock is set ${byMs > 0 ? "forward" : "back"} by ${Math.abs(byMs) / 1000} s`);
  }

  /** Freezes one process, or the whole computer with `asleep`. */
  freeze(how: Pause["how"]): void {
    if (how !== "asleep" || this.#asleepSince !== undefined) return;
    this.#asleepSince = this.#world.now;
    for (const life of this.#lives) life.freeze("asleep");
  }

  wake(life: Life): void {
    if (this.#asleepSince === undefined) {
      this.#wokeAt.set(life, this.#monotonic());
      life.wake();
      return;
    }
    this.#sleptMs += this.#world.now - this.#asleepSince;
    this.#asleepSince = undefined;
    for (const one of [...this.#lives]) one.wake();
    for (const start of this.#awaken.splice(0)) start();
  }

  #monotonic(): number {
    const asleepMs = this.#asleepSince === undefined ? 0 : this.#world.now - this.#asleepSince;
    return this.#world.now - this.#sleptMs - asleepMs;
  }

  /** Returns the clock of one process. Its timers end with the process. */
  clockOf(life: Life): Clock {
    const world = this.#world;
    const monotonic = () => this.#monotonic();
    return {
      now: () => world.now + this.#aheadMs,
      monotonic,
      wokeAt: () => this.#wokeAt.get(life) ?? Number.NEGATIVE_INFINITY,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (life.dead) return;
          if (signal?.aborted) return reject(signal.reason);
          const end = monotonic() + ms;
          const stop = () => {
            cancel();
            isOver = true;
            if (!life.dead) reject(signal?.reason);
          };
          let isOver = false;
          const ring = () => {
            if (isOver || life.dead) return;
            // The timer stopped while the computer slept.
            const leftMs = end - monotonic();
            if (leftMs > 1) {
              cancel = world.after(leftMs, () => life.onTimer(ring));
              return;
            }
            isOver = true;
            signal?.removeEventListener("abort", stop);
            resolve();
          };
          let cancel = world.after(ms, () => life.onTimer(ring));
          signal?.addEventListener("abort", stop, { once: true });
        }),
    };
  }
}
