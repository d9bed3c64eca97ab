/** Mandates and receipts as text. */
import { describe, expect, it } from "vitest";
import { mandateLines, renderReceipts } from "../../../src/report/index.ts";
import { mandateOf, receiptOf } from "../../support/mandates.ts";

const scale = (_: string, provider: string) => ({ cents: 2, units: 0 })[provider];
const anchors = [{ type: "hosting_service", id: "1001", created_at: null }];
const accounts = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { origin: "https://api.example", anchors }]));

describe("amounts", () => {
  it("of a receipt have the decimals of the account of each order", () => {
    const orders = ["cents", "units"].flatMap((provider) =>
      receiptOf().orders.map((order) => ({ ...order, provider, address: `hosting_service.${provider}` })),
    );
    const text = renderReceipts(
      [{ receipt: receiptOf({ orders }), file: null, signature: "not_checked", signed_by: null }],
      scale,
    );
    expect(text).toContain("hosting_service.cents: 12.00 USD");
    expect(text).toContain("hosting_service.units: 1,200 USD");
  });

  it("of a mandate have decimals only if all its accounts have the same", () => {
    const lines = (...names: readonly string[]) => mandateLines(mandateOf({ accounts: accounts(...names) }), scale)[1];
    expect(lines("cents")).toMatch(/^At most 2 uses, 3 orders, 50\.00 USD, 0 removals;/);
    expect(lines("cents", "units")).toMatch(/5000 \(USD, API's unit\)/);
  });

  it("are named if the mandate allows orders, but no amount", () => {
    expect(mandateLines(mandateOf({ max_spend: {}, accounts: accounts("cents") }), scale)[1]).toMatch(
      /3 orders, no money,/,
    );
  });
});
