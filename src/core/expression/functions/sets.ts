import { unify } from "../conversion.ts";
import { convert } from "../convert.ts";
import { equals } from "../equality.ts";
import { Refusal } from "../refusal.ts";
import { set } from "../sets.ts";
import { elementsOf, isKnown, isWhollyKnown, list, secretIf, tuple, unknown } from "../typed.ts";
import { elementType, sameType, shapeOf, tupleTypes } from "../types.ts";
import type { Type, Typed } from "../value.ts";
import { ArgumentError, CallError, type Definition, type Parameter } from "./definition.ts";

const anySet = (name: string): Parameter => ({ name, type: { set: "any" }, untyped: true });

/** A set from sets, whose elements get a common type first. */
function ofSets(
  parameters: readonly Parameter[],
  rest: Parameter | undefined,
  combine: Combine,
  needsAll = true,
): Definition {
  return {
    parameters,
    ...(rest === undefined ? {} : { rest }),
    result(args) {
      const types = args
        .filter((arg) => !(isKnown(arg) && elementsOf(arg).length === 0 && elementType(arg.type) === "any"))
        .map(({ type }) => elementType(type));
      const common = types.length === 0 ? "any" : unify(types);
      if (common === undefined) throw new CallError("given sets must all have compatible element types");
      return { set: common };
    },
    run(args, type) {
      // What is in the result, and how much, can change with every element that is not known.
      if (needsAll && !args.every(isWhollyKnown)) return unknown(type);
      const converted = args.map((arg) => convert(arg, type));
      const [first] = converted.filter((arg) => elementsOf(arg).length > 0);
      if (first !== undefined && converted.some((arg) => elementsOf(arg).length > 0 && !sameType(arg.type, first.type)))
        throw new Refusal("sets whose elements have different types are not supported", 0);
      const sets = converted.map(elementsOf);
      return set(elementType(type), sets.reduce(combine));
    },
  };
}

type Combine = (some: readonly Typed[], others: readonly Typed[]) => readonly Typed[];

const has = (items: readonly Typed[], item: Typed): boolean => items.some((other) => equals(item, other) === true);

const setproduct: Definition = {
  parameters: [],
  rest: { name: "sets", type: "any", secret: true, unknown: true },
  result(args) {
    if (args.length < 2) throw new CallError("at least two arguments are required");
    const types = args.map(({ type }, i): Type => {
      const shape = shapeOf(type);
      if (shape === "set" || shape === "list") return elementType(type);
      if (shape !== "tuple") throw new ArgumentError(i, "a set or a list is required");
      if (tupleTypes(type).length === 0) return "any";
      const common = unify(tupleTypes(type));
      if (common === undefined) throw new ArgumentError(i, "all elements must be of the same type");
      return common;
    });
    return args.every(({ type }) => shapeOf(type) !== "set") ? { list: { tuple: types } } : { set: { tuple: types } };
  },
  run(args, type) {
    const secret = args.some((arg) => arg.secret === true);
    const unsure = ({ type: of }: Typed) => shapeOf(of) === "set" || shapeOf(type) === "set";
    if (args.some((arg) => !isKnown(arg) || (unsure(arg) && !isWhollyKnown(arg))))
      return secretIf(unknown(type), secret);
    const element = elementType(type);
    const types = tupleTypes(element);
    const sizes = args.map((arg) => elementsOf(arg).length);
    if (sizes.reduce((all, size) => all * size, 1) > LARGEST_PRODUCT)
      throw new Refusal(`setproduct() of more than ${LARGEST_PRODUCT} combinations is not supported`, 0);
    const rows = args.reduce<readonly (readonly Typed[])[]>(
      (found, arg, i) =>
        found.flatMap((row) => elementsOf(arg).map((item) => [...row, convert(item, types[i] ?? "any")])),
      [[]],
    );
    if (rows.some((row) => row.some((item, i) => !sameType(item.type, types[i] ?? "any"))))
      throw new Refusal("setproduct() of values whose types differ is not supported", 0);
    const made = rows.map((row) => ({ ...tuple(row), type: element }));
    return secretIf(shapeOf(type) === "list" ? list(element, made) : set(element, made), secret);
  },
};

const LARGEST_PRODUCT = 100_000;

export const SETS: Readonly<Record<string, Definition>> = {
  setintersection: ofSets([anySet("first_set")], anySet("other_sets"), (some, others) =>
    some.filter((item) => has(others, item)),
  ),
  setproduct,
  setsubtract: ofSets([anySet("a"), anySet("b")], undefined, (some, others) =>
    some.filter((item) => !has(others, item)),
  ),
  setunion: ofSets([anySet("first_set")], anySet("other_sets"), (some, others) => [...some, ...others], false),
};
