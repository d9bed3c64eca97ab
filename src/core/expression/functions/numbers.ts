import { convertOr } from "../conversion.ts";
import {
  add,
  type BigFloat,
  compare,
  isNegative,
  negate,
  power,
  toIndex,
  toWhole,
  wholeNumber,
  ZERO,
} from "../number.ts";
import { Refusal } from "../refusal.ts";
import { elementsOf, isWhollyKnown, list, number, type Typed, unknown, whole } from "../typed-value.ts";
import { shapeOf } from "../types.ts";
import {
  ArgumentError,
  CallError,
  type Definition,
  integerIn,
  NOTHING,
  numberIn,
  type Parameter,
  textOf,
} from "./definition.ts";

// Functions of numbers.

const numeric = (name: string): Parameter => ({ name, type: "number" });
const ONE = wholeNumber(1);

/** The largest or the smallest number; of equal ones the first. */
function extreme(sign: 1 | -1): Definition {
  return {
    parameters: [],
    rest: { ...numeric("numbers"), untyped: true },
    result: "number",
    run([first, ...others]) {
      if (first === undefined) throw new CallError("must pass at least one number");
      return others.reduce((best, next) => (compare(numberIn(next), numberIn(best)) === sign ? next : best), first);
    },
  };
}

const ofNumber = (compute: (value: BigFloat) => BigFloat): Definition => ({
  parameters: [numeric("num")],
  result: "number",
  run: ([given = NOTHING]) => number(compute(numberIn(given))),
});

const LONGEST_RANGE = 1024;

const SUMMABLE = "argument must be list, set, or tuple of number values";

function summand(item: Typed): BigFloat {
  if (item.content === null) throw new ArgumentError(0, SUMMABLE);
  return numberIn(convertOr(item, "number", () => new ArgumentError(0, SUMMABLE)));
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LONGEST_INTEGER = 10_000;

export const NUMBERS: Readonly<Record<string, Definition>> = {
  abs: {
    ...ofNumber((value) => (isNegative(value) ? negate(value) : value)),
    parameters: [{ ...numeric("num"), untyped: true }],
  },

  ceil: ofNumber((value) => toWhole(value, true)),
  floor: ofNumber((value) => toWhole(value, false)),
  max: extreme(1),
  min: extreme(-1),

  parseint: {
    parameters: [{ name: "number", type: "any" }, numeric("base")],
    result([given = NOTHING]) {
      if (given.type !== "string")
        throw new ArgumentError(0, `first argument must be a string, not ${shapeOf(given.type)}`);
      return "number";
    },
    run([given = NOTHING, base = NOTHING]) {
      const radix = integerIn(base, 1);
      if (radix < 2 || radix > 62) throw new ArgumentError(1, "base must be a whole number between 2 and 62 inclusive");
      const written = textOf(given);
      const digits = written.replace(/^[+-]/, "");
      const values = [...(radix <= 36 ? digits.toLowerCase() : digits)].map((digit) => DIGITS.indexOf(digit));
      const wrong = values.length === 0 || values.length > LONGEST_INTEGER;
      if (wrong || values.some((value) => value < 0 || value >= radix))
        throw new ArgumentError(0, `cannot parse ${JSON.stringify(written)} as a base ${radix} integer`);
      const size = values.reduce((total, value) => total * BigInt(radix) + BigInt(value), 0n);
      return whole(written.startsWith("-") ? -size : size);
    },
  },

  /** Terraform computes powers with floats of 64 bits; those without rounding are the same on each processor. */
  pow: {
    parameters: [numeric("num"), numeric("power")],
    result: "number",
    run(args) {
      const [base = ZERO, exponent = ZERO] = args.map(numberIn);
      const count = toIndex(exponent);
      const result = count === undefined ? undefined : power(base, count);
      if (result !== undefined) return number(result);
      throw new Refusal("pow() of these numbers has another last digit on other processors; compute it in code");
    },
  },

  range: {
    parameters: [],
    rest: numeric("params"),
    result: { list: "number" },
    run(args) {
      const [first, second, third] = args.map(numberIn);
      if (first === undefined || args.length > 3) throw new CallError("must have one, two, or three arguments");
      const start = second === undefined ? ZERO : first;
      const end = second ?? first;
      const step = third ?? (compare(end, start) < 0 ? negate(ONE) : ONE);
      const direction = compare(step, ZERO);
      if (direction === 0) throw new ArgumentError(2, "step must not be zero");
      if (compare(end, start) * direction < 0)
        throw new ArgumentError(
          1,
          direction < 0
            ? "end must be less than start when step is negative"
            : "end must be greater than start when step is positive",
        );
      const found: Typed[] = [];
      for (let at = start; compare(at, end) * direction < 0; at = add(at, step)) {
        if (found.length >= LONGEST_RANGE)
          throw new CallError(
            `more than ${LONGEST_RANGE} values were generated; either decrease the difference between start and end or use a smaller step`,
          );
        found.push(number(at));
      }
      return list("number", found);
    },
  },

  signum: {
    parameters: [numeric("num")],
    result: "number",
    run: ([given = NOTHING]) => whole(Math.sign(integerIn(given))),
  },

  sum: {
    parameters: [{ name: "list", type: "any" }],
    result: "number",
    run([given = NOTHING]) {
      const items = elementsOf(given);
      const shape = shapeOf(given.type);
      if (typeof given.type === "string") throw new ArgumentError(0, "cannot sum noniterable");
      if (items.length === 0) throw new ArgumentError(0, "cannot sum an empty list");
      if (shape === "map" || shape === "object")
        throw new ArgumentError(0, `argument must be list, set, or tuple. Received ${shape}`);
      if (!items.every(isWhollyKnown)) return unknown("number");
      return number(items.map(summand).reduce((total, next) => add(total, next)));
    },
  },
};
