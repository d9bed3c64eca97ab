import { ExpressionError } from "../model/index.ts";
import { conversion } from "./conversion.ts";
import { withDefaults } from "./defaults.ts";
import { sameType, shapeOf, typeName, withoutOptional } from "./types.ts";
import type { Type, Typed } from "./value.ts";

/**
 * The value as one of another type, as Terraform converts arguments, attributes and variables: "11" to 11, a tuple to a
 * list; attributes that the type does not have are left out, those it has as optional get their default. An unknown
 * value stays unknown and a null null. @throws ExpressionError when it cannot be
 */
export function convert(typed: Typed, type: Type): Typed {
  if (sameType(typed.type, withoutOptional(type))) return typed;
  const given = withDefaults(typed, type);
  if (sameType(given.type, withoutOptional(type))) return given;
  const found = conversion(given.type, type, true);
  if (found === undefined) throw new ExpressionError(mismatch(given.type, type), 0);
  return found(given);
}

/** What is wrong with a value of this type where another one is wanted. */
function mismatch(given: Type, wanted: Type): string {
  const name = typeName(wanted);
  const [shape, want] = [shapeOf(given), shapeOf(wanted)];
  if (want === "object" && shape === "object") {
    const attributes = Object.keys((wanted as { object: Record<string, Type> }).object);
    const own = (given as { object: Record<string, Type> }).object;
    const missing = attributes.filter((attribute) => !Object.hasOwn(own, attribute));
    if (missing.length === 1) return `attribute "${missing[0]}" is required`;
    if (missing.length > 1) return `attributes ${missing.map((attribute) => `"${attribute}"`).join(", ")} are required`;
    return "an attribute of the object is of an unsuitable type";
  }
  return `${name} required, but this is ${typeName(given)}`;
}

/** Whether values of the one type can be converted to the other, at least some of them. */
export function canConvert(from: Type, to: Type): boolean {
  return sameType(from, withoutOptional(to)) || conversion(from, to, true) !== undefined;
}
