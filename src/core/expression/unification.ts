import { attributeTypes, elementType, isPrimitive, type Shape, sameType, shapeOf, tupleTypes } from "./types.ts";
import type { Type, Typed } from "./value.ts";

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
