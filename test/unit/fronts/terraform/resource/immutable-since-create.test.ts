import { describe, expect, it } from "vitest";
import { type JsonObject, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import { terraformKind } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { immutableSinceCreate } from "../../../../../src/fronts/terraform/resource/replacement.ts";
import { asHeld } from "./fake-scope.ts";

const ORDERED = { id: "1001", plan_id: 11, currency: "USD", domain: "www.acme.example", reference: null };
const DECLARED = { plan_id: 11, currency: "USD", domain: "www.acme.example" };

/** Returns the names of the refused attributes. */
function refused(
  prior: JsonObject,
  declared: ValueObject,
  {
    made = "www.acme.example",
    gone = false,
    type = "hosting_service",
  }: { made?: string | null; gone?: boolean; type?: string } = {},
): string[] {
  const kind = terraformKind(type);
  const mark = made === null ? {} : { made };
  const found = immutableSinceCreate(kind, asHeld(kind, prior), { mark, declared, gone });
  for (const { severity, code } of found) expect(`${severity} ${code}`).toBe("error plan.immutable");
  return found.flatMap(({ attribute = [] }) => [attribute.join(".")]);
}

describe("what was made here", () => {
  it.each<[string, ValueObject, string[]]>([
    ["is as it was made when nothing else is said", DECLARED, []],
    ["keeps the name of its order", { ...DECLARED, reference: "other" }, ["reference"]],
    ["may have that name written down", { ...DECLARED, reference: "www.acme.example" }, []],
    ["may get it from what is not known yet", { ...DECLARED, reference: UNKNOWN }, []],
    ["does not get later what it was not ordered with", { ...DECLARED, coupon_code: "YEAR20" }, ["coupon_code"]],
    ["may yet turn out to be as it was ordered", { ...DECLARED, coupon_code: UNKNOWN }, []],
    ["may get it from a domain that is not known yet", { ...DECLARED, domain: UNKNOWN }, []],
    [
      "keeps the name of its order while its domain is not known yet",
      { ...DECLARED, domain: UNKNOWN, reference: "other" },
      ["reference"],
    ],
    // A changed domain has its own refusal. The message names no reference if none was declared.
    ["is not said to have another reference when it has another domain", { ...DECLARED, domain: "b.example" }, []],
    ["may change in place", { ...DECLARED, suspended: true, password_version: 2 }, []],
  ])("%s", (_, declared, names) => {
    expect(refused(ORDERED, declared)).toEqual(names);
  });

  it("may not lose its reference, when that was its name", () => {
    const prior = { ...ORDERED, reference: "www" };
    expect(refused(prior, { ...DECLARED, reference: "www" }, { made: "www" })).toEqual([]);
    expect(refused(prior, DECLARED, { made: "www" })).toEqual(["reference"]);
    expect(refused(prior, { ...DECLARED, domain: UNKNOWN }, { made: "www" }), "it may yet be called so").toEqual([]);
  });

  it("repeats no coupon in a message", () => {
    const kind = terraformKind("hosting_service");
    const question = {
      mark: { made: "www.acme.example" },
      declared: { ...DECLARED, coupon_code: "HUSH" },
      gone: false,
    };
    expect(JSON.stringify(immutableSinceCreate(kind, asHeld(kind, ORDERED), question))).not.toContain("HUSH");
  });

  it("is not held to it any more when it is gone", () => {
    expect(refused(ORDERED, { ...DECLARED, reference: "second" }, { gone: true })).toEqual([]);
  });

  it("of a kind that has no orders has no name, but is as it was made", () => {
    const type = "hosting_client_account";
    const declared = { name: "Acme", vat_number: "GE1" };
    expect(refused({ id: "5", name: "Acme" }, declared, { type, made: "Acme" })).toEqual(["vat_number"]);
    expect(refused({ id: "5", name: "Acme" }, { name: "Other" }, { type, made: "Acme" })).toEqual([]);
    const kind = terraformKind(type);
    const question = { mark: { made: "Acme" }, declared, gone: false };
    expect(immutableSinceCreate(kind, asHeld(kind, { id: "5", name: "Acme" }), question)[0]?.detail).toContain('"GE1"');
  });
});

it("of what was imported the declaration is believed", () => {
  expect(refused(ORDERED, { ...DECLARED, reference: "x", coupon_code: "YEAR20" }, { made: null })).toEqual([]);
});
