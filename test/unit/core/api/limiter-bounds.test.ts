// Limiter with a ledger that only records: the exact reservations, and the values that the limiter reads from each
// response.
import { describe, expect, it, vi } from "vitest";
import type { ApiReply, ApiRequest } from "../../../../src/core/api/exchange.ts";
import { Limiter, LONGEST_WAIT_MS, limit, PauseTooLong } from "../../../../src/core/api/limiter.ts";
import type { Acceptance, Refusal } from "../../../../src/core/local/ledger.ts";
import { FakeClock } from "./support.ts";

const START = new FakeClock().now();

/** Returns a limiter whose ledger returns these waits in order, then no wait. */
function limiterOf(waits: readonly number[] = [], random = () => 0, requestsPerMinute = 60) {
  const queue = [...waits];
  const refusals: Refusal[] = [];
  const acceptances: Acceptance[] = [];
  const booked: number[][] = [];
  const clock = new FakeClock();
  const onWait = vi.fn();
  const ledger = {
    reserve: async (now: number, limit: number) => {
      booked.push([now - START, limit]);
      return { waitMs: queue.shift() ?? 0, left: 7 };
    },
    refuse: async (refusal: Refusal) => void refusals.push(refusal),
    accept: async (acceptance: Acceptance) => void acceptances.push(acceptance),
  };
  return {
    limiter: new Limiter({ clock, random, ledger, requestsPerMinute, onWait }),
    clock,
    refusals,
    acceptances,
    booked,
    onWait,
  };
}

const answer = (status: number, headers: Record<string, string> = {}) => ({ status, headers });

describe("a reservation", () => {
  it("succeeds at once if the ledger grants it, and returns the remaining requests", async () => {
    const { limiter, onWait, booked } = limiterOf();
    expect(await limiter.acquire()).toMatchObject({ booking: { waitedMs: 0, left: 7 } });
    expect(booked).toEqual([[0, 60]]);
    expect(onWait).not.toHaveBeenCalled();
  });

  it("is requested again after each wait, reports each wait, and adds them up", async () => {
    const { limiter, onWait, clock } = limiterOf([100, 50, 0]);
    expect(await limiter.acquire()).toMatchObject({ booking: { waitedMs: 150, left: 7 } });
    expect(onWait.mock.calls).toEqual([
      [100, undefined],
      [50, undefined],
    ]);
    expect(clock.waits).toEqual([100, 50]);
  });

  it("waits two minutes at most", async () => {
    expect(await limiterOf([LONGEST_WAIT_MS]).limiter.acquire()).toMatchObject({ booking: { waitedMs: 120_000 } });
    const { limiter, clock } = limiterOf([LONGEST_WAIT_MS + 1]);
    const error = await limiter.acquire().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PauseTooLong);
    expect(error).toMatchObject({ waitMs: 120_001 });
    expect(clock.waits).toEqual([]);
  });

  it("waits as long as the caller allows, all waits together", async () => {
    const { limiter, clock } = limiterOf([3_000, 3_000]);
    expect(await limiter.acquire(undefined, undefined, 5_000)).toBeUndefined();
    expect(clock.waits).toEqual([3_000]);
  });

  it("that fails does not delay the next one", async () => {
    const { limiter } = limiterOf([LONGEST_WAIT_MS + 1, 0]);
    const [first, second] = await Promise.allSettled([limiter.acquire(), limiter.acquire()]);
    expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
  });

  it("is not requested for a caller that was cancelled before, and books nothing", async () => {
    const { limiter, booked } = limiterOf();
    await expect(limiter.acquire(AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
    expect(booked).toEqual([]);
    expect(await limiter.acquire(new AbortController().signal)).toMatchObject({ booking: { left: 7 } });
  });

  it("is cancelled in the queue at once", async () => {
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

  it("leaves no listener on the signal, because one signal serves a whole run", async () => {
    const { limiter } = limiterOf();
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
    await limiter.acquire(signal);
    expect(remove.mock.calls.map(([type, listener]) => [type, listener])).toEqual(
      add.mock.calls.map(([type, listener]) => [type, listener]),
    );
    expect(add).toHaveBeenCalled();
  });
});

describe("a reservation in advance", () => {
  it("is booked if the wait is short enough", async () => {
    const { limiter } = limiterOf([5_000]);
    expect(await limiter.acquire(undefined, undefined, 5_000)).toMatchObject({ booking: { waitedMs: 5_000 } });
  });

  it("does not wait otherwise, and does not wait behind a longer wait", async () => {
    const { limiter, clock, onWait } = limiterOf([5_001, 60_000]);
    expect(await limiter.acquire(undefined, undefined, 5_000)).toBeUndefined();
    expect([clock.waits, onWait.mock.calls]).toEqual([[], []]);
    const end = Promise.withResolvers<void>();
    clock.sleep = () => end.promise;
    const long = limiter.acquire();
    await vi.waitFor(() => expect(onWait).toHaveBeenCalledOnce());
    expect(await limiter.acquire(undefined, undefined, 5_000)).toBeUndefined();
    clock.advance(60_000);
    end.resolve();
    expect(await long).toMatchObject({ booking: { waitedMs: 60_000 } });
  });

  it("is used once, or released once", async () => {
    const { limiter, clock } = limiterOf();
    const [young, old] = [await limiter.acquire(), await limiter.acquire()];
    expect([young?.use(), young?.use(), limiter.isIdle]).toEqual([true, false, false]);
    limiter.answered();
    clock.advance(15_001);
    expect([old?.isOpen, limiter.isIdle]).toEqual([false, false]);
    old?.release();
    old?.release();
    expect(limiter.isIdle).toBe(true);
    await limiter.acquire();
    expect(limiter.isIdle).toBe(false);
  });

  it("delays no other request while it is held", async () => {
    const { limiter, clock } = limiterOf();
    const held = [];
    for (let nth = 0; nth < 10; nth++) held.push((await limiter.acquire())?.hold().hold());
    await limiter.acquire();
    expect(clock.waits).toEqual([]);
    limiter.answered();
    expect([held[0]?.use(), limiter.isIdle]).toEqual([true, false]);
    limiter.answered();
    for (const ticket of held) ticket?.release();
    expect(limiter.isIdle).toBe(true);
  });
});

describe("a 429 response", () => {
  it.each<[string, Record<string, string>, number | undefined]>([
    ["that asks for nothing", {}, undefined],
    ["that asks for a pause", { "retry-after": "9" }, 9_000],
    ["that only says when the window starts again", { "x-ratelimit-reset": "12" }, 12_000],
    ["that says both", { "retry-after": "9", "x-ratelimit-reset": "12" }, 9_000],
  ])(
    "%s reaches the ledger with a random margin, so that clients do not return together",
    async (_, headers, askedMs) => {
      for (const [random, marginMs] of [
        [0, 250],
        [0.5, 500],
        [1, 750],
      ] as const) {
        const { limiter, clock, refusals, acceptances } = limiterOf([], () => random);
        await limiter.learn(answer(429, headers), clock.now() - 100);
        expect(refusals).toEqual([{ now: START, sentAt: START - 100, limit: 60, askedMs, marginMs, isCounted: false }]);
        expect(acceptances).toEqual([]);
      }
    },
  );

  it("does not change the limit of a host that reports the remaining requests", async () => {
    const { limiter, clock, refusals } = limiterOf();
    await limiter.learn(answer(200, { "x-ratelimit-remaining": "3" }), clock.now());
    await limiter.learn(answer(429), clock.now());
    expect(refusals).toMatchObject([{ isCounted: true }]);
  });
});

describe("the number of pending requests", () => {
  /**
   * Returns the number of requests that the limiter sends immediately if `wanted` requests wait and no response
   * arrives.
   */
  async function atOnce(headers: Record<string, string>, wanted = 40): Promise<number> {
    const { limiter, clock, booked } = limiterOf();
    await limiter.acquire();
    await limiter.learn(answer(200, headers), clock.now());
    limiter.answered();
    for (let i = 0; i < wanted; i++) void limiter.acquire();
    // These microtasks complete all work that needs no time. The clock's sleeps end later.
    for (let i = 0; i < 500; i++) await Promise.resolve();
    return booked.filter(([at]) => at === 0).length - 1;
  }

  it.each<[string, Record<string, string>, number]>([
    ["three at a host that does not say what remains", {}, 3],
    ["half of what remains: others may see it, too", { "x-ratelimit-remaining": "59" }, 29],
    ["three when little remains: the ledger keeps the rest back", { "x-ratelimit-remaining": "1" }, 3],
  ])("%s", async (_, headers, expected) => expect(await atOnce(headers)).toBe(expected));

  it("grows at the pace of the limit, and at once after a response", async () => {
    const { limiter, clock, booked } = limiterOf();
    for (let i = 0; i < 3; i++) await limiter.acquire();
    await limiter.acquire();
    expect(clock.waits).toEqual([1_000]);
    const next = limiter.acquire();
    limiter.answered();
    limiter.answered();
    await next;
    expect(booked.map(([at]) => at)).toEqual([0, 0, 0, 1_000, 1_000]);
  });

  it("does not include a cancelled request", async () => {
    const { limiter } = limiterOf();
    for (let i = 0; i < 3; i++) await limiter.acquire();
    const gate = new AbortController();
    const fourth = limiter.acquire(gate.signal);
    gate.abort(new Error("stop"));
    await expect(fourth).rejects.toThrow("stop");
  });
});

describe("the budget in a response", () => {
  it.each<[string, Record<string, string>, Acceptance["budget"]]>([
    ["nothing", {}, undefined],
    [
      "what is left, until the reset",
      { "x-ratelimit-remaining": "3", "x-ratelimit-reset": "12" },
      { remaining: 3, until: START + 12_000 },
    ],
    ["for a window when it says no time", { "x-ratelimit-remaining": "3" }, { remaining: 3, until: START + 60_000 }],
    [
      "for no longer than a window",
      { "x-ratelimit-remaining": "3", "x-ratelimit-reset": "900" },
      { remaining: 3, until: START + 60_000 },
    ],
    [
      "with a lower limit",
      { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "3" },
      { remaining: 3, until: START + 60_000 },
    ],
  ])("is accepted: %s", async (_, headers, budget) => {
    const { limiter, clock, acceptances } = limiterOf();
    await limiter.learn(answer(200, headers), clock.now());
    const limit = Number(headers["x-ratelimit-limit"] ?? 60);
    expect(acceptances).toEqual([{ now: START, sentAt: START, limit, ...(budget && { budget }) }]);
  });

  it("lowers later reservations, and never raises them above the own limit", async () => {
    const { limiter, clock, booked } = limiterOf([], () => 0, 30);
    for (const limit of ["10", "1000"]) {
      await limiter.learn(answer(200, { "x-ratelimit-limit": limit }), clock.now());
      await limiter.acquire();
    }
    expect(booked.map(([, limit]) => limit)).toEqual([10, 30]);
  });

  it("is read exactly: a 429 response books no remaining requests", async () => {
    const { limiter, clock, acceptances } = limiterOf();
    await limiter.learn(answer(429, { "x-ratelimit-remaining": "0" }), clock.now());
    expect(acceptances).toEqual([]);
  });
});

describe("a request through the limiter", () => {
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

  it("reports its wait and the remaining requests, and returns the server's response", async () => {
    const { limiter, clock } = limiterOf([250]);
    const reply = { status: 422, headers: {}, text: "{}" };
    const { found, sent } = await pass(limiter, clock, {}, reply);
    expect(found).toBe(reply);
    expect(sent).toEqual([{ ...request, waitedMs: 250, left: 7 }]);
  });

  it("passes the response's headers to the limiter", async () => {
    const { limiter, clock, refusals } = limiterOf();
    await pass(limiter, clock, {}, { status: 429, headers: { "retry-after": "9" }, text: "" });
    expect(refusals).toMatchObject([{ askedMs: 9_000 }]);
  });

  it("loses no response if the ledger fails", async () => {
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

  it.each(["signal", "stop"] as const)("is cancelled by its %s while it waits, and counts as not sent", async (by) => {
    const { limiter, clock } = limiterOf();
    const { sent, error } = await pass(limiter, clock, { [by]: AbortSignal.abort(new Error("stop")) });
    expect(sent).toEqual([]);
    expect(error).toMatchObject({ reached: "no", diagnostics: [{ code: "api.cancelled" }] });
  });

  it("reports its start after the wait, and no start if it is not sent", async () => {
    const { limiter, clock } = limiterOf([250]);
    const left: number[] = [];
    const onLeave = () => void left.push(clock.now() - START);
    await pass(limiter, clock, { onLeave });
    expect(left).toEqual([250]);
    await pass(limiterOf([250]).limiter, clock, { onLeave, notAfter: START });
    expect(left).toEqual([250]);
  });

  it.each([180_001, 181_000])(
    "is not sent if the pause is too long, and reports the pause in whole seconds (%i ms)",
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

  it("passes on other errors", async () => {
    const { limiter, clock } = limiterOf();
    const broken = new Error("the ledger is gone");
    limiter.acquire = () => Promise.reject(broken);
    expect((await pass(limiter, clock, {})).error).toBe(broken);
  });
});
