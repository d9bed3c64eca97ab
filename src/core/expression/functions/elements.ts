import { equals } from "../equality.ts";
import { Refusal } from "../refusal.ts";
import { bool, elementsOf, isKnown, isWhollyKnown, nullOf, secretIf, unknown, whole } from "../typed.ts";
import { elementType, shapeOf, tupleTypes, typeName } from "../types.ts";
import type { Typed } from "../value.ts";
import { charactersOf } from "./characters.ts";
import { ArgumentError, CallError, type Definition, type Parameter } from "./definition.ts";
import { integerIn } from "./integers.ts";
import { attributesOf, NOTHING, textOf } from "./parts.ts";

const anything: Parameter = { name: "list", type: "any" };
const EMPTY = "cannot use element function with an empty list";

const length: Definition = {
  parameters: [{ name: "value", type: "any", untyped: true, unknown: true, secret: true }],
  result([given = NOTHING]) {
    if (["number", "bool"].includes(shapeOf(given.type)))
      throw new CallError("argument must be a string, a collection type, or a structural type");
    return "number";
  },
  run([given = NOTHING]) {
    const secret = given.secret === true;
    switch (shapeOf(given.type)) {
      // How many parts these have stands in their type.
      case "tuple":
        return secretIf(whole(tupleTypes(given.type).length), secret);
      case "object":
        return secretIf(whole(attributesOf(given.type).size), secret);
      case "string":
        return secretIf(isKnown(given) ? whole(charactersOf(textOf(given)).length) : unknown("number"), secret);
      case "set":
        // Unknown elements may turn out to be the same.
        return secretIf(isWhollyKnown(given) ? whole(elementsOf(given).length) : unknown("number"), secret);
      default:
        return secretIf(isKnown(given) ? whole(elementsOf(given).length) : unknown("number"), secret);
    }
  },
};

/** Terraform 1.11 fails at a negative index, later versions count from the end. */
function wrapped(index: Typed, count: number): number {
  if (count === 0) throw new CallError(EMPTY);
  const at = integerIn(index, undefined, "invalid index: ");
  if (at < 0) throw new Refusal("element() with a negative index is not supported", 0);
  return at % count;
}

const element: Definition = {
  parameters: [
    { ...anything, secret: true },
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
    return secretIf(items[wrapped(index, items.length)] ?? unknown(type), given.secret === true);
  },
};

const contains: Definition = {
  parameters: [anything, { name: "value", type: "any" }],
  result: "bool",
  run([given = NOTHING, value = NOTHING]) {
    if (!["list", "set", "tuple"].includes(shapeOf(given.type)))
      throw new CallError("argument must be list, tuple, or set");
    const answers = elementsOf(given).map((item) => equals(value, item));
    if (answers.includes(true)) return bool(true);
    return answers.includes(undefined) ? unknown("bool") : bool(false);
  },
};

const index: Definition = {
  parameters: [anything, { name: "value", type: "any" }],
  result: "number",
  run([given = NOTHING, value = NOTHING]) {
    if (!["list", "tuple"].includes(shapeOf(given.type))) throw new CallError("argument must be a list or tuple");
    const items = elementsOf(given);
    if (items.length === 0) throw new CallError("cannot search an empty list");
    for (const [i, item] of items.entries()) {
      const same = equals(item, value);
      if (same === undefined) return unknown("number");
      if (same) return whole(i);
    }
    throw new CallError("item not found");
  },
};

const ONE = "must be a list, set, or tuple value with either zero or one elements";

const one: Definition = {
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
};

const booleans: Parameter = { name: "list", type: { list: "bool" } };

/** The elements are looked at in turn: one that is false decides only when none before it is unknown. */
const alltrue: Definition = {
  parameters: [booleans],
  result: "bool",
  run([given = NOTHING]) {
    for (const item of elementsOf(given)) {
      if (!isKnown(item)) return unknown("bool");
      if (item.content !== true) return bool(false);
    }
    return bool(true);
  },
};

const anytrue: Definition = {
  parameters: [booleans],
  result: "bool",
  run([given = NOTHING]) {
    const items = elementsOf(given);
    if (items.some(({ content }) => content === true)) return bool(true);
    return items.every(isKnown) ? bool(false) : unknown("bool");
  },
};

export const ELEMENTS: Readonly<Record<string, Definition>> = {
  alltrue,
  anytrue,
  contains,
  element,
  index,
  length,
  one,
};
