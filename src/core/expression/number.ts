import { ExpressionError } from "../model/index.ts";
import { Refusal } from "./refusal.ts";
import { DIGITS, exactBinary, nearestBinary, shortestDecimal, truncate } from "./rounding.ts";

/**
 * A number of Terraform's language. Terraform computes with binary numbers of 512 bits and shows the shortest decimal that
 * means the same one; this is that decimal, so that each of these numbers is one of Terraform's and the reverse.
 */
export interface Decimal {
  /** value = digits × 10^exponent; digits without trailing zeros. */
  readonly digits: bigint;
  readonly exponent: number;
  /** Zero with a sign, as `0 * -1` gives it: equal to zero, but `-0` as text. */
  readonly negativeZero?: true;
}

export const ZERO: Decimal = { digits: 0n, exponent: 0 };
const NEGATIVE_ZERO: Decimal = { digits: 0n, exponent: 0, negativeZero: true };

/** What Terraform takes for a number, but for `Inf` and binary exponents (`1p3`). */
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** What Terraform takes for a number as well, and nobody means. */
const ODD = /^[+-]?(?:inf|(?:\d+\.?\d*|\.\d+)p[+-]?\d+)$/i;
/** Terraform goes further, at the price of as many digits in memory. */
const MOST_EXPONENT = 5000;

/** The number that a text means, rounded as Terraform rounds; undefined when it is none. @throws Refusal for infinity and the like. */
export function parseNumber(text: string): Decimal | undefined {
  const match = NUMBER.exec(text);
  const [, sign, whole = "", fraction = "", exponent = "0"] = match ?? [];
  if (match === null || whole + fraction === "") {
    if (ODD.test(text)) throw new Refusal(`the number ${text} is not supported`, 0);
    return undefined;
  }
  if (exponent.length > 6 || Math.abs(Number(exponent)) + text.length > MOST_EXPONENT)
    throw new Refusal("numbers of this size are not supported", 0);
  const value = rounded(BigInt(whole + fraction), Number(exponent) - fraction.length);
  return sign === "-" ? negate(value) : value;
}

/** As Terraform writes it: no exponent, no trailing zeros. */
export function formatNumber({ digits, exponent, negativeZero }: Decimal): string {
  if (negativeZero) return "-0";
  const sign = digits < 0n ? "-" : "";
  const text = (digits < 0n ? -digits : digits).toString();
  if (exponent >= 0) return digits === 0n ? "0" : sign + text + "0".repeat(exponent);
  const padded = text.padStart(1 - exponent, "0");
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

/** @throws ExpressionError for NaN and infinities, which JSON does not have. */
export function decimalOf(value: number | bigint): Decimal {
  if (typeof value === "bigint") return rounded(value, 0);
  if (!Number.isFinite(value)) throw new ExpressionError(`${value} is not a number`, 0);
  return Object.is(value, -0) ? NEGATIVE_ZERO : (parseNumber(String(value)) ?? ZERO);
}

/** The JavaScript number, when it is exactly this one (as decimals); else undefined. */
export function toNumber(value: Decimal): number | undefined {
  const number = Number(`${value.digits}e${value.exponent}`);
  if (!Number.isFinite(number)) return undefined;
  return compare(decimalOf(number), value) === 0 ? number : undefined;
}

/** The whole number as a JavaScript number; undefined when it is not whole or out of the safe range. */
export function toIndex(value: Decimal): number | undefined {
  const number = isWhole(value) ? toNumber(value) : undefined;
  return number !== undefined && Number.isSafeInteger(number) ? number + 0 : undefined;
}

export function isWhole(value: Decimal): boolean {
  return value.exponent >= 0;
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compare(a: Decimal, b: Decimal): number {
  const least = Math.min(a.exponent, b.exponent);
  const difference = a.digits * 10n ** BigInt(a.exponent - least) - b.digits * 10n ** BigInt(b.exponent - least);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function negate(a: Decimal): Decimal {
  if (a.digits === 0n) return a.negativeZero ? ZERO : NEGATIVE_ZERO;
  return { digits: -a.digits, exponent: a.exponent };
}

export function add(a: Decimal, b: Decimal): Decimal {
  if (a.negativeZero && b.negativeZero) return NEGATIVE_ZERO;
  if (isWhole(a) && isWhole(b)) {
    const least = Math.min(a.exponent, b.exponent);
    return rounded(a.digits * 10n ** BigInt(a.exponent - least) + b.digits * 10n ** BigInt(b.exponent - least), least);
  }
  const x = exactBinary(a);
  const y = exactBinary(b);
  const least = Math.min(x.exponent, y.exponent);
  const sum = (x.mantissa << BigInt(x.exponent - least)) + (y.mantissa << BigInt(y.exponent - least));
  return of(shortestDecimal(nearestBinary(sum, 1n, least)));
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, negate(b));
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  if (a.digits === 0n || b.digits === 0n) return signed(ZERO, isNegative(a) !== isNegative(b));
  if (isWhole(a) && isWhole(b)) return rounded(a.digits * b.digits, a.exponent + b.exponent);
  const x = exactBinary(a);
  const y = exactBinary(b);
  return of(shortestDecimal(nearestBinary(x.mantissa * y.mantissa, 1n, x.exponent + y.exponent)));
}

/** @throws Refusal for a divisor of zero: Terraform's infinity. */
export function divide(a: Decimal, b: Decimal): Decimal {
  if (b.digits === 0n) throw new Refusal("division by zero", 0);
  if (a.digits === 0n) return signed(ZERO, isNegative(a) !== isNegative(b));
  return of(shortestDecimal(quotient(a, b)));
}

/** Whether the quotient is a decimal that ends, which does not depend on how many bits it is computed with. */
export function dividesEvenly(a: Decimal, b: Decimal): boolean {
  let rest = b.digits < 0n ? -b.digits : b.digits;
  rest /= gcd(rest, a.digits < 0n ? -a.digits : a.digits) || 1n;
  for (const prime of [2n, 5n]) while (rest !== 0n && rest % prime === 0n) rest /= prime;
  return rest === 1n;
}

/** What remains of `a` after the whole part of a / b; `a` itself for a divisor of zero, as Terraform has it. */
export function remainder(a: Decimal, b: Decimal): Decimal {
  if (b.digits === 0n || a.digits === 0n) return a;
  const times = nearestBinary(truncate(quotient(a, b)), 1n, 0);
  return subtract(a, multiply(of(shortestDecimal(times)), b));
}

function quotient(a: Decimal, b: Decimal) {
  const x = exactBinary(a);
  const y = exactBinary(b);
  const flip = y.mantissa < 0n ? -1n : 1n;
  return nearestBinary(x.mantissa * flip, y.mantissa * flip, x.exponent - y.exponent);
}

function isNegative(a: Decimal): boolean {
  return a.digits < 0n || a.negativeZero === true;
}

function signed(value: Decimal, negative: boolean): Decimal {
  return negative ? negate(value) : value;
}

/** Few digits are the shortest decimal of some binary number already; more are rounded to one. */
function rounded(digits: bigint, exponent: number): Decimal {
  const value = of({ digits, exponent });
  return digits.toString().length <= DIGITS ? value : of(shortestDecimal(exactBinary(value)));
}

/** Without trailing zeros. */
function of({ digits, exponent }: Decimal): Decimal {
  if (digits === 0n) return ZERO;
  const text = digits.toString();
  const kept = text.replace(/0+$/, "");
  return { digits: BigInt(kept), exponent: exponent + text.length - kept.length };
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}
