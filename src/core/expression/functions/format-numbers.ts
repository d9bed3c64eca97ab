import type { Decimal } from "../number.ts";
import { Refusal } from "../refusal.ts";
import { exactBinary } from "../rounding.ts";

/** A verb of a format: `%-08.3[2]f`. */
export interface Verb {
  readonly raw: string;
  readonly at: number;
  readonly flags: string;
  readonly width: number | undefined;
  readonly precision: number | undefined;
  readonly mode: string;
}

/** `%d`, `%x` and so on, as Go writes its big integers. */
export function formattedInteger(verb: Verb, value: bigint): string {
  checkFlags(verb);
  const { mode, precision, width = 0 } = verb;
  const radix = mode === "b" ? 2 : mode === "o" ? 8 : mode === "d" ? 10 : 16;
  const digits = (value < 0n ? -value : value).toString(radix);
  const shown = mode === "X" ? digits.toUpperCase() : digits;
  if (precision === 0 && value === 0n) return "";
  const sign = signOf(verb, value < 0n);
  const least = shown.padStart(precision ?? 0, "0");
  return laidOut(
    { ...verb, width, flags: precision === undefined ? verb.flags : verb.flags.replaceAll("0", "") },
    sign,
    least,
  );
}

/** `%e`, `%f`, `%g`, as Go writes its big floating point numbers. */
export function formattedFloat(verb: Verb, value: Decimal): string {
  checkFlags(verb);
  const { mode, precision } = verb;
  const negative = value.digits < 0n || value.negativeZero === true;
  const size = digitsOf(value);
  const body =
    mode === "f"
      ? plain(rounded(size, value, { decimals: precision ?? 6 }), precision ?? 6)
      : mode === "e" || mode === "E"
        ? scientific(rounded(size, value, { significant: (precision ?? 6) + 1 }), (precision ?? 6) + 1)
        : general(size, value, precision);
  return laidOut(verb, signOf(verb, negative), mode === "E" || mode === "G" ? body.toUpperCase() : body);
}

/** `%v` of a number: the shortest form, with an exponent from a million on. */
export function generalNumber(value: Decimal): string {
  const sign = value.digits < 0n || value.negativeZero === true ? "-" : "";
  return sign + general(digitsOf(value), value, undefined);
}

/** Digits d1 d2 d3 …, meaning 0.d1d2d3… × 10^point; no digits for zero. */
interface Digits {
  readonly digits: string;
  readonly point: number;
}

function digitsOf({ digits, exponent }: Decimal): Digits {
  const text = digits === 0n ? "" : (digits < 0n ? -digits : digits).toString();
  return { digits: text, point: text.length + (text === "" ? 0 : exponent) };
}

function general(size: Digits, value: Decimal, precision: number | undefined): string {
  const count = precision === 0 ? 1 : precision;
  const kept = count === undefined ? size : trimmed(rounded(size, value, { significant: count }));
  const length = kept.digits.length;
  const limit = count === undefined ? 6 : count > length && length >= kept.point ? length : count;
  const power = kept.point - 1;
  if (length > 0 && (power < -4 || power >= limit))
    return scientific(kept, Math.max(Math.min(count ?? length, length), 1));
  return plain(kept, Math.max(length - kept.point, 0));
}

function plain({ digits, point }: Digits, decimals: number): string {
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
 * Rounded to a number of digits. Terraform rounds the binary number that it has for the decimal one: a decimal that lies in the
 * middle goes to where its binary number lies, and to the even digit when that is exact.
 */
function rounded(
  size: Digits,
  value: Decimal,
  to: { readonly decimals: number } | { readonly significant: number },
): Digits {
  const { digits, point } = size;
  const kept = "decimals" in to ? point + to.decimals : to.significant;
  if (kept >= digits.length || digits === "") return size;
  if (kept < 0) return { digits: "", point: 0 };
  const head = digits.slice(0, kept);
  const rest = digits.slice(kept);
  const middle = /^50*$/.test(rest);
  const odd = Number(head.at(-1) ?? "0") % 2 === 1;
  const lean = middle ? binaryLean(value) : 0;
  const up = middle ? lean > 0 || (lean === 0 && odd) : rest >= "5";
  if (!up) return trimmed({ digits: head, point });
  const raised = (BigInt(head === "" ? "0" : head) + 1n).toString();
  const carried = raised.length - head.length;
  return trimmed({ digits: raised, point: point + carried });
}

/** Whether the binary number is farther from zero than the decimal one (1), nearer (-1) or the same (0). */
function binaryLean({ digits, exponent }: Decimal): number {
  if (exponent >= 0) return 0;
  const size = digits < 0n ? -digits : digits;
  const binary = exactBinary({ digits: size, exponent });
  const scale = 10n ** BigInt(-exponent);
  const left = binary.exponent >= 0 ? (binary.mantissa << BigInt(binary.exponent)) * scale : binary.mantissa * scale;
  const right = binary.exponent >= 0 ? size : size << BigInt(-binary.exponent);
  return left > right ? 1 : left < right ? -1 : 0;
}

function checkFlags({ flags, raw }: Verb): void {
  if (flags.includes("#") || (flags.includes("-") && flags.includes("0")))
    throw new Refusal(`the format ${JSON.stringify(raw)} of a number is not supported`, 0);
}

function signOf({ flags }: Verb, negative: boolean): string {
  if (negative) return "-";
  return flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
}

function laidOut({ flags, width = 0 }: Verb, sign: string, body: string): string {
  if (flags.includes("0")) return sign + body.padStart(width - sign.length, "0");
  return flags.includes("-") ? (sign + body).padEnd(width) : (sign + body).padStart(width);
}
