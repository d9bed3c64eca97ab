import { describe, expect, it } from "vitest";
import type { ValueObject } from "../../../../../src/core/model/index.ts";
import { openAccount, reportedBy } from "../account.ts";

const start = {
  plan_id: 11,
  name: "Shared Start",
  product_type: "shared",
  currency: "USD",
  billing_cycle: "monthly",
  price: 500,
  price_text: null,
  prices: { GEL: 1300, USD: 500, EUR: 450 },
  manage_discount_percent: 10,
  price_after_discount: 450,
  price_after_discount_text: null,
};

describe("hosting_plan", () => {
  it.each<ValueObject>([{ plan_id: 11 }, { name: "Shared Start" }, { name: "Shared Start", product_type: "shared" }])(
    "returns the plan that is %j",
    async (given) => {
      const account = await openAccount();
      expect(await account.read("hosting_plan", given)).toEqual(start);
    },
  );

  it("shows the price in the given currency, also as text where the scale is known", async () => {
    const account = await openAccount({ config: { money_scale: 2 } });
    expect(await account.read("hosting_plan", { plan_id: 11, currency: "GEL" })).toEqual({
      ...start,
      currency: "GEL",
      price: 1300,
      price_text: "13.00 GEL",
      // The API returns this price in one currency only.
      price_after_discount: null,
    });
    expect(await account.read("hosting_plan", { plan_id: 11 })).toMatchObject({
      price_text: "5.00 USD",
      price_after_discount_text: "4.50 USD",
    });
  });

  it.each<[ValueObject, string]>([
    [{ plan_id: 9 }, "error at plan_id: There is no plan 9"],
    [{ name: "Shared Stat" }, 'error at name: There is no plan "Shared Stat"'],
    [
      { name: "Shared Start", product_type: "vps" },
      'error at name: There is no plan "Shared Start" of product_type "vps"',
    ],
    // Plan 33 has no price in GEL.
    [{ plan_id: 33, currency: "GEL" }, 'error at plan_id: There is no plan 33 of currency "GEL"'],
  ])("%j is an error", async (given, expected) => {
    const account = await openAccount();
    const { state, diagnostics } = await account.tryRead("hosting_plan", given);
    expect(state).toBeNull();
    expect(reportedBy(diagnostics)).toEqual([expected]);
  });

  it("names what there is", async () => {
    const account = await openAccount();
    const { diagnostics } = await account.tryRead("hosting_plan", { name: "Shared Stat" });
    expect(diagnostics[0]?.detail).toContain('Did you mean "Shared Start"?');
    expect(diagnostics[0]?.detail).toContain("Desktop Office");
  });

  it("is an error when several have the name, naming them", async () => {
    const account = await openAccount();
    const body = {
      data: [
        { plan_id: 1, name: "Start", currency: "USD", billing_cycle: "monthly", price: 5 },
        { plan_id: 2, name: "Start", currency: "USD", billing_cycle: "yearly", price: 50 },
      ],
      has_more: false,
    };
    account.control.addFault({ path: "/plans", phase: "before", status: 200, body });
    const { diagnostics } = await account.tryRead("hosting_plan", { name: "Start" });
    expect(reportedBy(diagnostics)).toEqual(['error at name: There is more than one plan "Start"']);
    expect(diagnostics[0]?.detail).toContain("1 (Start, USD, monthly), 2 (Start, USD, yearly)");
    expect(await account.read("hosting_plan", { name: "Start", billing_cycle: "Yearly" })).toMatchObject({
      plan_id: 2,
      price: 50,
      prices: {},
    });
  });
});

describe("hosting_plans", () => {
  it("returns all, or those that match every filter", async () => {
    const account = await openAccount();
    const numbers = async (given: object) => {
      const { plans } = await account.read("hosting_plans", { ...given });
      return (plans as { plan_id: number }[]).map(({ plan_id }) => plan_id);
    };
    const all = await numbers({});
    expect(all).toContain(11);
    expect(all.length).toBeGreaterThan(8);
    expect(await numbers({ product_type: "shared" })).toEqual([11, 12, 13]);
    expect(await numbers({ product_type: "shared", currency: "EUR" })).toEqual([11, 12]);
    expect(await numbers({ name: "VPS 2" })).toEqual([32]);
    expect(await numbers({ billing_cycle: "yearly" })).toEqual([]);
    expect(account.sent()).toEqual(["GET /plans"]);
  });
});
