import { type Attribute, isObject, type Json, type JsonObject, typeJson } from "../model/index.ts";
import type { Type, Typed } from "./typed-value.ts";

// Types of Terraform: their parts, notations, and the common type of several types.

type Shape = "string" | "number" | "bool" | "any" | "list" | "set" | "map" | "tuple" | "object";

/** Returns the shape of a type, without its element types. */
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

/** Returns true for a list, a set or a tuple. */
export function isSequence(type: Type): boolean {
  return typeof type === "object" && ("list" in type || "set" in type || "tuple" in type);
}

/** Returns the element type of a list, set or map. Otherwise `any`. */
export function elementType(type: Type): Type {
  if (typeof type === "string") return "any";
  if ("list" in type) return type.list;
  if ("set" in type) return type.set;
  return "map" in type ? type.map : "any";
}

/** Returns the element types of a tuple. Otherwise empty. */
export function tupleTypes(type: Type): readonly Type[] {
  return typeof type === "object" && "tuple" in type ? type.tuple : [];
}

/** Returns the attribute types of an object. Otherwise empty. */
function attributeTypes(type: Type): Readonly<Record<string, Type>> {
  return typeof type === "object" && "object" in type ? type.object : {};
}

/** Returns the type of an object's attribute. Undefined if the attribute does not exist. */
export function attributeType(type: Type, name: string): Type | undefined {
  const types = attributeTypes(type);
  return Object.hasOwn(types, name) ? types[name] : undefined;
}

/** Returns the optional attributes of a type constraint, with their defaults. */
export function optionalOf(type: Type): Readonly<Record<string, Typed | undefined>> {
  return typeof type === "object" && "object" in type ? (type.optional ?? {}) : {};
}

/** Returns the types of an object's attributes by name. */
export function attributesOf(type: Type): ReadonlyMap<string, Type> {
  return new Map(Object.entries(attributeTypes(type)));
}

/** Applies `change` to the parts of a type. Optional attributes become required. */
function mapParts(type: Type, change: (part: Type) => Type): Type {
  if (typeof type === "string") return type;
  if ("list" in type) return { list: change(type.list) };
  if ("set" in type) return { set: change(type.set) };
  if ("map" in type) return { map: change(type.map) };
  if ("tuple" in type) return { tuple: type.tuple.map(change) };
  return { object: mapValues(type.object, change) };
}

/** Returns the type without optional attributes. */
export function withoutOptional(type: Type): Type {
  return mapParts(type, withoutOptional);
}

export function hasAny(type: Type): boolean {
  return type === "any" || partsOf(type).some(hasAny);
}

export function sameType(a: Type, b: Type): boolean {
  return matches(a, b, false);
}

/** Returns true if a value of the first type may have the second type. `any` in the second type matches everything. */
export function conforms(type: Type, wanted: Type): boolean {
  return matches(type, wanted, true);
}

function matches(a: Type, b: Type, open: boolean): boolean {
  if (a === b || (open && b === "any")) return true;
  const shape = shapeOf(a);
  if (shape !== shapeOf(b) || typeof a === "string") return false;
  const parts = partsOf(a);
  const others = partsOf(b);
  if (parts.length !== others.length) return false;
  if (shape !== "object") return parts.every((part, i) => matches(part, others[i] ?? "any", open));
  return Object.entries(attributeTypes(a)).every(([name, part]) => {
    const other = attributeType(b, name);
    return other !== undefined && matches(part, other, open);
  });
}

/** Returns the types of the parts. */
export function partsOf(type: Type): readonly Type[] {
  if (typeof type === "string") return [];
  if ("tuple" in type) return type.tuple;
  return "object" in type ? Object.values(type.object) : [elementType(type)];
}

/** Returns the name of a type in Terraform's messages: `list of string`, `object`. */
export function typeName(type: Type): string {
  if (type === "any") return "dynamic";
  if (typeof type === "string") return type;
  const shape = shapeOf(type);
  return shape === "tuple" || shape === "object" ? shape : `${shape} of ${typeName(elementType(type))}`;
}

/**
 * Returns a type in the notation of state files: `"string"`, `["list", "string"]`, `["object", {"a": "string"}]`. `any`
 * becomes `"dynamic"`.
 */
export function jsonOfType(type: Type): Json {
  if (typeof type === "string") return type === "any" ? "dynamic" : type;
  if ("tuple" in type) return ["tuple", type.tuple.map(jsonOfType)];
  if ("object" in type) return ["object", mapValues(type.object, jsonOfType)];
  return [shapeOf(type), jsonOfType(elementType(type))];
}

/** Inverse of {@link jsonOfType}. An invalid type becomes `any`. */
export function typeOfJson(json: Json): Type {
  if (json === "string" || json === "number" || json === "bool") return json;
  if (!Array.isArray(json)) return "any";
  const [shape, inner] = json as readonly Json[];
  if (inner === undefined) return "any";
  if (shape === "list") return { list: typeOfJson(inner) };
  if (shape === "set") return { set: typeOfJson(inner) };
  if (shape === "map") return { map: typeOfJson(inner) };
  if (shape === "tuple" && Array.isArray(inner)) return { tuple: inner.map((part) => typeOfJson(part as Json)) };
  return shape === "object" && isObject(inner) ? { object: mapValues(inner as JsonObject, typeOfJson) } : "any";
}

function mapValues<From, To>(values: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

/** Returns the type of an attribute in a schema. Objects have all their attributes. */
export function typeOfAttribute(type: Attribute["type"]): Type {
  return typeOfJson(typeJson(type));
}

/**
 * Returns the type to which all types can be converted, as in `cty`: a map for an object and a map, a string for a string and
 * a number.
 * @returns undefined if there is none.
 */
export function unifyBy(converts: (from: Type, to: Type) => boolean, types: readonly Type[]): Type | undefined {
  const unify = (some: readonly Type[]) => unifyBy(converts, some);
  const reached = (some: readonly Type[], wanted: Type) =>
    some.every((type) => sameType(type, wanted) || converts(type, wanted)) ? wanted : undefined;
  const rules: Rules = { unify, reached };
  const [first] = types;
  if (first === undefined || types.every((type) => sameType(type, first))) return first;

  const shapes = new Set(types.map(shapeOf));
  const open = shapes.delete("any");
  const only = (...some: readonly Shape[]) => [...shapes].every((shape) => some.includes(shape));
  const sole = shapes.size === 1 ? [...shapes][0] : undefined;
  if (sole === "map" || sole === "list" || sole === "set") {
    if (open) return "any";
    const element = unify(types.map(elementType));
    if (element === undefined) return undefined;
    const collection = sole === "map" ? { map: element } : sole === "list" ? { list: element } : { set: element };
    return reached(types, collection);
  }
  if (shapes.has("map") && only("map", "object")) {
    const map = throughCollection(types, "object", rules);
    if (map !== undefined) return map;
  } else if (shapes.has("list") && only("list", "tuple")) {
    const list = throughCollection(types, "tuple", rules);
    if (list !== undefined) return list;
  } else if (sole === "object" || sole === "tuple") return open ? "any" : unifyParts(types, sole, rules);
  else if (shapes.has("object") && shapes.has("tuple")) return undefined;

  return byPreference(types).find((wanted) => reached(types, wanted) !== undefined);
}

interface Rules {
  readonly unify: (types: readonly Type[]) => Type | undefined;
  /** Returns `wanted` if all types can be converted to it. */
  readonly reached: (types: readonly Type[], wanted: Type) => Type | undefined;
}

/** Unifies objects as a map, and tuples as a list, before other types. */
function throughCollection(types: readonly Type[], shape: "object" | "tuple", rules: Rules): Type | undefined {
  const collection = asCollection(
    types.filter((type) => shapeOf(type) === shape),
    shape,
    rules,
  );
  if (collection === undefined) return undefined;
  const unified = rules.unify(types.map((type) => (shapeOf(type) === shape ? collection : type)));
  return unified !== undefined && shapeOf(unified) === shapeOf(collection) ? unified : undefined;
}

/** Returns the common map type of objects, or list type of tuples. */
function asCollection(types: readonly Type[], shape: "object" | "tuple", { unify, reached }: Rules): Type | undefined {
  const element = unify(types.flatMap((type) => [...byPlace(type).values()]));
  return element && reached(types, shape === "object" ? { map: element } : { list: element });
}

/** Unifies objects with the same attributes, or tuples of the same length, part by part. All others become a map or list. */
function unifyParts(types: readonly Type[], shape: "object" | "tuple", rules: Rules): Type | undefined {
  const parts = types.map(byPlace);
  const [first = new Map<string, Type>()] = parts;
  if (!parts.every((one) => samePlaces(first, one))) return asCollection(types, shape, rules);

  const unified: [string, Type][] = [];
  for (const place of first.keys()) {
    const part = rules.unify(parts.map((one) => one.get(place) ?? "any"));
    if (part === undefined) return undefined;
    unified.push([place, part]);
  }
  const whole: Type =
    shape === "object" ? { object: Object.fromEntries(unified) } : { tuple: unified.map(([, part]) => part) };
  return rules.reached(types, whole) ?? asCollection(types, shape, rules);
}

/** Returns the types of the parts by index or name. */
function byPlace(type: Type): ReadonlyMap<string, Type> {
  return new Map(Object.entries(shapeOf(type) === "tuple" ? tupleTypes(type) : attributeTypes(type)));
}

function samePlaces(a: ReadonlyMap<string, Type>, b: ReadonlyMap<string, Type>): boolean {
  return a.size === b.size && [...a.keys()].every((place) => b.has(place));
}

/** Sorts types, most general first. Incomparable types keep their order. */
function byPreference(types: readonly Type[]): readonly Type[] {
  const less = types.map((type) => types.map((other) => compareTypes(type, other) < 0));
  const waiting = types.map((_, j) => less.filter((row) => row[j]).length);
  const queue = types.flatMap((_, i) => (waiting[i] === 0 ? [i] : []));
  for (const i of queue) {
    types.forEach((_, j) => {
      if (!less[i]?.[j]) return;
      waiting[j] = (waiting[j] ?? 0) - 1;
      if (waiting[j] === 0) queue.push(j);
    });
  }
  return queue.map((i) => types[i] ?? "any");
}

/** Collection types by generality. A rank below 4 and a rank above 4 cannot be compared. */
const RANK: Readonly<Partial<Record<Shape, number>>> = { list: 1, tuple: 2, set: 3, map: 5, object: 6 };

/** Compares the generality of two types. Negative: `a` is more general. Positive: `b` is. 0: cannot be compared. */
function compareTypes(a: Type, b: Type): number {
  if (a === "any" || b === "any") return a !== "any" ? -1 : b !== "any" ? 1 : 0;
  if (isPrimitive(a) && isPrimitive(b)) return Number(b === "string") - Number(a === "string");
  const shape = shapeOf(a);
  const other = shapeOf(b);
  if (shape === other && (shape === "list" || shape === "set" || shape === "map"))
    return compareTypes(elementType(a), elementType(b));
  const [x, y] = [RANK[shape], RANK[other]];
  if (x === undefined || y === undefined) return 0;
  if (shape !== other) return x < 4 === y < 4 ? x - y : 0;
  return compareParts(a, b);
}

function compareParts(a: Type, b: Type): number {
  const [own, others] = [byPlace(a), byPlace(b)];
  if (!samePlaces(own, others)) return 0;
  const results = [...own].map(([place, part]) => compareTypes(part, others.get(place) ?? "any"));
  const general = results.some((result) => result < 0);
  return general === results.some((result) => result > 0) ? 0 : general ? -1 : 1;
}

/** Replaces each `any` in the wanted type with the part of the given type. For values without content. */
export function replaceAny(
  given: Type | undefined,
  wanted: Type,
  unify: (types: readonly Type[]) => Type | undefined,
): Type {
  if (given === undefined || given === "any") return wanted;
  if (wanted === "any") return given;
  if (typeof wanted === "string") return wanted;
  const replace = (part: Type | undefined, by: Type) => replaceAny(part, by, unify);
  const shape = shapeOf(given);
  if ("object" in wanted) {
    const part = (name: string) => (shape === "map" ? elementType(given) : attributeType(given, name));
    const attributes = Object.entries(wanted.object).map(([name, type]) => [name, replace(part(name), type)] as const);
    return { object: Object.fromEntries(attributes) };
  }
  if ("tuple" in wanted) return { tuple: wanted.tuple.map((type, i) => replace(tupleTypes(given)[i], type)) };
  const suits = "map" in wanted ? shape === "map" || shape === "object" : isSequence(given);
  if (!suits) return wanted;
  const element = shape === "object" || shape === "tuple" ? unify(partsOf(given)) : elementType(given);
  return mapParts(wanted, (type) => replace(element, type));
}
