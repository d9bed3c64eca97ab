import diagnostics from "node:diagnostics_channel";
import { getCallSites } from "node:util";
import { BEAT_MS } from "../../src/core/local/turn-queue.ts";
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
const isWatchdog = (ms: number) => {
  const names = getCallSites(8).map(({ functionName }) => functionName);
  const isLong = [WATCHDOG_MS, RECORDING_MS, SUMMARY_MS].includes(ms);
  // The end of a look at jobs has any length.
  return names.includes("endLook") || (isLong && names.some((name) => WATCHDOG_STARTERS.includes(name)));
};

/** Returns true for a pause between signs of life: it moves no time on, and ends when other sleeps have. */
export const isBeat = (ms: number) =>
  ms === BEAT_MS && getCallSites(8).some(({ functionName }) => functionName === "keepBeating");

/** A sleep of this length, in milliseconds, would make a request late that is recorded and not yet written. */
const LONG_MS = 1_000;

/** So many turns of the event loop without a file or a connection being opened: no request is between its record and its socket. */
const TURNS = 4;
const MOST_TURNS = 2_000;

/** Requests under way to the server of a state: a record, as a file is. */
const records = new Set<unknown>();
const recorded = (message: unknown) => void records.delete((message as { request: unknown }).request);
diagnostics.subscribe("undici:request:create", (message) => {
  const { request } = message as { request: { path: string } };
  if (!request.path.startsWith("/api/")) records.add(request);
});
for (const end of ["trailers", "error"]) diagnostics.subscribe(`undici:request:${end}`, recorded);

async function calm(): Promise<void> {
  const isBusy = (name: string) => name.startsWith("FSReq") || name === "TCPConnectWrap";
  for (let turns = 0, all = 0; turns < TURNS && all < MOST_TURNS; turns++, all++) {
    await new Promise(setImmediate);
    if (records.size > 0 || process.getActiveResourcesInfo().some(isBusy)) turns = -1;
  }
}

/** A clock whose sleeps are over at the next turn of the event loop, and have moved the time on by then. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Milliseconds slept through so far. */
  readonly slept: number;
}

/** A clock that is set back with each sleep, by twice its time. */
export function setBackClock(): TestClock {
  const clock = testClock();
  const sleep: Clock["sleep"] = (ms, signal) => {
    clock.advance(-2 * ms);
    return clock.sleep(ms, signal);
  };
  return { ...clock, sleep };
}

/** @param arrived resolves when no request is on its way, before time passes. Default: time passes at once. */
export function testClock(start = START, arrived?: () => Promise<void>): TestClock {
  let now = start;
  /** A clock that is set back has slept through no time. */
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
        // A clock has whole milliseconds, as Date.now() has; a sleep need not.
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
          // Sleeps side by side overlap: together they take as long as the longest.
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
