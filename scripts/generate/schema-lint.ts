import { type Attribute, type Attributes, isNested, type Schema } from "../../src/core/model/schema.ts";
import type { Catalogue } from "../../src/fronts/terraform/catalogue.ts";
import type { Newer } from "./registry-docs.ts";

export type Sort = "provider" | "resource" | "data source" | "ephemeral resource" | "list resource" | "action";

/** Names that Terraform reserves in each sort of block. */
const META: Readonly<Record<Sort, readonly string[]>> = {
  provider: ["alias", "version"],
  resource: ["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"],
  "data source": ["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"],
  "ephemeral resource": ["count", "depends_on", "for_each", "lifecycle", "provider"],
  // These attributes are in a block `config`.
  "list resource": [],
  action: [],
};

/** Sorts of blocks that Terraform only passes to the provider. */
const CONFIGURED: readonly Sort[] = ["provider", "list resource", "action"];
const NAME = /^[a-z][a-z0-9_]*$/;
const SECRET = /(?:^|_)(?:secret|password|token)$/;

/** Returns the problems that Terraform would have with the schemas. The build of the constructs finds clashes of names in the bindings. */
export function catalogueLint(catalogue: Catalogue & Newer): string[] {
  const { provider, resources, dataSources, ephemeral, lists = [], actions = [] } = catalogue;
  const each = (schemas: Iterable<readonly [string, Schema]>, sort: Sort) =>
    [...schemas].flatMap(([name, schema]) => lint(schema, sort).map((complaint) => `${name} (${sort}): ${complaint}`));
  return [
    ...each([["hosting", provider]], "provider"),
    ...each(resources, "resource"),
    ...each(dataSources, "data source"),
    ...each(ephemeral, "ephemeral resource"),
    ...each(lists, "list resource"),
    ...each(actions, "action"),
  ];
}

/** Returns the problems of one schema, as `path: complaint`. */
export function lint(schema: Schema, sort: Sort): string[] {
  const complaints = attributesLint(schema.attributes, sort, "");
  for (const name of Object.keys(schema.attributes)) {
    if (META[sort].includes(name)) complaints.push(`${name}: the name is reserved`);
  }
  if (schema.description.trim() === "") complaints.push("no description");
  if (sort !== "resource" && schema.version !== 0) complaints.push("a version of what is not recorded");
  const { id } = schema.attributes;
  if (sort === "resource" && !(id?.type === "string" && id.computed && !id.optional)) {
    complaints.push("id: not a computed string");
  }
  return complaints;
}

function attributesLint(attributes: Attributes, sort: Sort, under: string): string[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const complaints = attributeLint(name, attribute, sort);
    const { type } = attribute;
    const inner = isNested(type) ? attributesLint(type.attributes, sort, `${under}${name}.`) : [];
    if (isNested(type) && Object.keys(type.attributes).length === 0) complaints.push("an object without attributes");
    return [...complaints.map((complaint) => `${under}${name}: ${complaint}`), ...inner];
  });
}

function attributeLint(name: string, attribute: Attribute, sort: Sort): string[] {
  const { required, optional, computed, sensitive, writeOnly, description } = attribute;
  const rules: readonly (readonly [broken: boolean | undefined, complaint: string])[] = [
    [!NAME.test(name), "not a name in snake_case"],
    [!required && !optional && !computed, "neither required nor optional nor computed"],
    [required && (optional || computed), "required, and optional or computed"],
    [writeOnly && computed, "write-only and computed"],
    [writeOnly && sort !== "resource" && sort !== "action", "write-only where nothing is recorded"],
    [writeOnly && !sensitive, "write-only, but not sensitive"],
    [!/^[A-Z`].*[.`)]$/s.test(description.trim()), "its description is not a sentence"],
    [SECRET.test(name) && !sensitive, "looks like a secret, but is not sensitive"],
    [
      computed && CONFIGURED.includes(sort) && !(optional && sort === "provider"),
      "computed, but nothing computes a configuration",
    ],
  ];
  return rules.flatMap(([broken, complaint]) => (broken ? [complaint] : []));
}
