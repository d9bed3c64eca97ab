import diagnostics from "node:diagnostics_channel";
import { getCallSites } from "node:util";
import { BEAT_MS } from "../../src/core/local/turn-queue.ts";
import type { Clock } from "../../src/core/model/index.ts";
import { RECORDING_MS, SUMMARY_MS } from "../../src/project/interrupt.ts";
import { isBusy } from "../../src/project/rehearse/idle-clock.ts";

/** Time at the start of every test. */
export const START = Date.parse("2026-11-21T10:00:00Z");

/**
 * Time limit of the client for one response, in milliseconds. The sandbox always responds, so a sleep of this length
 * is the client's watchdog. Only its signal ends it.
 */
const WATCHDOG_MS = 30_000;

/**
 * Functions that start watchdogs: of the client's transport, of a remote backend, and of a run that is stopped twice.
 * Bundles keep the names of functions, but not the names of files.
 */
const WATCHDOG_STARTERS = ["endAfter", "attemptOnce", "later"];

/** Returns true for a sleep that only its signal ends. A wait of the limiter or a back-off may have the same length. */
const isWatchdog = (ms: number) => {
  const names = getCallSites(8).map(({ functionName }) => functionName);
  const isLong = [WATCHDOG_MS, RECORDING_MS, SUMMARY_MS].includes(ms);
  // The end of a poll of jobs has any length.
  return names.includes("endLook") || (isLong && names.some((name) => WATCHDOG_STARTERS.includes(name)));
};

/** Returns true for a pause between heartbeats. It advances no time, and ends when other sleeps have ended. */
export const isBeat = (ms: number) =>
  ms === BEAT_MS && getCallSites(8).some(({ functionName }) => functionName === "keepBeating");

/** Minimum length of a sleep, in milliseconds, that would delay a recorded but unsent request too long. */
const LONG_MS = 1_000;

/**
 * Number of turns of the event loop without an opened file or connection after which no request is between its record
 * and its socket.
 */
const TURNS = 4;
/** Maximum number of turns for a request to the server of a state, which may never respond. */
const MOST_TURNS = 2_000;
/** Longest wait for a file or a connection, in milliseconds of real time. A busy machine needs long for a file. */
const LONGEST_USE_MS = 2_000;

/** Requests in progress to the server of a state. They write records, like files. */
const records = new Set<unknown>();
const recorded = (message: unknown) => void records.delete((message as { request: unknown }).request);
diagnostics.subscribe("undici:request:create", (message) => {
  const { request } = message as { request: { path: string } };
  if (!request.path.startsWith("/api/")) records.add(request);
});
for (const end of ["trailers", "error"]) diagnostics.subscribe(`undici:request:${end}`, recorded);

async function calm(): Promise<void> {
  const until = performance.now() + LONGEST_USE_MS;
  for (let turns = 0, all = 0; turns < TURNS && all < MOST_TURNS; turns++, all++) {
    await new Promise(setImmediate);
    if (isBusy() && performance.now() < until) turns = all = -1;
    else if (records.size > 0) turns = -1;
  }
}

/** A clock whose sleeps end at the next turn of the event loop, and advance the time. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Total time of all sleeps, in milliseconds. */
  readonly slept: number;
}

/** Returns a clock that each sleep sets back by twice its length. */
export function setBackClock(): TestClock {
  const clock = testClock();
  const sleep: Clock["sleep"] = (ms, signal) => {
    clock.advance(-2 * ms);
    return clock.sleep(ms, signal);
  };
  return { ...clock, sleep };
}

/**
 * Returns a test clock.
 * @param arrived Resolves when no request is in transit, before the time advances. Default: the time advances at once.
 */
export function testClock(start = START, arrived?: () => Promise<void>): TestClock {
  let now = start;
  /** The monotonic clock never moves backwards. */
  let monotonic = 0;
  let slept = 0;
  const beats = new Set<{ readonly until: number; readonly end: () => void }>();
  const pass = (ms: number) => {
    now += ms;
    monotonic += Math.max(0, ms);
    for (const beat of beats) if (beat.until <= monotonic) beat.end();
  };
  return {
    now: () => now,
    monotonic: () => monotonic,
    advance: pass,
    get slept() {
      return slept;
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        // The clock has whole milliseconds, like Date.now(). A sleep may have fractions.
        const until = Math.ceil(monotonic + ms);
        const beat = { until, end: () => beats.delete(beat) && resolve() };
        const stop = () => {
          beats.delete(beat);
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", stop, { once: true });
        if (isWatchdog(ms)) return;
        if (isBeat(ms)) return void beats.add(beat);
        const wake = () => {
          signal?.removeEventListener("abort", stop);
          // Parallel sleeps overlap: together they take as long as the longest sleep.
          const left = Math.max(0, until - monotonic);
          slept += left;
          pass(left);
          resolve();
        };
        if (arrived !== undefined) void arrived().then(wake);
        else if (ms < LONG_MS) setImmediate(wake);
        else void calm().then(wake);
      }),
  };
}
