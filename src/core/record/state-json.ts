// The JSON of a state file. The parser keeps every digit and checks the format. The printer writes the same bytes as Terraform.
import * as z from "zod";
import { raise } from "../messages/index.ts";
import {
  ExactNumber,
  exactNumber,
  formatPath,
  isObject,
  isRawJSON,
  type Json,
  parseNumbers,
  rawJSON,
} from "../model/index.ts";

/** Newest supported state format, used by Terraform since 0.12. */
export const FORMAT_VERSION = 4;

const count = z.number().int().min(0);
const step = z.looseObject({ type: z.string(), value: z.unknown() });

const instance = z.looseObject({
  index_key: z.union([z.string(), count]).optional(),
  status: z.string().optional(),
  deposed: z.string().optional(),
  schema_version: count,
  attributes: z.record(z.string(), z.unknown()).nullish(),
  sensitive_attributes: z.array(z.array(step)).nullish(),
  private: z.string().nullish(),
  dependencies: z.array(z.string()).nullish(),
});

const resource = z.looseObject({
  module: z.string().optional(),
  mode: z.string(),
  type: z.string(),
  name: z.string(),
  provider: z.string(),
  instances: z.array(instance),
});

const file = z.looseObject({
  version: z.literal(FORMAT_VERSION),
  terraform_version: z.string().optional(),
  serial: count,
  lineage: z.string().min(1, "must not be empty"),
  resources: z.array(resource).nullish(),
});

/** A state file of format 4 as on disk, with all unknown fields. */
export type StateFileJson = z.infer<typeof file>;
export type ResourceJson = z.infer<typeof resource>;
export type InstanceJson = z.infer<typeof instance>;

/**
 * Parses the text of a state file and checks its format.
 * @param source source of the text for messages: a path, "standard input".
 * @throws HostformError `state.unreadable` (empty, not JSON, malformed), `state.newer`, `state.foreign`.
 */
export function parseStateFile(text: string, source: string): StateFileJson {
  const json = parseText(text.replace(/^\uFEFF/, ""), source);
  checkVersion(json, source);
  const checked = file.safeParse(json);
  if (!checked.success) {
    const issues = checked.error.issues
      .slice(0, 5)
      .map(({ path, message }) => `${formatPath(path as (string | number)[])}: ${message}`)
      .join("\n");
    raise("state.unreadable/malformed", { source, issues });
  }
  // Returns the parsed value instead of zod's copy: the copy would lose a key such as "__proto__".
  return json as StateFileJson;
}

function parseText(text: string, source: string): unknown {
  if (text.trim() === "") raise("state.unreadable/empty", { source });
  try {
    return parseJson(text);
  } catch (error) {
    if (/^(<{7}|>{7}) /m.test(text)) raise("state.unreadable/merged", { source });
    return raise("state.unreadable/json", { source, place: placeOf(error) });
  }
}

/** Returns the line and column of a parser error. The parser's own message quotes the text, and the text may contain secrets. */
function placeOf(error: unknown): string | undefined {
  const place = /\(line (\d+) column (\d+)\)/.exec(error instanceof Error ? error.message : "");
  return place === null ? undefined : `line ${place[1]}, column ${place[2]}`;
}

function checkVersion(json: unknown, source: string): void {
  const { version, hostform_encryption: sealed, encrypted_data: encrypted } = isObject(json) ? json : {};
  if (version === FORMAT_VERSION) return;
  const isNumber = typeof version === "number";
  if (isNumber && version > FORMAT_VERSION) {
    raise("state.newer", { source: `state in ${source}`, format: version, newest: FORMAT_VERSION });
  }
  if (sealed !== undefined || encrypted !== undefined) raise("state.key/sealed", { source: `state in ${source}` });
  raise("state.foreign", { source, format: isNumber ? version : undefined });
}

/** Numbers that JavaScript may print differently: with a fraction, an exponent, at least 16 digits, or `-0`. */
const REFORMATTED = /(?:"\s*:|[[,])\s*-?(?:0(?<=-0)|\d{16}|\d+[.eE])/;

/**
 * Parses JSON without loss of digits, for {@link printJson}. Resources of other providers may contain integers above 2^53, and hostform
 * must not change these numbers.
 * @throws SyntaxError as JSON.parse.
 */
export function parseJson(text: string): unknown {
  return REFORMATTED.test(text) ? parseNumbers(text, rawJSON) : JSON.parse(text);
}

/** Prints the same bytes as Terraform: two spaces, a final newline, and `<`, `>`, `&`, U+2028, U+2029 escaped. */
export function printJson(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(value, null, 2).replace(/[<>&\u2028\u2029]/g, escaped)}\n`;
}

const PLAIN_PROPERTY = { configurable: true, enumerable: true, writable: true };

/**
 * Returns a value as after a write and a read: sorted keys at every depth, numbers with all digits, no undefined items.
 */
export function canonical(value: unknown): Json {
  if (isRawJSON(value)) return exactNumber(value.rawJSON) as unknown as Json;
  if (value instanceof ExactNumber) return value as unknown as Json;
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value as Json;
  const keys = Object.keys(value).sort(order);
  const sorted: Record<string, Json> = {};
  for (const key of keys) {
    const item = canonical((value as Record<string, unknown>)[key]);
    if (item === undefined) continue;
    if (key === "__proto__") Object.defineProperty(sorted, key, { value: item, ...PLAIN_PROPERTY });
    else sorted[key] = item;
  }
  return sorted;
}

/** Converts numbers to Terraform's notation: all digits, no exponent. */
export function plainNumbers(value: Json): unknown {
  if (typeof value === "number") {
    const text = String(value);
    return /e/.test(text) ? rawJSON(digits(text)) : value;
  }
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainNumbers(item as Json)]));
}

/** Converts a number with an exponent, such as `1.5e+21`, to plain digits. */
function digits(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  const all = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${all}`;
  return `${sign}${all.padEnd(point, "0").slice(0, point)}${all.length > point ? `.${all.slice(point)}` : ""}`;
}

/** Compares strings by code units: unlike `localeCompare`, equal on every machine. */
export function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
