import { describe, expect, it } from "vitest";
import { UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import type { Mark } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { checkOrder } from "../../../../../src/fronts/terraform/resource/replacement.ts";
import { fixOf } from "../../../../support/remedies.ts";
import { fakeScope } from "./fake-scope.ts";

const OLD: Mark = { replacing: { id: "1001", name: "www.acme.example" } };

interface Case {
  readonly why: string;
  readonly declared: ValueObject;
  readonly mark?: Mark;
  readonly project?: undefined;
  /** Code and attribute of each rejection. */
  readonly says: readonly string[];
}

const cases: readonly Case[] = [
  { why: "with a domain is named", declared: { domain: "www.acme.example" }, says: [] },
  { why: "with a reference is named", declared: { reference: "box" }, says: [] },
  { why: "with neither has no name", declared: { plan_id: 31 }, says: ["terraform.reference reference"] },
  { why: "whose domain is not known yet may get a name by it", declared: { domain: UNKNOWN }, says: [] },
  { why: "whose reference is not known yet gets a name by it", declared: { reference: UNKNOWN }, says: [] },
  {
    why: "without a project has no key, whatever its name is",
    declared: { domain: "www.acme.example", project: null },
    project: undefined,
    says: ["terraform.project"],
  },
  {
    why: "in place of another needs another name",
    declared: { domain: "www.acme.example" },
    mark: OLD,
    says: ["terraform.reference reference"],
  },
  {
    why: "that replaces another is distinguished from it by its reference",
    declared: { domain: "www.acme.example", reference: "www.acme.example-2" },
    mark: OLD,
    says: [],
  },
  {
    why: "in place of another must have a reference that is known: the old one goes first",
    declared: { reference: UNKNOWN },
    mark: OLD,
    says: ["terraform.reference reference"],
  },
  {
    why: "in place of another, named by a domain that is not known yet, may have the name of the old one",
    declared: { domain: UNKNOWN },
    mark: OLD,
    says: ["terraform.reference reference"],
  },
  {
    why: "that replaces another is distinguished from it by its reference, whatever its domain will be",
    declared: { domain: UNKNOWN, reference: "second" },
    mark: OLD,
    says: [],
  },
  {
    why: "in place of another with neither has no name, which is said once",
    declared: { plan_id: 31 },
    mark: OLD,
    says: ["terraform.reference reference"],
  },
];

describe("an order", () => {
  it.each(cases)("$why", ({ declared, mark, says, ...rest }) => {
    const { kind, session } = fakeScope("hosting_service", { ...("project" in rest && { session: rest }) });
    const found = checkOrder(kind, declared, mark?.replacing, session);
    expect(found.map(({ code, attribute = [] }) => [code, ...attribute].join(" "))).toEqual(says);
    for (const one of found)
      expect({ severity: one.severity, fix: fixOf(one) }).toEqual({ severity: "error", fix: expect.any(String) });
  });

  it("is what is paid: nothing else needs a project or a name", () => {
    for (const type of ["hosting_grant", "hosting_webhook", "hosting_client_account", "hosting_domain"]) {
      const { kind, session } = fakeScope(type, { session: { project: undefined } });
      expect(checkOrder(kind, {}, undefined, session)).toEqual([]);
    }
  });
});
