/** Terraform's calls to one process of the provider: a call that waits for another one must know whether that one can still come. */
import type { Clock } from "../../../core/model/index.ts";

/** No call arrives for this long: Terraform waits for the calls that are under way, in milliseconds. */
const QUIET_MS = 1_000;

/** The same for a call that should not keep its place among Terraform's ten, whatever the other calls do. */
const CROWDED_MS = 500;

/** Things that Terraform shows one after the other, in no order: a call may wait a moment for one that is still to come. */
export class Arrivals {
  readonly #come = new Map<string, PromiseWithResolvers<void>>();

  /** A thing is here. */
  add(key: string): void {
    this.#of(key).resolve();
  }

  /** Waits for a thing, at most the given time in milliseconds. */
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
  /** Calls that wait until it is quiet. */
  #waiting = 0;
  #changed = Promise.withResolvers<void>();
  /** A call ended with an error: Terraform does not begin what depends on it. */
  hasFailed = false;

  /** Runs a call. */
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
   * Waits in a call until every call under way waits like this one, and no other one has arrived for a while.
   * @param isMany too many wait already: this one waits only while calls arrive.
   * @returns false if the signal has ended the wait.
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
