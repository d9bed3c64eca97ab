import { CALLS } from "../../messages/expressions.ts";
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
import { CallError, type Definition, integerIn, numberIn, take, textOf } from "./definition.ts";

// Functions of numbers.

const ONE = wholeNumber(1);

/** Defines `max` or `min`. If several numbers are equal, returns the first. */
function extreme(sign: 1 | -1): Definition {
  return {
    parameters: [],
    rest: take("numbers", "number", "untyped"),
    result: "number",
    run(_, first?: Typed, ...others) {
      if (first === undefined) throw new CallError(CALLS.least(1));
      return others.reduce((best, next) => (compare(numberIn(next), numberIn(best)) === sign ? next : best), first);
    },
  };
}

const ofNumber = (compute: (value: BigFloat) => BigFloat): Definition => ({
  parameters: [take("num", "number")],
  result: "number",
  run: (_, given) => number(compute(numberIn(given))),
});

const LONGEST_RANGE = 1024;

function summand(item: Typed): BigFloat {
  if (item.content === null) throw new CallError(CALLS.summable, 0);
  return numberIn(convertOr(item, "number", () => new CallError(CALLS.summable, 0)));
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LONGEST_INTEGER = 10_000;

export const NUMBERS: Readonly<Record<string, Definition>> = {
  abs: {
    ...ofNumber((value) => (isNegative(value) ? negate(value) : value)),
    parameters: [take("num", "number", "untyped")],
  },

  ceil: ofNumber((value) => toWhole(value, true)),
  floor: ofNumber((value) => toWhole(value, false)),
  max: extreme(1),
  min: extreme(-1),

  parseint: {
    parameters: [take("number", "any"), take("base", "number")],
    result(given) {
      if (given.type !== "string") throw new CallError(CALLS.text, 0);
      return "number";
    },
    run(_, given, base) {
      const radix = integerIn(base, 1);
      if (radix < 2 || radix > 62) throw new CallError(CALLS.base, 1);
      const written = textOf(given);
      const digits = written.replace(/^[+-]/, "");
      const values = [...(radix <= 36 ? digits.toLowerCase() : digits)].map((digit) => DIGITS.indexOf(digit));
      const wrong = values.length === 0 || values.length > LONGEST_INTEGER;
      if (wrong || values.some((value) => value < 0 || value >= radix))
        throw new CallError(CALLS.parseint(written, radix), 0);
      const size = values.reduce((total, value) => total * BigInt(radix) + BigInt(value), 0n);
      return whole(written.startsWith("-") ? -size : size);
    },
  },

  /**
   * Terraform computes powers with 64-bit floats. hostform accepts only results without rounding, which are equal on all
   * processors.
   */
  pow: {
    parameters: [take("num", "number"), take("power", "number")],
    result: "number",
    run(_, ...args) {
      const [base = ZERO, exponent = ZERO] = args.map(numberIn);
      const count = toIndex(exponent);
      const result = count === undefined ? undefined : power(base, count);
      if (result !== undefined) return number(result);
      throw new Refusal(CALLS.power);
    },
  },

  range: {
    parameters: [],
    rest: take("params", "number"),
    result: { list: "number" },
    run(_, ...args) {
      const [first, second, third] = args.map(numberIn);
      if (first === undefined || args.length > 3) throw new CallError(CALLS.range_count);
      const start = second === undefined ? ZERO : first;
      const end = second ?? first;
      const step = third ?? (compare(end, start) < 0 ? negate(ONE) : ONE);
      const direction = compare(step, ZERO);
      if (direction === 0) throw new CallError(CALLS.step, 2);
      if (compare(end, start) * direction < 0) throw new CallError(CALLS.range_end, 1);
      const found: Typed[] = [];
      for (let at = start; compare(at, end) * direction < 0; at = add(at, step)) {
        if (found.length >= LONGEST_RANGE) throw new CallError(CALLS.range_length(LONGEST_RANGE));
        found.push(number(at));
      }
      return list("number", found);
    },
  },

  signum: {
    parameters: [take("num", "number")],
    result: "number",
    run: (_, given) => whole(Math.sign(integerIn(given))),
  },

  sum: {
    parameters: [take("list", "any")],
    result: "number",
    run(_, given) {
      const items = elementsOf(given);
      const shape = shapeOf(given.type);
      if (items.length === 0 || typeof given.type === "string" || shape === "map" || shape === "object")
        throw new CallError(CALLS.summable, 0);
      if (!items.every(isWhollyKnown)) return unknown("number");
      return number(items.map(summand).reduce((total, next) => add(total, next)));
    },
  },
};
