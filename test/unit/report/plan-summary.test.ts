import { describe, expect, it } from "vitest";
import type { Diagnostic, Plan } from "../../../src/core/model/index.ts";
import { countChanges, moneyLines, renderPlan, requestLine, summaryLine } from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { change, cost, liveService, order, plan, update } from "./builders.ts";

const warning = (code: Diagnostic["code"]): Diagnostic => ({ severity: "warning", code, summary: "Look." });

describe("summaryLine", () => {
  it("counts a replacement as added and as destroyed, an import beside what it changes", () => {
    const changes = [
      order(),
      change({ actions: ["delete", "create"] }),
      change({ actions: ["create", "delete"] }),
      change({ actions: ["update"], importing: { id: "1" } }),
      change({ actions: ["forget"] }),
      change(),
    ];
    expect(countChanges(changes)).toEqual({
      add: 3,
      change: 1,
      updates: 1,
      destroy: 2,
      import: 1,
      forget: 1,
      suspend: 0,
      unsuspend: 0,
    });
    expect(summaryLine(plan(changes))).toBe("Plan: 1 to import, 3 to add, 1 to change, 2 to destroy, 1 to forget.");
  });

  it("counts what goes offline and what comes back apart from what merely changes, and Terraform's beside it", () => {
    const offline = { ...liveService, suspended: true };
    const changes = [
      ...["a", "b"].map((name) => update({ suspended: true }, { address: `hosting_service.${name}` })),
      update({ suspended: false }, { address: "hosting_service.c", before: offline }),
      update({ password_version: 2 }, { address: "hosting_service.d" }),
      change({ address: "hosting_service.e", actions: ["forget"], before: liveService, removal: "suspend" }),
      change({ address: "hosting_service.f", actions: ["forget"], before: liveService, removal: "forget" }),
    ];
    expect(summaryLine(plan(changes))).toBe(
      "Plan: 0 to add, 1 to change, 0 to destroy, 3 to suspend, 1 to unsuspend, 1 to forget.",
    );
    expect(countChanges(changes)).toMatchObject({ updates: 4, suspend: 3, unsuspend: 1, forget: 1 });
    expect(renderPlan(plan(changes), { remedies: fixOf, color: false })).toContain(
      "\n3 services go offline: hosting_service.a, hosting_service.b, hosting_service.e.\n1 service comes back online: hosting_service.c.\n",
    );
  });

  it("lists under `forget` nothing but what the account keeps as it is", () => {
    const suspends = change({ actions: ["forget"], before: liveService, removal: "suspend" });
    const text = renderPlan(plan([suspends]), { remedies: fixOf, color: false });
    expect(text).not.toContain("leave the account as it is");
    expect(text).toContain("! suspend: the site goes offline");
    expect(text).toContain("# hosting_service.acme will be suspended: its site goes offline; it stays in the account");
  });

  it("is Terraform's sentence where nothing of ours is to be said", () => {
    expect(summaryLine(plan([order()]))).toBe("Plan: 1 to add, 0 to change, 0 to destroy.");
    expect(summaryLine(plan([change()]))).toBe("No changes. Your account matches the declaration.");
  });
});

describe("the sentence for a plan without changes", () => {
  const matches = "No changes. Your account matches the declaration.";
  const heldUp = "No changes can be made now; see above.";
  it.each<[why: string, over: Partial<Plan>, line: string]>([
    ["the state lies in the clear: the account matches all the same", { diagnostics: [warning("state.key")] }, matches],
    ["Terraform's objects beside ours", { diagnostics: [warning("state.unmanaged")] }, matches],
    ["something declared is left alone", { diagnostics: [warning("plan.unknown_status")] }, heldUp],
    ["what it refers to is not there", { diagnostics: [warning("apply.skipped")] }, heldUp],
    ["an error", { diagnostics: [{ ...warning("state.key"), severity: "error" }] }, heldUp],
    ["an order without known outcome", { pending: ["hosting_domain.acme"] }, heldUp],
    ["what cannot be done yet", { changes: [change({ deferred: ["suspended"] })] }, heldUp],
    [
      "a status that is not understood",
      { changes: [change({ unfulfilled: true })], diagnostics: [warning("plan.unknown_status")] },
      "Nothing is planned for 1 resource with an unknown status; see above.",
    ],
    [
      "nor is that nothing left to destroy",
      { changes: [change({ unfulfilled: true }), change()], mode: "destroy" },
      "Nothing is planned for 1 resource with an unknown status; see above.",
    ],
  ])("%s", (_, over, line) => expect(summaryLine(plan([change()], over))).toBe(line));
});

describe("moneyLines", () => {
  const unknown = (text: string) =>
    order({ quote: { currency: "USD", list: null, billed: null, most: null, unknown: text } });
  const cases: readonly (readonly [string, ReturnType<typeof plan>, string])[] = [
    ["no orders", plan([change()]), "Orders: none."],
    [
      "a discount",
      plan([order(), order()], { cost: [cost({ orders: 2, list: 4000, billed: 3600 })] }),
      "Orders: 2 services, list price 4000 (USD, API's unit), billed 3600 (USD, API's unit) after discount",
    ],
    [
      "no discount",
      plan([order()], { cost: [cost({ billed: 2000 })] }),
      "Orders: 1 service, list price 2000 (USD, API's unit), billed 2000 (USD, API's unit)",
    ],
    [
      "a missing price is not a discount",
      plan([order(), unknown("the effect of the coupon is known only from the invoice")], {
        cost: [cost({ orders: 2, list: 4000, unknown: 1 })],
      }),
      "Orders: 2 services, list price 4000 (USD, API's unit), billed 1800 (USD, API's unit); 1 of them is not counted, its price is unknown: the effect of the coupon is known only from the invoice",
    ],
    [
      "several reasons are not listed one by one",
      plan([order(), unknown("a"), unknown("b")], { cost: [cost({ orders: 3, unknown: 2 })] }),
      "Orders: 3 services, list price 2000 (USD, API's unit), billed 1800 (USD, API's unit); 2 of them are not counted, their price is unknown: the API's list does not show it",
    ],
    [
      "list price known, the bill not",
      plan([order({ quote: { currency: "USD", list: 2000, billed: null, most: 2000, unknown: "the coupon" } })], {
        cost: [cost({ billed: null, unknown: 1 })],
      }),
      "Orders: 1 service, list price 2000 (USD, API's unit), billed unknown: the coupon",
    ],
    [
      "different things",
      plan([order(), order({ address: "hosting_domain.d", type: "hosting_domain" })], { cost: [cost({ orders: 2 })] }),
      "Orders: 2 orders, list price 2000 (USD, API's unit), billed 1800 (USD, API's unit) after discount",
    ],
  ];
  it.each(cases)("%s", (_why, planned, line) => {
    const unit = line.includes("API's unit") ? [expect.stringContaining("money_scale")] : [];
    expect(moneyLines(planned)).toEqual([line, ...unit]);
  });

  it("scales amounts only where all accounts that order in the currency state the same scale", () => {
    const planned = plan([order(), order({ provider: "beta" })], { cost: [cost({ orders: 2 })] });
    expect(moneyLines(planned, () => 2)[0]).toContain("list price 20.00 USD");
    expect(moneyLines(planned, (_, provider) => (provider === "beta" ? 2 : undefined))[0]).toContain(
      "list price 2000 (USD, API's unit)",
    );
  });
});

describe("requestLine", () => {
  it("says what reading took and what applying will take", () => {
    expect(requestLine(plan([], { requests: { read: 1, apply: 37, seconds: 64 } }))).toBe(
      "Applying takes 37 requests, about 1 minute. Reading took 1 request.",
    );
    expect(requestLine(plan())).toBe("Reading took 4 requests.");
  });
});
