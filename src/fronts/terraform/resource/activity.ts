/** Tracks Terraform's calls to one provider process: a call that waits for another must know whether the other can still arrive. */
import type { Clock } from "../../../core/model/index.ts";

/** Time without a new call after which Terraform waits for the running calls, in milliseconds. */
const QUIET_MS = 1_000;

/** The same time for a call that must free its place among Terraform's ten. */
const CROWDED_MS = 500;

/** Things that Terraform sends one after the other, in any order. A call may wait for a thing that has not arrived. */
export class Arrivals {
  readonly #come = new Map<string, PromiseWithResolvers<void>>();

  /** Adds a thing that arrived. */
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
  /** Calls that wait until no call arrives. */
  #waiting = 0;
  #changed = Promise.withResolvers<void>();
  /** A call ended with an error: Terraform does not begin its dependents. */
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
   * Waits until every running call waits in this function, and no new call has arrived for a time.
   * @param isMany too many calls wait already: wait only while calls arrive.
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
