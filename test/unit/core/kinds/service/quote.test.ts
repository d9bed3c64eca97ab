import { describe, expect, it } from "vitest";
import type { PlanRecord } from "../../../../../src/core/api/index.ts";
import { quoteService } from "../../../../../src/core/kinds/service/quote.ts";
import { UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";

const plan = (over: Partial<PlanRecord> = {}): PlanRecord => ({
  id: "11",
  raw: {},
  plan_id: 11,
  name: "Shared Start",
  product_type: "shared",
  currency: "USD",
  price: 500,
  prices: {},
  billing_cycle: "monthly",
  manage_discount_percent: null,
  price_after_discount: null,
  ...over,
});

const order = { plan_id: 11, currency: "USD", term: 1 };

describe("the price of an order", () => {
  it.each([
    ["is the plan's", order, [plan()], { list: 500, billed: 500, most: 500 }],
    [
      "is that of its currency, where the list has the plan once for each",
      { ...order, currency: "GEL" },
      [plan(), plan({ currency: "GEL", price: 1300 })],
      { list: 1300, billed: 1300, most: 1300 },
    ],
    [
      "is that of its term, where the list has the plan once for each cycle",
      { ...order, term: 12 },
      [plan(), plan({ billing_cycle: "yearly", price: 5000 })],
      { list: 5000, billed: 5000, most: 5000 },
    ],
    [
      "is at most the highest, where the list has several for the same",
      order,
      [plan({ price: 700 }), plan(), plan({ currency: "GEL", price: 1300 })],
      { list: null, billed: null, most: 700, unknown: "the list has several prices for this hosting plan" },
    ],
    [
      "is what the agency pays",
      order,
      [plan({ manage_discount_percent: 10, price_after_discount: 450 })],
      { list: 500, billed: 450, most: 450 },
    ],
    [
      "is the list price at a discount of nothing",
      order,
      [plan({ manage_discount_percent: 0 })],
      { list: 500, billed: 500, most: 500 },
    ],
    [
      "is not computed from a percentage",
      order,
      [plan({ manage_discount_percent: 10 })],
      { list: 500, billed: null, most: 500, unknown: "the list has no discounted price in this currency" },
    ],
    [
      "is that of another currency where the list has it",
      { ...order, currency: "GEL" },
      [plan({ prices: { GEL: 1300 } })],
      { list: 1300, billed: 1300, most: 1300 },
    ],
    [
      "in another currency does not take the discounted price of this one",
      { ...order, currency: "GEL" },
      [plan({ prices: { GEL: 1300 }, manage_discount_percent: 10, price_after_discount: 450 })],
      { list: 1300, billed: null, most: 1300, unknown: "the list has no discounted price in this currency" },
    ],
    [
      "is unknown in a currency that the list does not have",
      { ...order, currency: "EUR" },
      [plan()],
      { list: null, billed: null, most: null, unknown: "the list has no price in EUR" },
    ],
    [
      "is unknown where the plan names no currency: it may be in any",
      order,
      [plan({ currency: null })],
      { list: null, billed: null, most: null, unknown: "the list shows no currency for the price" },
    ],
    [
      "is unknown for a longer term of such a plan, too",
      { ...order, term: 12 },
      [plan({ currency: null })],
      { list: null, billed: null, most: null, unknown: "the list has no price for a term of 12 months" },
    ],
    [
      "is the plan's, however it writes the currency",
      order,
      [plan({ currency: " usd" })],
      { list: 500, billed: 500, most: 500 },
    ],
    [
      "is not below zero",
      order,
      [plan({ price: -1 })],
      { list: null, billed: null, most: null, unknown: "the list has no price in USD" },
    ],
    [
      "is not below zero for the agency either",
      order,
      [plan({ price_after_discount: -1 })],
      { list: 500, billed: null, most: 500, unknown: "the list has no discounted price in this currency" },
    ],
    [
      "is that of the currency where the plan has none, and what it has once belongs to nobody knows which",
      { ...order, currency: "GEL" },
      [
        plan({
          currency: null,
          price: 500,
          prices: { USD: 500, GEL: 1300 },
          manage_discount_percent: 10,
          price_after_discount: 450,
        }),
      ],
      { list: 1300, billed: null, most: 1300, unknown: "the list has no discounted price in this currency" },
    ],
    [
      "is unknown in a currency that is not among the prices of a plan without one",
      { ...order, currency: "EUR" },
      [plan({ currency: null, price: 500, prices: { USD: 500, GEL: 1300 } })],
      { list: null, billed: null, most: null, unknown: "the list has no price in EUR" },
    ],
    [
      "takes no discount without a currency, though there is one currency that the plan has a price in",
      order,
      [plan({ currency: null, price: 20, prices: { USD: 500 }, price_after_discount: 450 })],
      { list: 500, billed: null, most: 500, unknown: "the list has no discounted price in this currency" },
    ],
    ["of zero is a price", order, [plan({ price: 0 })], { list: 0, billed: 0, most: 0 }],
    [
      "is unknown for another term, as prepay discounts are not published, but not more than that many months",
      { ...order, term: 12 },
      [plan()],
      { list: null, billed: null, most: 6000, unknown: "the list has no price for a term of 12 months" },
    ],
    [
      "is known for the plan's own cycle",
      { ...order, term: 12 },
      [plan({ billing_cycle: "annually" })],
      { list: 500, billed: 500, most: 500 },
    ],
    [
      "is unknown for a month of a yearly plan",
      order,
      [plan({ billing_cycle: "annually" })],
      { list: null, billed: null, most: null, unknown: "the list has no price for a term of 1 months" },
    ],
    [
      "is that of a month when the cycle is not understood",
      order,
      [plan({ billing_cycle: "recurring" })],
      { list: 500, billed: 500, most: 500 },
    ],
    [
      "has a list price, and with a coupon no more than that",
      { ...order, coupon_code: "TEN" },
      [plan()],
      { list: 500, billed: null, most: 500, unknown: "the effect of the coupon is known only from the invoice" },
    ],
    [
      "with a coupon may be the list price: it may come in place of the account's discount",
      { ...order, coupon_code: "TEN" },
      [plan({ manage_discount_percent: 10, price_after_discount: 450 })],
      { list: 500, billed: null, most: 500, unknown: "the effect of the coupon is known only from the invoice" },
    ],
    [
      "for another term is bounded by the list price, whatever the account's discount is",
      { ...order, term: 3, coupon_code: "TEN" },
      [plan({ manage_discount_percent: 10, price_after_discount: 450 })],
      { list: null, billed: null, most: 1500, unknown: "the list has no price for a term of 3 months" },
    ],
    [
      "for a term of one and a half cycles is bounded by a whole amount",
      { ...order, term: 36 },
      [plan({ price: 501, billing_cycle: "biennially" })],
      { list: null, billed: null, most: 752, unknown: "the list has no price for a term of 36 months" },
    ],
    [
      "for another term is not bounded where the cycle is not understood",
      { ...order, term: 12 },
      [plan({ billing_cycle: "recurring" })],
      { list: null, billed: null, most: null, unknown: "the list has no price for a term of 12 months" },
    ],
    [
      "for another term is not bounded in a currency that the list does not have",
      { ...order, term: 12, currency: "EUR" },
      [plan()],
      { list: null, billed: null, most: null, unknown: "the list has no price for a term of 12 months" },
    ],
    [
      "is unknown without prices",
      order,
      [plan({ price: null })],
      { list: null, billed: null, most: null, unknown: "the list has no price in USD" },
    ],
    [
      "is unknown before the plan is known",
      { ...order, plan_id: UNKNOWN },
      [plan()],
      { list: null, billed: null, most: null, unknown: "the hosting plan is known only after apply" },
    ],
    [
      "is unknown where the list is empty",
      order,
      [],
      { list: null, billed: null, most: null, unknown: "plan_id 11 is not in the list of hosting plans" },
    ],
  ])("%s", (_, planned, plans, expected) => {
    const { quote, ...rest } = quoteService(planned as ValueObject, plans);
    const { plan: _name, months: _months, ...price } = quote;
    expect({ quote: price, ...rest }).toEqual({ quote: { currency: planned.currency, ...expected } });
  });

  it.each([
    ["the term that is declared", { ...order, term: 12 }, [plan()], { plan: "Shared Start", months: 12 }],
    [
      "else the cycle of the plan",
      { plan_id: 11, currency: "USD" },
      [plan({ billing_cycle: "annually" })],
      { months: 12 },
    ],
    [
      "nothing of a cycle that is not known",
      { plan_id: 11, currency: "USD" },
      [plan({ billing_cycle: "?" })],
      { months: undefined },
    ],
  ])("names its subject and the number of months: %s", (_, planned, plans, expected) => {
    const { quote } = quoteService(planned, plans);
    expect({ plan: quote.plan, months: quote.months }).toMatchObject(expected);
  });

  it.each([
    ["an error at plan_id", [plan()], "error"],
    ["a warning where an entry has no number", [plan(), plan({ plan_id: null })], "warning"],
  ])("of an unavailable plan comes with %s", (_, plans, severity) => {
    expect(quoteService({ ...order, plan_id: 99 }, plans)).toEqual({
      quote: {
        currency: "USD",
        list: null,
        billed: null,
        most: null,
        unknown: "plan_id 99 is not in the list of hosting plans",
      },
      diagnostic: expect.objectContaining({ severity, code: "plan.catalogue", attribute: ["plan_id"] }),
    });
  });

  it("of a plan that is no longer offered comes with a warning if the order was sent before", () => {
    const { diagnostic } = quoteService({ ...order, plan_id: 99 }, [plan()], true);
    expect(diagnostic).toMatchObject({ severity: "warning", code: "plan.catalogue" });
  });

  it("of a plan has no message if no list could be read", () => {
    expect(quoteService({ ...order, plan_id: 99 }, [])).not.toHaveProperty("diagnostic");
  });
});
