/** Rules for counting the minute (§8), without a server: the requests that each rule accepts, and correct headers. */
import { describe, expect, test } from "vitest";
import { RateWindows } from "../../../src/sandbox/http/rate.ts";
import { PROFILE_SWITCHES } from "../../../src/sandbox/index.ts";
import { fc, runs } from "../../support/fc.ts";

const MINUTE = 60_000;

/** Gaps between requests, in milliseconds: bursts, and pauses of up to 70 seconds. */
const gaps = fc.array(
  fc.oneof(fc.constant(0), fc.integer({ max: 2_000, min: 1 }), fc.integer({ min: 2_000, max: 70_000 })),
  {
    minLength: 1,
    maxLength: 120,
  },
);
const limits = fc.integer({ min: 1, max: 12 });

interface Taken {
  at: number;
  exceeded: boolean;
  remaining: number;
  resetsAt: number;
}

function sent(rate: "fixed" | "sliding" | "bucket", limit: number, pauses: readonly number[]): Taken[] {
  const windows = new RateWindows(limit, rate);
  let at = 1_000_000;
  return pauses.map((pause) => {
    at += pause;
    const state = windows.take(1, at);
    if (state === undefined) throw new Error("there is a limit");
    const shown = windows.view({ id: 1, name: "agency", customer_id: 1 }, at);
    const resets_at = state.remaining === limit ? null : new Date(state.resetsAt).toISOString();
    expect(shown).toMatchObject({ limit, left: state.remaining, resets_at });
    return { at, exceeded: state.exceeded, remaining: state.remaining, resetsAt: state.resetsAt };
  });
}

/** Returns the number of accepted requests in the minute that begins at `from`. */
const within = (taken: readonly Taken[], from: number): number =>
  taken.filter(({ at, exceeded }) => !exceeded && at >= from && at < from + MINUTE).length;

/** Maximum number of accepted requests in any minute, as a multiple of the limit. */
const MOST = { fixed: 2, sliding: 1, bucket: 2 } as const;

describe.each(PROFILE_SWITCHES.rate)("rate=%s", (rate) => {
  test("accepts no more requests than its rule, and rejects no client that keeps the limit in every minute", () => {
    fc.assert(
      fc.property(limits, gaps, (limit, pauses) => {
        const taken = sent(rate, limit, pauses);
        for (const [index, { at, exceeded }] of taken.entries()) {
          expect(within(taken, at)).toBeLessThanOrEqual(limit * MOST[rate]);
          const before = taken.slice(0, index).filter((one) => !one.exceeded && one.at > at - MINUTE).length;
          if (before < limit) expect(exceeded).toBe(false);
          else if (rate === "sliding") expect(exceeded).toBe(true);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  test("has correct headers: the named number of requests is accepted at once, and one more at the named time", () => {
    fc.assert(
      fc.property(limits, gaps, (limit, pauses) => {
        const last = sent(rate, limit, pauses).at(-1);
        if (last === undefined) return;
        const burst = sent(rate, limit, [...pauses, ...Array.from({ length: limit + 1 }, () => 0)]);
        const more = burst.slice(pauses.length).filter(({ exceeded }) => !exceeded).length;
        expect(more).toBe(last.remaining);
        const { at, resetsAt } = burst.at(-1) ?? last;
        const spent = [...pauses, ...Array.from({ length: limit + 1 }, () => 0)];
        expect(sent(rate, limit, [...spent, resetsAt - at]).at(-1)?.exceeded).toBe(false);
        if (resetsAt - at > 1) expect(sent(rate, limit, [...spent, resetsAt - at - 1]).at(-1)?.exceeded).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });

  test("starts again if the clock is set back, or all windows are cleared", () => {
    const windows = new RateWindows(1, rate);
    expect([windows.take(1, MINUTE)?.exceeded, windows.take(1, MINUTE)?.exceeded]).toEqual([false, true]);
    expect(windows.take(1, 0)?.exceeded).toBe(false);
    windows.clear();
    expect(windows.take(1, 0)?.exceeded).toBe(false);
  });
});

describe("sixty a minute", () => {
  const minute = (rate: "fixed" | "sliding" | "bucket", late: number): number => {
    const windows = new RateWindows(60, rate);
    // Two bursts of sixty requests: one as late as possible in a minute, one as early as possible in the next minute.
    const times = [0, ...Array.from({ length: 59 }, () => late), ...Array.from({ length: 60 }, () => MINUTE)];
    return times.filter((at) => windows.take(1, at)?.exceeded === false).length;
  };
  test("a fixed window accepts two bursts around its end, a sliding window does not, a bucket accepts its refill", () => {
    expect(minute("fixed", 59_999)).toBe(120);
    expect(minute("sliding", 59_999)).toBe(61);
    expect(minute("bucket", 59_999)).toBe(61);
    // At 30 s the bucket is full again. After 59 requests it has one left, and it refills 30 by the next minute.
    expect(minute("bucket", 30_000)).toBe(1 + 59 + 31);
  });
});
