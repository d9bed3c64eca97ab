import { type AttributePath, fail, formatPath, type JsonObject } from "../../../core/model/index.ts";
import { type Attribute, type Attributes, isNested } from "../../../core/model/schema.ts";
import { parseJson } from "./json.ts";
import { Mismatch, readObject } from "./read.ts";

/**
 * The attributes of an instance as a state file holds them, by Terraform or by hostform, in the form of the schema: what
 * is missing becomes null, what the schema does not know (any more) is left out, write-only attributes are null.
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
    ...(path.length > 0 && { attribute: path }),
  });
}
