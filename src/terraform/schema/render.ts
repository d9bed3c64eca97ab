import type { Attribute, Type } from "../../model/schema.ts";

/** Terraform's own form of a type, on the wire as in its JSON: `"string"`, `["list", "string"]`. */
export type TypeJson = string | readonly [string, TypeJson];

export function typeJson(type: Type): TypeJson {
  if (typeof type === "string") return type;
  if ("list" in type) return ["list", typeJson(type.list)];
  return "set" in type ? ["set", typeJson(type.set)] : ["map", typeJson(type.map)];
}

/** The description as Terraform is told it: the protocol has no place of its own for why something is deprecated. */
export function shownDescription({ description, deprecated }: Attribute): string {
  return deprecated === undefined ? description : `Deprecated: ${deprecated} ${description}`;
}
