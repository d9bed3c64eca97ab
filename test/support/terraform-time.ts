/** Accelerated time for Terraform's provider, for tests that would take minutes because of the request budget. */
import path from "node:path";
import { type Clock, systemClock } from "../../src/core/model/index.ts";

const PRELOAD = path.join(import.meta.dirname, "fast-clock.ts");

/** Clock of the sandbox, and environment for the provider's processes with the same clock. */
export interface FastTime {
  readonly clock: Clock;
  /** Environment variables for Terraform. */
  readonly env: Readonly<Record<string, string>>;
}

/** @param rate Milliseconds of accelerated time for each real millisecond. */
export function fastTime(rate: number): FastTime {
  const since = Date.now();
  return {
    clock: {
      // A clock has whole milliseconds.
      now: () => since + Math.floor((Date.now() - since) * rate),
      monotonic: () => since + (Date.now() - since) * rate,
      sleep: (ms, signal) => systemClock.sleep(ms / rate, signal),
    },
    env: { NODE_OPTIONS: `--import=${PRELOAD}`, HOSTFORM_CLOCK: `${rate} ${since}` },
  };
}
