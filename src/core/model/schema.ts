import { isObject, type Json } from "./value.ts";

/** Terraform types of this provider. `dynamic` is excluded, because its values are ambiguous. */
export type SchemaType =
  | "string"
  | "number"
  | "bool"
  | { readonly list: SchemaType }
  | { readonly set: SchemaType }
  | { readonly map: SchemaType };

/** Type of an attribute that contains an object, or a list of objects. */
export interface Nested {
  readonly nesting: "single" | "list";
  readonly attributes: Attributes;
}

/** One attribute in Terraform's schema. At least one of `required`, `optional` and `computed` is true. */
export interface Attribute {
  readonly type: SchemaType | Nested;
  /** Description in Markdown. */
  readonly description: string;
  readonly required?: boolean;
  readonly optional?: boolean;
  readonly computed?: boolean;
  readonly sensitive?: boolean;
  /** True if plan and state never contain the value. Needs Terraform 1.11. */
  readonly writeOnly?: boolean;
}

export type Attributes = Readonly<Record<string, Attribute>>;

/** Terraform schema of a resource, data source, ephemeral resource or provider configuration. */
export interface Schema {
  /** Version of the attributes in the state. 0 if nothing is stored. */
  readonly version: number;
  /** Description in Markdown. */
  readonly description: string;
  readonly attributes: Attributes;
}

/** Returns a type in Terraform's JSON notation: `"string"`, `["list", "string"]`. A nested type becomes an object. */
export function typeJson(type: Attribute["type"]): Json {
  if (typeof type === "string") return type;
  if (isNested(type)) {
    const parts = Object.entries(type.attributes).map(([name, part]): [string, Json] => [name, typeJson(part.type)]);
    const object = ["object", Object.fromEntries(parts)];
    return type.nesting === "list" ? ["list", object] : object;
  }
  if ("list" in type) return ["list", typeJson(type.list)];
  return "set" in type ? ["set", typeJson(type.set)] : ["map", typeJson(type.map)];
}

/** Returns the type of a JSON value in Terraform's JSON notation. */
export function inferredType(value: Json): Json {
  if (Array.isArray(value)) return ["tuple", value.map(inferredType)];
  if (isObject(value)) {
    const parts = Object.entries(value).map(([name, part]): [string, Json] => [name, inferredType(part as Json)]);
    return ["object", Object.fromEntries(parts)];
  }
  if (value === null) return "dynamic";
  return typeof value === "boolean" ? "bool" : typeof value === "string" ? "string" : "number";
}

export function isNested(type: Attribute["type"]): type is Nested {
  return typeof type === "object" && "nesting" in type;
}
