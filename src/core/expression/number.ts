import { ExpressionError } from "../model/index.ts";
import { Refusal } from "./refusal.ts";

// Terraform's numbers: 512 binary digits, shown as the shortest decimal; arithmetic and formatting.

/**
 * A number of Terraform's language. Terraform computes with binary numbers of 512 bits and shows the shortest decimal that
 * identifies each; this is that decimal, so that both correspond one to one.
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

/** Terraform's notation of numbers, without `Inf` and binary exponents (`1p3`). */
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** Other texts that Terraform accepts as numbers. */
const ODD = /^[+-]?(?:inf|(?:\d+\.?\d*|\.\d+)p[+-]?\d+)$/i;
/** Terraform allows more, with as many digits in memory. */
const MOST_EXPONENT = 5000;

/** Parses a number, rounded as in Terraform; undefined when it is none. @throws Refusal for infinity and the like. */
export function parseNumber(text: string): Decimal | undefined {
  const match = NUMBER.exec(text);
  const [, sign, whole = "", fraction = "", exponent = "0"] = match ?? [];
  if (match === null || whole + fraction === "") {
    if (ODD.test(text)) throw new Refusal(`the number ${text} is not supported`);
    return undefined;
  }
  if (exponent.length > 6 || Math.abs(Number(exponent)) + text.length > MOST_EXPONENT)
    throw new Refusal("numbers of this size are not supported");
  const value = rounded(BigInt(whole + fraction), Number(exponent) - fraction.length);
  return sign === "-" ? negate(value) : value;
}

/** Returns Terraform's notation: no exponent, no trailing zeros. */
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
  if (!Number.isFinite(value)) throw new ExpressionError(`${value} is not a number`);
  return Object.is(value, -0) ? NEGATIVE_ZERO : (parseNumber(String(value)) ?? ZERO);
}

/** The JavaScript number, if it is exactly this decimal. */
export function toNumber(value: Decimal): number | undefined {
  const number = Number(`${value.digits}e${value.exponent}`);
  if (!Number.isFinite(number)) return undefined;
  return compare(decimalOf(number), value) === 0 ? number : undefined;
}

/** The whole number as a JavaScript number; undefined when it is not whole or not safe. */
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
  if (b.digits === 0n) throw new Refusal("division by zero");
  if (a.digits === 0n) return signed(ZERO, isNegative(a) !== isNegative(b));
  return of(shortestDecimal(quotient(a, b)));
}

/** Returns true if the quotient is a finite decimal, which does not depend on the precision. */
export function dividesEvenly(a: Decimal, b: Decimal): boolean {
  let rest = b.digits < 0n ? -b.digits : b.digits;
  rest /= gcd(rest, a.digits < 0n ? -a.digits : a.digits) || 1n;
  for (const prime of [2n, 5n]) while (rest !== 0n && rest % prime === 0n) rest /= prime;
  return rest === 1n;
}

/** Returns the rest of `a` after the whole part of a / b; `a` itself for a divisor of zero, as in Terraform. */
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

export function isNegative(a: Decimal): boolean {
  return a.digits < 0n || a.negativeZero === true;
}

function signed(value: Decimal, negative: boolean): Decimal {
  return negative ? negate(value) : value;
}

/** Up to 153 digits are the shortest decimal of a binary number already; more are rounded to one. */
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

/** A binary number of at most 512 bits: mantissa × 2^exponent. */
interface Binary {
  readonly mantissa: bigint;
  readonly exponent: number;
}

/** Terraform's precision. */
const BITS = 512;
/** Decimals with so many digits survive 512 bits unchanged. */
const DIGITS = 153;

/** The binary number nearest to numerator / denominator × 2^exponent; of two, the even one. The denominator is positive. */
function nearestBinary(numerator: bigint, denominator: bigint, exponent: number): Binary {
  if (numerator === 0n) return { mantissa: 0n, exponent: 0 };
  const negative = numerator < 0n;
  let n = negative ? -numerator : numerator;
  let d = denominator;
  if (d === 1n && bits(n) <= BITS) return { mantissa: numerator, exponent };
  // One or two bits more than are kept; they and the rest decide the rounding.
  const shift = BITS + 2 - (bits(n) - bits(d));
  if (shift > 0) n <<= BigInt(shift);
  else d <<= BigInt(-shift);
  let quotient = n / d;
  const sticky = n % d !== 0n;
  const surplus = BigInt(bits(quotient) - BITS);
  const half = 1n << (surplus - 1n);
  const rest = quotient & ((1n << surplus) - 1n);
  quotient >>= surplus;
  if (rest > half || (rest === half && (sticky || (quotient & 1n) === 1n))) quotient += 1n;
  return { mantissa: negative ? -quotient : quotient, exponent: exponent - shift + Number(surplus) };
}

/** The binary number that a decimal means. */
function exactBinary({ digits, exponent }: Decimal): Binary {
  return exponent >= 0
    ? nearestBinary(digits * 5n ** BigInt(exponent), 1n, exponent)
    : nearestBinary(digits, 5n ** BigInt(-exponent), exponent);
}

/** The whole part. */
function truncate({ mantissa, exponent }: Binary): bigint {
  if (exponent >= 0) return mantissa << BigInt(exponent);
  const whole = (mantissa < 0n ? -mantissa : mantissa) >> BigInt(-exponent);
  return mantissa < 0n ? -whole : whole;
}

/** The decimal with the fewest digits that is nearer to this number than to any other of 512 bits; of several, the nearest. */
function shortestDecimal({ mantissa, exponent }: Binary): Decimal {
  if (mantissa === 0n) return { digits: 0n, exponent: 0 };
  const size = mantissa < 0n ? -mantissa : mantissa;
  // One more bit: half the distance to the next number.
  const shift = BITS + 1 - bits(size);
  const scale = exponent - shift;
  const unit = scale >= 0 ? 1n << BigInt(scale) : 5n ** BigInt(-scale);
  const exact = (size << BigInt(shift)) * unit;
  // Exactly in the middle, the even number is meant.
  const even = ((size << BigInt(shift)) & 2n) === 0n;
  const means = (candidate: bigint) => {
    const distance = candidate < exact ? exact - candidate : candidate - exact;
    return distance < unit || (even && distance === unit);
  };
  const length = exact.toString().length;
  const cut = (digits: number) => nearestMultiple(exact, 10n ** BigInt(length - digits), means);
  // If fewer digits identify the number, more do, too.
  let [few, enough] = [0, length];
  while (enough - few > 1) {
    const middle = (few + enough) >> 1;
    if (cut(middle) === undefined) few = middle;
    else enough = middle;
  }
  const found = (cut(enough) ?? exact) * (mantissa < 0n ? -1n : 1n);
  return { digits: found, exponent: Math.min(scale, 0) };
}

/** The multiple of the step nearest to the exact number (of two, the even one) that identifies it. */
function nearestMultiple(exact: bigint, step: bigint, means: (candidate: bigint) => boolean): bigint | undefined {
  const below = exact / step;
  const [down, up] = [below * step, (below + 1n) * step];
  const nearer =
    exact - down < up - exact || (exact - down === up - exact && below % 2n === 0n) ? [down, up] : [up, down];
  return nearer.find(means);
}

function bits(value: bigint): number {
  return value.toString(16).length * 4 - Math.clz32(Number.parseInt(value.toString(16)[0] ?? "0", 16)) + 28;
}

/** Digits d1 d2 d3 …, meaning 0.d1d2d3… × 10^point; no digits for zero. */
interface Digits {
  readonly digits: string;
  readonly point: number;
}

/**
 * The absolute value in Go's number formats.
 * @param precision digits after the point, for `g` all digits. Default: six, for `g` as many as it has.
 */
export function sizeText(value: Decimal, form: "e" | "f" | "g", precision?: number): string {
  const digits = value.digits === 0n ? "" : (value.digits < 0n ? -value.digits : value.digits).toString();
  const size = { digits, point: digits.length + (digits === "" ? 0 : value.exponent) };
  if (form === "g") return general(size, value, precision);
  const count = precision ?? 6;
  return form === "f"
    ? pointed(roundedTo(size, value, size.point + count), count)
    : scientific(roundedTo(size, value, count + 1), count + 1);
}

/** The number in Go's `%g`. */
export function generalText(value: Decimal, precision?: number): string {
  return (isNegative(value) ? "-" : "") + sizeText(value, "g", precision);
}

function general(size: Digits, value: Decimal, precision: number | undefined): string {
  const count = precision === 0 ? 1 : precision;
  const kept = count === undefined ? size : trimmed(roundedTo(size, value, count));
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

function trimmed({ digits, point }: Digits): Digits {
  const kept = digits.replace(/0+$/, "");
  return { digits: kept, point: kept === "" ? 0 : point };
}

/**
 * Rounds to a number of digits. Terraform rounds the binary number: a decimal exactly in the middle is rounded towards its binary
 * number, or to the even digit when that is exact.
 */
function roundedTo(size: Digits, value: Decimal, kept: number): Digits {
  const { digits, point } = size;
  if (kept >= digits.length || digits === "") return size;
  if (kept < 0) return { digits: "", point: 0 };

  const head = digits.slice(0, kept);
  const rest = digits.slice(kept);
  const lean = /^50*$/.test(rest) ? binaryLean(value) : undefined;
  const odd = Number(head.at(-1) ?? "0") % 2 === 1;
  const up = lean === undefined ? rest >= "5" : lean > 0 || (lean === 0 && odd);
  if (!up) return trimmed({ digits: head, point });

  const raised = (BigInt(head) + 1n).toString();
  return trimmed({ digits: raised, point: point + raised.length - head.length });
}

/** Returns 1 if the binary number is farther from zero than the decimal one, -1 if nearer, 0 if equal. */
function binaryLean({ digits, exponent }: Decimal): number {
  if (exponent >= 0) return 0;
  const size = digits < 0n ? -digits : digits;
  const binary = exactBinary({ digits: size, exponent });
  const scale = 10n ** BigInt(-exponent);
  const left = binary.exponent >= 0 ? (binary.mantissa << BigInt(binary.exponent)) * scale : binary.mantissa * scale;
  const right = binary.exponent >= 0 ? size : size << BigInt(-binary.exponent);
  return left > right ? 1 : left < right ? -1 : 0;
}
