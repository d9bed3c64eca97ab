/** Values as text with every digit, in one form for Terraform's values and hostform's values. */
import { jsonOfType, type Typed } from "../../../src/core/expression/index.ts";
import { plannedText } from "../../../src/core/expression/number.ts";
import { type Json, UNKNOWN } from "../../../src/core/model/index.ts";

/** A number, as written in a JSON text. */
class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** JSON with every digit of its numbers. */
export type Exact = null | boolean | string | Digits | readonly Exact[] | { readonly [key: string]: Exact };

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Reads JSON without rounding its numbers. */
export function readExact(text: string): Exact {
  const revive: Reviver = (_, value, { source }) => (typeof value === "number" ? new Digits(source ?? "") : value);
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown) as Exact;
}

/** Returns JSON text with sorted keys. `?` replaces the parts that `unknown` (Terraform's mask) marks. */
export function written(value: Exact, unknown: Json = false): string {
  if (unknown === true) return "?";
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (value instanceof Digits) return value.text;
  if (Array.isArray(value)) {
    const masks = Array.isArray(unknown) ? unknown : [];
    const items = value.map((item: Exact, i) => written(item, (masks[i] ?? false) as Json));
    return `[${items.join(",")}]`;
  }
  const masks = (typeof unknown === "object" && unknown !== null ? unknown : {}) as Readonly<Record<string, Json>>;
  const parts = value as { readonly [key: string]: Exact };
  const keys = [...new Set([...Object.keys(parts), ...Object.keys(masks)])].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  return `{${keys.map((key) => `${JSON.stringify(key)}:${written(parts[key] ?? null, masks[key] ?? false)}`).join(",")}}`;
}

/** Returns the same text for one of hostform's values. */
export function writtenTyped(typed: Typed): string {
  const { content } = typed;
  if (content === UNKNOWN) return "?";
  if (content === null || typeof content === "boolean" || typeof content === "string") return JSON.stringify(content);
  if (Array.isArray(content)) return `[${(content as readonly Typed[]).map(writtenTyped).join(",")}]`;
  if (content instanceof Map) {
    const parts = [...(content as ReadonlyMap<string, Typed>)];
    return `{${parts.map(([key, item]) => `${JSON.stringify(key)}:${writtenTyped(item)}`).join(",")}}`;
  }
  return plannedText(content as Parameters<typeof plannedText>[0]);
}

/** Returns the secret parts in the form of Terraform's `after_sensitive`, or false without secret parts. */
export function secretParts(typed: Typed): Json {
  if (typed.secret !== undefined) return true;
  const { content } = typed;
  if (Array.isArray(content)) return tidied((content as readonly Typed[]).map(secretParts));
  if (!(content instanceof Map)) return false;
  const parts = [...(content as ReadonlyMap<string, Typed>)];
  return tidied(Object.fromEntries(parts.map(([key, item]) => [key, secretParts(item)])));
}

/** Returns a mask of secrets without the parts that hold none. */
export function tidied(mask: Json): Json {
  if (typeof mask !== "object" || mask === null) return mask === true;
  if (Array.isArray(mask)) {
    const items = mask.map((item) => tidied(item as Json));
    return items.some((item) => item !== false) ? items : false;
  }
  const parts = Object.entries(mask as { readonly [key: string]: Json })
    .map(([key, item]) => [key, tidied(item)] as const)
    .filter(([, item]) => item !== false);
  return parts.length > 0 ? Object.fromEntries(parts) : false;
}

export const typeText = (typed: Typed): string => JSON.stringify(sortedKeys(jsonOfType(typed.type)));

/** Returns a value with its keys sorted, so that equal types have equal texts. */
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => sortedKeys(item as Json));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as { readonly [key: string]: Json })
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortedKeys(item)]),
  );
}
