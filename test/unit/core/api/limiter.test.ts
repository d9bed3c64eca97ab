import { describe, expect, it } from "vitest";
import { Limiter, PauseTooLong } from "../../../../src/core/api/limiter.ts";
import { rateHints } from "../../../../src/core/api/rate-hints.ts";
import fc from "../../../support/fc.ts";
import { LEDGERS } from "../../../support/ledgers.ts";
import { FakeClock } from "./support.ts";

const answer = (status: number, headers: Record<string, string> = {}) => ({ status, headers });

/** The most events in any 60 s, half-open. */
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

    it("never has more requests arrive in any 60 s than allowed, and lets all of them through in order", async () => {
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

    it("holds for two limiters that share a ledger, as two processes with one token do", async () => {
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

    it("does not slow down what is within the budget", async () => {
      const { limiter, clock } = limiterOf(60);
      for (let i = 59; i >= 0; i--) {
        expect(await limiter.acquire()).toMatchObject({ booking: { waitedMs: 0, left: i } });
        limiter.answered();
      }
      expect(clock.waits).toEqual([]);
    });

    it("does not lock the token when the clock is set back", async () => {
      const ledger = newToken()("a");
      await ledger.reserve(10_000_000, 1);
      expect((await ledger.reserve(0, 1)).waitMs).toBeLessThanOrEqual(61_000);
    });
  });

  describe("waiting", () => {
    it("can be aborted without disturbing those behind", async () => {
      const { limiter, clock } = limiterOf(1);
      await limiter.acquire();
      const gate = new AbortController();
      const second = limiter.acquire(gate.signal);
      const third = limiter.acquire();
      gate.abort(new Error("stop"));
      await expect(second).rejects.toThrow("stop");
      await expect(third).resolves.toMatchObject({ booking: { left: 0 } });
      expect(clock.now() - new FakeClock().now()).toBe(61_000);
    });

    it("for a place within some seconds ends at once when one before it in the queue waits for longer", async () => {
      const { limiter, clock } = limiterOf(1);
      await limiter.acquire();
      const first = limiter.acquire();
      const queued = limiter.acquire(undefined, undefined, 5_000);
      const before = clock.now();
      expect(await queued).toBeUndefined();
      expect(clock.now() - before).toBeLessThan(5_000);
      await expect(first).resolves.toBeDefined();
    });

    it("can be aborted while still queued behind another", async () => {
      const { limiter } = limiterOf(1);
      await limiter.acquire();
      const first = limiter.acquire();
      const gate = new AbortController();
      const queued = limiter.acquire(gate.signal);
      const last = limiter.acquire();
      gate.abort(new Error("stop"));
      await expect(queued).rejects.toThrow("stop");
      await Promise.all([first, last]);
    });
  });

  describe("a 429", () => {
    const pauses: { headers: Record<string, string>; ms: number; why: string }[] = [
      { headers: { "retry-after": "30" }, ms: 30_250, why: "seconds, and a little more because servers round" },
      { headers: { "retry-after": "0" }, ms: 1_250, why: "no pause at all would be refused again" },
      { headers: { "retry-after": "Sat, 21 Nov 2026 10:00:20 GMT" }, ms: 20_250, why: "an HTTP date" },
      {
        headers: { "retry-after": "Sat, 21 Nov 2026 09:00:20 GMT", date: "Sat, 21 Nov 2026 09:00:00 GMT" },
        ms: 20_250,
        why: "a date is counted from the server's own clock",
      },
      { headers: { "retry-after": "Sat, 21 Nov 2026 09:00:00 GMT" }, ms: 5_250, why: "a date gone by says nothing" },
      { headers: { "retry-after": "soon" }, ms: 5_250, why: "what cannot be read says nothing" },
      { headers: { "retry-after": "-5" }, ms: 5_250, why: "what makes no sense says nothing" },
      { headers: {}, ms: 5_250, why: "no header at all" },
      {
        headers: { "x-ratelimit-reset": String(Date.UTC(2026, 10, 21, 10, 0, 40) / 1000) },
        ms: 40_250,
        why: "epoch seconds",
      },
      {
        headers: { "x-ratelimit-reset": String(Date.UTC(2026, 10, 21, 10, 0, 40)) },
        ms: 40_250,
        why: "epoch milliseconds",
      },
      { headers: { "x-ratelimit-reset": "40" }, ms: 40_250, why: "seconds from now" },
      { headers: { "x-ratelimit-reset": "1" }, ms: 1_250, why: "a moment" },
      { headers: { "x-ratelimit-reset": "1000000000" }, ms: 5_250, why: "an epoch long gone says nothing" },
      {
        headers: { "retry-after": "10", "x-ratelimit-reset": "50" },
        ms: 10_250,
        why: "Retry-After is the plainer word",
      },
    ];
    for (const { headers, ms, why } of pauses) {
      it(`with ${JSON.stringify(headers)} pauses everyone for ${ms} ms: ${why}`, async () => {
        const { limiter, ledger, clock } = limiterOf(60);
        await limiter.learn(answer(429, headers), clock.now());
        expect(await ledger.reserve(clock.now(), 60)).toMatchObject({ waitMs: ms, left: 0 });
        expect((await limiter.acquire())?.booking.waitedMs).toBe(ms);
      });
    }

    it("that several requests under way get together counts once", async () => {
      const { limiter, clock } = limiterOf(60);
      const sentAt = clock.now();
      for (let i = 0; i < 6; i++) await limiter.learn(answer(429), sentAt);
      expect((await limiter.acquire())?.booking.waitedMs).toBe(5_250);
    });

    it("that asks for more than two minutes is reported rather than waited for", async () => {
      const { limiter, clock } = limiterOf(60);
      await limiter.learn(answer(429, { "retry-after": "3600" }), clock.now());
      await expect(limiter.acquire()).rejects.toThrow(PauseTooLong);
    });
  });

  describe("rate headers", () => {
    const left = async (headers: Record<string, string>, limit = 60) => {
      const { limiter, clock } = limiterOf(limit);
      await limiter.acquire();
      await limiter.learn(answer(200, headers), clock.now());
      const { waitedMs = 0, left: more } = (await limiter.acquire())?.booking ?? {};
      return waitedMs > 0 ? -waitedMs : more;
    };
    const table: { headers: Record<string, string>; left: number; why: string }[] = [
      { headers: {}, left: 58, why: "without headers the own window counts" },
      { headers: { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59" }, left: 58, why: "the server agrees" },
      { headers: { "x-ratelimit-remaining": "10" }, left: 9, why: "others use the token: their requests count" },
      { headers: { "x-ratelimit-remaining": "900" }, left: 58, why: "more than ours is not believed" },
      { headers: { "x-ratelimit-limit": "1000" }, left: 58, why: "never more than 60" },
      { headers: { "x-ratelimit-limit": "10" }, left: 8, why: "a lower limit is obeyed" },
      {
        headers: { "x-ratelimit-limit": "0", "x-ratelimit-remaining": "many" },
        left: 58,
        why: "odd values are ignored",
      },
      { headers: { "x-ratelimit-limit": "-1", "x-ratelimit-reset": "never" }, left: 58, why: "odd values are ignored" },
      {
        headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "12" },
        left: -12_000,
        why: "none left until the reset",
      },
      {
        headers: { "x-ratelimit-remaining": "0" },
        left: -60_000,
        why: "none left, and no word of when: a whole window",
      },
    ];
    it("that name a limit lower it to the own share of that", async () => {
      const ledger = newToken()("a");
      const clock = new FakeClock();
      const limiter = new Limiter({ clock, random: () => 0, ledger, requestsPerMinute: 60, budgetShare: 0.25 });
      expect(limiter.limit).toBe(15);
      await limiter.learn(answer(200, { "x-ratelimit-limit": "30" }), clock.now());
      expect(limiter.limit).toBe(7);
      await limiter.learn(answer(200, { "x-ratelimit-limit": "3" }), clock.now());
      expect(limiter.limit).toBe(1);
    });

    for (const { headers, left: expected, why } of table) {
      it(`${JSON.stringify(headers)}: ${why}`, async () => {
        expect(await left(headers)).toBe(expected);
      });
    }
  });
});

describe("the limit as an answer reports it: no header is specified (§8), so values that make no sense are ignored", () => {
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
    [reset(NOW + 3_600_000), { resetMs: 3_600_000 }],
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
    [{ "retry-after": AT_NOW, date: "Sat, some day" }, { retryAfterMs: 0 }],
    [{ "retry-after": AT_NOW, date: "10" }, { retryAfterMs: 0 }],
  ])("%o is %o", (headers, hints) => {
    expect(rateHints(headers, NOW)).toEqual(hints);
  });
});
