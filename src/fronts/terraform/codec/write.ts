import { type AttributePath, fail, formatPath, isObject, UNKNOWN, type Value } from "../../../core/model/index.ts";
import { type Attribute, type Attributes, isNested, type Type } from "../../../core/model/schema.ts";
import { wireNumber } from "./number.ts";

/**
 * The tree to pack for an object of a schema: every attribute is there, null where the object has none. What does not
 * fit the schema is a defect of the provider, not of what the user wrote.
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
export function writeValue(value: Value, type: Type, path: AttributePath = []): unknown {
  if (value === null || value === UNKNOWN) return value;
  if (type === "string") {
    // Half a pair of UTF-16 has no UTF-8: it becomes U+FFFD, as in everything that Terraform reads.
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
