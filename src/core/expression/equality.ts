import { type BigFloat, compare, generalText } from "./number.ts";
import {
  compareText,
  elementsOf,
  entriesOf,
  isKnown,
  originOf,
  secretIf,
  type Type,
  type Typed,
  withoutSecrets,
} from "./typed-value.ts";
import { conforms, hasAny, sameType, shapeOf } from "./types.ts";

// Equality of values, and sets: unique values in Terraform's order.

/**
 * Compares two values as `==` does: type and content must be equal. All nulls are equal.
 * @returns undefined if the result is unknown.
 */
export function equals(a: Typed, b: Typed): boolean | undefined {
  if (!isKnown(a) || !isKnown(b)) return withUnknown(a, b);
  if (a.content === null || b.content === null) return a.content === b.content;
  if (isOpen(a) || isOpen(b)) return conforms(a.type, b.type) || conforms(b.type, a.type) ? undefined : false;
  if (!sameType(a.type, b.type)) return false;
  switch (shapeOf(a.type)) {
    case "number":
      return compare(a.content as BigFloat, b.content as BigFloat) === 0;
    case "set":
      return equalSets(elementsOf(a), elementsOf(b));
    case "map":
    case "object":
      return equalEntries(a, b);
    case "list":
    case "tuple":
      return allEqual(elementsOf(a), elementsOf(b));
    default:
      return a.content === b.content;
  }
}

/** Returns true if a part has an unknown type. */
function isOpen(typed: Typed): boolean {
  return isKnown(typed) ? elementsOf(typed).some(isOpen) : hasAny(typed.type);
}

/**
 * Compares a value with an unknown value. Values of different types differ, unless both are null; the unknown value may be
 * null.
 */
function withUnknown(a: Typed, b: Typed): false | undefined {
  const [known, open] = isKnown(a) ? [a, b] : [b, a];
  if (!isKnown(known) || known.content === null || hasAny(open.type)) return undefined;
  return sameType(known.type, open.type) ? undefined : false;
}

/** Compares elements in order. As in Terraform, an unknown element before the first difference makes the result unknown. */
function allEqual(a: readonly Typed[], b: readonly Typed[]): boolean | undefined {
  if (a.length !== b.length) return false;
  for (const [i, item] of a.entries()) {
    const other = b[i];
    const same = other === undefined ? false : equals(item, other);
    if (same !== true) return same;
  }
  return true;
}

/** Compares entries. Terraform has no fixed order for this, so any unknown entry makes the result unknown. */
function equalEntries(a: Typed, b: Typed): boolean | undefined {
  const others = new Map(entriesOf(b));
  const entries = entriesOf(a);
  if (entries.length !== others.size || entries.some(([key]) => !others.has(key))) return false;
  const results = entries.map(([key, item]) => equals(item, others.get(key) ?? item));
  return results.includes(undefined) ? undefined : !results.includes(false);
}

function equalSets(a: readonly Typed[], b: readonly Typed[]): boolean | undefined {
  if (![...a, ...b].every(isKnown)) return undefined;
  const within = (items: readonly Typed[], others: readonly Typed[]) =>
    items.every((item) => others.some((other) => equals(item, other) === true));
  return within(a, b) && within(b, a);
}

/**
 * Returns a set: unique values of one type in Terraform's order. Secret elements make the set secret. Unknown elements are
 * kept separately, because they may be equal.
 */
export function set(element: Type, items: readonly Typed[]): Typed {
  const marked = items.map((item) => ({ item: withoutSecrets(item), key: orderKey(item) }));
  const groups = Map.groupBy(marked, ({ key }) => key);
  const unique = [...groups.values()].flatMap((group) => {
    const kept: typeof group = [];
    for (const entry of group) if (!kept.some(({ item }) => equals(item, entry.item) === true)) kept.push(entry);
    return kept;
  });
  const content = unique.sort((a, b) => order(a.item, b.item) || compareText(a.key, b.key)).map(({ item }) => item);
  const typed: Typed = { type: { set: element }, content };
  return secretIf(typed, ...items.map(originOf));
}

/**
 * Compares elements: known values before unknown, null last. Numbers by size, strings by bytes, false before true, other
 * values by {@link orderKey}.
 */
function order(a: Typed, b: Typed): number {
  const rank = (typed: Typed) => (typed.content === null ? 2 : isKnown(typed) ? 0 : 1);
  if (rank(a) !== rank(b) || rank(a) > 0) return rank(a) - rank(b);
  if (a.type === "number") return compare(a.content as BigFloat, b.content as BigFloat);
  if (a.type === "string") return compareText(String(a.content), String(b.content));
  return a.type === "bool" ? Number(a.content) - Number(b.content) : 0;
}

/** Returns the text by which Terraform sorts values that have no natural order. */
function orderKey(typed: Typed): string {
  if (!isKnown(typed)) return "?";
  if (typed.content === null) return "~";
  const all = (items: readonly Typed[]) => items.map((item) => `${orderKey(item)};`).join("");
  switch (shapeOf(typed.type)) {
    case "number":
      // Go formats this number with `%.10g`.
      return generalText(typed.content as BigFloat, 10);
    case "bool":
      return typed.content === true ? "T" : "F";
    case "string":
      return quoted(String(typed.content));
    case "map":
      return `{${entriesOf(typed)
        .map(([key, item]) => `${quoted(key)}:${orderKey(item)};`)
        .join("")}}`;
    case "list":
    case "set":
      return `[${all(elementsOf(typed))}]`;
    default:
      return `<${all(elementsOf(typed))}>`;
  }
}

const ESCAPES = new Map([
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ['"', '\\"'],
  ["\\", "\\\\"],
]);

/** Quotes a string like Go's `%q`. */
function quoted(content: string): string {
  const escaped = content.replace(/["\\]|[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    const plain =
      code < 0x80 ? `\\x${hex.padStart(2, "0")}` : code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : undefined;
    return ESCAPES.get(character) ?? plain ?? `\\U${hex.padStart(8, "0")}`;
  });
  return `"${escaped}"`;
}
