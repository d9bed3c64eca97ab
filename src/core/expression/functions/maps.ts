import { canConvert, convert } from "../convert.ts";
import { compareText } from "../text-order.ts";
import {
  elementsOf,
  entriesOf,
  isKnown,
  isWhollyKnown,
  list,
  map,
  object,
  secretIf,
  text,
  tuple,
  unknown,
} from "../typed.ts";
import { elementType, sameType, shapeOf, tupleTypes, typeName } from "../types.ts";
import type { Type, Typed } from "../value.ts";
import { ArgumentError, CallError, type Definition, type Parameter } from "./definition.ts";
import { attributesOf, NOTHING, textOf, texts } from "./parts.ts";

const mapping = (name: string): Parameter => ({ name, type: "any", secret: true });

const keys: Definition = {
  parameters: [{ ...mapping("inputMap"), unknown: true }],
  result([given = NOTHING]) {
    const shape = shapeOf(given.type);
    if (shape === "map") return { list: "string" };
    if (shape === "object") return { tuple: [...attributesOf(given.type).keys()].map(() => "string") };
    throw new ArgumentError(0, "must have map or object type");
  },
  run([given = NOTHING], type) {
    const secret = given.secret === true;
    // The names of attributes are known even where the object is not.
    if (shapeOf(given.type) === "object")
      return secretIf(tuple([...attributesOf(given.type).keys()].sort(compareText).map(text)), secret);
    return secretIf(isKnown(given) ? texts(entriesOf(given).map(([key]) => key)) : unknown(type), secret);
  },
};

const values: Definition = {
  parameters: [mapping("mapping")],
  result([given = NOTHING]) {
    const shape = shapeOf(given.type);
    if (shape === "map") return { list: elementType(given.type) };
    if (shape !== "object") throw new CallError("values() requires a map as the first argument");
    const types = [...attributesOf(given.type)].sort(([a], [b]) => compareText(a, b));
    return { tuple: types.map(([, type]) => type) };
  },
  run([given = NOTHING], type) {
    const items = elementsOf(given);
    return secretIf(shapeOf(type) === "tuple" ? tuple(items) : list(elementType(type), items), given.secret === true);
  },
};

const lookup: Definition = {
  parameters: [
    { ...mapping("inputMap"), unknown: true },
    { name: "key", type: "string", secret: true, unknown: true },
  ],
  rest: { ...mapping("default"), unknown: true, untyped: true, nullable: true },
  result(args) {
    const [given = NOTHING, key = NOTHING, preset] = args;
    if (args.length > 3) throw new CallError(`lookup() takes two or three arguments, got ${args.length}`);
    const shape = shapeOf(given.type);
    if (shape === "map") {
      const type = elementType(given.type);
      if (preset !== undefined && !canConvert(preset.type, type))
        throw new ArgumentError(2, "the default value must have the same type as the map elements");
      return type;
    }
    if (shape !== "object") throw new ArgumentError(0, "lookup() requires a map as the first argument");
    if (!isKnown(key)) return "any";
    const type = attributesOf(given.type).get(textOf(key)) ?? preset?.type;
    if (type === undefined)
      throw new ArgumentError(0, `the given object has no attribute ${JSON.stringify(textOf(key))}`);
    return type;
  },
  run([given = NOTHING, key = NOTHING, preset], type) {
    const secret = given.secret === true || key.secret === true;
    if (!isKnown(given) || !isKnown(key)) return secretIf(unknown(type), secret);
    const found = entriesOf(given).find(([name]) => name === textOf(key));
    if (found !== undefined) return secretIf(found[1], secret);
    if (preset === undefined) throw new CallError(`lookup failed to find key ${JSON.stringify(textOf(key))}`);
    return secretIf(convert(preset, type), secret);
  },
};

const merge: Definition = {
  parameters: [],
  rest: { ...mapping("maps"), untyped: true, nullable: true },
  result(args) {
    const attributes = new Map<string, Type>();
    const types: Type[] = [];
    let complete = true;
    for (const arg of args) {
      if (arg.type === "any") return "any";
      const shape = shapeOf(arg.type);
      if (shape !== "map" && shape !== "object")
        throw new CallError(`arguments must be maps or objects, got "${typeName(arg.type)}"`);
      types.push(shape === "object" && arg.content === null ? { object: {} } : arg.type);
      if (shape === "map" && !isKnown(arg)) complete = false;
      else if (shape === "map") for (const [key, { type }] of entriesOf(arg)) attributes.set(key, type);
      else if (arg.content !== null) for (const [key, type] of attributesOf(arg.type)) attributes.set(key, type);
    }
    const [first] = types;
    if (first === undefined) return { object: {} };
    if (types.every((type) => sameType(type, first))) return first;
    return complete ? { object: Object.fromEntries(attributes) } : "any";
  },
  run(args, type) {
    const entries = args.flatMap(entriesOf);
    return secretIf(
      shapeOf(type) === "map" ? map(elementType(type), entries) : object(entries),
      args.some(({ secret, content }) => secret === true && content !== null),
    );
  },
};

const zipmap: Definition = {
  parameters: [
    { name: "keys", type: { list: "string" }, secret: true },
    { name: "values", type: "any", secret: true },
  ],
  result([names = NOTHING, items = NOTHING]) {
    const shape = shapeOf(items.type);
    if (shape === "list") return { map: elementType(items.type) };
    if (shape !== "tuple") throw new CallError("values argument must be a list or tuple value");
    if (!isWhollyKnown(names)) return "any";
    const types = tupleTypes(items.type);
    const keysGiven = paired(names, types);
    return { object: Object.fromEntries(keysGiven.map((key, i) => [key, types[i] ?? "any"])) };
  },
  run([names = NOTHING, items = NOTHING], type) {
    const marked = [names, items, ...elementsOf(names)].some(({ secret }) => secret === true);
    if (!isWhollyKnown(names)) return secretIf(unknown(type), marked);
    const found = elementsOf(items);
    const entries = paired(names, found).map((key, i) => [key, found[i] ?? NOTHING] as const);
    return secretIf(shapeOf(type) === "map" ? map(elementType(type), entries) : object(entries), marked);
  },
};

function paired(names: Typed, items: readonly unknown[]): readonly string[] {
  const found = elementsOf(names);
  if (found.length !== items.length)
    throw new CallError(`number of keys (${found.length}) does not match number of values (${items.length})`);
  const missing = found.findIndex(({ content }) => content === null);
  if (missing >= 0) throw new CallError(`keys list has null value at index ${missing}`);
  return found.map(textOf);
}

const NAMED_TEXTS: Type = { map: { list: "string" } };

const transpose: Definition = {
  parameters: [{ name: "values", type: NAMED_TEXTS }],
  result: NAMED_TEXTS,
  run([given = NOTHING]) {
    if (!isWhollyKnown(given)) return unknown(NAMED_TEXTS);
    const pairs = entriesOf(given).flatMap(([key, items]) => {
      if (items.content === null) throw new CallError("input must not contain null list");
      return elementsOf(items).map((item) => {
        if (item.content === null) throw new CallError("input list must not contain null string");
        return [textOf(item), key] as const;
      });
    });
    const groups = Map.groupBy(pairs, ([name]) => name);
    return map(
      { list: "string" },
      [...groups].map(([name, found]) => [name, texts(found.map(([, key]) => key).sort(compareText))] as const),
    );
  },
};

export const MAPS: Readonly<Record<string, Definition>> = { keys, lookup, merge, transpose, values, zipmap };
