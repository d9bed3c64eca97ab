import { describe, expect, it } from "vitest";
import { amountsOf, type MonthBudget, type Order } from "../../../../src/core/engine/guards.ts";
import { checkMonth } from "../../../../src/core/engine/month.ts";
import {
  type HistoryEntry,
  type HistoryOrder,
  mergedOrders,
  ordersIn,
  type PastOrder,
} from "../../../../src/core/model/index.ts";

const DAY = Date.parse("2026-11-20");
const past = (key: string, amount: number | null, over: Partial<PastOrder> = {}): PastOrder => ({
  key,
  id: null,
  at: DAY,
  currency: "USD",
  amount,
  ...over,
});
const order = (address: string, most: number | null, currency = "USD"): Order => ({
  address,
  type: "hosting_service",
  provider: "default",
  generation: 1,
  currency,
  most,
  unknown: "no price",
});
const budget: MonthBudget = {
  past: [],
  source: "Sources.",
  day: DAY,
  keyOf: ({ address }) => address,
  reserve: () => Promise.reject(new Error("not used")),
};

describe("merged orders", () => {
  it.each<[reason: string, orders: PastOrder[], amounts: (number | null)[]]>([
    ["different orders", [past("a", 1), past("b", 2)], [1, 2]],
    ["an order without a price", [past("a", null)], [0]],
    ["the same key in history and reservation: the larger amount", [past("a", 450), past("a", 500)], [500]],
    ["the same id in history and account", [past("a", 450, { id: "p 1" }), past("p 1", 400, { id: "p 1" })], [450]],
    ["one id in two accounts", [past("p 1", 4, { id: "p 1" }), past("q 1", 4, { id: "q 1" })], [4, 4]],
    [
      "a lost response that got its id",
      [past("a", 9), past("a", 8, { id: "p 1" }), past("p 1", 7, { id: "p 1" })],
      [9],
    ],
  ])("%s", (_, orders, amounts) => {
    expect(mergedOrders(orders).map(({ amount }) => amount)).toEqual(amounts);
  });

  it("give an attempt without an id to the next order with its key, and keep the latest time", () => {
    const at = (second: number, id: string | null, key = "a") => past(key, second, { id, at: second });
    const orders = [at(9, null), at(4, null), at(8, "r"), at(8, "u"), at(6, "q"), at(2, "p"), at(1, null)];
    const others = [at(5, "s", "b"), at(0, "q", "the id")];
    expect(mergedOrders([...orders, ...others])).toEqual([
      at(9, null),
      { ...at(4, "q"), at: 6, amount: 6 },
      at(8, "r"),
      at(8, "u"),
      at(2, "p"),
      at(5, "s", "b"),
    ]);
  });
});

describe("the orders of a history", () => {
  const made = { key: "a", provider: "p", type: "hosting_service", currency: "USD", quote: 450 };
  const bill = { id: "1", number: null, total: 400, currency: "EUR" };

  it.each<[reason: string, over: Partial<HistoryOrder>, expected: Partial<PastOrder>]>([
    [
      "an invoice precedes the quote",
      { id: "7", invoice: bill },
      { id: "p hosting_service 7", currency: "EUR", amount: 400 },
    ],
    [
      "an order without an invoice has its quote",
      { id: null, invoice: null },
      { id: null, currency: "USD", amount: 450 },
    ],
    [
      "an invoice without amount and currency has those of the quote",
      { id: null, invoice: { ...bill, total: null, currency: null } },
      { id: null, currency: "USD", amount: 450 },
    ],
  ])("%s", (_, over, expected) => {
    const entry = { at: new Date(DAY).toISOString(), orders: [{ ...made, ...over }] } as unknown as HistoryEntry;
    expect(ordersIn([entry])).toEqual([{ key: "a", at: DAY, ...expected }]);
  });
});

describe("the limits of month and day", () => {
  const usd = { maxSpendMonth: { USD: 1000 } };
  it.each<[reason: string, orders: Order[], limits: object, past: PastOrder[], codes: RegExp[]]>([
    ["exactly the limit", [order("a", 400)], usd, [past("b", 600)], []],
    ["one unit more", [order("a", 401)], usd, [past("b", 600)], [/cost 401 USD.*600 USD is spent/]],
    ["an earlier attempt of the same order", [order("a", 400)], usd, [past("a", 700)], []],
    [
      "an earlier order of the same address",
      [order("a", 400)],
      usd,
      [past("a", 700, { id: "p 1" })],
      [/cost 400 USD.*700 USD is spent/],
    ],
    ["another currency", [order("a", 900)], usd, [past("b", 900, { currency: "EUR" })], []],
    ["an unknown currency counts", [order("a", 900)], usd, [past("b", 900, { currency: null })], [/cost 900 USD/]],
    ["an earlier order without a price", [order("a", 1001)], usd, [past("b", null)], [/cost 1001 USD/]],
    ["an unknown price", [order("a", null)], usd, [], [/cost 0 USD/]],
    ["an allowed unknown price", [order("a", null)], { ...usd, allowUnknownPrices: true }, [], []],
    ["no order", [], { ...usd, maxOrdersDay: 0 }, [past("b", 5000)], []],
    [
      "a full day",
      [order("a", 1)],
      { maxOrdersDay: 1 },
      [past("b", 1)],
      [/max_orders_day allows 1, and today already has 1 order/],
    ],
    ["yesterday", [order("a", 1)], { maxOrdersDay: 1 }, [past("b", 1, { at: DAY - 1 })], []],
  ])("%s", (_, orders, limits, orderedBefore, codes) => {
    const found = checkMonth(orders, { ...limits, budget }, orderedBefore, amountsOf(orders, new Map()));
    expect(found.map(({ summary }) => summary)).toEqual(codes.map((code) => expect.stringMatching(code)));
    expect(found.every(({ code, severity }) => code === "guard.month" && severity === "error")).toBe(true);
  });
});
