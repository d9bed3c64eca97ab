/** Converts the schemas of `schemas/openapi.yaml` to JSON Schema, and compiles them at their first use. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { ApiDocument, Schema } from "./document.ts";

/** Profile of the server. Undefined for a server with an unknown profile, such as a real server. */
export type Known = Readonly<Record<string, string>> | undefined;

const ROOT = "openapi";

/** Returns true if an `x-when` holds. Without a profile, every condition holds. */
export function holds(when: string | readonly string[] | undefined, profile: Known): boolean {
  if (when === undefined || profile === undefined) return true;
  const any = typeof when === "string" ? [when] : when;
  return any.some((all) => all.split(" & ").every((one) => isSo(one, profile)));
}

function isSo(setting: string, profile: NonNullable<Known>): boolean {
  const [name = "", value] = setting.split("=");
  if (!(name in profile)) throw new Error(`schemas/openapi.yaml speaks of a switch "${name}" that no profile has.`);
  return profile[name] === value;
}

/** Compiled schemas. Each validation uses its own profile. */
export class Schemas {
  readonly #compiled = new Map<Schema, ValidateFunction>();
  readonly #ajv: Ajv;
  /** Profile of the running validation. A validation is synchronous. */
  #profile: Known;

  constructor(document: ApiDocument) {
    this.#ajv = new Ajv({ strict: false, allErrors: true });
    formats.default(this.#ajv);
    // "Must be a valid URL" (§4): uses the standard of servers and browsers, which allows more URLs than RFC 3986.
    this.#ajv.addFormat("uri", (text: string) => URL.canParse(text) && !/\s/.test(text));
    this.#ajv.addKeyword({
      keyword: "x-when",
      validate: (when: string | string[]) => holds(when, this.#profile),
    });
    this.#ajv.addKeyword({
      keyword: "x-only",
      validate: (setting: string) => this.#profile !== undefined && isSo(setting, this.#profile),
    });
    const schemas = Object.entries(document.components.schemas).map(([name, schema]) => [name, converted(schema)]);
    this.#ajv.addSchema({ $id: ROOT, components: { schemas: Object.fromEntries(schemas) } });
  }

  /** Returns at most three errors in a value, as `at.some.place must be integer`. Empty for a valid value. */
  mistakes(schema: Schema, value: unknown, name: string, profile: Known): string[] {
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile(converted(schema));
      this.#compiled.set(schema, validate);
    }
    this.#profile = profile;
    return validate(value) ? [] : sentences(validate.errors ?? [], name);
  }
}

/** Converts a schema of OpenAPI 3.0 with our marks to JSON Schema. */
function converted(schema: Schema): object {
  if (schema.$ref !== undefined) return { $ref: schema.$ref.replace(/^#/, `${ROOT}#`) };
  const { "x-when": when, "x-contradicts": contradictions, nullable, type, ...rest } = schema;
  const each = (schemas: Readonly<Record<string, Schema>>) =>
    Object.fromEntries(Object.entries(schemas).map(([name, inner]) => [name, converted(inner)]));
  const plain: object = {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith("x-"))),
    ...(type !== undefined && { type: nullable ? [type, "null"] : type }),
    ...(rest.properties && { properties: each(rest.properties) }),
    ...(rest.additionalProperties && { additionalProperties: converted(rest.additionalProperties) }),
    ...(rest.items && { items: converted(rest.items) }),
    ...(rest.not && { not: converted(rest.not) }),
    ...(rest.allOf && { allOf: rest.allOf.map(converted) }),
    ...(rest.anyOf && { anyOf: rest.anyOf.map(converted) }),
  };
  const against = Object.entries(contradictions ?? {}).map(([setting, inner]) =>
    provided({ "x-only": setting }, converted(inner)),
  );
  const whole = against.length > 0 ? { anyOf: [plain, ...against] } : plain;
  return when === undefined ? whole : provided({ "x-when": when }, whole);
}

/** Checks the condition first. If the condition fails, the schema is not evaluated and reports no errors. */
function provided(condition: object, schema: object): object {
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
  return { if: condition, then: schema, else: false };
}

/**
 * Selects the most specific errors, at the deepest paths of the value. Reports a failed `anyOf` only without other
 * errors.
 */
function sentences(errors: readonly ErrorObject[], name: string): string[] {
  const specific = errors.filter(({ keyword }) => !["if", "anyOf", "false schema"].includes(keyword));
  const kept = specific.length > 0 ? specific : errors.filter(({ keyword }) => keyword === "anyOf");
  const depth = ({ instancePath }: ErrorObject) => instancePath.split("/").length;
  const deepest = Math.max(...kept.map(depth));
  const found = kept.filter((error) => depth(error) === deepest).map((error) => sentence(error, name));
  if (found.length === 0) return [`${name} is of a form that does not belong to this profile`];
  return [...new Set(found)].slice(0, 3);
}

function sentence({ instancePath, message, keyword, params }: ErrorObject, name: string): string {
  const place = `${name}${instancePath.replaceAll("/", ".")}`;
  if (keyword === "anyOf") return `${place} fits none of the alternatives`;
  if (keyword === "not") return `${place} must not be there`;
  return `${place} ${message}${keyword === "enum" ? `: ${(params.allowedValues as unknown[]).join(", ")}` : ""}`;
}
