/**
 * The slots of the changes of one apply that send, or are about to. One that only waits for a queued job leaves its slot to
 * others, and jobs are looked at when all slots are free: once for all of them.
 */
export class Slots {
  #taken = 0;
  /** Resolved when a slot is freed. */
  #change = Promise.withResolvers<void>();
  /** Nothing is left to be sent but by those that wait. The promise is resolved, and replaced, when that begins. */
  #isIdle = false;
  #idle = Promise.withResolvers<void>();

  get taken(): number {
    return this.#taken;
  }

  /** Resolves when a slot is freed from now on, or with {@link wake}. */
  change(): Promise<void> {
    this.#change = Promise.withResolvers();
    return this.#change.promise;
  }

  wake(): void {
    this.#change.resolve();
  }

  /** Works in a slot. */
  async during(work: () => Promise<void>): Promise<void> {
    this.#take();
    try {
      await work();
    } finally {
      this.#free();
    }
  }

  /** Waits without a slot. */
  async beside<T>(wait: () => Promise<T>): Promise<T> {
    this.#free();
    try {
      return await wait();
    } finally {
      this.#take();
    }
  }

  /** All slots are free, and nothing is left that could take one now; or the run was stopped. */
  beIdle(): void {
    this.#isIdle = true;
    this.#idle.resolve();
    this.#idle = Promise.withResolvers();
  }

  /** Resolves when that is so: at once if it is. */
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
