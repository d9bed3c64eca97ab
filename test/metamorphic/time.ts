/**
 * The time of a course. Commands in this process sleep no real time, and those in processes of their own run by a clock that
 * begins where this one stands and passes faster. The sandbox reads it with each request.
 */
import path from "node:path";
import type { Clock } from "../../src/core/model/index.ts";
import { testClock } from "../support/clock.ts";

const PRELOAD = path.resolve(import.meta.dirname, "../support/fast-clock.ts");

/** Milliseconds that pass in one of a process. */
const RATE = 30;

export class CourseTime implements Clock {
  readonly #clock = testClock(Date.now());
  #since: number | undefined;
  /** Called whenever the sandbox reads the time. */
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

  /** The same time for the sandbox. */
  get ofSandbox(): { now(): number } {
    return {
      now: () => {
        const now = this.now();
        this.onRead(now);
        return now;
      },
    };
  }

  /** Lets the clock run while processes run. @param work gets the environment that gives them this time. */
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
