import { describe, expect, it } from "vitest";
import { costOf, estimateRequests } from "../../../../src/core/engine/plan.ts";
import type { Change, Quote } from "../../../../src/core/model/index.ts";

const order = (quote?: Partial<Quote>): Change =>
  ({
    before: null,
    after: {},
    requests: 1,
    ...(quote && { quote: { currency: "USD", list: 500, billed: 450, most: 450, ...quote } }),
  }) as unknown as Change;

describe("the money of a plan", () => {
  it("is summed per currency, in the order in which they come", () => {
    expect(costOf([order({}), order({ currency: "GEL", list: 1300, billed: 1300 }), order({}), order()])).toEqual([
      { currency: "USD", orders: 2, list: 1000, billed: 900, unknown: 0 },
      { currency: "GEL", orders: 1, list: 1300, billed: 1300, unknown: 0 },
    ]);
  });

  it("says how many prices are unknown, and is null where none is known", () => {
    expect(costOf([order({ list: null, billed: null }), order({ billed: null }), order({})])).toEqual([
      { currency: "USD", orders: 3, list: 1000, billed: 450, unknown: 2 },
    ]);
    expect(costOf([order({ list: null, billed: null })])).toEqual([
      { currency: "USD", orders: 1, list: null, billed: null, unknown: 1 },
    ]);
    expect(costOf([])).toEqual([]);
  });
});

describe("the requests of an apply", () => {
  const many = (count: number) => Array.from({ length: count }, () => order());

  it("are those of all changes", () => {
    expect(estimateRequests(many(5), 3)).toMatchObject({ read: 3, apply: 5 });
  });

  it("are none when there is nothing to do, and take no time", () => {
    expect(estimateRequests([], 500)).toEqual({ read: 500, apply: 0, seconds: 0 });
  });

  it.each([
    [57, 3, 60, 0, "what fits into the minute costs latency only"],
    [58, 3, 60, 1, "one more than that waits for the next"],
    [117, 3, 60, 1, "two minutes' worth"],
    [118, 3, 60, 2, "and one more"],
    [20, 0, 10, 1, "a smaller budget"],
  ])("%i after %i reads at %i a minute wait %i minutes: %s", (writes, reads, perMinute, minutes, _why) => {
    const { seconds } = estimateRequests(many(writes), reads, perMinute);
    expect(Math.floor(seconds / 60)).toBe(minutes);
  });

  it("count the polls of queued jobs once, however many jobs there are", () => {
    const suspend = { before: { suspended: false }, after: { suspended: true }, requests: 1 } as unknown as Change;
    const one = estimateRequests([suspend], 0);
    const ten = estimateRequests(
      Array.from({ length: 10 }, () => suspend),
      0,
    );
    expect(ten.apply - one.apply).toBe(9);
    expect(one.apply).toBeGreaterThan(1);
    expect(ten.seconds).toBeGreaterThan(0);
  });
});
