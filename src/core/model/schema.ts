import { isObject, type Json } from "./value.ts";

/** A type of Terraform's, as far as this provider uses them. There is no `dynamic`: its values are read in two ways. */
export type SchemaType =
  | "string"
  | "number"
  | "bool"
  | { readonly list: SchemaType }
  | { readonly set: SchemaType }
  | { readonly map: SchemaType };

/** An attribute whose value is one object, or several, with attributes of their own. */
export interface Nested {
  readonly nesting: "single" | "list";
  readonly attributes: Attributes;
}

/** One attribute as Terraform sees it. At least one of `required`, `optional` and `computed`. */
export interface Attribute {
  readonly type: SchemaType | Nested;
  /** Markdown. */
  readonly description: string;
  readonly required?: boolean;
  readonly optional?: boolean;
  readonly computed?: boolean;
  readonly sensitive?: boolean;
  /** Never in a plan or state; Terraform 1.11 and later. */
  readonly writeOnly?: boolean;
}

export type Attributes = Readonly<Record<string, Attribute>>;

/** Terraform's schema of a resource, a data source, an ephemeral resource or the provider's configuration. */
export interface Schema {
  /** Version of the recorded attributes; 0 without a record. */
  readonly version: number;
  /** Markdown. */
  readonly description: string;
  readonly attributes: Attributes;
}

/** Terraform's own form of a type, on the wire as in its JSON: `"string"`, `["list", "string"]`; what is nested is an object. */
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

/** The same of a JSON value that comes from nowhere in particular. */
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
