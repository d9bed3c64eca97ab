import { CALLS } from "../../messages/expressions.ts";
import { canConvert, convert, unify } from "../conversion.ts";
import { equals, set } from "../equality.ts";
import { Refusal } from "../refusal.ts";
import {
  compareText,
  elementsOf,
  entriesOf,
  isKnown,
  isWhollyKnown,
  list,
  map,
  object,
  secretIf,
  type Type,
  type Typed,
  text,
  tuple,
  unknown,
} from "../typed-value.ts";
import { attributesOf, attributeType, elementType, sameType, shapeOf, tupleTypes } from "../types.ts";
import { CallError, type Definition, take, textOf, texts } from "./definition.ts";

// Functions of maps, objects and sets.

function paired(names: Typed, items: readonly unknown[]): readonly string[] {
  const found = elementsOf(names);
  if (found.length !== items.length) throw new CallError(CALLS.lengths);
  if (found.some(({ content }) => content === null)) throw new CallError(CALLS.null_element, 0);
  return found.map(textOf);
}

const NAMED_TEXTS: Type = { map: { list: "string" } };

const anySet = (name: string) => take(name, { set: "any" }, "untyped");

const SETS = { parameters: [anySet("first_set")], rest: anySet("other_sets") };

/** Defines a set function. Converts the elements to a common type first. */
function ofSets(takes: Pick<Definition, "parameters" | "rest">, combine: Combine, needsAll = true): Definition {
  return {
    ...takes,
    result(...args) {
      const types = args
        .filter((arg) => !(isKnown(arg) && elementsOf(arg).length === 0 && elementType(arg.type) === "any"))
        .map(({ type }) => elementType(type));
      const common = types.length === 0 ? "any" : unify(types);
      if (common === undefined) throw new CallError(CALLS.one_type);
      return { set: common };
    },
    run(type, ...args) {
      // Any unknown element can change the result.
      if (needsAll && !args.every(isWhollyKnown)) return unknown(type);
      const converted = args.map((arg) => convert(arg, type));
      const [first] = converted.filter((arg) => elementsOf(arg).length > 0);
      if (first !== undefined && converted.some((arg) => elementsOf(arg).length > 0 && !sameType(arg.type, first.type)))
        throw new Refusal(CALLS.sets_differ);
      const sets = converted.map(elementsOf);
      return set(elementType(type), sets.reduce(combine));
    },
  };
}

type Combine = (some: readonly Typed[], others: readonly Typed[]) => readonly Typed[];

const has = (items: readonly Typed[], item: Typed): boolean => items.some((other) => equals(item, other) === true);

const LARGEST_PRODUCT = 100_000;

export const COLLECTIONS: Readonly<Record<string, Definition>> = {
  keys: {
    parameters: [take("inputMap", "any", "own", "unknown")],
    result(given) {
      const shape = shapeOf(given.type);
      if (shape === "map") return { list: "string" };
      if (shape === "object") return { tuple: [...attributesOf(given.type).keys()].map(() => "string") };
      throw new CallError(CALLS.map_or_object, 0);
    },
    run(type, given) {
      // The type of an unknown object contains its attribute names.
      if (shapeOf(given.type) === "object")
        return tuple([...attributesOf(given.type).keys()].sort(compareText).map(text));
      return isKnown(given) ? texts(entriesOf(given).map(([key]) => key)) : unknown(type);
    },
  },

  lookup: {
    parameters: [take("inputMap", "any", "own", "unknown"), take("key", "string", "own", "unknown")],
    rest: take("default", "any", "parts", "unknown", "untyped", "nullable"),
    result(given, key, preset?: Typed, ...more) {
      if (more.length > 0) throw new CallError(CALLS.count("lookup", 3, 3 + more.length));
      const shape = shapeOf(given.type);
      if (shape === "map") {
        const type = elementType(given.type);
        if (preset !== undefined && !canConvert(preset.type, type)) throw new CallError(CALLS.lookup_default, 2);
        return type;
      }
      if (shape !== "object") throw new CallError(CALLS.map_or_object, 0);
      if (!isKnown(key)) return "any";
      const type = attributeType(given.type, textOf(key)) ?? preset?.type;
      if (type === undefined) throw new CallError(CALLS.lookup_key(textOf(key)), 0);
      return type;
    },
    run(type, given, key, preset?: Typed) {
      if (!isKnown(given) || !isKnown(key)) return unknown(type);
      const found = entriesOf(given).find(([name]) => name === textOf(key));
      if (found !== undefined) return found[1];
      if (preset === undefined) throw new CallError(CALLS.lookup_key(textOf(key)));
      return convert(preset, type);
    },
  },

  merge: {
    parameters: [],
    rest: take("maps", "any", "parts", "untyped", "nullable"),
    result(...args) {
      const attributes = new Map<string, Type>();
      const types: Type[] = [];
      let complete = true;
      for (const arg of args) {
        if (arg.type === "any") return "any";
        const shape = shapeOf(arg.type);
        if (shape !== "map" && shape !== "object") throw new CallError(CALLS.map_or_object);
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
    run(type, ...args) {
      const entries = args.flatMap(entriesOf);
      return secretIf(
        shapeOf(type) === "map" ? map(elementType(type), entries) : object(entries),
        ...args.map(({ secret, content }) => (content === null ? undefined : secret)),
      );
    },
  },

  setintersection: ofSets(SETS, (some, others) => some.filter((item) => has(others, item))),

  setproduct: {
    parameters: [],
    rest: take("sets", "any", "own", "unknown"),
    result(...args) {
      if (args.length < 2) throw new CallError(CALLS.least(2));
      const types = args.map(({ type }, i): Type => {
        const shape = shapeOf(type);
        if (shape === "set" || shape === "list") return elementType(type);
        if (shape !== "tuple") throw new CallError(CALLS.list, i);
        if (tupleTypes(type).length === 0) return "any";
        const common = unify(tupleTypes(type));
        if (common === undefined) throw new CallError(CALLS.one_type, i);
        return common;
      });
      return args.every(({ type }) => shapeOf(type) !== "set") ? { list: { tuple: types } } : { set: { tuple: types } };
    },
    run(type, ...args) {
      const unsure = ({ type: of }: Typed) => shapeOf(of) === "set" || shapeOf(type) === "set";
      if (args.some((arg) => !isKnown(arg) || (unsure(arg) && !isWhollyKnown(arg)))) return unknown(type);
      const element = elementType(type);
      const types = tupleTypes(element);
      const sizes = args.map((arg) => elementsOf(arg).length);
      if (sizes.reduce((all, size) => all * size, 1) > LARGEST_PRODUCT)
        throw new Refusal(CALLS.product(LARGEST_PRODUCT));
      const rows = args.reduce<readonly (readonly Typed[])[]>(
        (found, arg, i) =>
          found.flatMap((row) => elementsOf(arg).map((item) => [...row, convert(item, types[i] ?? "any")])),
        [[]],
      );
      if (rows.some((row) => row.some((item, i) => !sameType(item.type, types[i] ?? "any"))))
        throw new Refusal(CALLS.product_types);
      const made = rows.map((row) => ({ ...tuple(row), type: element }));
      return shapeOf(type) === "list" ? list(element, made) : set(element, made);
    },
  },

  setsubtract: ofSets({ parameters: [anySet("a"), anySet("b")] }, (some, others) =>
    some.filter((item) => !has(others, item)),
  ),
  setunion: ofSets(SETS, (some, others) => [...some, ...others], false),

  transpose: {
    parameters: [take("values", NAMED_TEXTS)],
    result: NAMED_TEXTS,
    run(_, given) {
      if (!isWhollyKnown(given)) return unknown(NAMED_TEXTS);
      const pairs = entriesOf(given).flatMap(([key, items]) => {
        if (items.content === null) throw new CallError(CALLS.null_element);
        return elementsOf(items).map((item) => {
          if (item.content === null) throw new CallError(CALLS.null_element);
          return [textOf(item), key] as const;
        });
      });
      const groups = Map.groupBy(pairs, ([name]) => name);
      return map(
        { list: "string" },
        [...groups].map(([name, found]) => [name, texts(found.map(([, key]) => key).sort(compareText))] as const),
      );
    },
  },

  values: {
    parameters: [take("mapping", "any", "own")],
    result(given) {
      const shape = shapeOf(given.type);
      if (shape === "map") return { list: elementType(given.type) };
      if (shape !== "object") throw new CallError(CALLS.map_or_object, 0);
      const types = [...attributesOf(given.type)].sort(([a], [b]) => compareText(a, b));
      return { tuple: types.map(([, type]) => type) };
    },
    run(type, given) {
      const items = elementsOf(given);
      return shapeOf(type) === "tuple" ? tuple(items) : list(elementType(type), items);
    },
  },

  zipmap: {
    parameters: [take("keys", { list: "string" }), take("values", "any", "own")],
    result(names, items) {
      const shape = shapeOf(items.type);
      if (shape === "list") return { map: elementType(items.type) };
      if (shape !== "tuple") throw new CallError(CALLS.ordered, 1);
      if (!isWhollyKnown(names)) return "any";
      const types = tupleTypes(items.type);
      const keysGiven = paired(names, types);
      return { object: Object.fromEntries(keysGiven.map((key, i) => [key, types[i] ?? "any"])) };
    },
    run(type, names, items) {
      if (!isWhollyKnown(names)) return unknown(type);
      const found = elementsOf(items);
      const entries = paired(names, found).map((key, i) => [key, found[i] ?? unknown("any")] as const);
      return shapeOf(type) === "map" ? map(elementType(type), entries) : object(entries);
    },
  },
};
