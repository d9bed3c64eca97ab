/** Conditions need attention without a change. Every report of a plan lists them. */
import { describe, expect, it } from "vitest";
import { conditionFor } from "../../../src/core/messages/index.ts";
import { conditionOf, conditionWarning } from "../../../src/core/model/index.ts";
import { foundText, planJson, planMessages, renderPlan, summaryLine, watchNotes } from "../../../src/report/index.ts";
import { fixOf } from "../../support/remedies.ts";
import { change, plain, plan, update } from "./builders.ts";

const off = conditionFor("off", {
  address: "hosting_webhook.billing",
  noun: "webhook",
  id: "7",
  name: undefined,
  off: "is_active is false",
});
const kept = conditionFor("own_form", {
  address: "hosting_service.acme",
  noun: "service",
  name: "suspended",
  is: "a\u001b[2J",
  declared: true,
  times: 2,
});
const both = plan([change()], { conditions: [kept, off] });

describe("conditions of a plan", () => {
  it("follow the changes as text, with their fix and without control characters", () => {
    const text = renderPlan(both, { remedies: fixOf, color: false });
    expect(text).toContain('Needs attention:\n  ! "suspended" of hosting_service.acme is still');
    expect(text).toContain(
      "  ! hosting_webhook.billing: the host has disabled webhook 7: is_active is false\n    The webhook may get",
    );
    expect(text).toContain("    Fix: Repair the receiver.");
    expect(text).not.toContain("\u001b");
  });

  it("end the claim that the account matches the declaration", () => {
    expect(summaryLine(both)).toBe("No changes. 1 object still differs from its declared value. 1 object is disabled.");
    expect(foundText(both, fixOf)).toBe(
      "No changes. 1 object still differs from its declared value. 1 object is disabled.",
    );
    expect(summaryLine(plan([update({ suspended: true })], { conditions: [off] }))).toMatch(/^Plan: /);
    expect(summaryLine(plan([change()]))).toBe("No changes. Your account matches the declaration.");
  });

  it("are a list of the JSON document that is empty without any", () => {
    const json = planJson(both, plain).hostform.conditions;
    expect(json.map(({ condition, address }) => [condition, address])).toEqual([
      ["own_form", "hosting_service.acme"],
      ["off", "hosting_webhook.billing"],
    ]);
    expect(json[1]).toEqual({
      address: "hosting_webhook.billing",
      condition: "off",
      summary: "hosting_webhook.billing: the host has disabled webhook 7: is_active is false",
      detail: "The webhook may get no events until it is enabled again.",
      fix: "Repair the receiver. Then enable the webhook in the dashboard. Or delete the webhook in the dashboard and apply. The apply creates a webhook with a new secret.",
    });
    expect(planJson(plan(), plain).hostform.conditions).toEqual([]);
  });

  it("are warnings among the messages of an apply, and notes of a watch that stay apart from changes", () => {
    const codes = planMessages(both, 0, fixOf).flatMap((one) => ("diagnostic" in one ? one.diagnostic.code : []));
    expect(codes).toEqual(["condition.own_form", "condition.off"]);
    expect([...watchNotes(both)].map(([key, { isChange }]) => [key, isChange])).toEqual([
      ["hosting_service.acme own_form", false],
      ["hosting_webhook.billing off", false],
    ]);
  });

  it("become warnings and back without a loss", () => {
    expect(conditionOf(conditionWarning(off))).toEqual(off);
    expect(conditionWarning(off)).toMatchObject({ severity: "warning", code: "condition.off" });
  });
});
