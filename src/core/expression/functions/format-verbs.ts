import { ExpressionError } from "../../model/index.ts";
import { convert } from "../convert.ts";
import { Refusal } from "../refusal.ts";
import type { Type, Typed } from "../value.ts";
import { charactersOf } from "./characters.ts";
import { ArgumentError, CallError } from "./definition.ts";
import { formattedFloat, formattedInteger, generalNumber, type Verb } from "./format-numbers.ts";
import { decimalIn, wholeOf } from "./integers.ts";
import { quotedJson, writtenJson } from "./json-text.ts";
import { textOf } from "./parts.ts";

const PART = /%(?:(%)|([0#\-+ ]*)([1-9]\d*)?(\.\d*)?(?:\[([1-9]\d*)\])?([A-Za-z]))/y;
const LARGEST = 10_000;

/** The text with its verbs replaced by the arguments, which are known. @throws CallError, ArgumentError, Refusal */
export function formatted(template: string, args: readonly Typed[]): string {
  let made = "";
  let next = 1;
  let highest = 0;
  for (let at = 0; at < template.length; ) {
    const until = template.indexOf("%", at);
    made += template.slice(at, until < 0 ? undefined : until);
    if (until < 0) break;
    PART.lastIndex = until;
    const match = PART.exec(template);
    if (match === null) throw unreadable(template, until);
    at = PART.lastIndex;
    const [raw, percent, flags = "", width, precision, index, mode = ""] = match;
    if (percent !== undefined) {
      made += "%";
      continue;
    }
    const position = index === undefined ? next : Number(index);
    const verb = { raw, at: until, flags, mode, width: sized(width), precision: sized(precision?.slice(1)) };
    const arg = args[position - 1];
    if (arg === undefined)
      throw new CallError(
        `not enough arguments for ${JSON.stringify(raw)} at ${until}: need index ${position} but have ${args.length} total`,
      );
    made += written(verb, arg);
    highest = Math.max(highest, position);
    next = position + 1;
  }
  if (highest < args.length)
    throw new ArgumentError(
      highest + 1,
      highest === 0
        ? "too many arguments; no verbs in format string"
        : `too many arguments; only ${highest} used by format string`,
    );
  return made;
}

/** A `.` without digits is a precision of zero. */
function sized(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  if (Number(digits) > LARGEST)
    throw new Refusal(`format() with a width or precision above ${LARGEST} is not supported`, 0);
  return Number(digits);
}

function unreadable(template: string, at: number): CallError {
  return new CallError(`invalid format string: ${JSON.stringify(template.slice(at, at + 10))} at offset ${at}`);
}

function written(verb: Verb, arg: Typed): string {
  const { mode, raw, at } = verb;
  if (mode !== "v" && arg.content === null)
    throw new CallError(`unsupported value for ${JSON.stringify(raw)} at ${at}: null value cannot be formatted`);
  if (mode === "v") return asIs(verb, arg);
  if (mode === "t") return String(as("bool", verb, arg).content);
  if (mode === "s" || mode === "q") return asText(verb, arg);
  if (/^[bdoxX]$/.test(mode)) {
    const whole = wholeOf(decimalIn(as("number", verb, arg)));
    if (whole === undefined)
      throw new CallError(`unsupported value for ${JSON.stringify(raw)} at ${at}: an integer is required`);
    return formattedInteger(verb, whole);
  }
  if (/^[eEfgG]$/.test(mode)) return formattedFloat(verb, decimalIn(as("number", verb, arg)));
  throw new CallError(`unsupported format verb '${mode}' in ${JSON.stringify(raw)} at offset ${at}`);
}

function as(type: Type, { raw, at }: Verb, arg: Typed): Typed {
  try {
    return convert(arg, type);
  } catch (error) {
    if (!(error instanceof ExpressionError) || error instanceof Refusal) throw error;
    throw new CallError(`unsupported value for ${JSON.stringify(raw)} at ${at}: ${error.message}`);
  }
}

function asIs(verb: Verb, arg: Typed): string {
  if (!verb.flags.includes("#") && arg.content !== null) {
    if (arg.type === "string") return padded(verb, textOf(arg));
    if (arg.type === "number") return padded(verb, generalNumber(decimalIn(arg)));
  }
  return padded(verb, writtenJson(arg));
}

/** Of texts, the precision is the most characters, and none is no limit. */
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
