import { create } from "@bufbuild/protobuf";
import { decode, ExtData, ExtensionCodec, encode } from "@msgpack/msgpack";
import {
  type AttributePath,
  canonicalDecimal,
  formatPath,
  hasUnknown,
  isObject,
  type JsonObject,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import { type Attribute, type Attributes, isNested, type SchemaType } from "../../../core/model/schema.ts";
import { problem, refuse } from "../messages.ts";
import { type DynamicValue, DynamicValueSchema } from "../wire/tfplugin6.gen.ts";

/**
 * Decodes a resource, a configuration or a state of Terraform: with every attribute of the schema (null without a value) and sets in a
 * canonical order. Every attribute of an unknown object is unknown.
 * @returns null without an object: a create has no prior state, and a destroy has no planned state.
 * @throws HostformError at the attribute: a number with too many digits, or a map with the key `__proto__`.
 */
export function decodeDynamic(value: DynamicValue | undefined, attributes: Attributes): ValueObject | null {
  if (value === undefined || value.msgpack.length === 0) return null;
  return reading(() => {
    const raw = unpack(value.msgpack);
    return raw === null ? null : readObject(raw, attributes);
  });
}

/**
 * The inverse of {@link decodeDynamic}. Absent or undefined attributes are sent as null.
 * @throws HostformError `internal` for values that do not fit the schema.
 */
export function encodeDynamic(value: ValueObject | null, attributes: Attributes): DynamicValue {
  return create(DynamicValueSchema, { msgpack: writing(() => value && object(value, attributes, [], WRITING)) });
}

/** Returns an object whose computed attributes are unknown where they are null: the result of a deferred call. */
export function withUnknown(value: DynamicValue | undefined, attributes: Attributes): DynamicValue | undefined {
  const given = decodeDynamic(value, attributes);
  if (given === null) return value;
  const open = Object.entries(given).filter(([name, part]) => part === null && attributes[name]?.computed);
  return encodeDynamic({ ...given, ...Object.fromEntries(open.map(([name]) => [name, UNKNOWN])) }, attributes);
}

/** Decodes one value of a type from msgpack: an argument of a function. @throws HostformError as {@link decodeDynamic}. */
export function decodeValue(bytes: Uint8Array, type: SchemaType): Value {
  return reading(() => walk(unpack(bytes), type, [], READING) as Value);
}

/** The inverse of {@link decodeValue}, for the result of a function. @throws HostformError `internal`. */
export function encodeValue(value: Value, type: SchemaType): Uint8Array {
  return writing(() => walk(value, type, [], WRITING));
}

function writing(tree: () => unknown): Uint8Array {
  try {
    return pack(tree());
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    return refuse(problem("internal/written", { place: formatPath(error.path), expected: error.expected }));
  }
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Mismatch) {
      const { path, expected, found } = error;
      const place = path.length === 0 ? "The value" : formatPath(path);
      refuse(problem("config.invalid_value/form", { place, expected, found, attribute: path }));
    }
    const words = error instanceof Error ? error.message : "";
    if (words.includes("__proto__")) refuse(problem("config.invalid_value/proto"));
    return refuse(problem("internal/unread", { words }));
  }
}

/**
 * Reads the attributes of an instance in a state file of Terraform or hostform, in the form of the schema: missing and write-only
 * attributes are null, and attributes outside of the schema are omitted.
 * @throws HostformError `state.unreadable`, at the attribute.
 */
export function fromStateJson(text: string, attributes: Attributes): JsonObject {
  try {
    return withoutWriteOnly(readObject(parseJson(text), attributes) as JsonObject, attributes);
  } catch (error) {
    if (error instanceof Mismatch) return unreadable(`expected ${error.expected}, found ${error.found}`, error.path);
    if (error instanceof SyntaxError) return unreadable("its attributes are not JSON", []);
    throw error;
  }
}

function withoutWriteOnly(values: JsonObject, attributes: Attributes): JsonObject {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [name, cleared(values[name] ?? null, attribute)]),
  );
}

function cleared(value: JsonObject[string], { type, writeOnly }: Attribute): JsonObject[string] {
  if (writeOnly || value === null) return null;
  if (!isNested(type)) return value;
  const { nesting, attributes } = type;
  if (nesting === "single") return withoutWriteOnly(value as JsonObject, attributes);
  return (value as readonly (JsonObject | null)[]).map((item) => item && withoutWriteOnly(item, attributes));
}

function unreadable(why: string, path: AttributePath): never {
  const [place, attribute] = path.length === 0 ? ["an object"] : [formatPath(path), path];
  return refuse(problem("state.unreadable/attribute", { place, why, attribute }));
}

/** Converts a tree of msgpack or JSON (an object, or UNKNOWN) to the values of a schema. @throws Mismatch */
const readObject = (raw: unknown, attributes: Attributes) =>
  object(raw, attributes, [], READING) as Record<string, Value>;

/** A value does not fit the schema. Each caller writes its own message, without the value, which may be secret. */
class Mismatch extends Error {
  readonly path: AttributePath;
  readonly expected: string;
  readonly found: string;

  constructor(path: AttributePath, expected: string, raw: unknown, found = formOf(raw)) {
    super(`expected ${expected}, found ${found}`);
    this.path = path;
    this.expected = expected;
    this.found = found;
  }
}

function formOf(raw: unknown): string {
  if (raw === null) return "null";
  if (Array.isArray(raw)) return "a list";
  const forms: Readonly<Record<string, string>> = {
    string: "a string",
    number: "a number",
    bigint: "a number",
    boolean: "a boolean",
  };
  return forms[typeof raw] ?? "an object";
}

/** Treatment of single values and sets, which differs between reading and writing. */
interface Direction {
  readonly string: (raw: unknown, path: AttributePath) => string;
  readonly number: (raw: unknown, path: AttributePath) => number | string;
  readonly bool: (raw: unknown, path: AttributePath) => boolean;
  readonly set: (items: readonly unknown[]) => readonly unknown[];
  /** Rejects attributes outside of the schema. False: drops them. */
  readonly isStrict: boolean;
}

/** Converts strings, numbers and booleans as Terraform does. Equal sets have equal results. */
const READING: Direction = {
  string(raw, path) {
    if (typeof raw === "string") return raw;
    if (typeof raw === "number" || typeof raw === "bigint" || typeof raw === "boolean") return String(raw);
    throw new Mismatch(path, "a string", raw);
  },
  number(raw, path) {
    if (typeof raw !== "number" && typeof raw !== "bigint" && typeof raw !== "string")
      throw new Mismatch(path, "a number", raw);
    const found = Number.isNaN(Number(raw)) ? undefined : "a longer one";
    const value = numberOf(raw);
    if (value === undefined) throw new Mismatch(path, "a number of at most 15 digits", raw, found);
    return value;
  },
  bool(raw, path) {
    if (raw === true || raw === "true") return true;
    if (raw === false || raw === "false") return false;
    throw new Mismatch(path, "true or false", raw);
  },
  /** Returns each known element once, in the order of its JSON, then all unknown elements, which may differ. */
  set(items) {
    const known = new Map<string, Value>();
    for (const item of items as readonly Value[]) if (!hasUnknown(item)) known.set(JSON.stringify(item), item);
    const sorted = [...known].sort(([a], [b]) => (a < b ? -1 : 1));
    return [...sorted.map(([, item]) => item), ...(items as readonly Value[]).filter(hasUnknown)];
  },
  isStrict: false,
};

/** Encodes values for Terraform. A value that does not fit the schema is a defect of the provider. */
const WRITING: Direction = {
  string(value, path) {
    // A lone surrogate has no UTF-8: it becomes U+FFFD, as everywhere in Terraform.
    if (typeof value === "string") return value.toWellFormed();
    throw new Mismatch(path, "a string", value);
  },
  number(value, path) {
    if (typeof value === "number" && Number.isFinite(value)) return wireNumber(value);
    throw new Mismatch(path, "a finite number", value);
  },
  bool(value, path) {
    if (typeof value === "boolean") return value;
    throw new Mismatch(path, "a boolean", value);
  },
  set: (items) => items,
  isStrict: true,
};

/** Completes an object with null for each missing attribute of the schema. Each attribute of UNKNOWN is unknown. @throws Mismatch */
function object(raw: unknown, attributes: Attributes, path: AttributePath, direction: Direction) {
  if (raw !== UNKNOWN && !isObject(raw)) throw new Mismatch(path, "an object", raw);
  const stray = direction.isStrict ? Object.keys(raw).find((name) => !Object.hasOwn(attributes, name)) : undefined;
  if (stray !== undefined) throw new Mismatch([...path, stray], "an attribute of the schema", undefined);
  return Object.fromEntries(
    Object.entries(attributes).map(([name, { type }]): [string, unknown] => {
      const part = raw === UNKNOWN ? UNKNOWN : Object.hasOwn(raw, name) ? raw[name] : null;
      return [name, part === undefined ? null : walk(part, type, [...path, name], direction)];
    }),
  );
}

function walk(raw: unknown, type: Attribute["type"], path: AttributePath, direction: Direction): unknown {
  if (raw === null || raw === UNKNOWN) return raw;
  if (typeof type === "string") return direction[type](raw, path);
  if (isNested(type) && type.nesting === "single") return object(raw, type.attributes, path, direction);
  if ("map" in type) {
    if (!isObject(raw)) throw new Mismatch(path, "a map", raw);
    const entries = Object.entries(raw).map(([key, item]) => {
      const place = [...path, key];
      return [direction.string(key, place), walk(item, type.map, place, direction)] as const;
    });
    return Object.fromEntries(entries);
  }
  if (!Array.isArray(raw)) throw new Mismatch(path, "set" in type ? "a set" : "a list", raw);
  const element = isNested(type) ? ({ ...type, nesting: "single" } as const) : "list" in type ? type.list : type.set;
  const items = raw.map((item, i) => walk(item, element, [...path, i], direction));
  return "set" in type ? direction.set(items) : items;
}

// The encodings on the wire: MessagePack, JSON, and numbers with all their digits.

/** Every extension is an unknown value: a newer Terraform may send bounds, which the provider does not use. */
class UnknownCodec extends ExtensionCodec {
  override tryToEncode(value: unknown): ExtData | null {
    return value === UNKNOWN ? new ExtData(0, new Uint8Array(1)) : null;
  }

  override decode(): unknown {
    return UNKNOWN;
  }
}

const extensionCodec = new UnknownCodec();

/**
 * Reads Terraform's MessagePack. 64-bit integers become bigint, unknown values `UNKNOWN`.
 * @throws Error if the bytes are not one whole value, or a map has the key `__proto__`.
 */
function unpack(bytes: Uint8Array): unknown {
  return decode(bytes, { extensionCodec, useBigInt64: true });
}

/** The inverse of {@link unpack}: `UNKNOWN` becomes `d4 00 00`. @param tree has no bigint and no undefined. */
function pack(tree: unknown): Uint8Array {
  return encode(tree, { extensionCodec });
}

/**
 * Parses JSON without loss of digits: an integer that is not exact as a double becomes a bigint, any other inexact number its text.
 * @throws SyntaxError
 */
function parseJson(text: string): unknown {
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

/** Type of the third parameter, which the standard types lack. */
function exact(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : context.source;
}

/**
 * Decodes a number of Terraform, a decimal of any length, to a double. Accepts a number only if JavaScript prints the same digits,
 * because a plan fails if a number changes.
 * @param raw from msgpack or JSON: 64-bit integers as bigint, numbers that are not exact as a double as text.
 * @returns undefined for text that is not a number, and for a number that a double cannot represent exactly.
 */
export function numberOf(raw: number | bigint | string): number | undefined {
  const value = Number(raw);
  if (Number.isSafeInteger(value) && typeof raw === "number") return value + 0; // no -0
  // A double has more digits than JavaScript writes. 100 digits prove whether it equals the written number.
  const given = canonicalDecimal(typeof raw === "number" ? raw.toPrecision(100) : String(raw));
  return given !== undefined && given === canonicalDecimal(String(value)) ? value + 0 : undefined;
}

/**
 * Encodes a number: integers unchanged, others as decimal text. Terraform reads a float as its binary value, and 9.99 in a
 * configuration is not the double 9.99.
 * @throws RangeError for a number that is not finite.
 */
export function wireNumber(value: number): number | string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a number in Terraform`);
  return Number.isSafeInteger(value) ? value : String(value);
}
