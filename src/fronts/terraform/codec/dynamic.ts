import { create } from "@bufbuild/protobuf";
import {
  type AttributePath,
  fail,
  formatPath,
  type JsonObject,
  type Value,
  type ValueObject,
} from "../../../core/model/index.ts";
import { type Attribute, type Attributes, isNested, type SchemaType } from "../../../core/model/schema.ts";
import { type DynamicValue, DynamicValueSchema } from "../wire/tfplugin6.gen.ts";
import { pack, parseJson, unpack } from "./notation.ts";
import { Mismatch, readObject, readValue, writeObject, writeValue } from "./values.ts";

/**
 * A resource, a configuration or a state as Terraform sends it: with every attribute of the schema (null where there is no
 * value) and sets in a canonical order. Of an unknown object every attribute is unknown.
 * @returns null for no object: a create has no prior state, a destroy no planned one.
 * @throws HostformError at the attribute: a number with more digits than ours have, a map with the key `__proto__`.
 */
export function decodeDynamic(value: DynamicValue | undefined, attributes: Attributes): ValueObject | null {
  if (value === undefined || (value.msgpack.length === 0 && value.json.length === 0)) return null;
  return reading(() => {
    const raw = value.msgpack.length > 0 ? unpack(value.msgpack) : parseJson(new TextDecoder().decode(value.json));
    return raw === null ? null : readObject(raw, attributes);
  });
}

/**
 * The inverse of {@link decodeDynamic}. Attributes that are absent or undefined are sent as null.
 * @throws HostformError `internal` for what does not fit the schema.
 */
export function encodeDynamic(value: ValueObject | null, attributes: Attributes): DynamicValue {
  return create(DynamicValueSchema, { msgpack: writing(() => value && writeObject(value, attributes)) });
}

/** One value of a type, from msgpack: an argument of a function. @throws HostformError as {@link decodeDynamic}. */
export function decodeValue(bytes: Uint8Array, type: SchemaType): Value {
  return reading(() => readValue(unpack(bytes), type));
}

/** The inverse of {@link decodeValue}: what a function returns. @throws HostformError `internal`. */
export function encodeValue(value: Value, type: SchemaType): Uint8Array {
  return writing(() => writeValue(value, type));
}

function writing(tree: () => unknown): Uint8Array {
  try {
    return pack(tree());
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    return fail("internal", `The provider made a value that does not fit its schema: ${formatPath(error.path)}`, {
      detail: `Expected ${error.expected}.`,
      remedies: ["Report it with the command and its output."],
    });
  }
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Mismatch) {
      const { path, expected, found } = error;
      const name = path.length === 0 ? "The value" : formatPath(path);
      return fail("config.invalid_value", `${name}: expected ${expected}, found ${found}`, {
        remedies: [`Set it to ${expected}.`],
        attribute: path.length > 0 ? path : undefined,
      });
    }
    const words = error instanceof Error ? error.message : "";
    if (words.includes("__proto__")) {
      return fail("config.invalid_value", "A map has the key __proto__, which the provider cannot send", {
        remedies: ["Rename the key."],
      });
    }
    return fail("internal", "A value that Terraform sent cannot be read", {
      detail: words,
      remedies: [
        "Run the command again. If it fails again, report it with the versions of Terraform and the provider.",
      ],
    });
  }
}

/**
 * The attributes of an instance in a state file, of Terraform or of hostform, in the form of the schema: missing ones are null,
 * those that the schema does not have (any more) are left out, write-only ones are null.
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

function unreadable(what: string, path: AttributePath): never {
  const place = path.length === 0 ? "an object" : formatPath(path);
  return fail("state.unreadable", `The state of ${place} cannot be read: ${what}`, {
    remedies: [
      "Restore the state from a backup, or remove the resource from it with `terraform state rm` and import it again.",
    ],
    attribute: path.length > 0 ? path : undefined,
  });
}
