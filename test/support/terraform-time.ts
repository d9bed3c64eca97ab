/** Terraform's provider in a time that passes faster, for what takes minutes: the request budget. */
import path from "node:path";
import { type Clock, systemClock } from "../../src/core/model/index.ts";

const PRELOAD = path.join(import.meta.dirname, "fast-clock.ts");

/** A time that the sandbox and the provider's processes share. */
export interface FastTime {
  readonly clock: Clock;
  /** For the environment of Terraform. */
  readonly env: Readonly<Record<string, string>>;
}

/** @param rate how many milliseconds pass in one. */
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
