/**
 * A clock whose waits cost no real time. Its time advances only while the process is idle: it jumps to the end of the next
 * sleep when no request is in progress, except requests that their server delays, and no file is used. The same run
 * therefore always takes the same time.
 */
import diagnostics from "node:diagnostics_channel";
import type { Clock } from "../../core/model/index.ts";

interface Sleeper {
  readonly until: number;
  end(): void;
}

export interface IdleClock extends Clock {
  advance(ms: number): void;
  /** Total time of all sleeps, in milliseconds. */
  readonly slept: number;
  /** Delays a response of a server in this process. The clock does not wait for a delayed request. */
  delay(ms: number): Promise<void>;
  /** Ends the clock. */
  close(): void;
}

/** Number of turns of the event loop from a response to the start of the work that follows it. */
const TURNS = 4;

/** Returns true while this process uses a file, or connects. */
export const isBusy = (): boolean =>
  process.getActiveResourcesInfo().some((name) => /^(?:FSReq|CloseReq|TCPConnectWrap)/.test(name));

/**
 * Returns an idle clock.
 * @param isBeat Returns true for a sleep that advances no time, and ends when other sleeps have ended. Default: none.
 */
export function idleClock(start: number, isBeat: (ms: number) => boolean = () => false): IdleClock {
  let now = start;
  let slept = 0;
  const underWay = new Set<unknown>();
  let delayed = 0;
  let isRunning = false;
  const sleepers = new Set<Sleeper>();
  const beats = new Set<Sleeper>();
  // Keyed by request, because an earlier request may still end.
  const sent = (message: unknown) => void underWay.add((message as { request: unknown }).request);
  const over = (message: unknown) => void underWay.delete((message as { request: unknown }).request);
  const channels = [
    ["undici:request:create", sent],
    ["undici:request:trailers", over],
    ["undici:request:error", over],
  ] as const;
  for (const [name, listener] of channels) diagnostics.subscribe(name, listener);
  // A client that gave up leaves a delayed response without a request.
  const isCalm = () => underWay.size <= delayed && !isBusy();

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
      // Heartbeats advance no time.
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
