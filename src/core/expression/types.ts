import { type Attribute, isNested, isObject, type Json, type JsonObject } from "../model/index.ts";
import type { Type, Typed } from "./value.ts";

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

/** Whether its values have elements in a row: a list, a set or a tuple. */
export function isSequence(type: Type): boolean {
  return typeof type === "object" && ("list" in type || "set" in type || "tuple" in type);
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

/** The same by name. */
export function attributesOf(type: Type): ReadonlyMap<string, Type> {
  return new Map(Object.entries(attributeTypes(type)));
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

/** What makes a value of one type one of another. @throws ExpressionError when this value cannot be converted. */
export type Conversion = (value: Typed) => Typed;

/** Finds conversions; undefined: there is none. An unsafe one may fail for some values. */
export type FindConversion = (from: Type, to: Type, unsafe: boolean) => Conversion | undefined;

/**
 * The type that all of these can be converted to, as `cty` finds it: of an object and a map a map, of a text and a number
 * a text. @returns undefined when there is none.
 */
export function unifyBy(find: FindConversion, types: readonly Type[], unsafe: boolean): Type | undefined {
  const unify = (some: readonly Type[]) => unifyBy(find, some, unsafe);
  const reach = (some: readonly Type[], wanted: Type) =>
    some.every((type) => sameType(type, wanted) || find(type, wanted, unsafe) !== undefined);
  const rules: Rules = { unify, reached: (some, wanted) => (reach(some, wanted) ? wanted : undefined) };
  const [first] = types;
  if (first === undefined) return undefined;
  if (types.every((type) => sameType(type, first))) return first;
  const shapes = new Set(types.map(shapeOf));
  const open = shapes.delete("any");
  const only = (...some: readonly Shape[]) => [...shapes].every((shape) => some.includes(shape));
  const sole = shapes.size === 1 ? [...shapes][0] : undefined;

  if (sole === "map" || sole === "list" || sole === "set") {
    if (open) return "any";
    const element = unify(types.map(elementType));
    if (element === undefined) return undefined;
    const collection = sole === "map" ? { map: element } : sole === "list" ? { list: element } : { set: element };
    return rules.reached(types, collection);
  }
  if (shapes.has("map") && only("map", "object")) {
    const map = throughCollection(types, "object", objectsToMap, rules);
    if (map !== undefined) return map;
  } else if (shapes.has("list") && only("list", "tuple")) {
    const list = throughCollection(types, "tuple", tuplesToList, rules);
    if (list !== undefined) return list;
  } else if (sole === "object") return open ? "any" : unifyObjects(types, rules);
  else if (sole === "tuple") return open ? "any" : unifyTuples(types, rules);
  else if (shapes.has("object") && shapes.has("tuple")) return undefined;

  return byPreference(types).find((wanted) => reach(types, wanted));
}

interface Rules {
  readonly unify: (types: readonly Type[]) => Type | undefined;
  /** The wanted type, if all of these can be converted to it. */
  readonly reached: (types: readonly Type[], wanted: Type) => Type | undefined;
}

/** Objects are often maps that are not declared as such, tuples are lists: first all as the collection, if that is possible. */
function throughCollection(
  types: readonly Type[],
  shape: "object" | "tuple",
  collect: (types: readonly Type[], rules: Rules) => Type | undefined,
  rules: Rules,
): Type | undefined {
  const collection = collect(
    types.filter((type) => shapeOf(type) === shape),
    rules,
  );
  if (collection === undefined) return undefined;
  const unified = rules.unify(types.map((type) => (shapeOf(type) === shape ? collection : type)));
  return unified !== undefined && shapeOf(unified) === shapeOf(collection) ? unified : undefined;
}

function objectsToMap(types: readonly Type[], rules: Rules): Type | undefined {
  const element = rules.unify(types.flatMap((type) => Object.values(attributeTypes(type))));
  return element === undefined ? undefined : rules.reached(types, { map: element });
}

function tuplesToList(types: readonly Type[], rules: Rules): Type | undefined {
  const element = rules.unify(types.flatMap(tupleTypes));
  return element === undefined ? undefined : rules.reached(types, { list: element });
}

function unifyObjects(types: readonly Type[], rules: Rules): Type | undefined {
  const [first = "any"] = types;
  const names = Object.keys(attributeTypes(first));
  const alike = types.every((type) => {
    const attributes = attributeTypes(type);
    return Object.keys(attributes).length === names.length && names.every((name) => Object.hasOwn(attributes, name));
  });
  if (!alike) return objectsToMap(types, rules);
  const parts: [string, Type][] = [];
  for (const name of names) {
    const part = rules.unify(types.map((type) => attributeTypes(type)[name] ?? "any"));
    if (part === undefined) return undefined;
    parts.push([name, part]);
  }
  return rules.reached(types, { object: Object.fromEntries(parts) }) ?? objectsToMap(types, rules);
}

function unifyTuples(types: readonly Type[], rules: Rules): Type | undefined {
  const length = tupleTypes(types[0] ?? "any").length;
  if (types.some((type) => tupleTypes(type).length !== length)) return tuplesToList(types, rules);
  const parts: Type[] = [];
  for (let i = 0; i < length; i++) {
    const part = rules.unify(types.map((type) => tupleTypes(type)[i] ?? "any"));
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return rules.reached(types, { tuple: parts }) ?? tuplesToList(types, rules);
}

/** The most general ones first; what cannot be compared stays in its order. */
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

/** Negative when `a` is the more general type, positive when `b` is. */
function compareTypes(a: Type, b: Type): number {
  if (a === "any" || b === "any") return a !== "any" ? -1 : b !== "any" ? 1 : 0;
  if (isPrimitive(a) && isPrimitive(b)) return Number(b === "string") - Number(a === "string");
  const shape = shapeOf(a);
  const other = shapeOf(b);
  if (shape === other && (shape === "list" || shape === "set" || shape === "map"))
    return compareTypes(elementType(a), elementType(b));
  const rank = new Map<Shape, number>([
    ["list", 1],
    ["tuple", 2],
    ["set", 3],
    ["map", 5],
    ["object", 6],
  ]);
  const [x, y] = [rank.get(shape), rank.get(other)];
  if (x === undefined || y === undefined) return 0;
  if (shape !== other) return x < 4 === y < 4 ? x - y : 0;
  return compareParts(a, b);
}

function compareParts(a: Type, b: Type): number {
  const own = shapeOf(a) === "tuple" ? Object.entries(tupleTypes(a)) : Object.entries(attributeTypes(a));
  const others = new Map(shapeOf(b) === "tuple" ? Object.entries(tupleTypes(b)) : Object.entries(attributeTypes(b)));
  if (own.length !== others.size || own.some(([name]) => !others.has(name))) return 0;
  const results = own.map(([name, part]) => compareTypes(part, others.get(name) ?? "any"));
  const general = results.some((result) => result < 0);
  return general === results.some((result) => result > 0) ? 0 : general ? -1 : 1;
}

/** A wanted type with each `any` in it replaced by what the given type has there. Of values that have no content yet. */
export function replaceAny(
  given: Type | undefined,
  wanted: Type,
  unify: (types: readonly Type[]) => Type | undefined,
): Type {
  const replace = (part: Type | undefined, by: Type) => replaceAny(part, by, unify);
  if (given === undefined || given === "any") return wanted;
  if (wanted === "any") return given;
  if (typeof wanted === "string") return wanted;
  const shape = shapeOf(given);
  if ("map" in wanted) {
    if (shape === "map") return { map: replace(elementType(given), wanted.map) };
    return shape === "object" ? { map: replace(unify(Object.values(attributeTypes(given))), wanted.map) } : wanted;
  }
  if ("object" in wanted) {
    const attributes = attributeTypes(given);
    const part = (name: string) =>
      shape === "map" ? elementType(given) : Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return {
      object: Object.fromEntries(
        Object.entries(wanted.object).map(([name, type]) => [name, replace(part(name), type)]),
      ),
    };
  }
  if ("tuple" in wanted) {
    const parts = tupleTypes(given);
    return { tuple: wanted.tuple.map((type, i) => replace(parts[i], type)) };
  }
  const element = shape === "tuple" ? unify(tupleTypes(given)) : elementType(given);
  if (shape !== "list" && shape !== "set" && shape !== "tuple") return wanted;
  return "list" in wanted ? { list: replace(element, wanted.list) } : { set: replace(element, wanted.set) };
}
