// Target of a change for each attribute: planned values, values known only at the apply, and kept values.
import { describe, expect, it } from "vitest";
import type { Created } from "../../../../src/core/kinds/kind.ts";
import {
  adoptedAttributes,
  createdAttributes,
  plannedAttributes,
  recordedOnly,
  targetAttributes,
  without,
} from "../../../../src/core/lifecycle/attributes.ts";
import { type Change, type JsonObject, UNKNOWN } from "../../../../src/core/model/index.ts";
import { kindOf } from "../../../support/subjects.ts";

const kind = kindOf("hosting_service");
const change = (after: JsonObject | null, after_unknown: Record<string, boolean> = {}) =>
  ({
    address: "hosting_service.a",
    provider: "beta",
    sensitive: ["x"],
    dependsOn: ["y"],
    after,
    after_unknown,
  }) as unknown as Change;

describe("a planned attribute", () => {
  it("has the planned value, and null without one", () => {
    const planned = plannedAttributes(kind, change({ plan_id: 11, domain: "a.example" }), { plan_id: 12, term: 3 });
    expect(planned).toMatchObject({ plan_id: 11, domain: "a.example", term: null, suspended: null });
    expect(plannedAttributes(kind, change(null), {})).toMatchObject({ plan_id: null });
  });

  it.each<[string, string, JsonObject, unknown]>([
    ["known by now is as declared", "domain", { domain: "b.example" }, "b.example"],
    ["not declared either is what an answer shows", "domain", {}, null],
    ["of an attribute that is changed later is null: that change sets it", "suspended", { suspended: true }, null],
  ])("unknown in the plan and %s", (_, name, config, expected) => {
    expect(plannedAttributes(kind, change({ [name]: null }, { [name]: true }), config)[name]).toBe(expected);
  });
});

describe("the target of a change in place", () => {
  const current = { id: "1", plan_id: 11, suspended: false, password_version: 1 };

  it.each<[string, JsonObject, Record<string, boolean>, JsonObject, JsonObject]>([
    [
      "is the plan's, for what can be changed in place",
      { suspended: true, plan_id: 99 },
      {},
      {},
      { suspended: true, plan_id: 11 },
    ],
    [
      "is what is declared, where the plan did not know it",
      { suspended: null },
      { suspended: true },
      { suspended: true },
      { suspended: true },
    ],
    ["is nothing, where neither knows it", { suspended: null }, { suspended: true }, {}, { suspended: null }],
    ["is nothing, where nothing is planned", {}, {}, { suspended: true }, { suspended: null }],
  ])("%s", (_, after, unknown, config, expected) => {
    expect(targetAttributes(kind, change(after, unknown), config, current)).toMatchObject({ id: "1", ...expected });
  });

  it("never contains a write-only secret", () => {
    expect(targetAttributes(kind, change({ password: "x" }), { password: "x" }, current)).not.toHaveProperty(
      "password",
    );
  });
});

describe("an attribute that only the state contains", () => {
  const only = (after: JsonObject, current: JsonObject) => recordedOnly(kind, change(after), {}, current);

  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    [
      "is what concerns hostform alone",
      { deletion_policy: "forget" },
      { deletion_policy: "prevent", plan_id: 1, currency: "USD" },
      { deletion_policy: "forget" },
    ],
    ["is what the API does not show of what cannot change", { plan_id: 11 }, { plan_id: null }, { plan_id: 11 }],
  ])("%s", (_, after, current, expected) => expect(only(after, current)).toMatchObject(expected));

  it("excludes values that the account shows, and values that a request changes", () => {
    const found = only(
      { plan_id: 99, suspended: true, status: "x" },
      { plan_id: 11, suspended: false, status: "active" },
    );
    for (const name of ["plan_id", "suspended", "status"]) expect(found, name).not.toHaveProperty(name);
    // The state changes these values only when the request has its response.
    expect(only({ suspended: true }, { plan_id: 11 })).not.toHaveProperty("suspended");
    expect(only({ coupon_code: null }, { coupon_code: "TEN" }), "what cannot change").not.toHaveProperty("coupon_code");
  });

  it("includes a removed declaration of a value that a request set, but not a value that only the API returned", () => {
    const found = only({ password_version: null, suspended: null }, { password_version: 3, suspended: true });
    expect(found).toHaveProperty("password_version", null);
    expect(found).not.toHaveProperty("suspended");
    expect(only({ password_version: 4 }, { password_version: 3 })).not.toHaveProperty("password_version");
  });
});

describe("the result of a create", () => {
  const created = (attributes: JsonObject, id: string | null = "1"): Created => ({ id, attributes, invoice: null });
  const hooks = kindOf("hosting_webhook");

  it("has the planned values, the values of the response, and the one-time secret of the response", () => {
    const planned = { url: "https://a.example", events: ["b", "a"], secret: null };
    const made = createdAttributes(
      hooks,
      planned,
      created({ url: "https://A.example/", events: ["a", "b"], created_at: "2026-11-21", secret: "s" }),
      {},
    );
    expect(made).toMatchObject({
      id: "1",
      url: "https://a.example",
      events: ["b", "a"],
      created_at: "2026-11-21",
      secret: "s",
    });
    expect(createdAttributes(hooks, planned, created({}, null), {}).id).toBeNull();
  });
});

describe("an adopted resource", () => {
  it.each<[string, JsonObject, JsonObject, string, unknown]>([
    ["is what the API showed", { plan_id: 11 }, { plan_id: 12 }, "plan_id", 11],
    ["is as declared, where it showed nothing of what cannot change", {}, { plan_id: 12 }, "plan_id", 12],
    [
      "is as declared, where it concerns hostform alone",
      {},
      { deletion_policy: "forget" },
      "deletion_policy",
      "forget",
    ],
    ["is its default, where nothing is declared", {}, {}, "deletion_policy", "prevent"],
    ["is not what is not known yet", {}, { plan_id: UNKNOWN as never }, "plan_id", null],
    ["is nothing, where neither says anything", {}, {}, "plan_id", null],
  ])("%s", (_, shown, config, name, expected) => {
    expect(adoptedAttributes(kind, shown, config)[name]).toEqual(expected);
  });
});

describe("a record", () => {
  it("may lack some names", () => {
    expect(without({ a: 1, b: 2, c: 3 }, ["a", "c"])).toEqual({ b: 2 });
  });
});
