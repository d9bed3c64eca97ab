import { describe, expect, it } from "vitest";
import { catalogueLint, lint, type Sort } from "../../../../../scripts/generate/schema-lint.ts";
import type { Attribute, Schema } from "../../../../../src/core/model/schema.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";

const all: readonly (readonly [name: string, sort: Sort, schema: Schema])[] = [
  ["provider", "provider", catalogue.provider],
  ...[...catalogue.resources].map(([name, schema]) => [name, "resource", schema] as const),
  ...[...catalogue.dataSources].map(([name, schema]) => [name, "data source", schema] as const),
  ...[...catalogue.ephemeral].map(([name, schema]) => [name, "ephemeral resource", schema] as const),
];

describe("the provider's schemas", () => {
  it.each(all)("can be read by Terraform and by generators: %s (%s)", (_, sort, schema) => {
    expect(lint(schema, sort)).toEqual([]);
  });

  it("pass as a whole, as `npm run generate` asks", () => {
    expect(catalogueLint(catalogue)).toEqual([]);
  });
});

describe("the lint", () => {
  const id: Attribute = { type: "string", description: "The id.", computed: true };
  const fine: Attribute = { type: "string", description: "A word.", optional: true };
  const complaints = (attributes: Record<string, Attribute>, sort: Sort = "resource") =>
    lint({ version: 0, description: "A thing.", attributes: { id, ...attributes } }, sort);

  it("has nothing to say of what is right", () => {
    expect(complaints({ name: fine })).toEqual([]);
  });

  it.each([
    ["a reserved name", { count: fine }, "count: the name is reserved"],
    ["camelCase", { planId: fine }, "planId: not a name in snake_case"],
    ["no way to be set", { a: { ...fine, optional: false } }, "a: neither required nor optional nor computed"],
    [
      "required and computed",
      { a: { ...fine, optional: false, required: true, computed: true } },
      "a: required, and optional or computed",
    ],
    [
      "write-only and computed",
      { a: { ...fine, sensitive: true, writeOnly: true, computed: true } },
      "a: write-only and computed",
    ],
    ["write-only in plain sight", { a: { ...fine, writeOnly: true } }, "a: write-only, but not sensitive"],
    ["no description", { a: { ...fine, description: "" } }, "a: its description is not a sentence"],
    ["a secret in plain sight", { api_token: fine }, "api_token: looks like a secret, but is not sensitive"],
    [
      "something in a nested attribute",
      { a: { ...fine, type: { nesting: "single", attributes: { B: fine } } } },
      "a.B: not a name in snake_case",
    ],
    [
      "an empty object",
      { a: { ...fine, type: { nesting: "list", attributes: {} } } },
      "a: an object without attributes",
    ],
    ["an id that is none", { id: { ...id, type: "number" } }, "id: not a computed string"],
  ] as const)("finds %s", (_, attributes: Record<string, Attribute>, complaint) => {
    expect(complaints(attributes)).toContain(complaint);
  });

  it("finds what belongs to resources alone", () => {
    const secret: Attribute = { ...fine, sensitive: true, writeOnly: true };
    expect(complaints({ secret }, "data source")).toContain("secret: write-only where nothing is recorded");
    expect(complaints({ secret }, "action")).toEqual(["id: computed, but nothing computes a configuration"]);
    expect(complaints({ count: fine }, "list resource")).toEqual([
      "id: computed, but nothing computes a configuration",
    ]);
    expect(complaints({ alias: fine }, "provider")).toEqual(
      expect.arrayContaining(["alias: the name is reserved", "id: computed, but nothing computes a configuration"]),
    );
    expect(lint({ version: 1, description: "", attributes: {} }, "data source")).toEqual([
      "no description",
      "a version of what is not recorded",
    ]);
  });
});
