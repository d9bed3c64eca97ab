import { ExpressionError, isObject, isUnknown, UNKNOWN, type Value } from "../model/index.ts";
import { convert } from "./convert.ts";
import { guarded } from "./guarded.ts";
import { type Decimal, decimalOf, formatNumber, toNumber } from "./number.ts";
import { Refusal } from "./refusal.ts";
import { bool, elementsOf, nullOf, number, object, text, tuple, unknown } from "./typed.ts";
import type { Type, Typed } from "./value.ts";

/** Locals that hold each other twice grow beyond any memory when they are written out. */
const MOST_PARTS = 2_000_000;

/**
 * A JSON value, unknown parts allowed: converted to the type when there is one, otherwise with tuples and objects.
 * @throws ExpressionError when it cannot be converted
 */
export function fromValue(value: Value, type?: Type): Typed {
  const typed = guarded(() => untyped(value));
  return type === undefined ? typed : convert(typed, type);
}

function untyped(value: Value): Typed {
  if (isUnknown(value)) return unknown("any");
  if (value === null) return nullOf("any");
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return number(decimalOf(value));
  if (typeof value === "boolean") return bool(value);
  if (Array.isArray(value)) return tuple((value as readonly Value[]).map(untyped));
  return object(Object.entries(value).map(([key, item]) => [key, untyped(item as Value)]));
}

/**
 * The plain JSON value; a set is a list, unknown parts are UNKNOWN.
 * @throws ExpressionError for a number that a JSON number would not hold exactly, and for a value beyond all bounds
 */
export function toValue(typed: Typed): Value {
  let parts = 0;
  const plain = (part: Typed): Value => {
    parts += 1;
    if (parts > MOST_PARTS) throw new Refusal("the value is too large", 0);
    const { content } = part;
    if (isUnknown(content)) return UNKNOWN;
    if (content instanceof Map) return Object.fromEntries([...content].map(([key, item]) => [key, plain(item)]));
    if (Array.isArray(content)) return elementsOf(part).map(plain);
    if (!isObject(content)) return content as null | boolean | string;
    const exact = toNumber(content as unknown as Decimal);
    if (exact === undefined) {
      const digits = formatNumber(content as unknown as Decimal);
      const shown = digits.length > 40 ? `${digits.slice(0, 40)}…` : digits;
      throw new ExpressionError(`the number ${shown} has more digits than can be kept; round it or make it a text`, 0);
    }
    return exact;
  };
  return guarded(() => plain(typed));
}
