/**
 * Requirements of every ledger, tested on the ledger itself. `limiter.test.ts` tests the same requirements on a
 * limiter with a ledger.
 */
import { describe, expect, it } from "vitest";
import type { Acceptance, Ledger, Refusal } from "../../../../src/core/api/index.ts";
import { RollingWindow } from "../../../../src/core/local/rolling-window.ts";
import fc, { runs } from "../../../support/fc.ts";
import { LEDGERS, type Token } from "../../../support/ledgers.ts";

const START = Date.UTC(2026, 10, 21, 10);
const FULL_WINDOW_MS = 61_000;

/** Reserves as many requests as the ledger allows at this moment. Returns their number. */
async function bookAll(ledger: Ledger, now: number, limit: number): Promise<number> {
  for (let booked = 0; ; booked++) if ((await ledger.reserve(now, limit)).waitMs > 0) return booked;
}

/**
 * Runs processes that each send a number of requests and wait as the ledger requires. Returns the sender and time of
 * each request.
 */
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

/** A refusal that asks for a pause until a moment. */
const refusal = (now: number, until: number): Refusal => ({
  now,
  sentAt: now,
  limit: 60,
  askedMs: until - now,
  marginMs: 0,
  isCounted: true,
});

/** A response that reports the host's remaining requests. */
const remains = (now: number, limit: number, remaining: number, until: number): Acceptance => ({
  now,
  sentAt: now,
  limit,
  budget: { remaining, until },
});

/** Returns the maximum number of requests in any 61 s. */
function busiest(sent: readonly { readonly at: number }[]): number {
  return Math.max(
    ...sent.map(({ at: from }) => sent.filter(({ at }) => at >= from && at < from + FULL_WINDOW_MS).length),
  );
}

describe.each(LEDGERS)("a ledger %s", (name, newToken) => {
  it("books the limit of a minute and returns the wait for the next request", async () => {
    const ledger = newToken()("a");
    expect(await ledger.reserve(START, 3)).toMatchObject({ waitMs: 0, left: 2 });
    expect(await ledger.reserve(START + 1_000, 3)).toMatchObject({ waitMs: 0, left: 1 });
    expect(await ledger.reserve(START + 2_000, 3)).toMatchObject({ waitMs: 0, left: 0 });
    expect(await ledger.reserve(START + 3_000, 3)).toMatchObject({ waitMs: FULL_WINDOW_MS - 3_000, left: 0 });
    expect(await ledger.reserve(START + FULL_WINDOW_MS, 3)).toMatchObject({ waitMs: 0, left: 0 });
  });

  it("applies a pause to all clients", async () => {
    const token = newToken();
    await token("a").refuse(refusal(START, START + 30_000));
    expect(await token("b").reserve(START, 60)).toMatchObject({ waitMs: 30_000, left: 0 });
    await token("b").refuse(refusal(START, START + 10_000));
    expect((await token("a").reserve(START, 60)).waitMs, "a shorter one does not end it").toBe(30_000);
    expect((await token("a").reserve(START + 30_000, 60)).waitMs).toBe(0);
  });

  it("counts the requests of other clients from rate headers until the window ends", async () => {
    const token = newToken();
    await token("a").reserve(START, 10);
    await token("a").accept(remains(START, 10, 2, START + 20_000));
    expect(await bookAll(token("b"), START, 10)).toBe(2);
    await token("a").accept(remains(START, 10, 9, START + 20_000));
    expect(await bookAll(token("b"), START + 20_000, 10)).toBe(7);
  });

  it.each([50_000, 3_600_000, 86_400_000])(
    "drops entries in the future after the clock was set back, even a pause of %d ms",
    async (pauseMs) => {
      const token = newToken();
      await bookAll(token("a"), START, 5);
      await token("a").reserve(START, 5);
      await token("a").refuse(refusal(START, START + pauseMs));
      const before = START - 4_000 * 86_400_000;
      const { waitMs, why } = await token("b").reserve(before, 5);
      expect(waitMs).toBeLessThanOrEqual(FULL_WINDOW_MS);
      expect(why?.askedMs).toBeLessThanOrEqual(FULL_WINDOW_MS);
      expect((await token("b").reserve(before + FULL_WINDOW_MS, 5)).waitMs).toBe(0);
    },
  );

  it("keeps a requested pause of one hour and shortens a longer one", async () => {
    const ledger = newToken()("a");
    await ledger.refuse(refusal(START, START + 3_600_000));
    expect((await ledger.reserve(START, 60)).waitMs).toBe(3_600_000);
    await ledger.refuse(refusal(START, Number.MAX_SAFE_INTEGER));
    expect((await ledger.reserve(START, 60)).waitMs).toBe(3_600_000);
  });

  it("never books more than the limit in any window with varying clocks, limits, pauses and rate headers", async () => {
    const who = fc.nat({ max: 2 });
    const step = fc.oneof(
      fc.record({ what: fc.constant("reserve" as const), who, after: fc.nat({ max: 20_000 }) }),
      fc.record({ what: fc.constant("refuse" as const), who, after: fc.nat({ max: 100_000 }) }),
      fc.record({ what: fc.constant("accept" as const), who, after: fc.nat({ max: 60 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), fc.integer({ min: 1, max: 20 }), async (steps, limit) => {
        const token = newToken();
        const ledgers = ["a", "b", "c"].map(token);
        const sent: { at: number }[] = [];
        let now = START;
        for (const { what, who: at, after } of steps) {
          const ledger = ledgers[at] as Ledger;
          if (what === "refuse") await ledger.refuse({ ...refusal(now, now + after), isCounted: after % 2 === 0 });
          else if (what === "accept") await ledger.accept(remains(now, limit, after, now + 60_000));
          else {
            now += after;
            const { waitMs } = await ledger.reserve(now, limit);
            if (waitMs === 0) sent.push({ at: now });
            expect(waitMs).toBeLessThanOrEqual(100_000);
          }
        }
        if (sent.length > 0) expect(busiest(sent)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: runs(40) },
    );
  });

  if (name === "on disk") {
    it("gives each process its part of the minute, whatever another process requests", async () => {
      // The process with the most remaining requests always asks first, which is the worst case for the others.
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

    it("keeps the place of an absent client for one second", async () => {
      const token = newToken();
      const [busy, gone] = [token("busy"), token("gone")];
      await bookAll(busy, START, 60);
      await gone.reserve(START + 1, 60);
      expect(await bookAll(busy, START + FULL_WINDOW_MS, 60), "half of them").toBe(30);
      expect(await bookAll(busy, START + FULL_WINDOW_MS + 1_000, 60), "the other half").toBe(30);
    });
  }
});

describe("a request that leaves later than it was booked", () => {
  it("counts from the time of its sending, because the host counts it then", () => {
    const window = new RollingWindow();
    for (let nth = 0; nth < 2; nth++) window.reserve(START, 2, "a");
    window.accept({ now: START + 4_100, sentAt: START + 4_000, limit: 2 });
    expect(window.reserve(START + 5_000, 2, "a")).toMatchObject({ waitMs: FULL_WINDOW_MS - 5_000 });
    expect(window.reserve(START + FULL_WINDOW_MS, 2, "a")).toMatchObject({ waitMs: 0 });
    expect(window.reserve(START + FULL_WINDOW_MS, 2, "a")).toMatchObject({ waitMs: 4_000 });
  });

  it("counts until a minute after a slow response, because it may have arrived as late as that", () => {
    const window = new RollingWindow();
    window.reserve(START, 1, "a");
    window.accept({ now: START + 3_000, sentAt: START, limit: 1 });
    expect(window.reserve(START + 5_000, 1, "a")).toMatchObject({ waitMs: 58_000 });
  });

  it("counts among the accepted requests that a refusal teaches", () => {
    const window = new RollingWindow();
    for (let at = 0; at < 10; at++) {
      window.reserve(START + at * 100, 60, "a");
      window.accept({ now: START + at * 100 + 20, sentAt: START + at * 100 + 7, limit: 60 });
    }
    expect(JSON.stringify(window)).not.toContain('"none"');
  });
});

describe("a stored window", () => {
  it("is equal after a read", async () => {
    const window = new RollingWindow();
    for (let i = 0; i < 5; i++) window.reserve(START + i, 4, "a");
    window.refuse(refusal(START, START + 5_000));
    const text = JSON.stringify(window);
    expect(JSON.stringify(RollingWindow.parse(text))).toBe(text);
    expect(RollingWindow.parse(text).reserve(START + 6_000, 5, "b")).toEqual(window.reserve(START + 6_000, 5, "b"));
  });

  it("ignores invalid parts of any JSON", () => {
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
    ).toMatchObject({
      waitMs: 0,
      left: 0,
    });
  });
});

describe("the pause after a refusal", () => {
  type Asked = Pick<Refusal, "askedMs">;
  const refused = (window: RollingWindow, now: number, asked: Asked = {}, sentAt = now) =>
    window.refuse({ now, sentAt, limit: 60, marginMs: 250, isCounted: true, ...asked });
  /** Returns the end of the pause, in milliseconds from the start. */
  const pausedUntil = (window: RollingWindow) => window.toJSON().pausedUntil - START;

  const asks = (seconds: number): Asked => ({ askedMs: seconds * 1_000 });
  it.each<[string, readonly Asked[], readonly number[]]>([
    [
      "without a requested pause grows from 5 s to 60 s",
      [{}, {}, {}, {}, {}, {}],
      [5_250, 10_250, 20_250, 40_250, 60_250, 60_250],
    ],
    ["with a requested pause of 0 s is 1 s", [asks(0)], [1_250]],
    ["with a requested pause of 1 s is 1 s", [asks(1)], [1_250]],
    ["with a requested pause of 2 s is 2 s", [asks(2)], [2_250]],
    [
      "with repeated short requested pauses is half of the unrequested pause",
      [asks(1), asks(1), asks(1), asks(1)],
      [1_250, 5_250, 10_250, 20_250],
    ],
    [
      "with a requested pause of days is one hour, and the next pause is short again",
      [asks(30 * 86_400), asks(1)],
      [3_600_250, 5_250],
    ],
    [
      "with a repeated requested pause of 30 s is always 30 s",
      [asks(30), asks(30), asks(30)],
      [30_250, 30_250, 30_250],
    ],
  ])("%s", (_, asked, expected) => {
    const window = new RollingWindow();
    const found: number[] = [];
    let now = START;
    for (const one of asked) {
      refused(window, now, one);
      found.push(START + pausedUntil(window) - now);
      now += found.at(-1) ?? 0;
    }
    expect(found).toEqual(expected);
  });

  it("lasts after a second refusal until the first accepted request is one minute old", () => {
    const window = new RollingWindow();
    for (let i = 0; i < 3; i++) window.reserve(START + i * 1_000, 60, "a");
    refused(window, START + 2_100, {}, START + 2_000);
    expect(pausedUntil(window)).toBe(2_100 + 5_250);
    refused(window, START + 7_500);
    expect(pausedUntil(window)).toBe(FULL_WINDOW_MS + 250);
  });

  it("is the longest requested pause of simultaneous requests, and their refusals count once", () => {
    const window = new RollingWindow();
    const found = [30, 10, 40, 1].map((seconds) => {
      refused(window, START, asks(seconds));
      return pausedUntil(window);
    });
    expect(found).toEqual([30_250, 30_250, 40_250, 40_250]);
    // The earlier refusals count as one refusal, whose pause has ended. The next refusal is the second.
    refused(window, START + 30_250, asks(1));
    expect(pausedUntil(window)).toBe(40_250);
    refused(window, START + 40_250);
    expect(pausedUntil(window) - 40_250).toBe(20_250);
  });

  it.each<[string, number, number]>([
    ["starts short again after the success of a later request", 5_250, 5_250],
    ["grows despite the success of an earlier request", 5_249, 10_250],
  ])("%s", (_, sentAt, pause) => {
    const window = new RollingWindow();
    refused(window, START);
    window.accept({ now: START + 6_000, sentAt: START + sentAt, limit: 60 });
    refused(window, START + 6_000);
    expect(pausedUntil(window) - 6_000).toBe(pause);
  });
});

describe("limit learned from refusals", () => {
  const MINUTE = 60_000;
  /** Sends a burst of requests. The host accepts all but the last. */
  function refusedAfter(taken: number, refusal: Partial<Refusal> = {}) {
    const window = new RollingWindow();
    // The ledger knows nothing about the minute before the first request.
    window.reserve(START - 61_000, 60, "a");
    for (let i = 0; i <= taken; i++) window.reserve(START + i, 60, "a");
    const sentAt = START + taken;
    window.refuse({ now: sentAt + 1, sentAt, limit: 60, marginMs: 0, isCounted: false, ...refusal });
    return window;
  }
  /** Returns the times of the requests in this number of minutes from a moment, in milliseconds from the start. */
  function sentIn(window: RollingWindow, from: number, minutes: number): number[] {
    const sent: number[] = [];
    for (let now = from; now < from + minutes * MINUTE; ) {
      const { waitMs } = window.reserve(now, 60, "a");
      if (waitMs === 0) {
        sent.push(now - START);
        window.accept({ now, sentAt: now, limit: 60 });
      } else now += waitMs;
    }
    return sent;
  }
  const gaps = (times: readonly number[]) => times.slice(1).map((at, i) => at - (times[i] ?? 0));

  it("spreads requests over the minute after a refusal", () => {
    const apart = gaps(sentIn(refusedAfter(10), START + 6_000, 1));
    expect(apart.slice(0, 40)).toEqual(Array.from({ length: 40 }, () => 1_030));
  });

  it("begins slowly after a short pause, because other processes may begin in the same second", () => {
    const apart = gaps(sentIn(refusedAfter(10, { askedMs: 1_000 }), START + 2_000, 1)).map(Math.floor);
    expect(apart.slice(0, 5)).toEqual([2_530, 2_155, 1_873, 1_662, 1_504]);
    expect(new Set(apart.slice(20, 40))).toEqual(new Set([1_030]));
  });

  it.each<[string, number, number, number]>([
    ["the accepted requests of the last minute", 30, 30, 2_060],
    ["at least a quarter of the previous limit, because another client may have used the rest", 4, 15, 4_120],
    ["at most one request less than before", 60, 59, 1_047],
  ])("is lower after a long requested pause: %s", (_, taken, perMinute, apart) => {
    const window = refusedAfter(taken, { askedMs: 50_000 });
    const sent = sentIn(window, START + 2 * MINUTE, 2);
    expect(sent.length).toBeGreaterThanOrEqual(2 * Math.floor(MINUTE / apart));
    expect(sent.length).toBeLessThanOrEqual(2 * perMinute);
    expect(Math.floor(Math.min(...gaps(sent)))).toBe(apart);
  });

  it("stays unchanged at a host with rate headers", () => {
    const window = refusedAfter(4, { askedMs: 50_000, isCounted: true });
    expect(gaps(sentIn(window, START + 2 * MINUTE, 1))).toContain(1_030);
  });

  it("grows after 5 minutes without a refusal and is dropped after 10 minutes", () => {
    const window = refusedAfter(30, { askedMs: 50_000 });
    const perMinute = Array.from({ length: 11 }, (_, minute) => {
      const { length } = sentIn(window, START + (minute + 1) * MINUTE, 1);
      return length;
    });
    for (const sent of perMinute.slice(0, 4)) expect([29, 30], "thirty, spread out").toContain(sent);
    expect(perMinute[4], "a tenth more").toBeGreaterThan(30);
    expect(perMinute[7], "twice as many and more").toBeGreaterThan(55);
    expect(perMinute.at(-1), "as at first").toBeGreaterThan(58);
  });

  it("is stored, and survives a clock that is set back", () => {
    const window = refusedAfter(30, { askedMs: 50_000 });
    const read = RollingWindow.parse(JSON.stringify(window));
    expect(sentIn(read, START + 2 * MINUTE, 2)).toEqual(sentIn(window, START + 2 * MINUTE, 2));
    const yesterday = START - 86_400_000;
    expect(sentIn(window, yesterday, 3).length).toBeGreaterThan(50);
  });
});
