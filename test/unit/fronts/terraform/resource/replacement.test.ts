import { describe, expect, it } from "vitest";
import { type Diagnostic, type JsonObject, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { type Mark, terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import {
  planReplacement,
  prevented,
  replacedObject,
} from "../../../../../src/fronts/terraform/resource/replacement.ts";
import { fixOf } from "../../../../support/remedies.ts";
import { liveService, liveWebhook } from "../../../../support/subjects.ts";
import { asHeld, codesOf, fakeScope } from "./fake-scope.ts";

const refusal = (name: string): Diagnostic => ({
  severity: "error",
  code: "plan.immutable",
  summary: `${name} cannot be changed`,
  attribute: [name],
});
const other: Diagnostic = { severity: "warning", code: "plan.unknown_status", summary: "something else" };

const PRIOR = { ...liveService, plan_id: 11, currency: "USD", deletion_policy: "forget" };
const CONFIG = {
  plan_id: 12,
  currency: "USD",
  domain: "www.acme.example",
  reference: "second",
  replace_on_change: true,
};

function reorder({
  type = "hosting_service",
  prior = PRIOR,
  config = CONFIG,
  mark = {},
  diagnostics = [refusal("plan_id"), other],
}: {
  type?: string;
  prior?: JsonObject;
  config?: ValueObject;
  mark?: Mark;
  diagnostics?: readonly Diagnostic[];
} = {}) {
  const { kind, session } = fakeScope(type);
  const held = asHeld(kind, prior);
  const replacing = replacedObject(kind, { ...held, id: String(held.id) }, mark, session.settings);
  return planReplacement(kind, { prior: held, config, replacing, diagnostics, session });
}

describe("an immutable change", () => {
  it.each<[string, ValueObject]>([
    ["is refused as long as replace_on_change does not say otherwise", { ...CONFIG, replace_on_change: null }],
    ["is refused where it says no", { ...CONFIG, replace_on_change: false }],
    ["is refused while it is not known what it says", { ...CONFIG, replace_on_change: UNKNOWN }],
  ])("%s", (_, config) => {
    expect(reorder({ config })).toEqual({ requiresReplace: [], diagnostics: [refusal("plan_id"), other] });
  });

  it("causes the replacement: replace_on_change without a change has no effect", () => {
    expect(reorder({ diagnostics: [other] })).toEqual({ requiresReplace: [], diagnostics: [other] });
  });

  it("replaces the object when that is declared: at the refused attributes, and the refusals are gone", () => {
    const { requiresReplace, diagnostics, result } = reorder({
      diagnostics: [refusal("plan_id"), other, refusal("term")],
    });
    expect(requiresReplace).toEqual([["plan_id"], ["term"]]);
    expect(diagnostics).toEqual([other]);
    // Declared values, defaults, or values of the new order: no value of the old object.
    expect(result).toMatchObject({ plan_id: 12, term: 1, id: UNKNOWN, status: UNKNOWN, coupon_code: null });
  });

  it("requires another name for the second order", () => {
    const { diagnostics } = reorder({ config: { ...CONFIG, reference: null } });
    expect(codesOf(diagnostics)).toEqual(["warning plan.unknown_status", "error terraform.reference"]);
  });

  it.each([
    ["prevent", ["error plan.prevented"]],
    [null, ["error plan.prevented"]],
    ["forget", []],
    ["suspend", ["warning plan.prevented"]],
  ])("under deletion_policy %j says %j", (policy, says) => {
    const { diagnostics } = reorder({
      prior: { ...PRIOR, deletion_policy: policy },
      diagnostics: [refusal("plan_id")],
    });
    expect(codesOf(diagnostics)).toEqual(says);
  });

  it("of a registration stays refused while it is the same domain: it cannot be registered twice", () => {
    const prior = { id: "9", domain: "acme.example", years: 1, deletion_policy: "forget" };
    const config = { domain: "ACME.example", years: 2, replace_on_change: true };
    const question = { type: "hosting_domain", prior, diagnostics: [refusal("years")] };
    expect(reorder({ ...question, config })).toEqual({ requiresReplace: [], diagnostics: [refusal("years")] });
    expect(reorder({ ...question, config: { ...config, domain: "other.example" } })).toMatchObject({
      requiresReplace: [["years"]],
      diagnostics: [],
    });
  });
});

describe("what is known of an object that is to be replaced", () => {
  const { kind, session } = fakeScope("hosting_service");
  const replaced = (attributes: JsonObject, mark: Mark = {}) =>
    replacedObject(
      kind,
      asHeld(kind, { ...PRIOR, ...attributes }) as JsonObject & { id: string },
      mark,
      session.settings,
    );

  it.each([
    [
      "are the name that it was ordered under, and its present name",
      {},
      { made: "first" },
      { id: "1001", name: "first", renamed: "www.acme.example" },
    ],
    ["is else the one that it would have", {}, {}, { id: "1001", name: "www.acme.example" }],
    ["may be none", { domain: null }, {}, { id: "1001" }],
    [
      "is that its policy holds it",
      { deletion_policy: "prevent" },
      { made: "a" },
      { id: "1001", name: "a", renamed: "www.acme.example", prevented: true },
    ],
    [
      "is not that, once it has ended",
      { deletion_policy: "prevent", status: "terminated" },
      { made: "a" },
      { id: "1001", name: "a", renamed: "www.acme.example" },
    ],
  ])("%s", (_, attributes, mark, expected) => {
    expect(replaced(attributes, mark)).toStrictEqual(expected);
  });

  it("is never a policy where the API deletes", () => {
    const hook = fakeScope("hosting_webhook");
    const prior = { ...liveWebhook, id: "201" };
    expect(replacedObject(hook.kind, prior, { made: "a" }, hook.session.settings)).toEqual({
      id: "201",
      name: "a",
      renamed: hook.kind.naturalKey(prior),
    });
  });
});

it.each([
  ["hosting_service", '`deletion_policy = "forget"` (or "suspend"), apply'],
  ["hosting_client_account", '`deletion_policy = "forget"`, apply'],
])("what its policy keeps, a %s, is not replaced, and the fix names the policies that it has", (type, fix) => {
  const { attribute, ...said } = prevented(terraformKind(type), "7");
  expect({ attribute, fix: fixOf(said) }).toEqual({
    attribute: ["deletion_policy"],
    fix: `Set ${fix}, then change the resource.`,
  });
});
