import { isUnknown, UNKNOWN } from "../model/index.ts";
import { type Decimal, decimalOf } from "./number.ts";
import { compareText } from "./text-order.ts";
import type { Type, Typed } from "./value.ts";

/** A text as all texts are: well-formed and in normal form C. */
export const text = (content: string): Typed => ({ type: "string", content: normal(content) });
export const bool = (content: boolean): Typed => ({ type: "bool", content });
export const number = (content: Decimal): Typed => ({ type: "number", content });
export const whole = (content: number | bigint): Typed => number(decimalOf(content));
export const unknown = (type: Type): Typed => ({ type, content: UNKNOWN });
export const nullOf = (type: Type): Typed => ({ type, content: null });

export function normal(content: string): string {
  return content.toWellFormed().normalize("NFC");
}

/** The elements are of the element type. */
export function list(element: Type, content: readonly Typed[]): Typed {
  return { type: { list: element }, content };
}

export function tuple(content: readonly Typed[]): Typed {
  return { type: { tuple: content.map(({ type }) => type) }, content };
}

/** Entries may come in any order; of two with the same key the later one counts. */
export function map(element: Type, entries: Iterable<readonly [string, Typed]>): Typed {
  return { type: { map: element }, content: ordered(entries) };
}

export function object(entries: Iterable<readonly [string, Typed]>): Typed {
  const content = ordered(entries);
  return { type: { object: typesOf(content) }, content };
}

function ordered(entries: Iterable<readonly [string, Typed]>): ReadonlyMap<string, Typed> {
  const unique = new Map<string, Typed>();
  for (const [key, value] of entries) unique.set(normal(key), value);
  return new Map([...unique].sort(([a], [b]) => compareText(a, b)));
}

function typesOf(content: ReadonlyMap<string, Typed>): Readonly<Record<string, Type>> {
  return Object.fromEntries([...content].map(([key, { type }]) => [key, type]));
}

/** The elements of a list, set or tuple; the values of a map or object, in the order of the keys. Of anything else: none. */
export function elementsOf({ content }: Typed): readonly Typed[] {
  if (Array.isArray(content)) return content as readonly Typed[];
  return content instanceof Map ? [...content.values()] : [];
}

/** The entries of a map or object. Of anything else: none. */
export function entriesOf({ content }: Typed): readonly (readonly [string, Typed])[] {
  return content instanceof Map ? [...content] : [];
}

export function isKnown({ content }: Typed): boolean {
  return !isUnknown(content);
}

/** Known with all its parts. */
export function isWhollyKnown(typed: Typed): boolean {
  return isKnown(typed) && elementsOf(typed).every(isWhollyKnown);
}

/** Whether the value or any part of it is secret. */
export function isSecret(typed: Typed): boolean {
  return typed.secret === true || elementsOf(typed).some(isSecret);
}

/** The value, secret when any of these is; its parts keep their own marks. */
export function secretIf(typed: Typed, ...reasons: readonly (boolean | undefined)[]): Typed {
  return typed.secret === true || !reasons.includes(true) ? typed : { ...typed, secret: true };
}

/** The value without the mark of its own; its parts keep theirs. */
export function bare(typed: Typed): Typed {
  return typed.secret === true ? { type: typed.type, content: typed.content } : typed;
}
