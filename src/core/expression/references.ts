import { SYNTAX } from "../messages/expressions.ts";
import {
  type AttributePath,
  type EvalScope,
  ExpressionError,
  type Expressions,
  formatPath,
  hasUnknown,
  isObject,
  type Json,
  type JsonObject,
  joinOrigins,
  type Origin,
  type PlacedReference,
  parseAddress,
  type Reference,
  UNKNOWN,
  type Value,
} from "../model/index.ts";
import { attempt } from "./refusal.ts";

// Expressions in YAML: strings with `${TYPE.NAME.ATTRIBUTE}` and `${env.NAME}`. YAML projects need only this module, not the
// parser.

/** Parts of a string: texts and references. */
type ReferenceParts = readonly (string | Reference)[];

const ENV = /^env\.([A-Za-z_][A-Za-z0-9_]*)$/;
const RESOURCE =
  /^([a-z][a-z0-9_]*\.[A-Za-z_][A-Za-z0-9_-]*(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?)((?:\.[A-Za-z_][A-Za-z0-9_-]*|\[(?:\d+|"(?:[^"\\]|\\.)*")\])*)$/;
const STEP = /\.([A-Za-z_][A-Za-z0-9_-]*)|\[(?:(\d+)|("(?:[^"\\]|\\.)*"))\]/g;

/** Returns true if a string contains `${`, possibly escaped. */
export function hasReferences(text: string): boolean {
  return text.includes("${");
}

/**
 * Parses a string. `$${` means a literal `${`.
 * @throws ExpressionError if a `${…}` is unclosed or invalid.
 */
export function parseReferences(text: string): ReferenceParts {
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
  throw new ExpressionError(SYNTAX.reference_open, start - 2);
}

function parseReference(text: string, offset: number): Reference {
  const env = ENV.exec(text)?.[1];
  if (env !== undefined) return { to: "env", name: env, text, offset };
  const [, address = "env.", steps = ""] = RESOURCE.exec(text) ?? [];
  const path = pathOf(steps);
  if (address.startsWith("env.") || parseAddress(address) === undefined || path === undefined)
    throw new ExpressionError(SYNTAX.reference(text), offset);
  if (path.length === 0) throw new ExpressionError(SYNTAX.reference_attribute(text), offset);
  return { to: "resource", address, path, text, offset };
}

/** Returns the path. Undefined if a quoted key has an invalid escape. */
function pathOf(steps: string): AttributePath | undefined {
  try {
    return [...steps.matchAll(STEP)].map(
      ([, name, index, quoted = '""']): string | number =>
        name ?? (index === undefined ? (JSON.parse(quoted) as string) : Number(index)),
    );
  } catch {
    return undefined;
  }
}

/** Returns the parts of a string. An invalid string is one text. */
export function partsOf(text: string): ReferenceParts {
  if (!hasReferences(text)) return [text];
  try {
    return parseReferences(text);
  } catch (error) {
    if (error instanceof ExpressionError) return [text];
    throw error;
  }
}

/** Returns all references in a value, with the paths of their strings. Skips invalid strings. */
export function referencesIn(value: Json, path: AttributePath = []): PlacedReference[] {
  if (typeof value === "string")
    return partsOf(value).flatMap((part) => (typeof part === "string" ? [] : [{ reference: part, path }]));
  if (Array.isArray(value)) return value.flatMap((item, i) => referencesIn(item, [...path, i]));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, item]) => referencesIn(item as Json, [...path, key]));
  return [];
}

/** Returns true if any string in a value contains a reference or an escaped `${`. */
function hasExpression(value: Json): boolean {
  if (typeof value === "string") return hasReferences(value);
  if (Array.isArray(value)) return value.some(hasExpression);
  if (!isObject(value)) return false;
  for (const name in value) if (hasExpression(value[name] as Json)) return true;
  return false;
}

/** Returns the origin of a reference. Undefined if its value is public. */
export type SourceOf = (reference: Reference) => Origin | undefined;

/** Returns the expressions of a YAML block. @param sourceOf Default: all references are public. */
export function expressionsOf(config: JsonObject, sourceOf: SourceOf = () => undefined): Expressions {
  if (!hasExpression(config)) return { references: [], isConstant: true, evaluate: (name) => config[name] ?? null };
  return {
    references: referencesIn(config),
    evaluate: (attribute, scope) => resolveReferences(config[attribute] ?? null, scope),
    originOf: (attribute, scope) => originIn(config[attribute] ?? null, scope, sourceOf),
  };
}

/**
 * Returns the origin of the sensitive parts of a value. The public part of a string ends at its first sensitive reference.
 */
export function originIn(value: Json, scope: EvalScope, sourceOf: SourceOf): Origin | undefined {
  if (typeof value === "string") return originInText(partsOf(value), scope, sourceOf);
  if (typeof value !== "object" || value === null) return undefined;
  return joinOrigins(Object.values(value).map((item: Json) => originIn(item, scope, sourceOf)));
}

function originInText(parts: ReferenceParts, scope: EvalScope, sourceOf: SourceOf): Origin | undefined {
  const origins = parts.map((part) =>
    typeof part === "string" ? undefined : originOfReference(part, scope, sourceOf),
  );
  const [first, joined] = [origins.find((one) => one !== undefined), joinOrigins(origins)];
  if (first === undefined || joined === undefined) return undefined;
  const before = parts.slice(0, origins.indexOf(first));
  const open = attempt(
    () => resolveText(["", ...before], scope),
    () => "",
  );
  const text = typeof open === "string" ? open + (first.open ?? "") : "";
  return { ...joined, ...(text !== "" && { open: text }) };
}

function originOfReference(reference: Reference, scope: EvalScope, sourceOf: SourceOf): Origin | undefined {
  const own = sourceOf(reference);
  if (reference.to === "env" || own !== undefined) return own;
  const origins = scope.origins?.(reference.address) ?? {};
  const name = String(reference.path[0]);
  return Object.hasOwn(origins, name) ? origins[name] : undefined;
}

/**
 * Replaces the references in a value. A string that is only one reference becomes the referenced value with its type. Any
 * other string stays a string, or is unknown if a reference is.
 * @throws ExpressionError if a referenced value does not exist, or a longer string contains a list or object.
 */
export function resolveReferences(value: Json, scope: EvalScope): Value {
  if (typeof value === "string") return hasReferences(value) ? resolveText(parseReferences(value), scope) : value;
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, scope));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, resolveReferences(item as Json, scope)]),
    );
  }
  return value;
}

function resolveText(parts: ReferenceParts, scope: EvalScope): Value {
  const [only] = parts;
  if (parts.length === 1 && typeof only === "object") return resolve(only, scope);

  let text = "";
  let unknown = false;
  for (const part of parts) {
    const value = typeof part === "string" ? part : resolve(part, scope);
    if (hasUnknown(value)) unknown = true;
    else if (typeof value !== "object") text += String(value);
    else if (typeof part === "object") {
      const what = value === null ? "null" : Array.isArray(value) ? "a list" : "an object";
      throw new ExpressionError(SYNTAX.reference_part(part.text, what), part.offset);
    }
  }
  return unknown ? UNKNOWN : text;
}

function resolve(reference: Reference, scope: EvalScope): Value {
  if (reference.to === "env") {
    const value = scope.env(reference.name);
    if (value === undefined) throw new ExpressionError(SYNTAX.reference_env(reference.name), reference.offset);
    return value;
  }
  let value = scope.resource(reference.address);
  if (value === undefined) throw new ExpressionError(SYNTAX.reference_resource(reference.address), reference.offset);
  for (const [i, step] of reference.path.entries()) {
    if (value === UNKNOWN) return UNKNOWN;
    const next: unknown = Array.isArray(value) ? value[Number(step)] : isObject(value) ? value[step] : undefined;
    if (next === undefined) {
      const where = `${reference.address}.${formatPath(reference.path.slice(0, i + 1))}`;
      throw new ExpressionError(SYNTAX.reference_missing(where), reference.offset);
    }
    value = next as Value;
  }
  return value;
}
