import type { Clock } from "../model/index.ts";

/** A write that takes its turn, and what ends its wait. */
export interface WriteTurn {
  /** Longest wait, in milliseconds. Default: until it is its turn. */
  readonly withinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The requests of one client that change something. They leave side by side until the host refuses one because it is busy
 * (423, 503): from then on they leave one after another, first come, first served.
 */
export class WriteQueue {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  #isSerial = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on each write waits for the one before. */
  serialize(): void {
    this.#isSerial = true;
  }

  /** Waits for the turn of a write. @returns false if the turn does not come in time, or the signal is aborted. */
  async begin({ withinMs = Number.POSITIVE_INFINITY, signal }: WriteTurn = {}): Promise<boolean> {
    if (!this.#isSerial || this.#underWay === 0) {
      this.#underWay += 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const enter = () => resolve(true);
    const leave = () => resolve(false);
    this.#waiting.push(enter);
    const over = new AbortController();
    signal?.addEventListener("abort", leave, { once: true });
    if (signal?.aborted) leave();
    if (withinMs < Number.POSITIVE_INFINITY) void this.#clock.sleep(withinMs, over.signal).then(leave, () => {});
    const isIn = await promise;
    over.abort();
    signal?.removeEventListener("abort", leave);
    const at = this.#waiting.indexOf(enter);
    if (at >= 0) this.#waiting.splice(at, 1);
    // Its turn came after it had given up.
    else if (!isIn) this.end();
    return isIn;
  }

  /** A write is over: answered, or given up. */
  end(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#underWay += 1;
    next();
  }
}
