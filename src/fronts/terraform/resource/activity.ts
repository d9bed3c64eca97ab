/** Counts Terraform's calls to one provider process. By these counts, a waiting call detects that Terraform will start no further call. */
import type { Clock } from "../../../core/model/index.ts";

/** Pause in milliseconds. If Terraform starts no call during this pause, it waits for the running calls. */
const QUIET_MS = 1_000;

/** Shorter pause for a call that soon frees its worker. Terraform has ten workers by default. In milliseconds. */
const CROWDED_MS = 500;

/** Keys of objects that Terraform sends in any order. A call can wait for a key that has not arrived. */
export class Arrivals {
  readonly #come = new Map<string, PromiseWithResolvers<void>>();

  /** Registers an arrived key. */
  add(key: string): void {
    this.#of(key).resolve();
  }

  /** Waits for a key. @param ms maximum wait, in milliseconds. */
  wait(key: string, clock: Clock, ms: number): Promise<void> {
    return Promise.race([this.#of(key).promise, clock.sleep(ms)]);
  }

  #of(key: string): PromiseWithResolvers<void> {
    const come = this.#come.get(key) ?? Promise.withResolvers<void>();
    this.#come.set(key, come);
    return come;
  }
}

export class Activity {
  #running = 0;
  #arrived = 0;
  /** Number of calls in {@link isQuiet}. */
  #waiting = 0;
  #changed = Promise.withResolvers<void>();
  /** True if a call ended with an error. Terraform then skips the dependents of that call. */
  hasFailed = false;

  /** Runs a call, and counts it as running until its end. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#running++;
    this.#arrived++;
    try {
      return await call();
    } finally {
      this.#running--;
      this.#change();
    }
  }

  /**
   * Waits until all running calls are in this function and Terraform has started no call during {@link QUIET_MS}.
   * @param isMany true if many calls wait: ends after {@link CROWDED_MS} without a new call, even if other calls run.
   * @returns false if the signal ended the wait.
   */
  async isQuiet(clock: Clock, signal: AbortSignal, isMany = false): Promise<boolean> {
    const wake = () => this.#change();
    signal.addEventListener("abort", wake, { once: true });
    this.#waiting++;
    this.#change();
    try {
      while (!signal.aborted) {
        if (!isMany && this.#running > this.#waiting) {
          await this.#changed.promise;
          continue;
        }
        const arrived = this.#arrived;
        await clock.sleep(isMany ? CROWDED_MS : QUIET_MS, signal).catch(() => undefined);
        const isStill = arrived === this.#arrived && (isMany || this.#running <= this.#waiting);
        if (!signal.aborted && isStill) return true;
      }
      return false;
    } finally {
      this.#waiting--;
      signal.removeEventListener("abort", wake);
    }
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
