/** Trees of msgpack or JSON to the values of a schema, and back. */
import {
  type AttributePath,
  fail,
  formatPath,
  hasUnknown,
  isObject,
  UNKNOWN,
  type Value,
} from "../../../core/model/index.ts";
import { type Attribute, type Attributes, isNested, type SchemaType } from "../../../core/model/schema.ts";
import { numberOf, wireNumber } from "./notation.ts";

/** A value does not fit the schema. Each caller words it itself, and never repeats the value, which may be secret. */
export class Mismatch extends Error {
  readonly path: AttributePath;
  readonly expected: string;
  readonly found: string;

  constructor(path: AttributePath, expected: string, found: string) {
    super(`expected ${expected}, found ${found}`);
    this.path = path;
    this.expected = expected;
    this.found = found;
  }
}

/**
 * A tree of msgpack or JSON as the values of a schema: with every attribute (null where the tree has none), without what the
 * schema does not have, and with sets in a canonical order, so that two equal ones are the same.
 * @param raw an object, or UNKNOWN: then each attribute is.
 * @throws Mismatch
 */
export function readObject(raw: unknown, attributes: Attributes, path: AttributePath = []): Record<string, Value> {
  if (raw !== UNKNOWN && !isObject(raw)) throw new Mismatch(path, "an object", formOf(raw));
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => {
      const part = raw === UNKNOWN ? UNKNOWN : Object.hasOwn(raw, name) ? raw[name] : null;
      return [name, readAttribute(part, attribute, [...path, name])];
    }),
  );
}

function readAttribute(raw: unknown, { type }: Attribute, path: AttributePath): Value {
  if (!isNested(type)) return readValue(raw, type, path);
  if (raw === null || raw === UNKNOWN) return raw;
  if (type.nesting === "single") return readObject(raw, type.attributes, path);
  if (!Array.isArray(raw)) throw new Mismatch(path, "a list", formOf(raw));
  return raw.map((item, i) =>
    item === null || item === UNKNOWN ? item : readObject(item, type.attributes, [...path, i]),
  );
}

/** One value of a type. Converts texts, numbers and booleans as Terraform does. @throws Mismatch */
export function readValue(raw: unknown, type: SchemaType, path: AttributePath = []): Value {
  if (raw === null || raw === UNKNOWN) return raw;
  if (type === "string") return readText(raw, path);
  if (type === "number") return readNumber(raw, path);
  if (type === "bool") return readBoolean(raw, path);
  if ("map" in type) {
    if (!isObject(raw)) throw new Mismatch(path, "a map", formOf(raw));
    return Object.fromEntries(
      Object.entries(raw).map(([key, item]) => [key, readValue(item, type.map, [...path, key])]),
    );
  }
  if (!Array.isArray(raw)) throw new Mismatch(path, "list" in type ? "a list" : "a set", formOf(raw));
  const element = "list" in type ? type.list : type.set;
  const items = raw.map((item, i) => readValue(item, element, [...path, i]));
  return "list" in type ? items : ordered(items);
}

function readText(raw: unknown, path: AttributePath): string {
  if (typeof raw === "string") return raw;
  if (typeof raw === "number" || typeof raw === "bigint" || typeof raw === "boolean") return String(raw);
  throw new Mismatch(path, "a text", formOf(raw));
}

function readNumber(raw: unknown, path: AttributePath): number {
  if (typeof raw !== "number" && typeof raw !== "bigint" && typeof raw !== "string") {
    throw new Mismatch(path, "a number", formOf(raw));
  }
  const value = numberOf(raw);
  if (value !== undefined) return value;
  throw new Mismatch(path, "a number of at most 15 digits", Number.isNaN(Number(raw)) ? formOf(raw) : "a longer one");
}

function readBoolean(raw: unknown, path: AttributePath): boolean {
  if (raw === true || raw === "true") return true;
  if (raw === false || raw === "false") return false;
  throw new Mismatch(path, "true or false", formOf(raw));
}

/** Each known element once, in the order of their JSON; then the unknown ones, of which any two may differ. */
function ordered(items: readonly Value[]): readonly Value[] {
  const known = new Map<string, Value>();
  for (const item of items) if (!hasUnknown(item)) known.set(JSON.stringify(item), item);
  const sorted = [...known].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, item]): Value => item).concat(items.filter(hasUnknown));
}

function formOf(raw: unknown): string {
  if (raw === null) return "null";
  if (Array.isArray(raw)) return "a list";
  const forms: Readonly<Record<string, string>> = {
    string: "a text",
    number: "a number",
    bigint: "a number",
    boolean: "a boolean",
  };
  return forms[typeof raw] ?? "an object";
}

/**
 * The tree to pack for an object of a schema: with every attribute, null where the object has none. A value that does not fit the
 * schema is a defect of the provider.
 * @throws HostformError `internal`.
 */
export function writeObject(value: Value, attributes: Attributes, path: AttributePath = []): Record<string, unknown> {
  if (!isObject(value)) return unfit(path, "an object");
  const stray = Object.keys(value).find((name) => !Object.hasOwn(attributes, name));
  if (stray !== undefined) return unfit([...path, stray], "an attribute of the schema");
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => {
      const part = Object.hasOwn(value, name) ? (value[name] as Value | undefined) : undefined;
      return [name, writeAttribute(part ?? null, attribute, [...path, name])];
    }),
  );
}

function writeAttribute(value: Value, { type }: Attribute, path: AttributePath): unknown {
  if (!isNested(type)) return writeValue(value, type, path);
  if (value === null || value === UNKNOWN) return value;
  if (type.nesting === "single") return writeObject(value, type.attributes, path);
  if (!Array.isArray(value)) return unfit(path, "a list");
  return (value as readonly Value[]).map((item, i) =>
    item === null || item === UNKNOWN ? item : writeObject(item, type.attributes, [...path, i]),
  );
}

/** The tree to pack for one value of a type. @throws HostformError `internal`. */
export function writeValue(value: Value, type: SchemaType, path: AttributePath = []): unknown {
  if (value === null || value === UNKNOWN) return value;
  if (type === "string") {
    // A lone surrogate has no UTF-8: it becomes U+FFFD, as everywhere in Terraform.
    return typeof value === "string" ? value.toWellFormed() : unfit(path, "a text");
  }
  if (type === "number") {
    return typeof value === "number" && Number.isFinite(value) ? wireNumber(value) : unfit(path, "a finite number");
  }
  if (type === "bool") return typeof value === "boolean" ? value : unfit(path, "a boolean");
  if ("map" in type) {
    if (!isObject(value)) return unfit(path, "a map");
    const entries = Object.entries(value as Readonly<Record<string, Value>>);
    return Object.fromEntries(
      entries.map(([key, item]) => [key.toWellFormed(), writeValue(item, type.map, [...path, key])]),
    );
  }
  if (!Array.isArray(value)) return unfit(path, "a list");
  const element = "list" in type ? type.list : type.set;
  return (value as readonly Value[]).map((item, i) => writeValue(item, element, [...path, i]));
}

function unfit(path: AttributePath, expected: string): never {
  return fail("internal", `The provider made a value that does not fit its schema: ${formatPath(path)}`, {
    detail: `Expected ${expected}.`,
    remedies: ["Report it with the command and its output."],
  });
}
