/**
 * Limits how many changes of an apply send requests at the same time. A change that only waits for a queued job frees its slot.
 * Jobs are polled when all slots are free, once for all jobs.
 */
export class Slots {
  #taken = 0;
  /** Resolved when a slot becomes free. */
  #change = Promise.withResolvers<void>();
  /** True if only waiting changes remain. The promise is resolved and replaced when this begins. */
  #isIdle = false;
  #idle = Promise.withResolvers<void>();

  get taken(): number {
    return this.#taken;
  }

  /** Resolves when a slot becomes free from now on, or with {@link wake}. */
  change(): Promise<void> {
    this.#change = Promise.withResolvers();
    return this.#change.promise;
  }

  wake(): void {
    this.#change.resolve();
  }

  /** Runs work in a slot. */
  async during(work: () => Promise<void>): Promise<void> {
    this.#take();
    try {
      await work();
    } finally {
      this.#free();
    }
  }

  /** Runs a wait without a slot. */
  async beside<T>(wait: () => Promise<T>): Promise<T> {
    this.#free();
    try {
      return await wait();
    } finally {
      this.#take();
    }
  }

  /** Reports that no change can take a slot now, or that the run was stopped. */
  beIdle(): void {
    this.#isIdle = true;
    this.#idle.resolve();
    this.#idle = Promise.withResolvers();
  }

  /** Resolves when no change can take a slot. Resolves immediately if this is already true. */
  async idle(): Promise<void> {
    if (!this.#isIdle) await this.#idle.promise;
  }

  #take(): void {
    this.#taken += 1;
    this.#isIdle = false;
  }

  #free(): void {
    this.#taken -= 1;
    this.wake();
  }
}
