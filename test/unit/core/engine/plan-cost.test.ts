import { describe, expect, it } from "vitest";
import { costOf } from "../../../../src/core/engine/assemble-plan.ts";
import type { Change, Quote } from "../../../../src/core/model/index.ts";

const order = (quote?: Partial<Quote>): Change =>
  ({
    before: null,
    after: {},
    requests: 1,
    ...(quote && { quote: { currency: "USD", list: 500, billed: 450, most: 450, ...quote } }),
  }) as unknown as Change;

describe("the money of a plan", () => {
  it("is summed by currency, in the order of first use", () => {
    expect(costOf([order({}), order({ currency: "GEL", list: 1300, billed: 1300 }), order({}), order()])).toEqual([
      { currency: "USD", orders: 2, list: 1000, billed: 900, unknown: 0 },
      { currency: "GEL", orders: 1, list: 1300, billed: 1300, unknown: 0 },
    ]);
  });

  it("contains the number of unknown prices, and is null if no price is known", () => {
    expect(costOf([order({ list: null, billed: null }), order({ billed: null }), order({})])).toEqual([
      { currency: "USD", orders: 3, list: 1000, billed: 450, unknown: 2 },
    ]);
    expect(costOf([order({ list: null, billed: null })])).toEqual([
      { currency: "USD", orders: 1, list: null, billed: null, unknown: 1 },
    ]);
    expect(costOf([])).toEqual([]);
  });
});
