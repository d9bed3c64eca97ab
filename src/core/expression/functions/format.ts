import { CALLS } from "../../messages/expressions.ts";
import { convertOr } from "../conversion.ts";
import { type BigFloat, generalText, isNegative, sizeText, toBigInt } from "../number.ts";
import { Refusal } from "../refusal.ts";
import { elementsOf, isKnown, isWhollyKnown, list, type Type, type Typed, text, unknown } from "../typed-value.ts";
import { isSequence, shapeOf } from "../types.ts";
import { quotedJson, writtenJson } from "./conversions.ts";
import { CallError, type Definition, numberIn, take, textOf, texts } from "./definition.ts";
import { charactersOf } from "./strings.ts";

// `format` and `formatlist`, with the verbs of Go.

const parameters = [take("format")];
const rest = take("args", "any", "nullable", "unknown");

const format: Definition = {
  parameters,
  rest,
  result: "string",
  run(_, template, ...args) {
    return args.every(isWhollyKnown) ? text(formatted(textOf(template), args)) : unknown("string");
  },
};

/** Returns one string per element of the list arguments. Other arguments repeat. */
const formatlist: Definition = {
  parameters,
  rest,
  result: { list: "string" },
  run(_, template, ...args) {
    const written = textOf(template);
    const sequences = args.map((arg) => isSequence(arg.type) && arg.content !== null);
    const count = sizeOf(args, sequences);
    if (args.some((arg) => arg.type === "any" && !isKnown(arg)) || args.some((arg, i) => sequences[i] && !isKnown(arg)))
      return unknown({ list: "string" });
    // Unknown elements may be equal, so the size of the set is unknown.
    if (args.some((arg) => shapeOf(arg.type) === "set" && !isWhollyKnown(arg))) return unknown({ list: "string" });
    if (count === 0) return texts([]);
    const made = Array.from({ length: count ?? 1 }, (_, k) => {
      const row = args.map((arg, i) => (sequences[i] === true ? (elementsOf(arg)[k] ?? arg) : arg));
      return row.every(isWhollyKnown) ? text(formatted(written, row)) : unknown("string");
    });
    return list("string", made);
  },
};

/** Returns the common length of all list arguments. Undefined if none is known. */
function sizeOf(args: readonly Typed[], sequences: readonly boolean[]): number | undefined {
  const sizes = args.flatMap((arg, index) =>
    sequences[index] === true && isKnown(arg) ? [{ index, size: elementsOf(arg).length }] : [],
  );
  const [first] = sizes;
  const other = sizes.find(({ size }) => size !== first?.size);
  if (first !== undefined && other !== undefined) throw new CallError(CALLS.lengths, other.index + 1);
  return first?.size;
}

export const FORMAT: Readonly<Record<string, Definition>> = { format, formatlist };

const PART = /%(?:(%)|([0#\-+ ]*)([1-9]\d*)?(\.\d*)?(?:\[([1-9]\d*)\])?([A-Za-z]))/y;
const LARGEST = 10_000;

/** Replaces the verbs with the arguments, which are known. @throws CallError, Refusal */
function formatted(template: string, args: readonly Typed[]): string {
  let made = "";
  let next = 1;
  let highest = 0;
  for (let at = 0; at < template.length; ) {
    const until = template.indexOf("%", at);
    made += template.slice(at, until < 0 ? undefined : until);
    if (until < 0) break;
    PART.lastIndex = until;
    const match = PART.exec(template);
    if (match === null) {
      throw new CallError(CALLS.format_value(template.slice(until, until + 10), until, CALLS.format_verb));
    }
    at = PART.lastIndex;
    const [raw, percent, flags = "", width, precision, index, mode = ""] = match;
    if (percent !== undefined) {
      made += "%";
      continue;
    }
    const position = index === undefined ? next : Number(index);
    const verb = { raw, at: until, flags, mode, width: sized(width), precision: sized(precision?.slice(1)) };
    const arg = args[position - 1];
    if (arg === undefined) throw new CallError(CALLS.format_value(raw, until, CALLS.format_arguments(args.length)));
    made += written(verb, arg);
    highest = Math.max(highest, position);
    next = position + 1;
  }
  if (highest < args.length) throw new CallError(CALLS.format_too_many(highest), highest + 1);
  return made;
}

/** Parses a width or precision. A `.` without digits means precision 0. */
function sized(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  if (Number(digits) > LARGEST) throw new Refusal(CALLS.format_width(LARGEST));
  return Number(digits);
}

function written(verb: Verb, arg: Typed): string {
  const { mode, raw, at } = verb;
  if (mode !== "v" && arg.content === null) throw new CallError(CALLS.format_value(raw, at, CALLS.null_argument));
  if (mode === "v") return asIs(verb, arg);
  if (mode === "t") return String(as("bool", verb, arg).content);
  if (mode === "s" || mode === "q") return asText(verb, arg);
  if (/^[bdoxX]$/.test(mode)) {
    const whole = toBigInt(numberIn(as("number", verb, arg)));
    if (whole === undefined) throw new CallError(CALLS.format_value(raw, at, CALLS.integer_only));
    return formattedInteger(verb, whole);
  }
  if (/^[eEfgG]$/.test(mode)) return formattedFloat(verb, numberIn(as("number", verb, arg)));
  throw new CallError(CALLS.format_value(raw, at, CALLS.format_verb));
}

function as(type: Type, { raw, at }: Verb, arg: Typed): Typed {
  const failure = ({ message }: Error) => new CallError(CALLS.format_value(raw, at, message));
  return convertOr(arg, type, failure);
}

function asIs(verb: Verb, arg: Typed): string {
  if (!verb.flags.includes("#") && arg.content !== null) {
    if (arg.type === "string") return padded(verb, textOf(arg));
    if (arg.type === "number") return padded(verb, generalText(numberIn(arg)));
  }
  return padded(verb, writtenJson(arg));
}

/** Formats a string. The precision is the maximum number of characters. 0: unlimited. */
function asText(verb: Verb, arg: Typed): string {
  const content = textOf(as("string", verb, arg));
  const most = verb.precision ?? 0;
  const kept = most > 0 ? charactersOf(content).slice(0, most).join("") : content;
  return padded(verb, verb.mode === "q" ? quotedJson(kept) : kept);
}

function padded({ width = 0, flags }: Verb, content: string): string {
  const missing = width - charactersOf(content).length;
  if (missing <= 0) return content;
  const pad = (flags.includes("0") ? "0" : " ").repeat(missing);
  return flags.includes("-") ? content + pad : pad + content;
}

/** Verb of a format, for example `%-08.3[2]f`. */
interface Verb {
  readonly raw: string;
  readonly at: number;
  readonly flags: string;
  readonly width: number | undefined;
  readonly precision: number | undefined;
  readonly mode: string;
}

/** Formats `%d`, `%x` and similar verbs, as Go does for its big integers. */
function formattedInteger(verb: Verb, value: bigint): string {
  checkFlags(verb);
  const { mode, precision, flags } = verb;
  const radix = mode === "b" ? 2 : mode === "o" ? 8 : mode === "d" ? 10 : 16;
  const digits = (value < 0n ? -value : value).toString(radix);
  const shown = mode === "X" ? digits.toUpperCase() : digits;
  if (precision === 0 && value === 0n) return "";
  const least = shown.padStart(precision ?? 0, "0");
  const kept = precision === undefined ? flags : flags.replaceAll("0", "");
  return laidOut({ ...verb, flags: kept }, signOf(verb, value < 0n), least);
}

/** Formats `%e`, `%f` and `%g`, as Go does for its big floats. */
function formattedFloat(verb: Verb, value: BigFloat): string {
  checkFlags(verb);
  const { mode, precision } = verb;
  const body = sizeText(value, mode.toLowerCase() as "e" | "f" | "g", precision);
  return laidOut(verb, signOf(verb, isNegative(value)), mode === "E" || mode === "G" ? body.toUpperCase() : body);
}

function checkFlags({ flags, raw }: Verb): void {
  if (flags.includes("#") || (flags.includes("-") && flags.includes("0"))) throw new Refusal(CALLS.format_flags(raw));
}

function signOf({ flags }: Verb, negative: boolean): string {
  if (negative) return "-";
  return flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
}

function laidOut({ flags, width = 0 }: Verb, sign: string, body: string): string {
  if (flags.includes("0")) return sign + body.padStart(width - sign.length, "0");
  return flags.includes("-") ? (sign + body).padEnd(width) : (sign + body).padStart(width);
}
