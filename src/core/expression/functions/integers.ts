import type { Decimal } from "../number.ts";
import type { Typed } from "../value.ts";
import { ArgumentError, CallError } from "./definition.ts";

/** The whole number that a number is; undefined when it is none. */
export function wholeOf({ digits, exponent }: Decimal): bigint | undefined {
  return exponent >= 0 ? digits * 10n ** BigInt(exponent) : undefined;
}

/** The number that is the content of a known one. */
export function decimalIn({ content }: Typed): Decimal {
  if (typeof content === "object" && content !== null && "digits" in content) return content;
  throw new CallError("a number is required");
}

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
const RANGE = `value must be a whole number, between ${LEAST} and ${MOST}`;

/** The argument as an index, a length, a base …; `index` is that of the argument, when the message is to name it. */
export function integerIn(arg: Typed, index?: number, prefix = ""): number {
  const { digits, exponent } = decimalIn(arg);
  const whole = exponent > 20 ? undefined : wholeOf({ digits, exponent });
  if (whole === undefined || whole < LEAST || whole > MOST) {
    throw index === undefined ? new CallError(prefix + RANGE) : new ArgumentError(index, prefix + RANGE);
  }
  return Number(whole);
}
