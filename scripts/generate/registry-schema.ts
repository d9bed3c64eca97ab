import { type Attribute, type Attributes, isNested, type SchemaType } from "../../src/core/model/schema.ts";

/** The groups of a schema's attributes, in the Registry's order. */
const GROUPS: readonly (readonly [title: string, belongs: (attribute: Attribute) => boolean])[] = [
  ["Required", ({ required }) => required === true],
  ["Optional", ({ required, optional }) => required !== true && optional === true],
  ["Read-Only", ({ required, optional }) => required !== true && optional !== true],
];

const WRITE_ONLY = "https://developer.hashicorp.com/terraform/language/resources/ephemeral#write-only-arguments";

/** An attribute whose value has attributes of its own; they stand below, under an anchor made of its path. */
interface Below {
  readonly path: readonly string[];
  readonly attributes: Attributes;
}

/**
 * The section `## Schema` of a page of the Terraform Registry: the attributes in groups, then those of nested objects
 * under the anchors that the Registry's pages have (`nestedatt--timeouts`).
 */
export function schemaSection(attributes: Attributes, heading = "## Schema"): string {
  const below: Below[] = [];
  const level = /^#+/.exec(heading)?.[0] ?? "";
  const parts = [
    "<!-- schema generated from that of the provider -->",
    heading,
    ...groups(attributes, [], below).flatMap(([title, lines]) => [`${level}# ${title}`, lines]),
  ];
  for (let next = below.shift(); next !== undefined; next = below.shift()) {
    const nested = `<a id="nestedatt--${next.path.join("--")}"></a>\n### Nested Schema for \`${next.path.join(".")}\``;
    // The attributes of a nested object follow it at once, not after all of its siblings.
    const inner: Below[] = [];
    parts.push(nested, ...groups(next.attributes, next.path, inner).flatMap(([title, lines]) => [`${title}:`, lines]));
    below.unshift(...inner);
  }
  return parts.join("\n\n");
}

/** @param below where the nested attributes that were met are noted. */
function groups(attributes: Attributes, path: readonly string[], below: Below[]): [title: string, text: string][] {
  const entries = Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return GROUPS.flatMap(([title, belongs]): [string, string][] => {
    const members = entries.filter(([, attribute]) => belongs(attribute));
    if (members.length === 0) return [];
    for (const [name, { type }] of members) {
      if (isNested(type)) below.push({ path: [...path, name], attributes: type.attributes });
    }
    const lines = members.map(([name, attribute]) => line(name, attribute, path)).join("\n");
    return [[title, members.some(([, { writeOnly }]) => writeOnly) ? `${NOTE}\n\n${lines}` : lines]];
  });
}

const NOTE = `> **NOTE**: [Write-only arguments](${WRITE_ONLY}) are supported in Terraform 1.11 and later.`;

function line(name: string, { type, sensitive, writeOnly, description }: Attribute, path: readonly string[]) {
  const traits = [typeName(type), sensitive && "Sensitive", writeOnly && `[Write-only](${WRITE_ONLY})`].filter(Boolean);
  const words = [
    description.trim().replace(/\n+/g, " "),
    isNested(type) && `(see [below for nested schema](#nestedatt--${[...path, name].join("--")}))`,
  ].filter(Boolean);
  return `- \`${name}\` (${traits.join(", ")}) ${words.join(" ")}`;
}

/** A type as the Registry's pages write it: `Map of String`. */
export function typeName(type: Attribute["type"]): string {
  if (isNested(type)) return type.nesting === "list" ? "Attributes List" : "Attributes";
  if (typeof type === "string") return NAMES[type];
  if ("list" in type) return `List of ${typeName(type.list)}`;
  return "set" in type ? `Set of ${typeName(type.set)}` : `Map of ${typeName(type.map)}`;
}

const NAMES: Readonly<Record<Extract<SchemaType, string>, string>> = {
  string: "String",
  number: "Number",
  bool: "Boolean",
};
