import { describe, expect, it } from "vitest";
import type { Change, Diagnostic, Plan } from "../../../src/core/model/index.ts";
import { countChanges, moneyLines, renderPlan, summaryLine } from "../../../src/report/index.ts";
import { change, liveService, order, plain, plan, update } from "./builders.ts";

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
    expect(renderPlan(plan(changes), plain)).toContain(
      "\n3 services go offline: hosting_service.a, hosting_service.b, hosting_service.e.\n1 service comes back online: hosting_service.c.\n",
    );
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
      "The plan contains no change for 1 resource with an unknown status; see above.",
    ],
  ])("%s", (_, over, line) => expect(summaryLine(plan([change()], over))).toBe(line));
});

describe("moneyLines", () => {
  const unknown = (text: string) =>
    order({ quote: { currency: "USD", list: null, billed: null, most: null, unknown: text } });
  const bounded = order({ quote: { currency: "USD", list: 2000, billed: null, most: 2000, unknown: "the coupon" } });
  const one =
    "1 service, list price 2000 (USD, API's unit), billed 1800 (USD, API's unit) after discount, then 150 (USD, API's unit) a month";
  it.each<[why: string, changes: readonly Change[], lines: readonly string[]]>([
    ["no orders", [change()], ["Orders: none."]],
    [
      "a discount",
      [order(), order()],
      [
        "Orders: 2 services, list price 4000 (USD, API's unit), billed 3600 (USD, API's unit) after discount, then 300 (USD, API's unit) a month",
      ],
    ],
    [
      "an unknown price is a row of its own, in no sum",
      [order(), unknown("plan_id 7 is not in the list of hosting plans")],
      [`Orders: ${one}`, "        1 service, price unknown (USD): plan_id 7 is not in the list of hosting plans"],
    ],
    [
      "several reasons are not listed one by one",
      [order(), unknown("a"), unknown("b")],
      [`Orders: ${one}`, "        2 services, price unknown (USD): the API's list does not show it"],
    ],
    [
      "an upper bound is a row of its own, and says that it is one",
      [order(), bounded],
      [
        `Orders: ${one}`,
        "        1 service, list price 2000 (USD, API's unit), billed at most 2000 (USD, API's unit), then at most 167 (USD, API's unit) a month: the coupon",
      ],
    ],
    [
      "different things",
      [order(), order({ address: "hosting_domain.d", type: "hosting_domain" })],
      [
        "Orders: 2 orders, list price 4000 (USD, API's unit), billed 3600 (USD, API's unit) after discount, then 300 (USD, API's unit) a month",
      ],
    ],
  ])("%s", (_why, changes, lines) => {
    const unit = lines.some((line) => line.includes("API's unit")) ? [expect.stringContaining("money_scale")] : [];
    expect(moneyLines(plan(changes))).toEqual([...lines, ...unit]);
  });

  it("scales amounts only where all accounts that order in the currency state the same scale", () => {
    const planned = plan([order(), order({ provider: "beta" })]);
    expect(moneyLines(planned, () => 2)[0]).toContain("list price 40.00 USD");
    expect(moneyLines(planned, (_, provider) => (provider === "beta" ? 2 : undefined))[0]).toContain(
      "list price 4000 (USD, API's unit)",
    );
  });
});
