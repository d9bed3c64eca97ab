import { type Attribute, isNested, isObject, type Json, type JsonObject } from "../model/index.ts";
import type { Type } from "./value.ts";

export type Shape = "string" | "number" | "bool" | "any" | "list" | "set" | "map" | "tuple" | "object";

/** The kind of a type, without its element types. */
export function shapeOf(type: Type): Shape {
  if (typeof type === "string") return type;
  if ("list" in type) return "list";
  if ("set" in type) return "set";
  if ("map" in type) return "map";
  return "tuple" in type ? "tuple" : "object";
}

export function isPrimitive(type: Type): type is "string" | "number" | "bool" {
  return typeof type === "string" && type !== "any";
}

/** The element type of a list, set or map; of anything else `any`. */
export function elementType(type: Type): Type {
  if (typeof type === "string") return "any";
  if ("list" in type) return type.list;
  if ("set" in type) return type.set;
  return "map" in type ? type.map : "any";
}

/** The types of a tuple's elements; of anything else none. */
export function tupleTypes(type: Type): readonly Type[] {
  return typeof type === "object" && "tuple" in type ? type.tuple : [];
}

/** The types of an object's attributes; of anything else none. */
export function attributeTypes(type: Type): Readonly<Record<string, Type>> {
  return typeof type === "object" && "object" in type ? type.object : {};
}

/** The type with every type in it put through `change`; optional attributes are optional no more. */
export function mapParts(type: Type, change: (part: Type) => Type): Type {
  if (typeof type === "string") return type;
  if ("list" in type) return { list: change(type.list) };
  if ("set" in type) return { set: change(type.set) };
  if ("map" in type) return { map: change(type.map) };
  if ("tuple" in type) return { tuple: type.tuple.map(change) };
  return { object: Object.fromEntries(Object.entries(type.object).map(([name, part]) => [name, change(part)])) };
}

/** The type of values: a constraint without what may be left out. */
export function withoutOptional(type: Type): Type {
  return mapParts(type, withoutOptional);
}

export function hasAny(type: Type): boolean {
  return type === "any" || partsOf(type).some(hasAny);
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  const shape = shapeOf(a);
  if (shape !== shapeOf(b) || typeof a === "string") return false;
  const parts = partsOf(a);
  const others = partsOf(b);
  if (parts.length !== others.length) return false;
  if (shape !== "object") return parts.every((part, i) => sameType(part, others[i] ?? "any"));
  const attributes = attributeTypes(b);
  return Object.entries(attributeTypes(a)).every(([name, part]) => {
    const other = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return other !== undefined && sameType(part, other);
  });
}

function partsOf(type: Type): readonly Type[] {
  if (typeof type === "string") return [];
  if ("tuple" in type) return type.tuple;
  return "object" in type ? Object.values(type.object) : [elementType(type)];
}

/** How Terraform's messages call a type: `list of string`, `object`. */
export function typeName(type: Type): string {
  if (type === "any") return "dynamic";
  if (typeof type === "string") return type;
  const shape = shapeOf(type);
  return shape === "tuple" || shape === "object" ? shape : `${shape} of ${typeName(elementType(type))}`;
}

/** A type as state files write it: `"string"`, `["list", "string"]`, `["object", {"a": "string"}]`; `any` is `"dynamic"`. */
export function typeJson(type: Type): Json {
  if (typeof type === "string") return type === "any" ? "dynamic" : type;
  if ("tuple" in type) return ["tuple", type.tuple.map(typeJson)];
  if ("object" in type)
    return ["object", Object.fromEntries(Object.entries(type.object).map(([name, part]) => [name, typeJson(part)]))];
  return [shapeOf(type), typeJson(elementType(type))];
}

/** The inverse of {@link typeJson}. What is no type is `any`. */
export function typeOfJson(json: Json): Type {
  if (json === "string" || json === "number" || json === "bool") return json;
  if (!Array.isArray(json)) return "any";
  const [shape, inner] = json as readonly Json[];
  if (inner === undefined) return "any";
  if (shape === "list") return { list: typeOfJson(inner) };
  if (shape === "set") return { set: typeOfJson(inner) };
  if (shape === "map") return { map: typeOfJson(inner) };
  if (shape === "tuple" && Array.isArray(inner)) return { tuple: inner.map((part) => typeOfJson(part as Json)) };
  if (shape !== "object" || !isObject(inner)) return "any";
  const attributes = Object.entries(inner as JsonObject);
  return { object: Object.fromEntries(attributes.map(([name, part]) => [name, typeOfJson(part)])) };
}

/** The type of an attribute of a schema; a nested object has all its attributes. */
export function typeOfAttribute(type: Attribute["type"]): Type {
  if (!isNested(type)) return type;
  const object: Type = {
    object: Object.fromEntries(
      Object.entries(type.attributes).map(([name, attribute]) => [name, typeOfAttribute(attribute.type)]),
    ),
  };
  return type.nesting === "list" ? { list: object } : object;
}
