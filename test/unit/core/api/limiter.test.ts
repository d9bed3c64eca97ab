import { describe, expect, it } from "vitest";
import { Limiter } from "../../../../src/core/api/limiter.ts";
import { rateHints } from "../../../../src/core/api/rate-hints.ts";
import fc from "../../../support/fc.ts";
import { LEDGERS } from "../../../support/ledgers.ts";
import { FakeClock } from "./support.ts";

const answer = (status: number, headers: Record<string, string> = {}) => ({ status, headers });

/** Returns the maximum number of events in any half-open period of 60 s. */
function busiestMinute(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(...sorted.map((from) => sorted.filter((time) => time >= from && time < from + 60_000).length));
}

describe.each(LEDGERS)("a ledger %s:", (_, newToken) => {
  function limiterOf(requestsPerMinute: number, clock = new FakeClock(), ledger = newToken()("a")) {
    return { limiter: new Limiter({ clock, random: () => 0, ledger, requestsPerMinute }), clock, ledger };
  }

  describe("60 requests per minute (§8), whatever the server's window", () => {
    const arrivals = fc.array(fc.integer({ min: 0, max: 4_000 }), { minLength: 1, maxLength: 120 });
    const latencies = fc.infiniteStream(fc.integer({ min: 0, max: 999 }));

    it("never sends more requests in any 60 s than allowed, and sends all of them in order", async () => {
      await fc.assert(
        fc.asyncProperty(arrivals, fc.integer({ min: 1, max: 60 }), latencies, async (gaps, limit, latency) => {
          const { limiter, clock } = limiterOf(limit);
          const sent: { caller: number; at: number }[] = [];
          let start = 0;
          await Promise.all(
            gaps.map(async (gap, caller) => {
              start += gap;
              await clock.sleep(start);
              await limiter.acquire();
              sent.push({ caller, at: clock.now() });
            }),
          );
          expect(sent.map(({ caller }) => caller)).toEqual(gaps.map((_, caller) => caller));
          expect(busiestMinute(sent.map(({ at }) => at + (latency.next().value ?? 0)))).toBeLessThanOrEqual(limit);
        }),
        { numRuns: 60 },
      );
    });

    it("is kept by two limiters that share a ledger, as two processes with one token do", async () => {
      const clock = new FakeClock();
      const token = newToken();
      const sent: number[] = [];
      await Promise.all(
        [limiterOf(10, clock, token("a")), limiterOf(10, clock, token("b"))].flatMap(({ limiter }) =>
          Array.from({ length: 15 }, async () => {
            await limiter.acquire();
            sent.push(clock.now());
          }),
        ),
      );
      expect(busiestMinute(sent)).toBe(10);
    });

    it("does not slow down requests within the budget", async () => {
      const { limiter, clock } = limiterOf(60);
      for (let i = 59; i >= 0; i--) {
        expect(await limiter.acquire()).toMatchObject({ booking: { waitedMs: 0, left: i } });
        limiter.answered();
      }
      expect(clock.waits).toEqual([]);
    });
  });

  describe("rate headers", () => {
    it("that contain a lower limit reduce it to the own share of that limit", async () => {
      const ledger = newToken()("a");
      const clock = new FakeClock();
      const limiter = new Limiter({ clock, random: () => 0, ledger, requestsPerMinute: 60, budgetShare: 0.25 });
      expect(limiter.limit).toBe(15);
      await limiter.learn(answer(200, { "x-ratelimit-limit": "30" }), clock.now());
      expect(limiter.limit).toBe(7);
      await limiter.learn(answer(200, { "x-ratelimit-limit": "3" }), clock.now());
      expect(limiter.limit).toBe(1);
    });
  });
});

describe("the limit in a response's headers: §8 specifies no header, so implausible values are ignored", () => {
  const NOW = Date.UTC(2026, 10, 21, 10, 0, 0);
  const AT_NOW = "Sat, 21 Nov 2026 10:00:00 GMT";
  const reset = (value: string | number) => ({ "x-ratelimit-reset": String(value) });
  it.each([
    [{}, {}],
    [{ "x-ratelimit-limit": "1" }, { limit: 1 }],
    [{ "x-ratelimit-limit": "0", "x-ratelimit-remaining": "1.5" }, {}],
    [{ "x-ratelimit-limit": "many", "x-ratelimit-remaining": "0" }, { remaining: 0 }],
    [reset(0), { resetMs: 0 }],
    [reset(3600), { resetMs: 3_600_000 }],
    [reset(3601), {}],
    [reset("1e3"), {}],
    [reset(NOW / 1000), { resetMs: 0 }],
    [reset(NOW), { resetMs: 0 }],
    [reset(NOW - 1), {}],
    [reset(NOW + 3_600_000), { resetMs: 60_000 }],
    [{ ...reset(NOW + 3_600_000), date: AT_NOW }, { resetMs: 3_600_000 }],
    [reset(NOW + 3_600_001), {}],
    [
      { "ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "9", "ratelimit-reset": "5" },
      { limit: 100, remaining: 9, resetMs: 5_000 },
    ],
    [{ ratelimit: "limit=100, remaining=9, reset=5" }, { limit: 100, remaining: 9, resetMs: 5_000 }],
    [
      { ratelimit: '"default";r=9;t=5', "ratelimit-policy": '"default";q=100;w=60' },
      { limit: 100, remaining: 9, resetMs: 5_000 },
    ],
    [{ "ratelimit-policy": '"burst";q=10;w=10,"daily";q=5000;w=86400' }, { limit: 60 }],
    [{ ratelimit: '"a";r=9;t=5, "b";r=1;t=50' }, { remaining: 9, resetMs: 5_000 }],
    [{ ratelimit: "many", "ratelimit-policy": "q;w=;=3" }, {}],
    [{ "ratelimit-policy": '"none";q=0;w=0' }, {}],
    [{ ratelimit: `"a";r=9${";x=y".repeat(1_000)}` }, {}],
    [{ "x-ratelimit-remaining": "7", "ratelimit-remaining": "9" }, { remaining: 7 }],
    [{ "retry-after": AT_NOW }, { retryAfterMs: 0 }],
    [{ "retry-after": "Sat, 21 Nov 2026 10:00:59 GMT" }, { retryAfterMs: 59_000 }],
    [{ "retry-after": "Sat, 21 Nov 2026 11:00:00 GMT" }, { retryAfterMs: 60_000 }],
    [{ "retry-after": "Sat, 21 Nov 2026 11:00:00 GMT", date: AT_NOW }, { retryAfterMs: 3_600_000 }],
    [{ "retry-after": "Sun, 21 Nov 2027 10:00:00 GMT" }, {}],
    [{ "retry-after": "Sun, 21 Nov 2027 10:00:00 GMT", date: AT_NOW }, {}],
    [{ "retry-after": AT_NOW, date: "Sat, some day" }, { retryAfterMs: 0 }],
    [{ "retry-after": AT_NOW, date: "10" }, { retryAfterMs: 0 }],
  ])("%o is %o", (headers, hints) => {
    expect(rateHints(headers, NOW)).toEqual(hints);
  });

  it("never requests a pause of more than a window if the host's clock is unknown, whatever the date", () => {
    const dates = fc.date({ noInvalidDate: true }).map((date) => date.toUTCString());
    const nonsense = fc.oneof(fc.string(), fc.constantFrom("-5", "-3600", "soon", "99999999999", "1e9", "Infinity"));
    const near = fc.integer({ min: -86_400, max: 86_400 }).map((s) => new Date(NOW + s * 1000).toUTCString());
    fc.assert(
      fc.property(fc.oneof(dates, near, nonsense), (value) => {
        fc.pre(!/^\s*\d{1,7}(\.\d{1,9})?\s*$/.test(value));
        const { retryAfterMs = 0 } = rateHints({ "retry-after": value }, NOW);
        expect(retryAfterMs).toBeGreaterThanOrEqual(0);
        expect(retryAfterMs).toBeLessThanOrEqual(60_000);
      }),
    );
  });
});
