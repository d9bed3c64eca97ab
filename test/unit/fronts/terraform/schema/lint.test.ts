import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import codemaker from "codemaker";
import { describe, expect, it } from "vitest";
import { catalogueNamesLint } from "../../../../../scripts/generate/binding-names.ts";
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
    ["a name of the constructs", { node: fine }, "node: the name is reserved"],
    [
      "a name that the generators change",
      { get_well: fine },
      "get_well: the generators call what begins with get_ by another name",
    ],
    ["camelCase", { planId: fine }, "planId: not a name in snake_case"],
    ["one name twice after a digit", { ipv6_state: fine, ipv6state: fine }, "ipv6_state: one name with another"],
    [
      "a member of an object",
      { a: { ...fine, type: { nesting: "single", attributes: { internal_value: fine } } } },
      "a.internal_value: the name is reserved",
    ],
    ["one name twice", { plan_id: fine, plan__id: fine }, "plan_id: one name with another"],
    ["a generated name", { url: fine, url_input: fine }, "url_input: the name of a generated member"],
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
    expect(complaints({ alias: fine }, "provider")).toEqual(
      expect.arrayContaining(["alias: the name is reserved", "id: computed, but nothing computes a configuration"]),
    );
    expect(lint({ version: 1, description: "", attributes: {} }, "data source")).toEqual([
      "no description",
      "a version of what is not recorded",
    ]);
  });
});

describe("the names that the bindings cannot have", () => {
  const fine: Attribute = { type: "string", description: "A word.", optional: true };
  const complaintsOf = (name: string, inside: boolean) => {
    const attributes = { [name]: fine };
    const schema = (of: Schema["attributes"]): Schema => ({ version: 0, description: "A thing.", attributes: of });
    return inside
      ? lint(schema({ thing: { ...fine, type: { nesting: "single", attributes } } }), "data source")
      : lint(schema(attributes), "data source");
  };

  it("are all members of the classes that the bindings extend", () => {
    const resource = ["terraform-element", "terraform-resource", "terraform-data-source", "terraform-provider"];
    const object = ["complex-computed-list"];
    const members = (files: readonly string[]) =>
      new Set(LIBRARY_FOLDERS.flatMap((folder) => files.flatMap((file) => membersOf(folder, file))));
    const [ofResources, ofObjects] = [members([...resource, "terraform-ephemeral-resource"]), members(object)];
    expect(ofResources.size).toBeGreaterThan(50);
    expect(ofObjects.size).toBeGreaterThan(15);
    const free = (names: ReadonlySet<string>, inside: boolean) =>
      [...names].filter((name) => complaintsOf(codemaker.toSnakeCase(name), inside).length === 0);
    expect(free(ofResources, false)).toEqual([]);
    expect(free(ofObjects, true)).toEqual([]);
  });

  const empty = {
    ...catalogue,
    resources: new Map(),
    dataSources: new Map(),
    ephemeral: new Map(),
    functions: new Map(),
  };
  const thing = (attributes: Schema["attributes"] = {}): Schema => ({
    version: 0,
    description: "A thing.",
    attributes,
  });
  const nested: Attribute = { ...fine, type: { nesting: "single", attributes: { a: fine } } };

  it("are those of classes that exist twice", () => {
    const resources = new Map([
      ["hosting_site", thing({ config: nested })],
      ["hosting_site_box", thing()],
      ["hosting_house", thing({ box: nested })],
      ["hosting_house_box", thing()],
    ]);
    expect(catalogueNamesLint({ ...empty, resources })).toEqual([
      "SiteConfig: two classes of one name",
      "HouseBox: two classes of one name",
    ]);
  });
});

const require = createRequire(import.meta.url);
const LIBRARY_FOLDERS = ["cdktf", "cdktn"].map((library) => path.dirname(require.resolve(library)));

/** The names of members in the declarations of a library, private ones as well: the bindings' own fields begin with `_`. */
function membersOf(folder: string, file: string): string[] {
  let text: string;
  try {
    text = readFileSync(path.join(folder, `${file}.d.ts`), "utf8");
  } catch {
    return []; // Only cdktn has ephemeral resources.
  }
  const classes = [...text.matchAll(/^(?:export )?declare (?:abstract )?class (\w+)[^{]*\{([\s\S]*?)^\}/gm)];
  return classes.flatMap(([, , body = ""]) =>
    [...body.matchAll(/^ {4}(?:private |protected |public |readonly |abstract |get |set )*(\w+)[?]?[(:;<]/gm)].flatMap(
      ([, name = ""]) => (/^constructor$/.test(name) ? [] : [name.replace(/^_/, "")]),
    ),
  );
}
