import { isUnknown, joinOrigins, type Origin, UNKNOWN, type Unknown } from "../model/index.ts";
import { type BigFloat, wholeNumber } from "./number.ts";

// Typed values: definition, constructors and queries.

/** A type of Terraform. `any`: type of an untyped null or unknown value. */
export type Type =
  | "string"
  | "number"
  | "bool"
  | "any"
  | { readonly list: Type }
  | { readonly set: Type }
  | { readonly map: Type }
  | { readonly tuple: readonly Type[] }
  | {
      readonly object: Readonly<Record<string, Type>>;
      /** Optional attributes with their defaults. Only type constraints have these. */
      readonly optional?: Readonly<Record<string, Typed | undefined>>;
    };

/**
 * An immutable value of Terraform with its type. Invariants:
 * - Elements of a list, set or map have exactly its element type. Elements of a tuple or object have their own types.
 * - Elements of a set are unique and in Terraform's order (numbers by size, strings by UTF-8 bytes).
 * - Entries of a map or object are sorted by the UTF-8 bytes of their keys.
 * - Strings are in Unicode normal form C.
 */
export interface Typed {
  readonly type: Type;
  readonly content: Content;
  /**
   * Origin of a secret value. All values derived from it have the same origin. For a collection, it applies to the structure
   * too; single elements may have their own.
   */
  readonly secret?: Origin | undefined;
}

type Content = null | Unknown | string | boolean | BigFloat | readonly Typed[] | ReadonlyMap<string, Typed>;

/** Static step of a traversal: `.id`, `[0]`, `["key"]`. */
export type TraversalStep = string | number;

/** A name, with its static steps: `hosting_service.acme[0].id`. */
export interface Traversal {
  /** `var`, `local`, `each`, `count`, `data`, `path`, `terraform`, or a resource type. */
  readonly root: string;
  readonly steps: readonly TraversalStep[];
  readonly text: string;
  /** Position in the string. */
  readonly offset: number;
}

/** Version of Terraform's language. Since 1.12, `||` and `&&` ignore errors of the side that does not decide. */
export type Language = "1.11" | "1.12";

/** Values of the names in an expression. */
export interface Names {
  /** Version of the language. Default: the newest. */
  readonly language?: Language;
  /**
   * Resolves a name. `used`: number of its steps that the value includes. Undefined if the name does not exist.
   * @throws ExpressionError if the value has an error.
   */
  resolve(traversal: Traversal): { readonly value: Typed; readonly used: number } | undefined;
  /** Calls a provider's function (`provider::hosting::webhook_signature`). Undefined if the function does not exist. */
  call?(name: string, args: readonly Typed[]): Typed | undefined;
}

/** Returns a string value in normal form C. */
export const text = (content: string): Typed => ({ type: "string", content: normal(content) });
export const bool = (content: boolean): Typed => ({ type: "bool", content });
export const number = (content: BigFloat): Typed => ({ type: "number", content });
export const whole = (content: number | bigint): Typed => number(wholeNumber(content));
export const unknown = (type: Type): Typed => ({ type, content: UNKNOWN });
export const nullOf = (type: Type): Typed => ({ type, content: null });

export function normal(content: string): string {
  return content.toWellFormed().normalize("NFC");
}

/** Returns a list. The elements must have the element type. */
export function list(element: Type, content: readonly Typed[]): Typed {
  return { type: { list: element }, content };
}

export function tuple(content: readonly Typed[]): Typed {
  return { type: { tuple: content.map(({ type }) => type) }, content };
}

/** Returns a map. Of duplicate keys, the last counts. */
export function map(element: Type, entries: Iterable<readonly [string, Typed]>): Typed {
  return { type: { map: element }, content: ordered(entries) };
}

export function object(entries: Iterable<readonly [string, Typed]>): Typed {
  const content = ordered(entries);
  return { type: { object: Object.fromEntries([...content].map(([key, { type }]) => [key, type])) }, content };
}

function ordered(entries: Iterable<readonly [string, Typed]>): ReadonlyMap<string, Typed> {
  const unique = new Map<string, Typed>();
  for (const [key, value] of entries) unique.set(normal(key), value);
  return new Map([...unique].sort(([a], [b]) => compareText(a, b)));
}

/** Returns the elements of a list, set or tuple, or the values of a map or object in the order of keys. Otherwise empty. */
export function elementsOf({ content }: Typed): readonly Typed[] {
  if (Array.isArray(content)) return content as readonly Typed[];
  return content instanceof Map ? [...content.values()] : [];
}

/** Returns the entries of a map or object. Otherwise empty. */
export function entriesOf({ content }: Typed): readonly (readonly [string, Typed])[] {
  return content instanceof Map ? [...content] : [];
}

export function isKnown({ content }: Typed): boolean {
  return !isUnknown(content);
}

/** Returns true if the value and all its parts are known. */
export function isWhollyKnown(typed: Typed): boolean {
  return isKnown(typed) && elementsOf(typed).every(isWhollyKnown);
}

/** Returns true if the value or any part is secret. */
export function isSecret(typed: Typed): boolean {
  return originOf(typed) !== undefined;
}

/** Returns the origin of all secrets in a value. Undefined if there are none. */
export function originOf(typed: Typed): Origin | undefined {
  const parts = elementsOf(typed);
  if (parts.length === 0) return typed.secret;
  if (origins.has(typed)) return origins.get(typed);
  const origin = joinOrigins([typed.secret, ...parts.map(originOf)]);
  origins.set(typed, origin);
  return origin;
}

/** Cached origins, because many values may contain the same value. */
const origins = new WeakMap<Typed, Origin | undefined>();

/**
 * Marks the value as secret if any reason is defined. The marks of its parts stay. With reasons from other values, no part of
 * the value stays public.
 */
export function secretIf(typed: Typed, ...reasons: readonly (Origin | undefined)[]): Typed {
  const others = reasons.filter((one) => one !== undefined && one !== typed.secret);
  return others.length === 0 ? typed : { ...typed, secret: joinOrigins([typed.secret, ...others]) };
}

/** Removes the value's own secret mark. The marks of its parts stay. */
export function bare(typed: Typed): Typed {
  return typed.secret === undefined ? typed : { type: typed.type, content: typed.content };
}

/** Removes all secret marks, at any depth. */
export function withoutSecrets(typed: Typed): Typed {
  if (!isSecret(typed)) return typed;
  const { type, content } = typed;
  if (content instanceof Map)
    return { type, content: new Map([...content].map(([key, item]) => [key, withoutSecrets(item)])) };
  return { type, content: Array.isArray(content) ? elementsOf(typed).map(withoutSecrets) : content };
}

/**
 * Compares strings by code points, like a comparison of UTF-8 bytes. JavaScript compares UTF-16 units. Returns a negative
 * number, 0 or a positive number.
 */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Returns the sort rank of a UTF-16 unit. Surrogates represent code points above all other units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
