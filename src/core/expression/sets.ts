import { equals } from "./equality.ts";
import { compare, type Decimal, formatNumber } from "./number.ts";
import { compareText } from "./text-order.ts";
import { bare, elementsOf, entriesOf, isKnown, isSecret } from "./typed.ts";
import { shapeOf } from "./types.ts";
import type { Type, Typed } from "./value.ts";

/**
 * A set of values of one type: without what is there twice, in Terraform's order. Marks of elements become the set's. Two
 * unknown elements may turn out to be one, and are kept apart until then.
 */
export function set(element: Type, items: readonly Typed[]): Typed {
  const marked = items.map((item) => ({ item: clean(item), key: orderKey(item) }));
  const groups = Map.groupBy(marked, ({ key }) => key);
  const unique = [...groups.values()].flatMap((group) => {
    const kept: typeof group = [];
    for (const entry of group) if (!kept.some(({ item }) => equals(item, entry.item) === true)) kept.push(entry);
    return kept;
  });
  const content = unique.sort((a, b) => order(a.item, b.item) || compareText(a.key, b.key)).map(({ item }) => item);
  const typed: Typed = { type: { set: element }, content };
  return items.some(isSecret) ? { ...typed, secret: true } : typed;
}

/** Nulls last, unknown ones before them; numbers by size, texts by their bytes, false before true; the rest by its key. */
function order(a: Typed, b: Typed): number {
  const rank = (typed: Typed) => (typed.content === null ? 2 : isKnown(typed) ? 0 : 1);
  if (rank(a) !== rank(b) || rank(a) > 0) return rank(a) - rank(b);
  if (a.type === "number") return compare(a.content as Decimal, b.content as Decimal);
  if (a.type === "string") return compareText(String(a.content), String(b.content));
  return a.type === "bool" ? Number(a.content) - Number(b.content) : 0;
}

/** The text by which Terraform orders what has no order of its own. */
function orderKey(typed: Typed): string {
  if (!isKnown(typed)) return "?";
  if (typed.content === null) return "~";
  const all = (items: readonly Typed[]) => items.map((item) => `${orderKey(item)};`).join("");
  switch (shapeOf(typed.type)) {
    case "number":
      return general(typed.content as Decimal);
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

/** Go's `%q`. */
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

/** Go's `%.10g`. */
function general(value: Decimal): string {
  const sign = value.digits < 0n ? "-" : "";
  const all = value.digits.toString().replace("-", "");
  const kept = roundedTo(all, 10);
  const power = value.exponent + all.length - 1 + (kept.length > Math.min(all.length, 10) ? 1 : 0);
  const digits = kept.replace(/0+$/, "") || "0";
  const precision = digits.length < 10 && digits.length >= power + 1 ? digits.length : 10;
  if (power >= -4 && power < precision)
    return formatNumber({ digits: BigInt(sign + digits), exponent: power + 1 - digits.length });
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  return `${sign}${digits[0]}${fraction}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** So many digits at most, rounded half to even; one more when rounding carries. */
function roundedTo(digits: string, length: number): string {
  if (digits.length <= length) return digits;
  const head = BigInt(digits.slice(0, length));
  const rest = digits.slice(length);
  const half = `5${"0".repeat(rest.length - 1)}`;
  return (rest > half || (rest === half && head % 2n === 1n) ? head + 1n : head).toString();
}

/** Without marks at any depth. */
function clean(typed: Typed): Typed {
  if (!isSecret(typed)) return typed;
  const { type, content } = bare(typed);
  if (content instanceof Map) return { type, content: new Map([...content].map(([key, item]) => [key, clean(item)])) };
  return { type, content: Array.isArray(content) ? (content as readonly Typed[]).map(clean) : content };
}
