import { alike, unify } from "./conversion.ts";
import { set } from "./sets.ts";
import { elementsOf, entriesOf, isKnown, list, map, object, secretIf, tuple } from "./typed.ts";
import { shapeOf } from "./types.ts";
import type { Type, Typed } from "./value.ts";

/**
 * The value with the defaults of a type's optional attributes where they are left out or null; not yet converted to it.
 * What is null or unknown as a whole stays so.
 */
export function withDefaults(value: Typed, type: Type): Typed {
  if (!hasDefaults(type) || !isKnown(value) || value.content === null) return value;
  switch (shapeOf(value.type)) {
    case "list":
    case "set":
    case "tuple":
      return secretIf(sequence(value, type), value.secret);
    case "map":
    case "object":
      return secretIf(mapping(value, type), value.secret);
    default:
      return value;
  }
}

function sequence(value: Typed, type: Type): Typed {
  const items = elementsOf(value).map((item, i) => withDefaults(item, partOf(type, i)));
  const shape = shapeOf(value.type);
  if (items.length === 0) return value;
  if (shape === "tuple" || unify(items.map((item) => item.type)) === undefined) return tuple(items);
  return shape === "set" ? set(...alike(items, shape)) : list(...alike(items, shape));
}

function mapping(value: Typed, type: Type): Typed {
  const entries = new Map(entriesOf(value).map(([key, item]) => [key, withDefaults(item, partOf(type, key))]));
  const defaults = typeof type === "object" && "object" in type ? Object.entries(type.optional ?? {}) : [];
  for (const [name, preset] of defaults) {
    const given = entries.get(name);
    if (preset !== undefined && (given === undefined || given.content === null))
      entries.set(name, withDefaults(preset, partOf(type, name)));
  }
  const items = [...entries.values()];
  if (shapeOf(value.type) === "object" || unify(items.map((item) => item.type)) === undefined) return object(entries);
  const [element, same] = alike(items, "map");
  const keys = [...entries.keys()];
  return map(
    element,
    keys.flatMap((key, i) => same.slice(i, i + 1).map((item) => [key, item] as const)),
  );
}

/** The type that says what is left out of one element. */
function partOf(type: Type, key: string | number): Type {
  if (typeof type === "string") return "any";
  if ("tuple" in type) return typeof key === "number" ? (type.tuple[key] ?? "any") : "any";
  if ("object" in type)
    return typeof key === "string" && Object.hasOwn(type.object, key) ? (type.object[key] ?? "any") : "any";
  return "list" in type ? type.list : "set" in type ? type.set : type.map;
}

function hasDefaults(type: Type): boolean {
  if (typeof type === "string") return false;
  if ("tuple" in type) return type.tuple.some(hasDefaults);
  if ("object" in type)
    return (
      Object.values(type.optional ?? {}).some((preset) => preset !== undefined) ||
      Object.values(type.object).some(hasDefaults)
    );
  return hasDefaults("list" in type ? type.list : "set" in type ? type.set : type.map);
}
