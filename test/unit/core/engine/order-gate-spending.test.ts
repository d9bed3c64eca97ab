// Spending of one run: the amount that an order may still cost when it is sent, and the effect of its invoice.
import { describe, expect, it } from "vitest";
import { amountsOf, type Limits, type Order } from "../../../../src/core/engine/guards.ts";
import { Spending } from "../../../../src/core/engine/order-gate.ts";
import { HostformError, some } from "../../../../src/core/model/index.ts";
import { fixOf } from "../../../support/remedies.ts";

const order = (name: string, most: number | null, over: Partial<Order> = {}): Order => ({
  address: name,
  type: "hosting_service",
  provider: "default",
  generation: 1,
  currency: "USD",
  most,
  unknown: "no price",
  ...over,
});

const start = (limits: Limits) => new Spending(limits, amountsOf([], new Map()));
const USD = (amount: number, more: Limits = {}) => start({ maxSpend: { USD: amount }, ...more });

/** Returns the rejection as one text, or undefined if the order is admitted. */
function refused(spending: Spending, ...args: Parameters<typeof order>): string | undefined {
  try {
    spending.admit(order(...args));
    return undefined;
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    return error.diagnostics.map((one) => [one.code, one.summary, one.detail, fixOf(one)].join("\n")).join();
  }
}

describe("an order", () => {
  it("counts until it is withdrawn, once", () => {
    const spending = start({ maxOrders: 2 });
    const first = spending.admit(order("a", 1));
    spending.admit(order("b", 1));
    expect(refused(spending, "c", 1)).toContain("this run has placed 2 orders, and max_orders allows 2");
    first.withdrawn();
    expect(refused(spending, "c", 1)).toBeUndefined();
    expect(refused(spending, "d", 1), "one was withdrawn, not two").toContain("guard.orders");
  });

  it("does not count without a limit on the number of orders", () => {
    expect(refused(start({ maxSpend: { USD: 9 } }), "a", 1)).toBeUndefined();
    expect(refused(start({ maxOrders: 1 }), "a", 1)).toBeUndefined();
  });

  it("that was withdrawn costs nothing", () => {
    const spending = USD(10);
    spending.admit(order("a", 10)).withdrawn();
    expect(refused(spending, "b", 10)).toBeUndefined();
    expect(refused(spending, "c", 1)).toContain("So far: 10 USD. This order: at most 1 USD.");
  });

  it("of an unknown amount requires the flag, and the error names the flag", () => {
    const said = refused(USD(10), "a", null);
    expect(said).toContain("So far: 0 USD. This order: unknown (no price).");
    expect(said).toContain("`--max-spend USD=AMOUNT` and `--allow-unknown-prices`.");
    expect(refused(USD(10, { allowUnknownPrices: true }), "a", null)).toBeUndefined();
    expect(refused(USD(0, { allowUnknownPrices: true }), "a", null), "nothing is left").toContain("unknown");
  });

  it("of a known amount names the one flag that permits it", () => {
    expect(refused(USD(10), "a", 11)).toContain("To allow this for one run: `--max-spend USD=AMOUNT`.");
  });

  it("is rejected after an order with an unknown cost, even if its own cost is zero", () => {
    const spending = USD(10, { allowUnknownPrices: true });
    spending.admit(order("a", null)).invoiced(null, "USD");
    expect(refused(spending, "b", 0)).toContain("The cost of a is unknown: the API sent no invoice.");
  });
});

describe("an invoice", () => {
  const left = (total: number | null, currency: string | null, most: number | null = 60) => {
    const spending = USD(100, { allowUnknownPrices: true });
    spending.admit(order("a", most)).invoiced(total, currency);
    return spending;
  };

  it.each<[string, number | null, string | null, number]>([
    ["takes the place of what was set aside", 40, "USD", 60],
    ["without a currency may be in that of the order: the larger of both counts", 40, null, 40],
    ["is in its currency however that is written", 40, "usd", 60],
    ["without an amount leaves what was set aside", null, "USD", 40],
    ["that is no number leaves what was set aside", Number.NaN, "USD", 40],
    ["without an amount or a currency leaves what was set aside", null, null, 40],
    ["without end leaves what was set aside", Number.POSITIVE_INFINITY, "USD", 40],
    ["below zero gives nothing back", -40, "USD", 100],
    ["of nothing costs nothing", 0, "USD", 100],
    ["in another currency leaves what was set aside in this one", 5, "EUR", 40],
  ])("%s", (_, total, currency, free) => {
    expect(refused(left(total, currency), "b", free), "fits").toBeUndefined();
    expect(refused(left(total, currency), "b", free + 1), "one more").toContain("guard.spend");
  });

  it("in another currency counts in that currency too", () => {
    const spending = start({ maxSpend: { USD: 100, EUR: 100 } });
    spending.admit(order("a", 60)).invoiced(70, "EUR");
    expect(refused(spending, "b", 31, { currency: "EUR" })).toContain("So far: 70 EUR");
    expect(refused(spending, "b", 30, { currency: "EUR" })).toBeUndefined();
    expect(refused(spending, "b", 41)).toContain("So far: 60 USD");
    expect(spending.exceeded()).toEqual([]);
  });

  it("in another currency than its order of unknown amount moves the order to that currency", () => {
    const spending = start({ maxSpend: { USD: 100, EUR: 100 }, allowUnknownPrices: true });
    spending.admit(order("a", null)).invoiced(70, "EUR");
    expect(refused(spending, "b", 100)).toBeUndefined();
    expect(refused(spending, "b", 31, { currency: "EUR" })).toContain("So far: 70 EUR");
  });

  it("in another currency is named at the end with its amount and without a bound", () => {
    const spending = start({ maxSpend: { EUR: 50 } });
    spending.admit(order("a", 60)).invoiced(70, "EUR");
    expect(spending.exceeded()).toMatchObject([
      {
        summary: "The orders of this run cost 70 EUR; max_spend allows 50 EUR",
        detail: expect.stringMatching(/^a 70\.\n/),
      },
    ]);
  });

  it.each<[string, [most: number, total: number][], number]>([
    ["below its bound lowers no other bound", [[10, 5]], 1000],
    ["exactly at its bound raises no other bound", [[10, 10]], 1000],
    ["above its bound raises those that come", [[10, 15]], 1500],
    [
      "with the worst share counts, not with the worst sum",
      [
        [10, 20],
        [100, 150],
      ],
      2000,
    ],
    [
      "with the worst share counts, also as the last",
      [
        [100, 150],
        [10, 20],
      ],
      2000,
    ],
    ["for what was free by its price says nothing of the others", [[0, 90]], 1000],
    ["that makes a bound no whole unit rounds it up", [[3, 4]], 1334],
  ])("%s", (_, invoices, expected) => {
    const spending = USD(999);
    for (const [most, total] of invoices) spending.admit(order(`for ${most}`, most)).invoiced(total, "USD");
    expect(refused(spending, "z", 1000)).toContain(`This order: at most ${expected} USD.`);
  });

  it("is named as the reason if it has the largest excess; of two equal ones the first", () => {
    const spending = USD(100);
    spending.admit(order("a", 10)).invoiced(20, "USD");
    spending.admit(order("b", 10)).invoiced(20, "USD");
    expect(refused(spending, "z", 40)).toContain("Its price is 40 USD, but a cost 20 USD instead of at most 10 USD.");
    expect(refused(USD(1), "z", 40), "without one, no reason").not.toContain("By its price");
  });

  it("in another currency than the order raises no bound, because the amounts are not comparable", () => {
    const spending = USD(999);
    spending.admit(order("a", 10)).invoiced(50, "EUR");
    expect(refused(spending, "z", 1000)).toContain("This order: at most 1000 USD.");
  });

  it("of zero in another currency counts nothing there", () => {
    const spending = start({ maxSpend: { EUR: 10 }, allowUnknownPrices: true });
    spending.admit(order("a", null)).invoiced(0, "EUR");
    expect(refused(spending, "b", 10, { currency: "EUR" })).toBeUndefined();
  });

  it("in one currency raises no bound in another", () => {
    const spending = start({ maxSpend: { USD: 100, EUR: 10 } });
    spending.admit(order("a", 10)).invoiced(50, "USD");
    expect(refused(spending, "b", 10, { currency: "EUR" })).toBeUndefined();
  });
});

describe("a limit that invoices exceed", () => {
  it("stops all further orders, including free orders and orders in other currencies", () => {
    const spending = start({ maxSpend: { USD: 10, EUR: 10 } });
    spending.admit(order("a", 10)).invoiced(11, "USD");
    expect(refused(spending, "b", 0)).toContain("b was not ordered: this run spent more than 10 USD");
    expect(refused(spending, "b", 1, { currency: "EUR" })).toContain("So far: 11 USD.");
  });

  it("excludes a limit that invoices reach exactly", () => {
    const spending = start({ maxSpend: { USD: 10 } });
    spending.admit(order("a", 10)).invoiced(10, "USD");
    expect(refused(spending, "b", 0)).toBeUndefined();
  });
});

describe("the final report of spending", () => {
  it("omits a limit that was reached exactly", () => {
    const spending = USD(10);
    spending.admit(order("a", 5)).invoiced(10, "USD");
    expect(spending.exceeded()).toEqual([]);
  });

  it("adds nothing for an order whose cost is unknown", () => {
    const spending = USD(10, { allowUnknownPrices: true });
    const first = spending.admit(order("a", 9));
    spending.admit(order("b", null));
    first.invoiced(10, "USD");
    expect(spending.exceeded()).toEqual([]);
  });

  it("shows the sum of invoices alone as the cost; an order without a result may cost more", () => {
    const spending = USD(10);
    spending.admit(order("a", 5)).invoiced(11, "USD");
    expect(spending.exceeded()).toMatchObject([
      {
        severity: "error",
        code: "guard.spend",
        summary: "The orders of this run cost 11 USD; max_spend allows 10 USD",
        detail: "a 11 (at most 5 by its price).\nAmounts are in the API's own unit.",
      },
    ]);
    expect(start({}).exceeded(), "without a limit").toEqual([]);
  });

  it.each<[string, number | null, [number | null, string | null] | undefined, string]>([
    ["of which nothing is known", null, undefined, "z unknown (no invoice names the amount)"],
    ["whose invoice did not come", 9, undefined, "z at most 9 (no invoice names the amount)"],
    ["whose invoice names no amount", 9, [null, "USD"], "z at most 9 (no invoice names the amount)"],
    ["whose invoice names no currency", 9, [12, null], "z at most 12 (its invoice names no currency)"],
    ["whose invoice is in another currency", 9, [1, "EUR"], "z at most 9 (its invoice is in EUR)"],
    ["that cost what was expected", 9, [9, "USD"], "z 9"],
    ["that cost more", 9, [10, "USD"], "z 10 (at most 9 by its price)"],
    ["that had no price", null, [10, "USD"], "z 10"],
  ])("describes an order %s", (_, most, invoice, text) => {
    const spending = USD(100, { allowUnknownPrices: true });
    const [big, one] = [spending.admit(order("big", 50)), spending.admit(order("z", most))];
    if (invoice !== undefined) one.invoiced(...invoice);
    big.invoiced(101, "USD");
    const [found] = spending.exceeded();
    expect(found?.detail).toContain(`, ${text}.\n`);
    expect(found?.summary).toContain(
      text.includes("at most 9 (") || /unknown|names no/.test(text) ? "may have cost" : "run cost",
    );
  });

  it("names each order with its known values", () => {
    const spending = USD(10, { allowUnknownPrices: true });
    spending.admit(order("exact", 4)).invoiced(4, "USD");
    spending.admit(order("lower", 4)).invoiced(1, "USD");
    const last = spending.admit(order("unpriced", null));
    last.invoiced(20, "USD");
    expect(spending.exceeded()[0]?.detail).toMatch(/^exact 4, lower 1, unpriced 20\.\n/);
    const open = USD(1, { allowUnknownPrices: true });
    open.admit(order("a", 1)).invoiced(9, "USD");
    expect(open.exceeded()[0]?.detail).toMatch(/^a 9 \(at most 1 by its price\)\./);
  });
});

describe("a list of names", () => {
  it.each([
    [["a", "b"], 2, "a, b"],
    [["a", "b", "c"], 2, "a, b and 1 more"],
    [["a"], 2, "a"],
    [[], 2, ""],
  ])("%j shortened to %i", (words, most, text) => expect(some(words, most)).toBe(text));
});
