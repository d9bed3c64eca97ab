/**
 * A clock for tests that measure how long something takes: time moves on only while nothing happens. It jumps to the end of
 * the next sleep when no request is under way but those that the sandbox keeps waiting, and no file is being written, so
 * that the same run always takes the same time.
 */
import diagnostics from "node:diagnostics_channel";
import { isBeat, START, type TestClock } from "./clock.ts";

interface Sleeper {
  readonly until: number;
  end(): void;
}

/** A clock, the `sleep` of its sandbox, and what ends both. */
export interface CalmClock extends TestClock {
  /** For the sandbox: the answer is delayed, and the request is as good as on its way. */
  delay(ms: number): Promise<void>;
  /** To be called at the end of the test. */
  close(): void;
}

/** So many turns of the event loop follow on an answer before what comes of it is under way. */
const TURNS = 4;

export function calmClock(start = START): CalmClock {
  let now = start;
  let slept = 0;
  const underWay = new Set<unknown>();
  let delayed = 0;
  let isRunning = false;
  const sleepers = new Set<Sleeper>();
  const beats = new Set<Sleeper>();
  // By request, because one of the test before may still end.
  const sent = (message: unknown) => void underWay.add((message as { request: unknown }).request);
  const over = (message: unknown) => void underWay.delete((message as { request: unknown }).request);
  const channels = [
    ["undici:request:create", sent],
    ["undici:request:trailers", over],
    ["undici:request:error", over],
  ] as const;
  for (const [name, listener] of channels) diagnostics.subscribe(name, listener);
  // A client that gave up leaves the sandbox with an answer that nobody awaits.
  const isCalm = () =>
    underWay.size <= delayed && !process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"));

  const run = async () => {
    isRunning = true;
    while (sleepers.size > 0) {
      for (let turns = 0; turns < TURNS; turns++) {
        await new Promise<void>((resolve) => void setImmediate(resolve));
        if (!isCalm()) turns = -1;
      }
      const [next] = [...sleepers].sort((a, b) => a.until - b.until);
      if (next === undefined) break;
      slept += Math.max(0, next.until - now);
      now = Math.max(now, next.until);
      next.end();
      // Signs of life move no time on.
      for (const beat of [...beats]) if (beat.until <= now) beat.end();
    }
    isRunning = false;
  };

  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const among = isBeat(ms) ? beats : sleepers;
      const stop = () => {
        among.delete(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        until: Math.ceil(now + ms),
        end() {
          among.delete(sleeper);
          signal?.removeEventListener("abort", stop);
          resolve();
        },
      };
      signal?.addEventListener("abort", stop, { once: true });
      among.add(sleeper);
      if (among === sleepers && !isRunning) void run();
    });

  return {
    now: () => now,
    monotonic: () => now,
    advance(ms) {
      now += ms;
    },
    get slept() {
      return slept;
    },
    sleep,
    async delay(ms) {
      delayed += 1;
      await sleep(ms);
      delayed -= 1;
    },
    close() {
      for (const [name, listener] of channels) diagnostics.unsubscribe(name, listener);
    },
  };
}
