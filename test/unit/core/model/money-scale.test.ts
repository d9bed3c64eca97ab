import { describe, expect, it } from "vitest";
import { amountsOf } from "../../../../src/core/engine/guards.ts";
import { Spending } from "../../../../src/core/engine/order-gate.ts";
import { domain } from "../../../../src/core/kinds/domain.ts";
import { service } from "../../../../src/core/kinds/service/index.ts";
import { scaleProblem } from "../../../../src/core/messages/index.ts";
import { formatAmount } from "../../../../src/core/model/index.ts";
import { fakeAccountWith, kindOf } from "../../../support/subjects.ts";

const problem = (scale: number | undefined, raw: unknown) => scaleProblem(scale, "plan", { id: "11", raw })?.summary;

describe("with money_scale: 2", () => {
  it.each([
    ["a price", { price: 17.5 }, "price"],
    ["a price whose zeros only a text can show", { price: "17.00" }, "price"],
    ["a negative amount", { price: "-17.50" }, "price"],
    ["a price of a currency", { prices: { GEL: 4500, USD: "17.00" } }, "prices"],
    ["rows of prices", { prices: [{ currency: "USD", amount: 17.01 }] }, "prices"],
    ["a discounted price", { price: 1700, price_after_discount: 1529.5 }, "price_after_discount"],
    ["a total", { subtotal: 100, total: "17.00" }, "total"],
    ["another name of the price", { listPrice: "17.00" }, "listPrice"],
    ["a wrapped record", { attributes: { price: "17.00" } }, "price"],
  ])("%s with a fraction is a contradiction", (_what, raw, name) => {
    expect(problem(2, raw)).toContain(`money_scale 2 contradicts the ${name} of plan 11: `);
    expect(problem(1, raw)).toContain(`the ${name} of plan 11`);
    expect(problem(0, raw), "amounts in the currency itself may have one").toBeUndefined();
    expect(problem(undefined, raw), "without a scale an amount means what the host means").toBeUndefined();
  });

  it.each([
    ["whole numbers", { price: 1700, prices: { USD: "1700" }, total: 0 }],
    ["a discount in percent", { price: 1700, manage_discount_percent: 12.5 }],
    ["a version", { version: "17.00", name: "17.50" }],
    ["amounts that cannot be read", { price: "17,00", total: "about 17.50", cost: Number.NaN }],
    ["nothing", null],
  ])("%s are accepted", (_what, raw) => expect(problem(2, raw)).toBeUndefined());

  it("the list of plans is rejected on each read before any amount is counted", async () => {
    const fake = fakeAccountWith({ moneyScale: 2 }, kindOf("hosting_service"));
    fake.plans = [{ id: "11", price: 17, raw: { plan_id: 11, price: "17.00" } }] as never;
    for (const reading of [
      () => fake.account.plans(),
      () => fake.account.freshPlans(),
      () => fake.account.knownPlans(),
    ])
      await expect(reading()).rejects.toMatchObject({ diagnostics: [{ code: "api.money_scale" }] });
  });

  it("an order whose invoice has a fraction is recorded and ends with the error", () => {
    const invoice = { id: "501", total: 17, currency: "USD", raw: { total: "17.00" } };
    const settings = { statusWords: {}, moneyScale: 2 };
    const record = { id: "1001", plan: "S", billing_cycle: null, status: "active", provisioning_status: null, raw: {} };
    const made = [
      service.created({ service: record, invoice } as never, {}, settings),
      domain.created({ id: "1001", invoice, raw: {} } as never, {}, settings),
    ];
    for (const created of made)
      expect(created).toMatchObject({ id: "1001", warning: { severity: "error", code: "api.money_scale" } });
  });

  it("an invoice in another unit does not reduce the counted amount of an order", () => {
    const spending = new Spending({ maxSpend: { USD: 2000 } }, amountsOf([], new Map()));
    const price = { currency: "USD", most: 1700, unknown: "" };
    const order = { type: "hosting_service", provider: "default", generation: 1, ...price };
    spending.admit({ ...order, address: "a" }).invoiced(null, "USD");
    expect(() => spending.admit({ ...order, address: "b" })).toThrow(/this run might spend/);
  });
});

it("an amount in the currency itself keeps its fraction", () => {
  expect(formatAmount(17.5, 0)).toBe("17.50");
  expect(formatAmount(17, 0)).toBe("17");
  expect(formatAmount(1750, 2)).toBe("17.50");
});
