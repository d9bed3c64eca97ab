import type { Fence } from "../api/index.ts";
import { type Clock, type ClockTimes, elapsedMs, momentOf } from "../model/index.ts";
import { FENCE_MS } from "./decide.ts";

/**
 * Ensures that a request is sent within 5 s of its state entry, or never. After a longer pause of this process, another run
 * may have taken the state lock or the create lock.
 */
export class RecordFence implements Fence {
  readonly #clock: Clock;
  readonly #record: () => Promise<unknown>;
  readonly #isLockLost: () => boolean;
  #since: ClockTimes | undefined;

  /**
   * @param record Saves the state entry of the request and proves the state lock. The entry is durable when the promise
   * resolves.
   */
  constructor(clock: Clock, record: () => Promise<unknown>, isLockLost: () => boolean) {
    this.#clock = clock;
    this.#record = record;
    this.#isLockLost = isLockLost;
  }

  async renew(): Promise<void> {
    // The time to write the entry also counts.
    this.#since = momentOf(this.#clock);
    await this.#record();
  }

  leftMs(): number {
    if (this.#since === undefined || this.#isLockLost()) return 0;
    return Math.max(0, FENCE_MS - elapsedMs(this.#since, this.#clock));
  }
}
