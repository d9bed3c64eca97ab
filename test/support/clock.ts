import { getCallSites } from "node:util";
import type { Clock } from "../../src/core/model/index.ts";
import { RECORDING_MS, SUMMARY_MS } from "../../src/project/interrupt.ts";

/** The time at the start of every test. */
export const START = Date.parse("2026-11-21T10:00:00Z");

/**
 * The longest that the client waits for one answer. The sandbox always answers, so a sleep of just this length is the
 * client's watchdog, which is not to bark: it ends only by its signal.
 */
const WATCHDOG_MS = 30_000;

/**
 * Functions that start watchdogs: of the client's transport, of a remote backend, of a run that is stopped twice. Bundles keep the
 * names of functions, and the names of files are lost.
 */
const WATCHDOG_STARTERS = ["endAfter", "attemptOnce", "later"];

/** Returns true for a sleep that only its signal ends. A wait of the limiter or a back-off may by chance be as long. */
const isWatchdog = (ms: number) =>
  [WATCHDOG_MS, RECORDING_MS, SUMMARY_MS].includes(ms) &&
  getCallSites(8).some(({ functionName }) => WATCHDOG_STARTERS.includes(functionName));

/** A sleep of this length, in milliseconds, would make a request late that is recorded and not yet written. */
const LONG_MS = 1_000;

/** So many turns of the event loop without a file or a connection being opened: no request is between its record and its socket. */
const TURNS = 4;
const MOST_TURNS = 2_000;

async function calm(): Promise<void> {
  const isBusy = (name: string) => name.startsWith("FSReq") || name === "TCPConnectWrap";
  for (let turns = 0, all = 0; turns < TURNS && all < MOST_TURNS; turns++, all++) {
    await new Promise(setImmediate);
    if (process.getActiveResourcesInfo().some(isBusy)) turns = -1;
  }
}

/** A clock whose sleeps are over at the next turn of the event loop, and have moved the time on by then. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Milliseconds slept through so far. */
  readonly slept: number;
}

/** @param arrived resolves when no request is on its way, before time passes. Default: time passes at once. */
export function testClock(start = START, arrived?: () => Promise<void>): TestClock {
  let now = start;
  let slept = 0;
  return {
    now: () => now,
    monotonic: () => now,
    advance: (ms) => {
      now += ms;
    },
    get slept() {
      return slept;
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        // A clock has whole milliseconds, as Date.now() has; a sleep need not.
        const until = Math.ceil(now + ms);
        const stop = () => reject(signal?.reason);
        signal?.addEventListener("abort", stop, { once: true });
        if (isWatchdog(ms)) return;
        const pass = () => {
          signal?.removeEventListener("abort", stop);
          // Sleeps side by side overlap: together they take as long as the longest.
          slept += Math.max(0, until - now);
          now = Math.max(now, until);
          resolve();
        };
        if (arrived !== undefined) void arrived().then(pass);
        else if (ms < LONG_MS) setImmediate(pass);
        else void calm().then(pass);
      }),
  };
}
