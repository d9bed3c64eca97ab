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
      [
        {
          ...receiptOf({ orders }),
          receipt: receiptOf({ orders }),
          file: null,
          signature: "not_checked",
          signed_by: null,
        },
      ],
      scale,
    );
    expect(text).toContain("hosting_service.cents: 12.00 USD");
    expect(text).toContain("hosting_service.units: 1,200 USD");
  });

  it("of a mandate have decimals only if all its accounts have the same", () => {
    const lines = (...names: readonly string[]) =>
      mandateLines(mandateOf({ accounts: accounts(...names) }), scale).join(" ");
    expect(lines("cents")).toMatch(/At most 2 uses, 3 orders, 50\.00 USD, 0 removals\./);
    expect(lines("cents", "units")).toMatch(/5000 \(USD, API's unit\)/);
  });

  it("are named if the mandate allows orders, but no amount", () => {
    expect(mandateLines(mandateOf({ max_spend: {}, accounts: accounts("cents") }), scale).join(" ")).toMatch(
      /3 orders, no money,/,
    );
  });
});

describe("the summary of a mandate", () => {
  const summary = (given: Parameters<typeof mandateOf>[0]) =>
    mandateLines(mandateOf({ accounts: accounts("cents"), ...given }), scale).slice(1);

  it("names what a mandate without a plan allows, from the greatest risk to the smallest", () => {
    const open = {
      no_offline: false,
      targets: [],
      objects: null,
      kinds: ["client_account", "service", "webhook", "grant"],
    };
    expect(summary(open)).toEqual([
      "Sites may go offline.",
      "May change access of people, receivers of events, services, client accounts.",
      "The whole account.",
      "At most 2 uses, 3 orders, 50.00 USD, 0 removals.",
    ]);
    const bound = { targets: ["client:acme"], objects: ["default hosting_service 1003"], kinds: ["domain"] };
    expect(summary(bound)).toEqual([
      "No site goes offline.",
      "May change domains.",
      "Only client:acme.",
      "Of existing objects, only default hosting_service 1003 with their grants.",
      "At most 2 uses, 3 orders, 50.00 USD, 0 removals.",
    ]);
  });
});
