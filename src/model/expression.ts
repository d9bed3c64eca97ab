import { parseAddress } from "./address.ts";
import {
  type AttributePath,
  formatPath,
  hasUnknown,
  isObject,
  type Json,
  type JsonObject,
  UNKNOWN,
  type Value,
} from "./value.ts";

/** A reference inside a template: `${hosting_service.acme.id}` or `${env.NAME}`. */
export type Reference =
  | {
      readonly to: "resource";
      readonly address: string;
      readonly path: AttributePath;
      readonly text: string;
      readonly offset: number;
    }
  | { readonly to: "env"; readonly name: string; readonly text: string; readonly offset: number };

/** A reference with the path of the string that it stands in. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly path: AttributePath;
}

/** Declared values that have to be evaluated, in whatever language they are written. */
export interface Expressions {
  /** Everything that the values refer to. A reference without a key may mean all instances, one without a path the whole. */
  readonly references: readonly PlacedReference[];
  /** The value of one declared attribute. @throws ExpressionError */
  evaluate(attribute: string, scope: Scope): Value;
  /** Whether a secret goes into a declared attribute; absent: one does where a reference names a secret attribute. */
  isSecret?(attribute: string, scope: Scope): boolean;
}

/** A string in Terraform's template syntax, taken apart: literal text and references in turn. */
export type Template = readonly (string | Reference)[];

/** A template that cannot be read or evaluated; `offset` is the place in the string, `path` that of the string in its attribute. */
export class ExpressionError extends Error {
  readonly offset: number;
  readonly path: AttributePath;
  constructor(message: string, offset: number, path: AttributePath = []) {
    super(message);
    this.offset = offset;
    this.path = path;
  }
}

/** What names in templates mean. */
export interface Scope {
  /** The attributes of a resource, possibly unknown; undefined when there is no such resource. */
  resource(address: string): Value | undefined;
  env(name: string): string | undefined;
  /** The attributes of a resource that are secret here, whatever its schema says: a secret went into them. */
  secrets?(address: string): readonly string[];
}

const ENV = /^env\.([A-Za-z_][A-Za-z0-9_]*)$/;
const RESOURCE =
  /^([a-z][a-z0-9_]*\.[A-Za-z_][A-Za-z0-9_-]*(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?)((?:\.[A-Za-z_][A-Za-z0-9_-]*|\[(?:\d+|"(?:[^"\\]|\\.)*")\])*)$/;
const STEP = /\.([A-Za-z_][A-Za-z0-9_-]*)|\[(?:(\d+)|("(?:[^"\\]|\\.)*"))\]/g;

/** True when a string has something to evaluate or to unescape. */
export function isTemplate(text: string): boolean {
  return text.includes("${");
}

/**
 * Takes a template apart. `$${` is a literal `${`.
 * @throws ExpressionError on an unclosed or unreadable `${…}`.
 */
export function parseTemplate(text: string): Template {
  const parts: (string | Reference)[] = [];
  let literal = "";
  let at = 0;
  while (at < text.length) {
    if (text.startsWith("$${", at)) {
      literal += "${";
      at += 3;
    } else if (text.startsWith("${", at)) {
      const end = closingBrace(text, at + 2);
      if (literal !== "") parts.push(literal);
      literal = "";
      parts.push(parseReference(text.slice(at + 2, end).trim(), at));
      at = end + 1;
    } else {
      literal += text[at];
      at += 1;
    }
  }
  if (literal !== "" || parts.length === 0) parts.push(literal);
  return parts;
}

function closingBrace(text: string, start: number): number {
  let quoted = false;
  for (let i = start; i < text.length; i++) {
    if (quoted && text[i] === "\\") i += 1;
    else if (text[i] === '"') quoted = !quoted;
    else if (text[i] === "}" && !quoted) return i;
  }
  throw new ExpressionError("this `${` is not closed by a `}`", start - 2);
}

function parseReference(text: string, offset: number): Reference {
  const env = ENV.exec(text);
  if (env?.[1] !== undefined) return { to: "env", name: env[1], text, offset };
  const match = RESOURCE.exec(text);
  const address = match?.[1];
  if (address === undefined || address.startsWith("env.") || parseAddress(address) === undefined) {
    throw new ExpressionError(
      `"${text}" is not a reference; expected TYPE.NAME.ATTRIBUTE (hosting_service.acme.id) or env.NAME`,
      offset,
    );
  }
  const path: (string | number)[] = [];
  for (const [, name, index, quoted] of (match?.[2] ?? "").matchAll(STEP)) {
    if (name !== undefined) path.push(name);
    else path.push(index !== undefined ? Number(index) : (JSON.parse(quoted ?? '""') as string));
  }
  if (path.length === 0)
    throw new ExpressionError(`"${text}" names a resource but no attribute of it, such as ${text}.id`, offset);
  return { to: "resource", address, path, text, offset };
}

/** All references in a value, with the path of the string each stands in. Strings that cannot be parsed are passed over. */
export function referencesIn(value: Json, path: AttributePath = []): PlacedReference[] {
  if (typeof value === "string") {
    if (!isTemplate(value)) return [];
    try {
      return parseTemplate(value).flatMap((part) => (typeof part === "string" ? [] : [{ reference: part, path }]));
    } catch (error) {
      if (error instanceof ExpressionError) return [];
      throw error;
    }
  }
  if (Array.isArray(value)) return value.flatMap((item, i) => referencesIn(item, [...path, i]));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, item]) => referencesIn(item as Json, [...path, key]));
  return [];
}

/** The templates of YAML among declared attributes: references, and nothing else. */
export function templatesOf(config: JsonObject): Expressions {
  return {
    references: referencesIn(config),
    evaluate: (attribute, scope) => evaluate(config[attribute] ?? null, scope),
  };
}

/**
 * Evaluates all templates in a value. A string that is one reference takes the type of what it refers to;
 * one with other text around becomes a string, unknown when any part is.
 * @throws ExpressionError when a reference leads nowhere or a list or object stands inside a longer string.
 */
export function evaluate(value: Json, scope: Scope): Value {
  if (typeof value === "string") return isTemplate(value) ? evaluateTemplate(parseTemplate(value), scope) : value;
  if (Array.isArray(value)) return value.map((item) => evaluate(item, scope));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, evaluate(item as Json, scope)]));
  }
  return value;
}

function evaluateTemplate(template: Template, scope: Scope): Value {
  const [only] = template;
  if (template.length === 1 && only !== undefined) return typeof only === "string" ? only : resolve(only, scope);
  let text = "";
  let unknown = false;
  for (const part of template) {
    const value = typeof part === "string" ? part : resolve(part, scope);
    if (hasUnknown(value)) unknown = true;
    else if (value === null || typeof value === "object") {
      const what = value === null ? "null" : Array.isArray(value) ? "a list" : "an object";
      const offset = typeof part === "string" ? 0 : part.offset;
      throw new ExpressionError(
        `${typeof part === "string" ? part : part.text} is ${what} and cannot stand inside a string`,
        offset,
      );
    } else text += String(value);
  }
  return unknown ? UNKNOWN : text;
}

function resolve(reference: Reference, scope: Scope): Value {
  if (reference.to === "env") {
    const value = scope.env(reference.name);
    if (value === undefined)
      throw new ExpressionError(`the environment variable ${reference.name} is not set`, reference.offset);
    return value;
  }
  let value = scope.resource(reference.address);
  if (value === undefined) throw new ExpressionError(`no resource ${reference.address} is declared`, reference.offset);
  for (const [i, step] of reference.path.entries()) {
    if (value === UNKNOWN) return UNKNOWN;
    const next: unknown = Array.isArray(value) ? value[Number(step)] : isObject(value) ? value[step] : undefined;
    if (next === undefined) {
      const where = `${reference.address}.${formatPath(reference.path.slice(0, i + 1))}`;
      throw new ExpressionError(`${where} does not exist`, reference.offset);
    }
    value = next as Value;
  }
  return value;
}
