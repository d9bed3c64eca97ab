/** The schemas of `schemas/openapi.yaml` as JSON Schema, compiled when they are first needed. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import type { ApiDocument, Schema } from "./document.ts";

/** How the server fills the gaps of the specification; undefined: not known, as of a real one. */
export type Known = Readonly<Record<string, string>> | undefined;

const ROOT = "openapi";

/** Whether an `x-when` holds: with no profile it always does. */
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

/** Compiled schemas, each used with the profile of the moment. */
export class Schemas {
  readonly #compiled = new Map<Schema, ValidateFunction>();
  readonly #ajv: Ajv;
  /** Of the validation that is running: validation does not wait for anything. */
  #profile: Known;

  constructor(document: ApiDocument) {
    this.#ajv = new Ajv({ strict: false, allErrors: true });
    formats.default(this.#ajv);
    // "Must be a valid URL" (§4): by the standard that servers and browsers parse by, which allows more than RFC 3986.
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

  /** What is wrong with a value, as `at.some.place must be integer`; nothing when it conforms. At most three things. */
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

/** JSON Schema for a schema of OpenAPI 3.0 with our marks. */
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

/** The condition first, so that what it rules out is not looked at and says nothing. */
function provided(condition: object, schema: object): object {
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
  return { if: condition, then: schema, else: false };
}

/** The mistakes that say most: those deepest inside of the value. That no alternative fits is said when nothing else is. */
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
