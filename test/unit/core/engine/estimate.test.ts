import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AccountCosts, estimateRequests } from "../../../../src/core/engine/estimate.ts";
import { kinds } from "../../../../src/core/kinds/index.ts";
import { RollingWindow } from "../../../../src/core/local/rolling-window.ts";
import type { Change, RequestBudget } from "../../../../src/core/model/index.ts";

const MINUTE = 60_000;

const update = (over: object = {}): Change =>
  ({
    type: "hosting_webhook",
    provider: "default",
    actions: ["update"],
    before: {},
    after: {},
    requests: 1,
    ...over,
  }) as unknown as Change;

const order = (at: number, over: object = {}) =>
  update({ type: "hosting_service", actions: ["create"], before: null, address: `hosting_service.s${at}`, ...over });
const grant = (service: string | undefined) =>
  update({ type: "hosting_grant", actions: ["create"], before: null, after: { service_id: service } });
const suspension = () => update({ type: "hosting_service", before: { suspended: false }, after: { suspended: true } });

const changed = () => update();
const many = (count: number, make: (at: number) => Change) => Array.from({ length: count }, (_, at) => make(at));

/** Account that was just read completely, sent no requests, and responds at once. */
function account(over: Partial<AccountCosts> = {}, budget: Partial<RequestBudget> = {}): AccountCosts {
  const services = "hosting_service undefined";
  return {
    lists: new Map([[services, 10]]),
    whole: new Set([services]),
    fresh: new Set([services]),
    plans: 1,
    arePlansFresh: true,
    ...over,
    budget: {
      booked: [],
      windowMs: MINUTE,
      lastSentMs: Number.NEGATIVE_INFINITY,
      pausedMs: 0,
      slowMs: [],
      paces: [{ fromMs: 0, perMinute: 60, apartMs: 0 }],
      sideBySide: 10,
      latencyMs: 0,
      ...budget,
    },
  };
}

const estimate = (changes: readonly Change[], costs = account(), options: object = {}) =>
  estimateRequests(changes, { kinds, readRequests: 3, costs: new Map([["default", costs]]), ...options });

describe("the requests of an apply", () => {
  it("include those of all changes; the requests of the plan are counted separately", () => {
    expect(estimate(many(5, changed))).toEqual({ read: 3, apply: 5, seconds: 0 });
  });

  it("are zero for a plan without changes, and take no time", () => {
    expect(estimate([])).toEqual({ read: 3, apply: 0, seconds: 0 });
    expect(estimate([update({ requests: 0 })])).toMatchObject({ apply: 0, seconds: 0 });
  });

  it.each<[why: string, costs: Partial<AccountCosts>, options: object, apply: number]>([
    ["what was just read counts", {}, {}, 1],
    ["somebody was asked: services and plans once more", { plans: 2 }, { asks: true }, 13],
    ["services that may be missing are read once more", { fresh: new Set() }, {}, 11],
    ["old prices are read once more", { arePlansFresh: false }, {}, 2],
  ])("before an order: %s", (_, costs, options, apply) => {
    expect(estimate([order(0)], account(costs), options).apply).toBe(apply);
  });

  it("before a grant include the list of grants of its service once if a user was asked; a new service needs none", () => {
    const changes = [grant("7"), grant("7"), grant("8"), grant(undefined)];
    expect(estimate(changes).apply).toBe(4);
    const lists = new Map([["hosting_grant 7", 2]]);
    expect(estimate(changes, account({ lists }), { asks: true }).apply).toBe(7);
  });

  it.each<[jobs: number, pages: number, options: object, apply: number]>([
    [1, 10, {}, 1 + 3],
    [5, 10, {}, 5 + 5],
    [300, 3, {}, 300 + 3],
    [5, 10, { waits: false }, 5],
  ])("include the checks of %i queued jobs in a list of %i pages (%o)", (jobs, pages, options, apply) => {
    const lists = new Map([["hosting_service undefined", pages]]);
    expect(estimate(many(jobs, suspension), account({ lists }), options).apply).toBe(apply);
  });

  it("include those of all accounts", () => {
    const costs = new Map(["default", "other"].map((name) => [name, account()]));
    const changes = [...many(70, changed), ...many(10, () => update({ provider: "other" }))];
    expect(estimateRequests(changes, { kinds, readRequests: 0, costs })).toEqual({ read: 0, apply: 80, seconds: 60 });
  });
});

describe("the time of an apply", () => {
  const booked = (count: number) => Array.from({ length: count }, () => 50_000);

  it.each<[count: number, budget: Partial<RequestBudget>, seconds: number, why: string]>([
    [57, { booked: booked(3) }, 0, "what fits into the minute waits for nothing"],
    [58, { booked: booked(3) }, 50, "one more waits for the first that counts no longer"],
    [117, { booked: booked(3) }, 60, "two minutes' worth"],
    [121, {}, 120, "and one more"],
    [20, { paces: [{ fromMs: 0, perMinute: 10, apartMs: 0 }] }, 60, "a lower limit"],
    [21, { booked: booked(40) }, 50, "another process has booked most of the minute"],
    [1, { pausedMs: 20_000 }, 20, "the host asked for a pause"],
    [11, { paces: [{ fromMs: 0, perMinute: 30, apartMs: 2000 }] }, 20, "requests are spread"],
    [30, { latencyMs: 1000, sideBySide: 3 }, 10, "answers are waited for, three side by side"],
    [60, { latencyMs: 9000, sideBySide: 3 }, 66, "a slow host: so far apart as the limit asks"],
  ])("%i requests, %o: %i s (%s)", (count, budget, seconds) => {
    expect(estimate(many(count, changed), account({}, budget)).seconds).toBe(seconds);
  });

  it("is longer if orders are sent one after another", () => {
    const [costs, orders] = [account({}, { latencyMs: 500 }), many(20, order)];
    expect(estimate(orders, costs).seconds).toBe(1);
    expect(estimate(orders, costs, { limits: { maxSpend: { USD: 1 } } }).seconds).toBe(10);
  });

  it("depends on the request budget, whatever happened before", () => {
    const event = fc.record({
      afterMs: fc.integer({ min: 0, max: 20_000 }),
      what: fc.constantFrom("sent", "sent", "sent", "refused", "taken"),
      askedMs: fc.option(fc.integer({ min: 1, max: MINUTE }), { nil: undefined }),
    });
    const history = fc.array(event, { maxLength: 120 });
    fc.assert(
      fc.property(
        history,
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 5, max: 60 }),
        (events, count, limit) => {
          const window = new RollingWindow();
          let now = 1_000_000;
          for (const { afterMs, what, askedMs } of events) {
            now += afterMs;
            window.reserve(now, limit, "other");
            if (what === "refused")
              window.refuse({ now, sentAt: now, limit, askedMs, marginMs: 300, isCounted: false });
            if (what === "taken") window.accept({ now, sentAt: now, limit });
          }
          const before = JSON.stringify(window);
          const costs = account({}, { ...window.outlook(now, limit), sideBySide: 1 });
          expect(JSON.stringify(window)).toBe(before);
          const estimated = estimate(many(count, changed), costs).seconds;
          let at = now;
          for (let left = count; left > 0; ) {
            const { waitMs } = window.reserve(at, limit, "other");
            if (waitMs <= 0) left -= 1;
            at += waitMs;
          }
          const actual = (at - now) / 1000;
          expect(Math.abs(estimated - actual), `${estimated} for ${actual}`).toBeLessThanOrEqual(2 + actual / 100);
        },
      ),
      { numRuns: 200 },
    );
  });
});
