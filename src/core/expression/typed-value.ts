import { isUnknown, joinOrigins, type Origin, UNKNOWN, type Unknown } from "../model/index.ts";
import { type BigFloat, wholeNumber } from "./number.ts";

// Values with types: their definition, constructors and queries.

/** A type of Terraform's language. `any` is the type of a null or unknown value without a known type. */
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
      /** Only in a type constraint: optional attributes with their defaults. */
      readonly optional?: Readonly<Record<string, Typed | undefined>>;
    };

/**
 * A value of Terraform's language with its type. Immutable. Invariants:
 * - the elements of a list, a set or a map have exactly its element type; those of a tuple or an object each their own;
 * - the elements of a set are unique and in Terraform's order (numbers by size, strings by UTF-8 bytes);
 * - the entries of a map or an object are sorted by the UTF-8 bytes of their keys;
 * - a string is in Unicode's normal form C.
 */
export interface Typed {
  readonly type: Type;
  readonly content: Content;
  /**
   * The sources that make it secret; every value made from it has them. In a collection it includes the form; elements can be
   * secret separately.
   */
  readonly secret?: Origin | undefined;
}

type Content = null | Unknown | string | boolean | BigFloat | readonly Typed[] | ReadonlyMap<string, Typed>;

/** A static step of a traversal: `.id`, `[0]`, `["key"]`. */
export type TraversalStep = string | number;

/** A name with the static steps that follow it: `hosting_service.acme[0].id`. */
export interface Traversal {
  /** `var`, `local`, `each`, `count`, `data`, `path`, `terraform`, or a resource type. */
  readonly root: string;
  readonly steps: readonly TraversalStep[];
  /** Source text. */
  readonly text: string;
  /** Its place in the string. */
  readonly offset: number;
}

/** The version of Terraform's language: from 1.12 on `||` and `&&` drop the errors of the side that does not decide. */
export type Language = "1.11" | "1.12";

/** The values of names where an expression is evaluated. */
export interface Names {
  /** Default: the newest. */
  readonly language?: Language;
  /**
   * The value of a name. @returns with it the number of steps that it includes; undefined when the name does not exist.
   * @throws ExpressionError for an error in the value.
   */
  resolve(traversal: Traversal): { readonly value: Typed; readonly used: number } | undefined;
  /** Calls a provider's function (`provider::hosting::webhook_signature`); undefined when it does not exist. */
  call?(name: string, args: readonly Typed[]): Typed | undefined;
}

/** A string: well-formed and in normal form C. */
export const text = (content: string): Typed => ({ type: "string", content: normal(content) });
export const bool = (content: boolean): Typed => ({ type: "bool", content });
export const number = (content: BigFloat): Typed => ({ type: "number", content });
export const whole = (content: number | bigint): Typed => number(wholeNumber(content));
export const unknown = (type: Type): Typed => ({ type, content: UNKNOWN });
export const nullOf = (type: Type): Typed => ({ type, content: null });

export function normal(content: string): string {
  return content.toWellFormed().normalize("NFC");
}

/** The elements must have the element type. */
export function list(element: Type, content: readonly Typed[]): Typed {
  return { type: { list: element }, content };
}

export function tuple(content: readonly Typed[]): Typed {
  return { type: { tuple: content.map(({ type }) => type) }, content };
}

/** Entries can be in any order; of duplicate keys the last one counts. */
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

/** The elements of a list, set or tuple; the values of a map or object by key; none of other values. */
export function elementsOf({ content }: Typed): readonly Typed[] {
  if (Array.isArray(content)) return content as readonly Typed[];
  return content instanceof Map ? [...content.values()] : [];
}

/** The entries of a map or object; none of other values. */
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

/** Returns true if the value or any part of it is secret. */
export function isSecret(typed: Typed): boolean {
  return originOf(typed) !== undefined;
}

/** The sources of the secrets in a value and its parts; undefined if it has none. */
export function originOf(typed: Typed): Origin | undefined {
  const parts = elementsOf(typed);
  if (parts.length === 0) return typed.secret;
  if (origins.has(typed)) return origins.get(typed);
  const origin = joinOrigins([typed.secret, ...parts.map(originOf)]);
  origins.set(typed, origin);
  return origin;
}

/** Known origins: one value may be a part of many. */
const origins = new WeakMap<Typed, Origin | undefined>();

/** The value, secret if any of these is; its parts keep their marks. Other sources than its own leave no part of it open. */
export function secretIf(typed: Typed, ...reasons: readonly (Origin | undefined)[]): Typed {
  const others = reasons.filter((one) => one !== undefined && one !== typed.secret);
  return others.length === 0 ? typed : { ...typed, secret: joinOrigins([typed.secret, ...others]) };
}

/** The value without its own mark; its parts keep theirs. */
export function bare(typed: Typed): Typed {
  return typed.secret === undefined ? typed : { type: typed.type, content: typed.content };
}

/** The value without any marks, at any depth. */
export function withoutSecrets(typed: Typed): Typed {
  if (!isSecret(typed)) return typed;
  const { type, content } = typed;
  if (content instanceof Map)
    return { type, content: new Map([...content].map(([key, item]) => [key, withoutSecrets(item)])) };
  return { type, content: Array.isArray(content) ? elementsOf(typed).map(withoutSecrets) : content };
}

/** Negative, zero or positive: the order of UTF-8 bytes, which is that of code points and not that of JavaScript's code units. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates are parts of code points above all that have a single code unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
