/**
 * Limits how many changes of an apply send requests at the same time. A change that waits for a queued job frees its slot.
 * When all slots are free, one poll serves all queued jobs.
 */
export class Slots {
  #taken = 0;
  /** Resolved at the next {@link wake} or freed slot. */
  #change = Promise.withResolvers<void>();
  /** True if all running changes only wait. The promise is then resolved and replaced. */
  #isIdle = false;
  #idle = Promise.withResolvers<void>();

  get taken(): number {
    return this.#taken;
  }

  /** Resolves when a slot becomes free from now on, or at {@link wake}. */
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

  /** Frees the slot during a wait. */
  async beside<T>(wait: () => Promise<T>): Promise<T> {
    this.#free();
    try {
      return await wait();
    } finally {
      this.#take();
    }
  }

  /** Marks the run as idle: no change can take a slot now, or the run was stopped. */
  beIdle(): void {
    this.#isIdle = true;
    this.#idle.resolve();
    this.#idle = Promise.withResolvers();
  }

  /** Resolves when the run is idle. */
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
