import { joinOrigins, type Origin } from "../../model/index.ts";
import { convert, unify } from "../conversion.ts";
import { equals } from "../equality.ts";
import { Refusal } from "../refusal.ts";
import {
  bool,
  elementsOf,
  isKnown,
  isWhollyKnown,
  list,
  nullOf,
  originOf,
  secretIf,
  type Type,
  type Typed,
  tuple,
  unknown,
  whole,
} from "../typed-value.ts";
import { attributesOf, elementType, isSequence, sameType, shapeOf, tupleTypes, typeName } from "../types.ts";
import { ArgumentError, CallError, type Definition, integerIn, NOTHING, type Parameter, textOf } from "./definition.ts";
import { charactersOf } from "./strings.ts";

// Functions of lists, tuples and sets.

const anyList: Parameter = { name: "list", type: { list: "any" } };
const anything: Parameter = { name: "list", type: "any" };

const hasOrder = (type: Type) => isSequence(type) && shapeOf(type) !== "set";

/** A list or a tuple, depending on the type. */
const sequence = (type: Type, items: readonly Typed[]): Typed =>
  shapeOf(type) === "tuple" ? tuple(items) : list(elementType(type), items);

/** The elements of a list and of the lists in it; not `known` when a part may be a list of unknown length. */
function flat(given: Typed): {
  readonly items: readonly Typed[];
  readonly secret: Origin | undefined;
  readonly known: boolean;
} {
  // Unknown elements of a set may be equal later.
  const open = shapeOf(given.type) === "set" && !isWhollyKnown(given);
  const parts = elementsOf(given).map((item) => {
    const nested = item.content !== null && isSequence(item.type);
    if (!nested) return { items: [item], secret: undefined, known: isKnown(item) || item.type !== "any" };
    if (!isKnown(item)) return { items: [], secret: item.secret, known: false };
    return flat(item);
  });
  return {
    items: parts.flatMap(({ items }) => items),
    secret: joinOrigins([given.secret, ...parts.map(({ secret }) => secret)]),
    known: !open && parts.every(({ known }) => known),
  };
}

function bounds(given: Typed, start: Typed, end: Typed): readonly [number, number] {
  const from = integerIn(start, 1, "invalid start index: ");
  const to = integerIn(end, 2, "invalid end index: ");
  const length = isKnown(given) ? elementsOf(given).length : Number.POSITIVE_INFINITY;
  if (from < 0) throw new ArgumentError(1, "start index must not be less than zero");
  if (from > length) throw new ArgumentError(1, "start index must not be greater than the length of the list");
  if (to < 0) throw new ArgumentError(2, "end index must not be less than zero");
  if (to > length) throw new ArgumentError(2, "end index must not be greater than the length of the list");
  if (from > to) throw new ArgumentError(1, "start index must not be greater than end index");
  return [from, to];
}

/** Terraform 1.11 refuses a negative index; later versions count from the end. */
function wrapped(index: Typed, count: number): number {
  if (count === 0) throw new CallError("cannot use element function with an empty list");
  const at = integerIn(index, undefined, "invalid index: ");
  if (at < 0) throw new Refusal("element() with a negative index is not supported");
  return at % count;
}

const ONE = "must be a list, set, or tuple value with either zero or one elements";

const booleans: Parameter = { name: "list", type: { list: "bool" } };

export const LISTS: Readonly<Record<string, Definition>> = {
  /** Elements are checked in order: a false one decides only if none before it is unknown. */
  alltrue: {
    parameters: [booleans],
    result: "bool",
    run([given = NOTHING]) {
      for (const item of elementsOf(given)) {
        if (!isKnown(item)) return unknown("bool");
        if (item.content !== true) return bool(false);
      }
      return bool(true);
    },
  },

  anytrue: {
    parameters: [booleans],
    result: "bool",
    run([given = NOTHING]) {
      const items = elementsOf(given);
      if (items.some(({ content }) => content === true)) return bool(true);
      return items.every(isKnown) ? bool(false) : unknown("bool");
    },
  },

  chunklist: {
    parameters: [
      { ...anyList, secret: "own" },
      { name: "size", type: "number", secret: "own" },
    ],
    result: ([given = NOTHING]) => ({ list: given.type }),
    run([given = NOTHING, size = NOTHING], type) {
      const count = integerIn(size, undefined, "invalid size: ");
      if (count < 0) throw new CallError("the size argument must be positive");
      const items = elementsOf(given);
      const inner = elementType(type);
      const chunks: Typed[] = [];
      const step = count === 0 ? items.length : count;
      for (let at = 0; at < items.length; at += step) chunks.push(sequence(inner, items.slice(at, at + step)));
      return list(inner, chunks);
    },
  },

  coalescelist: {
    parameters: [],
    rest: { name: "vals", type: "any", nullable: true, unknown: true, untyped: true },
    result(args) {
      const [first] = args;
      if (first === undefined) throw new CallError("at least one argument is required");
      if (!args.every(isKnown)) return "any";
      if (!args.every(({ type }) => hasOrder(type)))
        throw new CallError("coalescelist arguments must be lists or tuples");
      return args.every(({ type }) => sameType(type, first.type)) ? first.type : "any";
    },
    run(args, type) {
      for (const arg of args) {
        if (!isKnown(arg)) return unknown(type);
        if (elementsOf(arg).length > 0) return arg;
      }
      throw new CallError("no non-null arguments");
    },
  },

  compact: {
    parameters: [{ name: "list", type: { list: "string" } }],
    result: { list: "string" },
    run([given = NOTHING]) {
      if (!isWhollyKnown(given)) return unknown({ list: "string" });
      const kept = elementsOf(given).filter((item) => item.content !== null && textOf(item) !== "");
      return list("string", kept);
    },
  },

  concat: {
    parameters: [],
    rest: { name: "seqs", type: "any", secret: "own" },
    result(args) {
      if (args.length === 0) throw new CallError("at least one argument is required");
      const types = args.map(({ type }) => type);
      if (types.every((type) => shapeOf(type) === "list")) {
        const common = unify(types);
        if (common !== undefined) return common;
      }
      let elements: readonly Type[] = [];
      for (const [i, arg] of args.entries()) {
        const shape = shapeOf(arg.type);
        if (shape === "tuple") elements = elements.concat(tupleTypes(arg.type));
        else if (shape !== "list")
          throw new ArgumentError(i, `all arguments must be lists or tuples; got ${typeName(arg.type)}`);
        else if (!isKnown(arg)) return "any";
        else elements = elements.concat(elementsOf(arg).map(({ type }) => type));
      }
      return { tuple: elements };
    },
    run(args, type) {
      const parts = shapeOf(type) === "list" ? args.map((arg) => convert(arg, type)) : args;
      return sequence(type, parts.flatMap(elementsOf));
    },
  },

  contains: {
    parameters: [anything, { name: "value", type: "any" }],
    result: "bool",
    run([given = NOTHING, value = NOTHING]) {
      if (!isSequence(given.type)) throw new CallError("argument must be list, tuple, or set");
      const answers = elementsOf(given).map((item) => equals(value, item));
      if (answers.includes(true)) return bool(true);
      return answers.includes(undefined) ? unknown("bool") : bool(false);
    },
  },

  distinct: {
    parameters: [anyList],
    result: ([given = NOTHING]) => given.type,
    run([given = NOTHING], type) {
      if (!isWhollyKnown(given)) return unknown(type);
      const found: Typed[] = [];
      for (const item of elementsOf(given)) if (!found.some((other) => equals(other, item) === true)) found.push(item);
      return sequence(type, found);
    },
  },

  element: {
    parameters: [
      { ...anything, secret: "own" },
      { name: "index", type: "number" },
    ],
    result([given = NOTHING, index = NOTHING]) {
      const shape = shapeOf(given.type);
      if (shape === "list") return elementType(given.type);
      if (shape !== "tuple") throw new CallError(`cannot read elements from ${typeName(given.type)}`);
      const types = tupleTypes(given.type);
      return isKnown(index) ? (types[wrapped(index, types.length)] ?? "any") : "any";
    },
    run([given = NOTHING, index = NOTHING], type) {
      const items = elementsOf(given);
      return items[wrapped(index, items.length)] ?? unknown(type);
    },
  },

  flatten: {
    parameters: [{ ...anything, secret: "parts" }],
    result([given = NOTHING]) {
      if (!isWhollyKnown(given)) return "any";
      if (!isSequence(given.type)) throw new CallError("can only flatten lists, sets and tuples");
      return { tuple: flat(given).items.map(({ type }) => type) };
    },
    run([given = NOTHING]) {
      const { items, secret, known } = flat(given);
      return known ? secretIf(tuple(items), secret) : secretIf(unknown("any"), originOf(given));
    },
  },

  index: {
    parameters: [anything, { name: "value", type: "any" }],
    result: "number",
    run([given = NOTHING, value = NOTHING]) {
      if (!hasOrder(given.type)) throw new CallError("argument must be a list or tuple");
      const items = elementsOf(given);
      if (items.length === 0) throw new CallError("cannot search an empty list");
      for (const [i, item] of items.entries()) {
        const same = equals(item, value);
        if (same === undefined) return unknown("number");
        if (same) return whole(i);
      }
      throw new CallError("item not found");
    },
  },

  length: {
    parameters: [{ name: "value", type: "any", untyped: true, unknown: true, secret: "own" }],
    result([given = NOTHING]) {
      if (["number", "bool"].includes(shapeOf(given.type)))
        throw new CallError("argument must be a string, a collection type, or a structural type");
      return "number";
    },
    run([given = NOTHING]) {
      switch (shapeOf(given.type)) {
        // The types of these include their length.
        case "tuple":
          return whole(tupleTypes(given.type).length);
        case "object":
          return whole(attributesOf(given.type).size);
        case "string":
          return isKnown(given) ? whole(charactersOf(textOf(given)).length) : unknown("number");
        case "set":
          // Unknown elements may be equal later.
          return isWhollyKnown(given) ? whole(elementsOf(given).length) : unknown("number");
        default:
          return isKnown(given) ? whole(elementsOf(given).length) : unknown("number");
      }
    },
  },

  matchkeys: {
    parameters: [
      { ...anyList, name: "values" },
      { ...anyList, name: "keys" },
      { ...anyList, name: "searchset" },
    ],
    result([values = NOTHING, keys = NOTHING, searched = NOTHING]) {
      if (unify([keys.type, searched.type]) === undefined)
        throw new CallError("keys and searchset must be of the same type");
      return values.type;
    },
    run([values = NOTHING, keys = NOTHING, searched = NOTHING], type) {
      const items = elementsOf(values);
      if (items.length !== elementsOf(keys).length) throw new CallError("length of keys and values should be equal");
      const common = unify([keys.type, searched.type]) ?? "any";
      const wanted = elementsOf(convert(searched, common));
      // For an unknown part of the search set Terraform returns an empty list, which would change later.
      if (![values, keys, searched].every(isWhollyKnown)) return unknown(type);
      const found = elementsOf(convert(keys, common)).map((key) => wanted.some((other) => equals(key, other) === true));
      const kept = items.filter((_, i) => found[i] === true);
      return sequence(type, kept);
    },
  },

  one: {
    parameters: [anything],
    result([given = NOTHING]) {
      const shape = shapeOf(given.type);
      if (shape === "list" || shape === "set") return elementType(given.type);
      const types = tupleTypes(given.type);
      if (shape !== "tuple" || types.length > 1) throw new ArgumentError(0, ONE);
      return types[0] ?? "any";
    },
    run([given = NOTHING], type) {
      const items = elementsOf(given);
      if (shapeOf(given.type) === "set" && items.length > 1 && !isWhollyKnown(given)) return unknown(type);
      if (items.length > 1) throw new ArgumentError(0, ONE);
      return items[0] ?? nullOf(type);
    },
  },

  reverse: {
    parameters: [{ ...anything, secret: "own" }],
    result([given = NOTHING]) {
      const shape = shapeOf(given.type);
      if (shape === "tuple") return { tuple: [...tupleTypes(given.type)].reverse() };
      if (shape === "list" || shape === "set") return { list: elementType(given.type) };
      throw new ArgumentError(0, `can only reverse list or tuple values, not ${typeName(given.type)}`);
    },
    run: ([given = NOTHING], type) => sequence(type, [...elementsOf(given)].reverse()),
  },

  slice: {
    parameters: [
      { ...anything, secret: "own" },
      { name: "start_index", type: "number" },
      { name: "end_index", type: "number" },
    ],
    result(args) {
      const [given = NOTHING, start = NOTHING, end = NOTHING] = args;
      const shape = shapeOf(given.type);
      if (shape === "set")
        throw new ArgumentError(
          0,
          "cannot slice a set, because its elements do not have indices; explicitly convert to a list if the ordering of the result is not important",
        );
      if (shape !== "list" && shape !== "tuple") throw new ArgumentError(0, "must be a list or tuple value");
      if (!isKnown(start) || !isKnown(end)) return shape === "list" ? given.type : "any";
      const [from, to] = bounds(given, start, end);
      return shape === "list" ? given.type : { tuple: tupleTypes(given.type).slice(from, to) };
    },
    run([given = NOTHING, start = NOTHING, end = NOTHING], type) {
      const [from, to] = bounds(given, start, end);
      return sequence(type, elementsOf(given).slice(from, to));
    },
  },
};
