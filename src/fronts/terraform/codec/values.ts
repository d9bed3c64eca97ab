/** Trees of msgpack or JSON to the values of a schema, and back. */
import { type AttributePath, hasUnknown, isObject, UNKNOWN, type Value } from "../../../core/model/index.ts";
import { type Attribute, type Attributes, isNested, type SchemaType } from "../../../core/model/schema.ts";
import { numberOf, wireNumber } from "./notation.ts";

/** A value does not fit the schema. Each caller words it itself, and never repeats the value, which may be secret. */
export class Mismatch extends Error {
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
    string: "a text",
    number: "a number",
    bigint: "a number",
    boolean: "a boolean",
  };
  return forms[typeof raw] ?? "an object";
}

/** What becomes of single values and of sets; reading and writing agree on the rest. */
interface Direction {
  readonly string: (raw: unknown, path: AttributePath) => string;
  readonly number: (raw: unknown, path: AttributePath) => number | string;
  readonly bool: (raw: unknown, path: AttributePath) => boolean;
  readonly set: (items: readonly unknown[]) => readonly unknown[];
  /** What the schema does not have is refused; else it is left out. */
  readonly isStrict: boolean;
}

/** Converts texts, numbers and booleans as Terraform does. Two equal sets are the same. */
const READING: Direction = {
  string(raw, path) {
    if (typeof raw === "string") return raw;
    if (typeof raw === "number" || typeof raw === "bigint" || typeof raw === "boolean") return String(raw);
    throw new Mismatch(path, "a text", raw);
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
  /** Each known element once, in the order of their JSON; then the unknown ones, of which any two may differ. */
  set(items) {
    const known = new Map<string, Value>();
    for (const item of items as readonly Value[]) if (!hasUnknown(item)) known.set(JSON.stringify(item), item);
    const sorted = [...known].sort(([a], [b]) => (a < b ? -1 : 1));
    return [...sorted.map(([, item]) => item), ...(items as readonly Value[]).filter(hasUnknown)];
  },
  isStrict: false,
};

/** A value that does not fit the schema is a defect of the provider. */
const WRITING: Direction = {
  string(value, path) {
    // A lone surrogate has no UTF-8: it becomes U+FFFD, as everywhere in Terraform.
    if (typeof value === "string") return value.toWellFormed();
    throw new Mismatch(path, "a text", value);
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

/** With every attribute of the schema: null where the object has none; of UNKNOWN each attribute is unknown. @throws Mismatch */
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

/** A tree of msgpack or JSON (an object, or UNKNOWN) as the values of a schema. @throws Mismatch */
export const readObject = (raw: unknown, attributes: Attributes) =>
  object(raw, attributes, [], READING) as Record<string, Value>;

/** One value of a type. @throws Mismatch */
export const readValue = (raw: unknown, type: SchemaType) => walk(raw, type, [], READING) as Value;

/** The tree to pack for an object of a schema. @throws Mismatch */
export const writeObject = (value: Value, attributes: Attributes): unknown => object(value, attributes, [], WRITING);

/** The tree to pack for one value of a type. @throws Mismatch */
export const writeValue = (value: Value, type: SchemaType): unknown => walk(value, type, [], WRITING);
