import { CALLS } from "../../messages/expressions.ts";
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
import { attributesOf, elementType, isSequence, sameType, shapeOf, tupleTypes } from "../types.ts";
import { CallError, type Definition, integerIn, take, textOf } from "./definition.ts";
import { charactersOf } from "./strings.ts";

// Functions of lists, tuples and sets.

const ANY_LIST: Type = { list: "any" };
const anyList = take("list", ANY_LIST);
const anything = take("list", "any");

const hasOrder = (type: Type) => isSequence(type) && shapeOf(type) !== "set";

/** Returns a list or a tuple, depending on the type. */
const sequence = (type: Type, items: readonly Typed[]): Typed =>
  shapeOf(type) === "tuple" ? tuple(items) : list(elementType(type), items);

/** Returns the elements of a list and of all nested lists. `known`: false if the length of a nested list is unknown. */
function flat(given: Typed): {
  readonly items: readonly Typed[];
  readonly secret: Origin | undefined;
  readonly known: boolean;
} {
  // Unknown elements may be equal, so the size of the set is unknown.
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
  const [from, to] = [integerIn(start, 1), integerIn(end, 2)];
  const length = isKnown(given) ? elementsOf(given).length : Number.POSITIVE_INFINITY;
  if (from < 0 || from > to) throw new CallError(CALLS.slice_start, 1);
  if (to > length) throw new CallError(CALLS.slice_end, 2);
  return [from, to];
}

/**
 * Returns the index modulo the length. Terraform 1.11 rejects a negative index, but later versions count from the end;
 * hostform refuses it.
 */
function wrapped(index: Typed, count: number): number {
  if (count === 0) throw new CallError(CALLS.element_empty);
  const at = integerIn(index, 1);
  if (at < 0) throw new Refusal(CALLS.element_negative);
  return at % count;
}

const booleans = take("list", { list: "bool" });

export const LISTS: Readonly<Record<string, Definition>> = {
  /** Terraform ignores a false element after an unknown element. */
  alltrue: {
    parameters: [booleans],
    result: "bool",
    run(_, given) {
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
    run(_, given) {
      const items = elementsOf(given);
      if (items.some(({ content }) => content === true)) return bool(true);
      return items.every(isKnown) ? bool(false) : unknown("bool");
    },
  },

  chunklist: {
    parameters: [take("list", ANY_LIST, "own"), take("size", "number", "own")],
    result: (given) => ({ list: given.type }),
    run(type, given, size) {
      const count = integerIn(size, 1);
      if (count < 0) throw new CallError(CALLS.size);
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
    rest: take("vals", "any", "nullable", "unknown", "untyped"),
    result(...args) {
      const [first] = args;
      if (first === undefined) throw new CallError(CALLS.least(1));
      if (!args.every(isKnown)) return "any";
      if (!args.every(({ type }) => hasOrder(type))) throw new CallError(CALLS.ordered);
      return args.every(({ type }) => sameType(type, first.type)) ? first.type : "any";
    },
    run(type, ...args) {
      for (const arg of args) {
        if (!isKnown(arg)) return unknown(type);
        if (elementsOf(arg).length > 0) return arg;
      }
      throw new CallError(CALLS.no_value);
    },
  },

  compact: {
    parameters: [take("list", { list: "string" })],
    result: { list: "string" },
    run(_, given) {
      if (!isWhollyKnown(given)) return unknown({ list: "string" });
      const kept = elementsOf(given).filter((item) => item.content !== null && textOf(item) !== "");
      return list("string", kept);
    },
  },

  concat: {
    parameters: [],
    rest: take("seqs", "any", "own"),
    result(...args) {
      if (args.length === 0) throw new CallError(CALLS.least(1));
      const types = args.map(({ type }) => type);
      if (types.every((type) => shapeOf(type) === "list")) {
        const common = unify(types);
        if (common !== undefined) return common;
      }
      let elements: readonly Type[] = [];
      for (const [i, arg] of args.entries()) {
        const shape = shapeOf(arg.type);
        if (shape === "tuple") elements = elements.concat(tupleTypes(arg.type));
        else if (shape !== "list") throw new CallError(CALLS.ordered, i);
        else if (!isKnown(arg)) return "any";
        else elements = elements.concat(elementsOf(arg).map(({ type }) => type));
      }
      return { tuple: elements };
    },
    run(type, ...args) {
      const parts = shapeOf(type) === "list" ? args.map((arg) => convert(arg, type)) : args;
      return sequence(type, parts.flatMap(elementsOf));
    },
  },

  contains: {
    parameters: [anything, take("value", "any")],
    result: "bool",
    run(_, given, value) {
      if (!isSequence(given.type)) throw new CallError(CALLS.list, 0);
      const answers = elementsOf(given).map((item) => equals(value, item));
      if (answers.includes(true)) return bool(true);
      return answers.includes(undefined) ? unknown("bool") : bool(false);
    },
  },

  distinct: {
    parameters: [anyList],
    result: (given) => given.type,
    run(type, given) {
      if (!isWhollyKnown(given)) return unknown(type);
      const found: Typed[] = [];
      for (const item of elementsOf(given)) if (!found.some((other) => equals(other, item) === true)) found.push(item);
      return sequence(type, found);
    },
  },

  element: {
    parameters: [take("list", "any", "own"), take("index", "number")],
    result(given, index) {
      const shape = shapeOf(given.type);
      if (shape === "list") return elementType(given.type);
      if (shape !== "tuple") throw new CallError(CALLS.ordered, 0);
      const types = tupleTypes(given.type);
      return isKnown(index) ? (types[wrapped(index, types.length)] ?? "any") : "any";
    },
    run(type, given, index) {
      const items = elementsOf(given);
      return items[wrapped(index, items.length)] ?? unknown(type);
    },
  },

  flatten: {
    parameters: [take("list", "any", "parts")],
    result(given) {
      if (!isWhollyKnown(given)) return "any";
      if (!isSequence(given.type)) throw new CallError(CALLS.list, 0);
      return { tuple: flat(given).items.map(({ type }) => type) };
    },
    run(_, given) {
      const { items, secret, known } = flat(given);
      return known ? secretIf(tuple(items), secret) : secretIf(unknown("any"), originOf(given));
    },
  },

  index: {
    parameters: [anything, take("value", "any")],
    result: "number",
    run(_, given, value) {
      if (!hasOrder(given.type)) throw new CallError(CALLS.ordered, 0);
      const items = elementsOf(given);
      for (const [i, item] of items.entries()) {
        const same = equals(item, value);
        if (same === undefined) return unknown("number");
        if (same) return whole(i);
      }
      throw new CallError(CALLS.index_none);
    },
  },

  length: {
    parameters: [take("value", "any", "untyped", "unknown", "own")],
    result(given) {
      if (["number", "bool"].includes(shapeOf(given.type))) throw new CallError(CALLS.length_type);
      return "number";
    },
    run(_, given) {
      switch (shapeOf(given.type)) {
        // The type of a tuple contains its length.
        case "tuple":
          return whole(tupleTypes(given.type).length);
        case "object":
          return whole(attributesOf(given.type).size);
        case "string":
          return isKnown(given) ? whole(charactersOf(textOf(given)).length) : unknown("number");
        case "set":
          // Unknown elements may be equal, so the size of the set is unknown.
          return isWhollyKnown(given) ? whole(elementsOf(given).length) : unknown("number");
        default:
          return isKnown(given) ? whole(elementsOf(given).length) : unknown("number");
      }
    },
  },

  matchkeys: {
    parameters: [take("values", ANY_LIST), take("keys", ANY_LIST), take("searchset", ANY_LIST)],
    result(values, keys, searched) {
      if (unify([keys.type, searched.type]) === undefined) throw new CallError(CALLS.matchkeys_types);
      return values.type;
    },
    run(type, values, keys, searched) {
      const items = elementsOf(values);
      if (items.length !== elementsOf(keys).length) throw new CallError(CALLS.lengths);
      const common = unify([keys.type, searched.type]) ?? "any";
      const wanted = elementsOf(convert(searched, common));
      // Terraform would return an empty list here and another list later.
      if (![values, keys, searched].every(isWhollyKnown)) return unknown(type);
      const found = elementsOf(convert(keys, common)).map((key) => wanted.some((other) => equals(key, other) === true));
      const kept = items.filter((_, i) => found[i] === true);
      return sequence(type, kept);
    },
  },

  one: {
    parameters: [anything],
    result(given) {
      const shape = shapeOf(given.type);
      if (shape === "list" || shape === "set") return elementType(given.type);
      const types = tupleTypes(given.type);
      if (shape !== "tuple" || types.length > 1) throw new CallError(CALLS.one_element, 0);
      return types[0] ?? "any";
    },
    run(type, given) {
      const items = elementsOf(given);
      if (shapeOf(given.type) === "set" && items.length > 1 && !isWhollyKnown(given)) return unknown(type);
      if (items.length > 1) throw new CallError(CALLS.one_element, 0);
      return items[0] ?? nullOf(type);
    },
  },

  reverse: {
    parameters: [take("list", "any", "own")],
    result(given) {
      const shape = shapeOf(given.type);
      if (shape === "tuple") return { tuple: [...tupleTypes(given.type)].reverse() };
      if (shape === "list" || shape === "set") return { list: elementType(given.type) };
      throw new CallError(CALLS.list, 0);
    },
    run: (type, given) => sequence(type, [...elementsOf(given)].reverse()),
  },

  slice: {
    parameters: [take("list", "any", "own"), take("start_index", "number"), take("end_index", "number")],
    result(given, start, end) {
      const shape = shapeOf(given.type);
      if (shape !== "list" && shape !== "tuple") throw new CallError(CALLS.ordered, 0);
      if (!isKnown(start) || !isKnown(end)) return shape === "list" ? given.type : "any";
      const [from, to] = bounds(given, start, end);
      return shape === "list" ? given.type : { tuple: tupleTypes(given.type).slice(from, to) };
    },
    run(type, given, start, end) {
      const [from, to] = bounds(given, start, end);
      return sequence(type, elementsOf(given).slice(from, to));
    },
  },
};
