import type { Clock } from "../model/index.ts";

/** Limits for the wait of a write. */
export interface WriteTurn {
  /** Maximum wait, in milliseconds. Default: unlimited. */
  readonly withinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Queue of a client's mutations. The client sends mutations concurrently until the host rejects one because it is busy (423, 503). From
 * then on, the client sends them one after another, in the order of their requests.
 */
export class WriteQueue {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  #isSerial = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Makes each later write wait for the end of the previous write. */
  serialize(): void {
    this.#isSerial = true;
  }

  /** Waits for the turn of a write. @returns false if the maximum wait is over, or the signal is aborted. */
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
    // If the turn began after the end of the wait, give the turn to the next write.
    else if (!isIn) this.end();
    return isIn;
  }

  /** Ends a write: its response arrived, or it was cancelled. */
  end(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#underWay += 1;
    next();
  }
}
