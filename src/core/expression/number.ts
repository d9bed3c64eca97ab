import { VALUES } from "../messages/expressions.ts";
import type { ExactNumber } from "../model/index.ts";
import { Refusal } from "./refusal.ts";

// Numbers of Terraform: arithmetic and formatting of Go's big floats. Numbers in texts have 512 binary digits.

/** A binary floating-point number, like Go's `big.Float`. */
export interface BigFloat {
  /** Value = mantissa × 2^exponent. The mantissa is odd or zero. */
  readonly mantissa: bigint;
  readonly exponent: number;
  /** Number of binary digits that Terraform keeps. */
  readonly bits: number;
  /**
   * True if the precision may be up to 512 binary digits. Terraform has more digits in the process that computes a value than
   * in a process that reads it from a plan file.
   */
  readonly varies?: true;
  /** True for the zero of `0 * -1`. It equals zero but prints as `-0`. */
  readonly negativeZero?: true;
}

type Precision = Pick<BigFloat, "bits" | "varies">;

/** Precision of a number that Terraform parses from text. */
const FULL: Precision = { bits: 512 };
/** Precisions of Go's floats, of Go's integers, and of numbers in texts. */
const PRECISIONS = [53, 64, FULL.bits];
const FLOAT: Precision = { bits: 53 };

/** Terraform's number notation, without `Inf` and binary exponents (`1p3`). */
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** Other texts that Terraform parses as numbers. */
const ODD = /^[+-]?(?:inf|(?:\d+\.?\d*|\.\d+)p[+-]?\d+)$/i;
/** Maximum exponent. Terraform allows more, but then needs as many digits in memory. */
const MOST_EXPONENT = 5000;
const MOST_BINARY_EXPONENT = 2 ** 17;

/**
 * Parses a number and rounds it as Terraform does. Undefined if the text is no number.
 * @throws Refusal for infinity and similar values.
 */
export function parseNumber(text: string): BigFloat | undefined {
  const match = NUMBER.exec(text);
  const [, sign, whole = "", fraction = "", exponent = "0"] = match ?? [];
  if (match === null || whole + fraction === "") {
    if (ODD.test(text)) throw new Refusal(VALUES.number_form(text));
    return undefined;
  }
  if (exponent.length > 6 || Math.abs(Number(exponent)) + text.length > MOST_EXPONENT)
    throw new Refusal(VALUES.number_size);
  const digits = BigInt(whole + fraction);
  const power = Number(exponent) - fraction.length;
  const fives = 5n ** BigInt(Math.abs(power));
  const value = power >= 0 ? nearest(digits * fives, 1n, power, FULL) : nearest(digits, fives, power, FULL);
  return sign === "-" ? negate(value) : value;
}

/** Returns the number that Terraform reads from a finite literal. */
export function literalNumber(value: number | ExactNumber): BigFloat {
  return parseNumber(Object.is(value, -0) ? "-0" : String(value)) ?? ZERO;
}

/** Returns an integer with the precision of Terraform's functions. */
export function wholeNumber(value: number | bigint): BigFloat {
  const mantissa = BigInt(value);
  return nearest(mantissa, 1n, 0, { bits: Math.max(64, bitsOf(mantissa)) });
}

export const ZERO = wholeNumber(0);

/**
 * Computes a power with 64-bit floats, as Terraform does. Undefined if a step would round, because processors round
 * differently.
 */
export function power(base: BigFloat, times: number): BigFloat | undefined {
  const { mantissa, exponent } = sure(base);
  const count = Math.abs(times);
  if (bitsOf(mantissa) > 53 || bitsOf(mantissa) * count > 2048 || Math.abs(exponent * count) > 900) return undefined;
  const result = mantissa ** BigInt(count);
  if (bitsOf(result) > 53 || (result === 0n && times < 0)) return undefined;
  if (times >= 0) return nearest(result, 1n, exponent * count, FLOAT);
  return nearest(result < 0n ? -1n : 1n, sizeOf(result), -exponent * count, FLOAT);
}

/** Returns the number as Terraform reads it back from a plan file: as an integer or 64-bit float if possible. */
export function storedNumber(value: BigFloat): BigFloat {
  const size = bitsOf(value.mantissa);
  if (isWhole(value)) return size + value.exponent < 64 ? { ...value, bits: 64, varies: true } : value;
  return size <= 53 && value.exponent >= -1074 ? { ...value, bits: 53, varies: true } : value;
}

/** Formats a number as in a plan's outputs and attributes. A number that is an exact 64-bit float prints as such. */
export function plannedText(value: BigFloat): string {
  const { varies, ...stored } = storedNumber(value);
  return formatNumber(varies === true && !isLoose(value) ? stored : value).replace(/^-0$/, "0");
}

/** Converts an integer to a JavaScript number. Undefined if it is not a safe integer. */
export function toIndex(value: BigFloat): number | undefined {
  const whole = bitsOf(value.mantissa) + value.exponent > 53 ? undefined : toBigInt(value);
  const number = Number(whole);
  return whole !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

/** Converts an integer to a bigint. Undefined if the number is not an integer. */
export function toBigInt(value: BigFloat): bigint | undefined {
  const { mantissa, exponent } = sure(value);
  return exponent < 0 ? undefined : mantissa << BigInt(exponent);
}

export function isWhole({ exponent }: BigFloat): boolean {
  return exponent >= 0;
}

/** Returns the sign of a number: 1, 0 or -1. */
function signOf({ mantissa }: BigFloat): number {
  return mantissa > 0n ? 1 : mantissa < 0n ? -1 : 0;
}

/** Returns a negative number, 0 or a positive number if `a` is less than, equal to or greater than `b`. */
export function compare(a: BigFloat, b: BigFloat): number {
  if (signOf(a) !== signOf(b)) return Math.sign(signOf(a) - signOf(b));
  const [x, y] = aligned(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

export function negate(a: BigFloat): BigFloat {
  if (a.mantissa !== 0n) return { ...a, mantissa: -a.mantissa };
  const { negativeZero, ...rest } = a;
  return negativeZero ? rest : { ...rest, negativeZero: true };
}

export function add(a: BigFloat, b: BigFloat): BigFloat {
  return sum(a, b, larger(a, b));
}

export function subtract(a: BigFloat, b: BigFloat): BigFloat {
  return add(a, negate(b));
}

function sum(a: BigFloat, b: BigFloat, precision: Precision): BigFloat {
  const [x, y, exponent] = aligned(a, b);
  const total = nearest(x + y, 1n, exponent, precision);
  return a.negativeZero && b.negativeZero ? negate(total) : total;
}

/** Multiplies two numbers. As in Terraform, the product keeps up to 512 binary digits. */
export function multiply(a: BigFloat, b: BigFloat): BigFloat {
  const { bits, varies } = larger(a, b);
  const product = times(a, b, FULL);
  return { ...product, bits: Math.max(bits, bitsOf(product.mantissa)), ...(varies && { varies }) };
}

function times(a: BigFloat, b: BigFloat, precision: Precision): BigFloat {
  return signed(nearest(sure(a).mantissa * sure(b).mantissa, 1n, a.exponent + b.exponent, precision), a, b);
}

/** Adds the sign to a zero product or quotient. */
function signed(result: BigFloat, a: BigFloat, b: BigFloat): BigFloat {
  return result.mantissa === 0n && isNegative(a) !== isNegative(b) ? negate(result) : result;
}

/** Divides two numbers. @throws Refusal if the divisor is zero (infinity in Terraform). */
export function divide(a: BigFloat, b: BigFloat): BigFloat {
  if (b.mantissa === 0n) throw new Refusal(VALUES.division);
  const numerator = b.mantissa < 0n ? -sure(a).mantissa : sure(a).mantissa;
  return signed(nearest(numerator, sizeOf(sure(b).mantissa), a.exponent - b.exponent, larger(a, b)), a, b);
}

/** Returns the remainder of a / b. As in Terraform, a divisor of zero returns `a`. */
export function remainder(a: BigFloat, b: BigFloat): BigFloat {
  if (b.mantissa === 0n || a.mantissa === 0n) return a;
  const count = nearest(agreed(divide(a, b), truncated), 1n, 0, a);
  return sum(a, negate(times(b, count, a)), a);
}

/** Rounds up or down to an integer. */
export function toWhole(value: BigFloat, up: boolean): BigFloat {
  if (isWhole(value)) return value;
  const whole = agreed(value, (one) => {
    // Truncation rounds toward zero.
    const away = up === one.mantissa > 0n ? (up ? 1n : -1n) : 0n;
    return isWhole(one) ? truncated(one) : truncated(one) + away;
  });
  return nearest(whole, 1n, 0, value);
}

export function isNegative(a: BigFloat): boolean {
  return a.mantissa < 0n || a.negativeZero === true;
}

function truncated({ mantissa, exponent }: BigFloat): bigint {
  return exponent >= 0 ? mantissa << BigInt(exponent) : mantissa / (1n << BigInt(-exponent));
}

/** Returns both mantissas for a common exponent. */
function aligned(a: BigFloat, b: BigFloat): readonly [bigint, bigint, exponent: number] {
  const least = Math.min(sure(a).exponent, sure(b).exponent);
  return [a.mantissa << BigInt(a.exponent - least), b.mantissa << BigInt(b.exponent - least), least];
}

/** Returns the precision of a result with two operands. */
function larger(a: BigFloat, b: BigFloat): Precision {
  const bits = Math.max(a.bits, b.bits);
  return bits < FULL.bits && (a.varies || b.varies) ? { bits, varies: true } : { bits };
}

/** Returns true if Terraform may have rounded the number, depending on the source of its operands. */
function isLoose({ mantissa, bits, varies }: BigFloat): boolean {
  return varies === true && bitsOf(mantissa) > bits;
}

/** Returns the number. @throws Refusal if Terraform may have rounded it. */
function sure(value: BigFloat): BigFloat {
  if (isLoose(value)) throw new Refusal(VALUES.loose);
  return value;
}

/** Computes with every value that Terraform may have. @throws Refusal if the results differ. */
function agreed<T extends string | bigint>(value: BigFloat, compute: (value: BigFloat) => T): T {
  if (!value.varies || (isWhole(value) && !isLoose(value))) return compute(value);
  const { mantissa, exponent } = value;
  const possible = [value.bits, ...PRECISIONS.filter((bits) => bits > value.bits)];
  const results = possible.map((bits) => compute(nearest(mantissa, 1n, exponent, { bits })));
  const [first] = results;
  if (first === undefined || results.some((result) => result !== first)) throw new Refusal(VALUES.loose);
  return first;
}

/** Returns the number nearest to numerator / denominator × 2^exponent. Ties round to even. The denominator is positive. */
function nearest(numerator: bigint, denominator: bigint, exponent: number, precision: Precision): BigFloat {
  const bits = precision.varies ? FULL.bits : precision.bits;
  const kept: Precision = { bits: precision.bits, ...(precision.varies && { varies: true }) };
  if (numerator === 0n) return { mantissa: 0n, exponent: 0, ...kept };
  let n = sizeOf(numerator);
  let scale = exponent;
  if (denominator !== 1n || bitsOf(n) > bits) {
    let d = denominator;
    // Keep one or two more bits. These and the remainder determine the rounding.
    const shift = bits + 2 - (bitsOf(n) - bitsOf(d));
    if (shift > 0) n <<= BigInt(shift);
    else d <<= BigInt(-shift);
    const quotient = n / d;
    const isExact = n % d === 0n;
    const surplus = BigInt(bitsOf(quotient) - bits);
    const half = 1n << (surplus - 1n);
    const rest = quotient & ((1n << surplus) - 1n);
    n = quotient >> surplus;
    if (rest > half || (rest === half && (!isExact || (n & 1n) === 1n))) n += 1n;
    scale += Number(surplus) - shift;
  }
  const zeros = trailingZeros(n);
  scale += zeros;
  if (Math.abs(scale) > MOST_BINARY_EXPONENT) throw new Refusal(VALUES.number_size);
  n >>= BigInt(zeros);
  return { mantissa: numerator < 0n ? -n : n, exponent: scale, ...kept };
}

function trailingZeros(value: bigint): number {
  let zeros = 0;
  let rest = value;
  while ((rest & 0xffff_ffffn) === 0n) {
    rest >>= 32n;
    zeros += 32;
  }
  const low = Number(rest & 0xffff_ffffn);
  return zeros + 31 - Math.clz32(low & -low);
}

function sizeOf(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function bitsOf(value: bigint): number {
  const hex = sizeOf(value).toString(16);
  return hex.length * 4 - Math.clz32(Number.parseInt(hex[0] ?? "0", 16)) + 28;
}

/** Decimal digits d1 d2 d3 … of the number 0.d1d2d3… × 10^point. No trailing zeros. Empty for zero. */
interface Digits {
  readonly digits: string;
  readonly point: number;
}

/** Formats a number as Terraform does: no exponent, no trailing zeros. */
export function formatNumber(value: BigFloat): string {
  return agreed(value, (one) => {
    const shown = shortest(one);
    return (isNegative(one) ? "-" : "") + pointed(shown, Math.max(shown.digits.length - shown.point, 0));
  });
}

/**
 * Formats the absolute value in a number format of Go.
 * @param precision Digits after the point; for `g`: significant digits. Default: 6; for `g`: as many as needed.
 */
export function sizeText(value: BigFloat, form: "e" | "f" | "g", precision?: number): string {
  return agreed(value, (one) => {
    if (form === "g") return general(one, precision);
    const count = precision ?? 6;
    const exact = exactly(one);
    return form === "f"
      ? pointed(roundedTo(exact, exact.point + count), count)
      : scientific(roundedTo(exact, count + 1), count + 1);
  });
}

/** Formats the number like Go's `%g`. */
export function generalText(value: BigFloat, precision?: number): string {
  return (isNegative(value) ? "-" : "") + sizeText(value, "g", precision);
}

function general(value: BigFloat, precision: number | undefined): string {
  const count = precision === 0 ? 1 : precision;
  const kept = count === undefined ? shortest(value) : roundedTo(exactly(value), count);
  const length = kept.digits.length;
  const limit = count === undefined ? 6 : count > length && length >= kept.point ? length : count;
  const power = kept.point - 1;
  return length > 0 && (power < -4 || power >= limit)
    ? scientific(kept, Math.max(Math.min(count ?? length, length), 1))
    : pointed(kept, Math.max(length - kept.point, 0));
}

function pointed({ digits, point }: Digits, decimals: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, "0") : "0";
  if (decimals === 0) return whole;
  const fraction = point > 0 ? digits.slice(point) : "0".repeat(-point) + digits;
  return `${whole}.${fraction.slice(0, decimals).padEnd(decimals, "0")}`;
}

function scientific({ digits, point }: Digits, significant: number): string {
  const shown = digits.padEnd(significant, "0").slice(0, significant);
  const power = digits === "" ? 0 : point - 1;
  const fraction = shown.length > 1 ? `.${shown.slice(1)}` : "";
  return `${shown[0] ?? "0"}${fraction}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Returns all decimal digits of the absolute value. Every binary number has finitely many. */
function exactly({ mantissa, exponent }: BigFloat): Digits {
  const size = sizeOf(mantissa);
  return digitsOf(exponent < 0 ? size * 5n ** BigInt(-exponent) : size << BigInt(exponent), Math.min(exponent, 0));
}

/** Returns the digits of value × 10^power. */
function digitsOf(value: bigint, power: number): Digits {
  if (value === 0n) return { digits: "", point: 0 };
  const digits = value.toString();
  return { digits: digits.replace(/0+$/, ""), point: digits.length + power };
}

/** Rounds to a number of digits, with ties to even. */
function roundedTo(exact: Digits, kept: number): Digits {
  const { digits, point } = exact;
  if (kept >= digits.length || digits === "") return exact;
  if (kept < 0) return { digits: "", point: 0 };
  const head = digits.slice(0, kept);
  const rest = digits.slice(kept);
  const up = rest === "5" ? Number(head.at(-1) ?? "0") % 2 === 1 : rest >= "5";
  return digitsOf(BigInt(head) + (up ? 1n : 0n), point - kept);
}

/**
 * Returns the fewest digits that identify the number at its precision. If several candidates have as few, returns the
 * nearest.
 */
function shortest(value: BigFloat): Digits {
  const { mantissa, exponent, bits } = value;
  const size = sizeOf(mantissa);
  if (size === 0n || (exponent >= 0 && bitsOf(size) + exponent <= bits)) return exactly(value);
  // Half the distance to the next number is one more bit.
  const shift = bits + 1 - bitsOf(size);
  const scale = exponent - shift;
  const unit = scale >= 0 ? 1n << BigInt(scale) : 5n ** BigInt(-scale);
  const exact = (size << BigInt(shift)) * unit;
  // A tie rounds to the even number, so it also identifies that number.
  const even = ((size << BigInt(shift)) & 2n) === 0n;
  const means = (candidate: bigint) => {
    const distance = sizeOf(exact - candidate);
    return distance < unit || (even && distance === unit);
  };
  const length = exact.toString().length;
  const cut = (digits: number) => nearestMultiple(exact, 10n ** BigInt(length - digits), means);
  let kept = 1;
  while (kept < length && cut(kept) === undefined) kept += 1;
  return digitsOf(cut(kept) ?? exact, Math.min(scale, 0));
}

/**
 * Returns the multiple of `step` that is nearest to the number (ties to even) and identifies it. Undefined if there is none.
 */
function nearestMultiple(exact: bigint, step: bigint, means: (candidate: bigint) => boolean): bigint | undefined {
  const below = exact / step;
  const [down, up] = [below * step, (below + 1n) * step];
  const nearer =
    exact - down < up - exact || (exact - down === up - exact && below % 2n === 0n) ? [down, up] : [up, down];
  return nearer.find(means);
}
