// The limiter against a ledger that only writes down: what exactly it books, and for how long it pauses everyone.
import { describe, expect, it, vi } from "vitest";
import type { ApiReply, ApiRequest } from "../../../../src/core/api/exchange.ts";
import { Limiter, LONGEST_WAIT_MS, limit, PauseTooLong } from "../../../../src/core/api/limiter.ts";
import { FakeClock } from "./support.ts";

const START = new FakeClock().now();

/** A limiter whose ledger answers with these waits, one after the other, and then lets everything through. */
function limiterOf(waits: readonly number[] = [], random = () => 0, requestsPerMinute = 60) {
  const queue = [...waits];
  const pauses: number[] = [];
  const lowered: number[][] = [];
  const booked: number[][] = [];
  const clock = new FakeClock();
  const onWait = vi.fn();
  const ledger = {
    reserve: async (now: number, limit: number) => {
      booked.push([now - START, limit]);
      return { waitMs: queue.shift() ?? 0, left: 7 };
    },
    pause: async (until: number) => void pauses.push(until - START),
    lower: async (now: number, limit: number, left: number, until: number) =>
      void lowered.push([now - START, limit, left, until - START]),
  };
  return {
    limiter: new Limiter({ clock, random, ledger, requestsPerMinute, onWait }),
    clock,
    pauses,
    lowered,
    booked,
    onWait,
  };
}

const answer = (status: number, headers: Record<string, string> = {}) => ({ status, headers });

describe("a turn", () => {
  it("comes at once where the ledger grants it, with the number that is left", async () => {
    const { limiter, onWait, booked } = limiterOf();
    expect(await limiter.acquire()).toEqual({ waitedMs: 0, left: 7 });
    expect(booked).toEqual([[0, 60]]);
    expect(onWait).not.toHaveBeenCalled();
  });

  it("is asked for again after each wait, says each, and sums them up", async () => {
    const { limiter, onWait, clock } = limiterOf([100, 50, 0]);
    expect(await limiter.acquire()).toEqual({ waitedMs: 150, left: 7 });
    expect(onWait.mock.calls).toEqual([[100], [50]]);
    expect(clock.waits).toEqual([100, 50]);
  });

  it("is waited for two minutes, and not longer", async () => {
    expect(await limiterOf([LONGEST_WAIT_MS]).limiter.acquire()).toMatchObject({ waitedMs: 120_000 });
    const { limiter, clock } = limiterOf([LONGEST_WAIT_MS + 1]);
    const error = await limiter.acquire().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PauseTooLong);
    expect(error).toMatchObject({ waitMs: 120_001 });
    expect(clock.waits).toEqual([]);
  });

  it("that fails does not keep the next from theirs", async () => {
    const { limiter } = limiterOf([LONGEST_WAIT_MS + 1, 0]);
    const [first, second] = await Promise.allSettled([limiter.acquire(), limiter.acquire()]);
    expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
  });

  it("is not taken by a caller that gave up before, and books nothing", async () => {
    const { limiter, booked } = limiterOf();
    await expect(limiter.acquire(AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
    expect(booked).toEqual([]);
    expect(await limiter.acquire(new AbortController().signal)).toMatchObject({ left: 7 });
  });

  it("is given up in the queue at once, not only when it would have come", async () => {
    const { limiter, booked } = limiterOf([60_000]);
    const gate = new AbortController();
    const order: string[] = [];
    const first = limiter.acquire().then(() => order.push("first"));
    const second = limiter.acquire(gate.signal).catch(() => order.push("gave up"));
    gate.abort(new Error("stop"));
    await Promise.all([first, second]);
    expect(order).toEqual(["gave up", "first"]);
    expect(booked.map(([at]) => at)).toEqual([0, 60_000]);
  });

  it("is given up at once in a queue that is joined too late", async () => {
    const { limiter } = limiterOf([60_000]);
    const order: string[] = [];
    const first = limiter.acquire().then(() => order.push("first"));
    const second = limiter.acquire(AbortSignal.abort(new Error("stop"))).catch(() => order.push("gave up"));
    await Promise.all([first, second]);
    expect(order).toEqual(["gave up", "first"]);
  });

  it("is waited for a millisecond if that is what it takes", async () => {
    expect(await limiterOf([1]).limiter.acquire()).toMatchObject({ waitedMs: 1 });
  });

  it("comes in the order of asking, one at a time", async () => {
    const { limiter } = limiterOf([1000, 0, 0]);
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((nth) => limiter.acquire().then(() => order.push(nth))));
    expect(order).toEqual([1, 2, 3]);
  });

  it("leaves nothing on the signal when it has come: one signal serves a whole run", async () => {
    const { limiter } = limiterOf();
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
    await limiter.acquire(signal);
    expect(remove.mock.calls.map(([type, listener]) => [type, listener])).toEqual(
      add.mock.calls.map(([type, listener]) => [type, listener]),
    );
    expect(add).toHaveBeenCalledOnce();
  });
});

describe("the pause after a refusal", () => {
  /** Refusals in a row, each of a request sent after the pause before; the pauses in ms from each. */
  async function pausesOf(headers: readonly Record<string, string>[], random = () => 0): Promise<number[]> {
    const { limiter, clock, pauses } = limiterOf([], random);
    const found: number[] = [];
    for (const one of headers) {
      const before = clock.now() - START;
      await limiter.learn(answer(429, one), clock.now());
      found.push((pauses.at(-1) ?? 0) - before);
      clock.advance(found.at(-1) ?? 0);
    }
    return found;
  }
  const asks = (seconds: number) => ({ "retry-after": String(seconds) });

  it.each<[string, readonly Record<string, string>[], readonly number[]]>([
    [
      "that says nothing grows from 5 s to a minute",
      [{}, {}, {}, {}, {}, {}],
      [5_250, 10_250, 20_250, 40_250, 60_250, 60_250],
    ],
    ["that asks for nothing is a second", [asks(0)], [1_250]],
    ["that asks for a second is a second", [asks(1)], [1_250]],
    ["that asks for more is that", [asks(2)], [2_250]],
    [
      "that asks for too little again and again is half of what it would grow to",
      [asks(1), asks(1), asks(1), asks(1)],
      [1_250, 5_250, 10_250, 20_250],
    ],
    ["that asks for enough is that, however often", [asks(30), asks(30), asks(30)], [30_250, 30_250, 30_250]],
  ])("%s", async (_, headers, expected) => expect(await pausesOf(headers)).toEqual(expected));

  it("is longer by up to half a second by chance, so that not all come back at once", async () => {
    expect(await pausesOf([asks(2)], () => 1)).toEqual([2_750]);
    expect(await pausesOf([asks(2)], () => 0.5)).toEqual([2_500]);
    expect(await pausesOf([asks(2)], () => 0.0001)).toEqual([2_251]);
  });

  it("is that of the longest word of several that were under way, and counts once", async () => {
    const { limiter, clock, pauses } = limiterOf();
    const sentAt = clock.now();
    for (const seconds of [30, 10, 40, 1]) await limiter.learn(answer(429, asks(seconds)), sentAt);
    expect(pauses).toEqual([30_250, 30_250, 40_250, 40_250]);
    // One refusal so far, which ended at its own time: the next is the second.
    clock.advance(30_250);
    await limiter.learn(answer(429, asks(1)), clock.now());
    expect(pauses.at(-1)).toBe(40_250);
    clock.advance(10_000);
    await limiter.learn(answer(429), clock.now());
    expect((pauses.at(-1) ?? 0) - 40_250).toBe(20_250);
  });

  it("is an hour at most, whatever the server asks for, and does not come back after that", async () => {
    const { limiter, clock, pauses } = limiterOf();
    await limiter.learn(answer(429, asks(30 * 86_400)), clock.now());
    expect(pauses).toEqual([3_600_250]);
    clock.advance(3_600_250);
    await limiter.learn(answer(429, asks(1)), clock.now());
    expect((pauses.at(-1) ?? 0) - 3_600_250, "the second refusal").toBe(5_250);
  });

  it("starts short again after a success of a request that was sent later, not of one from before", async () => {
    const { limiter, clock, pauses } = limiterOf();
    await limiter.learn(answer(429), clock.now());
    const [early, late] = [START + 5_249, START + 5_250];
    clock.advance(6_000);
    await limiter.learn(answer(200), early);
    await limiter.learn(answer(429), clock.now());
    expect((pauses.at(-1) ?? 0) - 6_000, "still the second").toBe(10_250);
    clock.advance(20_000);
    await limiter.learn(answer(200), clock.now());
    await limiter.learn(answer(429), clock.now());
    expect((pauses.at(-1) ?? 0) - 26_000, "the first again").toBe(5_250);
    expect(late).toBeGreaterThan(early);
  });

  it("counts from the first refusal of a group: the end of a longer word is not the end of theirs", async () => {
    const { limiter, clock, pauses } = limiterOf();
    for (const seconds of [10, 40]) await limiter.learn(answer(429, asks(seconds)), START);
    clock.advance(10_250);
    await limiter.learn(answer(429), clock.now());
    clock.advance(31_000);
    await limiter.learn(answer(429), clock.now());
    expect((pauses.at(-1) ?? 0) - 41_250, "the third").toBe(20_250);
  });

  it("starts short again, and grows again, after a success that left exactly when it was over", async () => {
    const { limiter, clock, pauses } = limiterOf();
    await limiter.learn(answer(429), clock.now());
    clock.advance(5_250);
    await limiter.learn(answer(200), clock.now());
    await limiter.learn(answer(429), clock.now());
    expect((pauses.at(-1) ?? 0) - 5_250).toBe(5_250);
    clock.advance(5_250);
    await limiter.learn(answer(429), clock.now());
    expect((pauses.at(-1) ?? 0) - 10_500).toBe(10_250);
  });

  it("is short for a late refusal of an early request, when all is well again", async () => {
    const { limiter, clock, pauses } = limiterOf();
    await limiter.learn(answer(429), clock.now());
    clock.advance(6_000);
    await limiter.learn(answer(200), clock.now());
    await limiter.learn(answer(429), START);
    expect((pauses.at(-1) ?? 0) - 6_000).toBe(5_250);
  });

  it("ends for a request that leaves exactly when it is over", async () => {
    const { limiter, clock, pauses } = limiterOf();
    await limiter.learn(answer(429), clock.now());
    clock.advance(5_250);
    await limiter.learn(answer(429), clock.now());
    expect((pauses.at(-1) ?? 0) - 5_250).toBe(10_250);
  });
});

describe("what an answer says of the budget", () => {
  it.each<[string, Record<string, string>, readonly number[][]]>([
    ["nothing", {}, []],
    [
      "what is left, until the reset",
      { "x-ratelimit-remaining": "3", "x-ratelimit-reset": "12" },
      [[0, 60, 3, 12_000]],
    ],
    ["for a window when it says no time", { "x-ratelimit-remaining": "3" }, [[0, 60, 3, 60_000]]],
    ["for no longer than a window", { "x-ratelimit-remaining": "3", "x-ratelimit-reset": "900" }, [[0, 60, 3, 60_000]]],
    ["with a lower limit", { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "3" }, [[0, 10, 3, 60_000]]],
  ])("is believed: %s", async (_, headers, expected) => {
    const { limiter, clock, lowered } = limiterOf();
    await limiter.learn(answer(200, headers), clock.now());
    expect(lowered).toEqual(expected);
  });

  it("lowers what is booked from then on, and never raises it above the own limit", async () => {
    const { limiter, clock, booked } = limiterOf([], () => 0, 30);
    for (const limit of ["10", "1000"]) {
      await limiter.learn(answer(200, { "x-ratelimit-limit": limit }), clock.now());
      await limiter.acquire();
    }
    expect(booked.map(([, limit]) => limit)).toEqual([10, 30]);
  });

  it("is only what it says: a refusal books nothing as left", async () => {
    const { limiter, clock, lowered } = limiterOf();
    await limiter.learn(answer(429, { "x-ratelimit-remaining": "0" }), clock.now());
    expect(lowered).toEqual([]);
  });
});

describe("a request that passes the limit", () => {
  const request: ApiRequest = {
    endpoint: "createService",
    method: "POST",
    path: "/services",
    headers: {},
    secrets: [],
    attempt: 1,
    waitedMs: 0,
    left: 0,
  };
  const pass = (
    limiter: Limiter,
    clock: FakeClock,
    over: Partial<ApiRequest>,
    reply: ApiReply = { status: 200, headers: {}, text: "" },
  ) => {
    const sent: ApiRequest[] = [];
    const handler = limit({ limiter, clock }, async (one) => {
      sent.push(one);
      return reply;
    });
    const failed = (error: unknown) => error as { diagnostics: { code: string; summary: string }[] };
    return handler({ ...request, ...over }).then(
      (found) => ({ found, sent, error: undefined }),
      (error: unknown) => ({ found: undefined, sent, error: failed(error) }),
    );
  };

  it("says how long it waited and what is left, and is answered as the server answered", async () => {
    const { limiter, clock } = limiterOf([250]);
    const reply = { status: 422, headers: {}, text: "{}" };
    const { found, sent } = await pass(limiter, clock, {}, reply);
    expect(found).toBe(reply);
    expect(sent).toEqual([{ ...request, waitedMs: 250, left: 7 }]);
  });

  it("teaches the limiter what the answer says", async () => {
    const { limiter, clock, pauses } = limiterOf();
    await pass(limiter, clock, {}, { status: 429, headers: { "retry-after": "9" }, text: "" });
    expect(pauses).toEqual([9_250]);
  });

  it("loses no answer to a failure of the book-keeping", async () => {
    const { limiter, clock } = limiterOf();
    limiter.learn = async () => {
      throw new Error("disk full");
    };
    expect((await pass(limiter, clock, {})).found).toMatchObject({ status: 200 });
  });

  it.each<[string, number, boolean]>([
    ["leaves at the last moment until which it may", 250, true],
    ["does not leave after it, also when only the wait took that long", 249, false],
  ])("%s", async (_, ms, leaves) => {
    const { limiter, clock } = limiterOf([250]);
    const { sent, error } = await pass(limiter, clock, { notAfter: START + ms });
    expect(sent.length).toBe(leaves ? 1 : 0);
    if (!leaves) expect(error).toMatchObject({ reached: "no", diagnostics: [{ code: "api.too_late" }] });
  });

  it.each(["signal", "stop"] as const)("is cancelled by its %s while it waits: it never left", async (by) => {
    const { limiter, clock } = limiterOf();
    const { sent, error } = await pass(limiter, clock, { [by]: AbortSignal.abort(new Error("stop")) });
    expect(sent).toEqual([]);
    expect(error).toMatchObject({ reached: "no", diagnostics: [{ code: "api.cancelled" }] });
  });

  it("says when it leaves: after the wait, and not where it does not", async () => {
    const { limiter, clock } = limiterOf([250]);
    const left: number[] = [];
    const onLeave = () => void left.push(clock.now() - START);
    await pass(limiter, clock, { onLeave });
    expect(left).toEqual([250]);
    await pass(limiterOf([250]).limiter, clock, { onLeave, notAfter: START });
    expect(left).toEqual([250]);
  });

  it.each([180_001, 181_000])(
    "is not sent when the pause is too long, and says how long, in whole seconds (%i ms)",
    async (ms) => {
      const { limiter, clock } = limiterOf([ms]);
      const { sent, error } = await pass(limiter, clock, {});
      expect(sent).toEqual([]);
      expect(error).toMatchObject({
        reached: "no",
        status: 429,
        diagnostics: [{ code: "api.rate_limited", summary: "The API asks for a pause of 181 seconds" }],
      });
    },
  );

  it("passes on what is no matter of the limit", async () => {
    const { limiter, clock } = limiterOf();
    const broken = new Error("the ledger is gone");
    limiter.acquire = () => Promise.reject(broken);
    expect((await pass(limiter, clock, {})).error).toBe(broken);
  });
});
