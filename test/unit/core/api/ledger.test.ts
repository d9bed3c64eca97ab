/** What every ledger keeps to, asked of the ledger itself; `limiter.test.ts` asks the same of a limiter that has one. */
import { describe, expect, it } from "vitest";
import type { Ledger } from "../../../../src/core/api/index.ts";
import { RollingWindow } from "../../../../src/core/api/ledger.ts";
import fc from "../../../support/fc.ts";
import { LEDGERS, type Token } from "../../../support/ledgers.ts";

const START = Date.UTC(2026, 10, 21, 10);
const FULL_WINDOW_MS = 61_000;

/** Books as many as may be booked at this moment. */
async function bookAll(ledger: Ledger, now: number, limit: number): Promise<number> {
  for (let booked = 0; ; booked++) if ((await ledger.reserve(now, limit)).waitMs > 0) return booked;
}

/** Processes that each send a number of requests and wait as long as the ledger says; who sent when. */
async function runAll(token: Token, limit: number, wanted: readonly { count: number; from: number }[]) {
  const sent: { who: number; at: number }[] = [];
  const waiting = wanted.map(({ count, from }, who) => ({
    who,
    left: count,
    at: from,
    ledger: token(`process ${who}`),
  }));
  for (;;) {
    const [next] = waiting.filter(({ left }) => left > 0).sort((a, b) => a.at - b.at || b.left - a.left);
    if (next === undefined) return sent;
    const { waitMs } = await next.ledger.reserve(START + next.at, limit);
    next.at += waitMs;
    if (waitMs > 0) continue;
    next.left -= 1;
    sent.push({ who: next.who, at: next.at });
  }
}

/** The most that were sent in any 61 s. */
function busiest(sent: readonly { readonly at: number }[]): number {
  return Math.max(
    ...sent.map(({ at: from }) => sent.filter(({ at }) => at >= from && at < from + FULL_WINDOW_MS).length),
  );
}

describe.each(LEDGERS)("a ledger %s", (name, newToken) => {
  it("books as many as may be sent in a minute, and says when the next may be", async () => {
    const ledger = newToken()("a");
    expect(await ledger.reserve(START, 3)).toEqual({ waitMs: 0, left: 2 });
    expect(await ledger.reserve(START + 1_000, 3)).toEqual({ waitMs: 0, left: 1 });
    expect(await ledger.reserve(START + 2_000, 3)).toEqual({ waitMs: 0, left: 0 });
    expect(await ledger.reserve(START + 3_000, 3)).toEqual({ waitMs: FULL_WINDOW_MS - 3_000, left: 0 });
    expect(await ledger.reserve(START + FULL_WINDOW_MS, 3)).toEqual({ waitMs: 0, left: 0 });
  });

  it("counts all processes with the token together", async () => {
    const token = newToken();
    expect(await bookAll(token("a"), START, 5)).toBe(5);
    expect(await token("b").reserve(START, 5)).toEqual({ waitMs: FULL_WINDOW_MS, left: 0 });
  });

  it("makes a pause one for all of them", async () => {
    const token = newToken();
    await token("a").pause(START + 30_000);
    expect(await token("b").reserve(START, 60)).toEqual({ waitMs: 30_000, left: 0 });
    await token("b").pause(START + 10_000);
    expect((await token("a").reserve(START, 60)).waitMs, "a shorter one does not end it").toBe(30_000);
    expect((await token("a").reserve(START + 30_000, 60)).waitMs).toBe(0);
  });

  it("counts what the server says that others have sent, until it forgets it", async () => {
    const token = newToken();
    await token("a").reserve(START, 10);
    await token("a").lower(START, 10, 2, START + 20_000);
    expect(await bookAll(token("b"), START, 10)).toBe(2);
    await token("a").lower(START, 10, 9, START + 20_000);
    expect(await bookAll(token("b"), START + 20_000, 10)).toBe(7);
  });

  it("forgets what the clock, set back, has put into the future", async () => {
    const token = newToken();
    await bookAll(token("a"), START, 5);
    await token("a").pause(START + 50_000);
    const yesterday = START - 86_400_000;
    expect((await token("b").reserve(yesterday, 5)).waitMs).toBeLessThanOrEqual(FULL_WINDOW_MS);
    expect(await bookAll(token("b"), yesterday + FULL_WINDOW_MS, 5)).toBe(5);
  });

  it("keeps a pause of an hour that the server asked for, but none that is longer", async () => {
    const ledger = newToken()("a");
    await ledger.pause(START + 3_600_000);
    expect((await ledger.reserve(START, 60)).waitMs).toBe(3_600_000);
    await ledger.pause(Number.MAX_SAFE_INTEGER);
    expect((await ledger.reserve(START, 60)).waitMs).toBe(3_600_000);
  });

  it("never books more than the limit in any window, however many processes ask, and serves all", async () => {
    const processes = fc.array(fc.record({ count: fc.nat({ max: 90 }), from: fc.nat({ max: 90_000 }) }), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(processes, fc.integer({ min: 1, max: 60 }), async (wanted, limit) => {
        const sent = await runAll(newToken(), limit, wanted);
        expect(sent).toHaveLength(wanted.reduce((sum, { count }) => sum + count, 0));
        if (sent.length > 0) expect(busiest(sent)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 40 },
    );
  });

  it("never books more than the limit in any window when clocks, limits, pauses and the server's words vary", async () => {
    const who = fc.nat({ max: 2 });
    const step = fc.oneof(
      fc.record({ what: fc.constant("reserve" as const), who, after: fc.nat({ max: 20_000 }) }),
      fc.record({ what: fc.constant("pause" as const), who, after: fc.nat({ max: 100_000 }) }),
      fc.record({ what: fc.constant("lower" as const), who, after: fc.nat({ max: 60 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), fc.integer({ min: 1, max: 20 }), async (steps, limit) => {
        const token = newToken();
        const ledgers = ["a", "b", "c"].map(token);
        const sent: { at: number }[] = [];
        let now = START;
        for (const { what, who: at, after } of steps) {
          const ledger = ledgers[at] as Ledger;
          if (what === "pause") await ledger.pause(now + after);
          else if (what === "lower") await ledger.lower(now, limit, after, now + 60_000);
          else {
            now += after;
            const { waitMs } = await ledger.reserve(now, limit);
            if (waitMs === 0) sent.push({ at: now });
            expect(waitMs).toBeLessThanOrEqual(100_000);
          }
        }
        if (sent.length > 0) expect(busiest(sent)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 40 },
    );
  });

  if (name === "on disk") {
    it("gives each process its part of the minute, however much another wants to send", async () => {
      // The process with most left to send asks first, each time: the worst that can happen to the others.
      const sent = await runAll(newToken(), 60, [
        { count: 300, from: 0 },
        { count: 30, from: 1_000 },
        { count: 10, from: 2_000 },
      ]);
      const last = (who: number) => Math.max(...sent.filter((one) => one.who === who).map(({ at }) => at));
      expect(last(2), "a few requests have to wait for one window").toBeLessThan(FULL_WINDOW_MS + 5_000);
      expect(last(1), "30 fit in two, with a third of the minute each").toBeLessThan(2 * FULL_WINDOW_MS + 5_000);
      const least = (Math.ceil(340 / 60) - 1) * FULL_WINDOW_MS;
      expect(last(0), "and nothing of the minute is lost").toBeLessThan(least + 6_000);
    });

    it("keeps the turn of one who does not come for a second, not longer", async () => {
      const token = newToken();
      const [busy, gone] = [token("busy"), token("gone")];
      await bookAll(busy, START, 60);
      await gone.reserve(START + 1, 60);
      expect(await bookAll(busy, START + FULL_WINDOW_MS, 60), "half of them").toBe(30);
      expect(await bookAll(busy, START + FULL_WINDOW_MS + 1_000, 60), "the other half").toBe(30);
    });
  }
});

describe("a window that was written down", () => {
  it("is the same when it is read", async () => {
    const window = new RollingWindow();
    for (let i = 0; i < 5; i++) window.reserve(START + i, 4, "a");
    window.pause(START + 5_000);
    const text = JSON.stringify(window);
    expect(JSON.stringify(RollingWindow.parse(text))).toBe(text);
    expect(RollingWindow.parse(text).reserve(START + 6_000, 5, "b")).toEqual(window.reserve(START + 6_000, 5, "b"));
  });

  it("counts for what is understood of it, whatever it is", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.json(), fc.string()),
        fc.record({ bookings: fc.jsonValue(), waiting: fc.jsonValue() }),
        (a, b) => {
          for (const text of [a, JSON.stringify(b)])
            expect(RollingWindow.parse(text).reserve(START, 60, "a").waitMs).toBeLessThanOrEqual(FULL_WINDOW_MS);
        },
      ),
    );
    expect(
      RollingWindow.parse('{"bookings":[[1,"a"],["x"],7],"waiting":[[]],"pausedUntil":"soon"}').reserve(START, 1, "a"),
    ).toEqual({
      waitMs: 0,
      left: 0,
    });
  });
});
