/**
 * Clock of one generated test run. In this process, a sleep only advances the clock. Other processes start at the same
 * time, and their clock runs 30 times as fast. The sandbox reads the clock with each request.
 */
import path from "node:path";
import type { Clock } from "../../src/core/model/index.ts";
import { testClock } from "../support/clock.ts";

const PRELOAD = path.resolve(import.meta.dirname, "../support/fast-clock.ts");

/** Milliseconds of simulated time for each millisecond of a process. */
const RATE = 30;

export class CourseTime implements Clock {
  readonly #clock = testClock(Date.now());
  #since: number | undefined;
  /** Callback for each time that the sandbox reads. */
  onRead: (now: number) => void = () => undefined;

  monotonic(): number {
    return this.now();
  }

  now(): number {
    const real = this.#since === undefined ? 0 : (Date.now() - this.#since) * RATE;
    return this.#clock.now() + real;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }

  advance(ms: number): void {
    this.#clock.advance(ms);
  }

  /** Clock of the sandbox, with the same time. */
  get ofSandbox(): { now(): number } {
    return {
      now: () => {
        const now = this.now();
        this.onRead(now);
        return now;
      },
    };
  }

  /**
   * Runs the clock while `work` runs processes.
   * @param work Receives the environment variables that set the same clock in these processes.
   */
  async flowing<T>(work: (env: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
    const since = Date.now();
    this.#since = since;
    const at = this.#clock.now();
    try {
      return await work({ NODE_OPTIONS: `--import=${PRELOAD}`, HOSTFORM_CLOCK: `${RATE} ${since} ${at}` });
    } finally {
      const passed = (Date.now() - since) * RATE;
      this.#since = undefined;
      this.#clock.advance(passed);
    }
  }
}
