import { ExactNumber } from "./text.ts";

// Values, paths into them, and addresses of resources.

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Value that is known only after apply. A symbol, so that no input can equal it. */
export const UNKNOWN: unique symbol = Symbol.for("hostform.unknown");
export type Unknown = typeof UNKNOWN;

/** A JSON value whose parts may be unknown. */
export type Value = null | boolean | number | string | Unknown | readonly Value[] | ValueObject;
export type ValueObject = { readonly [key: string]: Value };

/**
 * Unknown parts of a JSON value, in Terraform's `after_unknown` format. `true`: the whole value is unknown. Otherwise an
 * object or list with the structure of the value, which contains only the unknown parts.
 */
export type Mask = boolean | readonly Mask[] | { readonly [key: string]: Mask };

/** Path into the attributes of a resource: `["registrant_contact", "email"]`, `["events", 0]`. */
export type AttributePath = readonly (string | number)[];

export function isUnknown(value: unknown): value is Unknown {
  return value === UNKNOWN;
}

export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Returns true if any part of the value is unknown. */
export function hasUnknown(value: Value): boolean {
  if (typeof value !== "object" || value === null) return value === UNKNOWN;
  if (Array.isArray(value)) return value.some(hasUnknown);
  for (const name in value) if (hasUnknown((value as ValueObject)[name] as Value)) return true;
  return false;
}

/** Compares values deeply. Ignores the order of object keys. Unknown equals only unknown. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b || (a instanceof ExactNumber && a.equals(b))) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
  }
  return false;
}

/** Splits a value into its known part (unknown becomes null) and the mask of unknown parts (`false` if there are none). */
export function split(value: Value): { known: Json; unknown: Mask } {
  return hasUnknown(value) ? splitParts(value) : { known: value as Json, unknown: false };
}

function splitParts(value: Value): { known: Json; unknown: Mask } {
  if (value === UNKNOWN) return { known: null, unknown: true };
  if (Array.isArray(value)) {
    const parts = value.map(splitParts);
    const known = parts.map((part) => part.known);
    return parts.some((part) => part.unknown !== false)
      ? { known, unknown: parts.map((part) => part.unknown) }
      : { known, unknown: false };
  }
  if (isObject(value)) {
    const known: Record<string, Json> = {};
    const unknown: Record<string, Mask> = {};
    for (const [key, item] of Object.entries(value as ValueObject)) {
      const part = splitParts(item);
      known[key] = part.known;
      if (part.unknown !== false) unknown[key] = part.unknown;
    }
    return { known, unknown: Object.keys(unknown).length > 0 ? unknown : false };
  }
  return { known: value as Json, unknown: false };
}

/** Inverse of {@link split}. */
export function join(known: Json, unknown: Mask | undefined): Value {
  if (unknown === true) return UNKNOWN;
  if (unknown === undefined || unknown === false) return known;
  if (Array.isArray(known) && Array.isArray(unknown)) return known.map((item, i) => join(item, unknown[i]));
  if (isObject(known) && isObject(unknown)) {
    // Visit only the unknown parts, because there are usually few.
    const masks = Object.entries(unknown).filter(([key]) => Object.hasOwn(known, key));
    return { ...known, ...Object.fromEntries(masks.map(([key, mask]) => [key, join(known[key] as Json, mask)])) };
  }
  return known;
}

/** Formats a path for people: `registrant_contact.email`, `events[0]`. */
export function formatPath(path: AttributePath): string {
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");
}

/**
 * Address of a resource in Terraform syntax: `hosting_service.acme`, `hosting_grant.acme["dev@acme.example"]`. Most code uses
 * the string; {@link parseAddress} splits it.
 */
export interface Address {
  readonly type: string;
  readonly name: string;
  /** Instance key: string with `for_each`, number with `count`. */
  readonly key?: string | number;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const ADDRESS = /^([a-z][a-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_-]*)(?:\[(?:(\d+)|("(?:[^"\\]|\\.)*"))\])?$/;

/** Returns true for a valid Terraform name: letters, digits, `_` and `-`; no digit or `-` at the start. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/**
 * Returns true for a valid project name. The Idempotency-Keys of orders contain the project name, so all front ends use the
 * same rule.
 */
export function isProjectName(text: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/.test(text);
}

export function formatAddress(address: Address): string {
  const base = `${address.type}.${address.name}`;
  if (address.key === undefined) return base;
  return typeof address.key === "number" ? `${base}[${address.key}]` : `${base}[${JSON.stringify(address.key)}]`;
}

/** Parses an address. Undefined if the text is not an address. */
export function parseAddress(text: string): Address | undefined {
  const match = ADDRESS.exec(text);
  if (match === null) return undefined;
  const [, type = "", name = "", index, quoted] = match;
  if (index !== undefined) return { type, name, key: Number(index) };
  if (quoted === undefined) return { type, name };
  try {
    return { type, name, key: JSON.parse(quoted) as string };
  } catch {
    return undefined;
  }
}

/** Returns an address without instance key: `hosting_grant.acme["a@b"]` becomes `hosting_grant.acme`. */
export function resourceOf(address: string): string {
  const bracket = address.indexOf("[");
  return bracket < 0 ? address : address.slice(0, bracket);
}

/** Parses a JSON text. Undefined if the text is not JSON. */
export function parsedJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a JSON text. Integers beyond 2^53 become strings, so that long ids stay exact.
 * @throws SyntaxError
 */
export function exactJson(text: string): unknown {
  return /\d{16}/.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

/** JSON.parse reviver. TypeScript's declaration lacks its third parameter, the source text. */
function keepDigits(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  return typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? source
    : value;
}
