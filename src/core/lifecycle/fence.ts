import type { Fence } from "../api/index.ts";
import { type Clock, type ClockTimes, elapsedMs, momentOf } from "../model/index.ts";
import { FENCE_MS } from "./decide.ts";

/**
 * The fence of a request: it leaves within 5 s after its record, or not at all. A process that slept, was stopped or waited for
 * longer finds it closed, because another run may have taken the lock of the state, or the turn, since then.
 */
export class RecordFence implements Fence {
  readonly #clock: Clock;
  readonly #record: () => Promise<unknown>;
  readonly #isLockLost: () => boolean;
  #since: ClockTimes | undefined;

  /** @param record records the request, and proves the lock of the state. Durable when it resolves. */
  constructor(clock: Clock, record: () => Promise<unknown>, isLockLost: () => boolean) {
    this.#clock = clock;
    this.#record = record;
    this.#isLockLost = isLockLost;
  }

  async renew(): Promise<void> {
    // The time of the record itself counts.
    this.#since = momentOf(this.#clock);
    await this.#record();
  }

  leftMs(): number {
    if (this.#since === undefined || this.#isLockLost()) return 0;
    return Math.max(0, FENCE_MS - elapsedMs(this.#since, this.#clock));
  }
}
