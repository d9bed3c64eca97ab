import { isObject, type Json } from "../model/index.ts";

/** A number kept as the text it was written in, because a JavaScript number would round or reformat it. */
interface RawJson {
  readonly rawJSON: string;
}

/** Standard since ES2026 and present in every Node that hostform runs on; the compiler's library lacks them still. */
const json = JSON as typeof JSON & {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
};

/**
 * Parses JSON so that {@link printJson} gives every number back digit by digit: other providers' resources may hold
 * integers beyond 2^53, and a state file that passes through hostform must not change them.
 * @throws SyntaxError as JSON.parse does.
 */
export function parseJson(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context: { source?: string }): unknown =>
    typeof value === "number" && context.source !== undefined && context.source !== String(value)
      ? json.rawJSON(context.source)
      : value;
  return JSON.parse(text, keepDigits as (this: unknown, key: string, value: unknown) => unknown);
}

/** Two spaces, a final newline, and `<`, `>`, `&`, U+2028, U+2029 escaped: byte for byte what Terraform writes. */
export function printJson(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(value, null, 2).replace(/[<>&\u2028\u2029]/g, escaped)}\n`;
}

/**
 * A plain value with sorted keys at every depth, numbers as JavaScript has them, nothing undefined: what a value will be
 * once it was written and read again.
 */
export function canonical(value: unknown): Json {
  if (json.isRawJSON(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value as Json;
  const present = Object.entries(value).filter(([, item]) => item !== undefined);
  const entries = present.map(([key, item]): [string, Json] => [key, canonical(item)]);
  return Object.fromEntries(entries.sort(([a], [b]) => order(a, b)));
}

/** The same value with numbers as Terraform writes them: all their digits, never an exponent. */
export function plainNumbers(value: Json): unknown {
  if (typeof value === "number") {
    const text = String(value);
    return /e/.test(text) ? json.rawJSON(digits(text)) : value;
  }
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainNumbers(item as Json)]));
}

/** `1.5e+21` with its digits moved to where they belong. */
function digits(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  const all = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${all}`;
  return `${sign}${all.padEnd(point, "0").slice(0, point)}${all.length > point ? `.${all.slice(point)}` : ""}`;
}

/** Sorting by code units: the same on every machine, unlike `localeCompare`. */
export function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
