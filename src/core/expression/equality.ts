import { compare, type Decimal } from "./number.ts";
import { elementsOf, entriesOf, isKnown } from "./typed.ts";
import { attributeTypes, elementType, hasAny, sameType, shapeOf, tupleTypes } from "./types.ts";
import type { Type, Typed } from "./value.ts";

/**
 * Whether two values are equal, as `==` has it: of the same type and with the same content; nulls of all types are equal.
 * @returns undefined as long as that is not known.
 */
export function equals(a: Typed, b: Typed): boolean | undefined {
  if (!isKnown(a) || !isKnown(b)) return withUnknown(a, b);
  if (a.content === null || b.content === null) return a.content === b.content;
  if (isOpen(a) || isOpen(b)) return conforms(a.type, b.type) || conforms(b.type, a.type) ? undefined : false;
  if (!sameType(a.type, b.type)) return false;
  switch (shapeOf(a.type)) {
    case "number":
      return compare(a.content as Decimal, b.content as Decimal) === 0;
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

/** Whether a part is unknown of which not even the type is known. */
function isOpen(typed: Typed): boolean {
  return isKnown(typed) ? elementsOf(typed).some(isOpen) : hasAny(typed.type);
}

/** Two values of different types can only be equal as nulls, which an unknown one may still become. */
function withUnknown(a: Typed, b: Typed): false | undefined {
  const [known, open] = isKnown(a) ? [a, b] : [b, a];
  if (!isKnown(known) || known.content === null || hasAny(open.type)) return undefined;
  return sameType(known.type, open.type) ? undefined : false;
}

/** As Terraform goes through them: what is unknown before the first difference makes the whole unknown. */
function allEqual(a: readonly Typed[], b: readonly Typed[]): boolean | undefined {
  if (a.length !== b.length) return false;
  for (const [i, item] of a.entries()) {
    const other = b[i];
    const same = other === undefined ? false : equals(item, other);
    if (same !== true) return same;
  }
  return true;
}

/** Terraform goes through the keys in no order: unknown as long as any part of the entries in common is. */
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

/** Whether a value of the first type could be one of the second, where `any` stands for whatever comes. */
function conforms(type: Type, wanted: Type): boolean {
  if (wanted === "any" || sameType(type, wanted)) return true;
  const shape = shapeOf(type);
  if (shape !== shapeOf(wanted) || typeof type === "string") return false;
  if (shape === "tuple") {
    const parts = tupleTypes(wanted);
    const own = tupleTypes(type);
    return own.length === parts.length && own.every((part, i) => conforms(part, parts[i] ?? "any"));
  }
  if (shape !== "object") return conforms(elementType(type), elementType(wanted));
  const parts = attributeTypes(wanted);
  const own = Object.entries(attributeTypes(type));
  return (
    own.length === Object.keys(parts).length &&
    own.every(([name, part]) => Object.hasOwn(parts, name) && conforms(part, parts[name] ?? "any"))
  );
}
