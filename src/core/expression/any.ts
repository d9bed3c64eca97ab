import { attributeTypes, elementType, shapeOf, tupleTypes } from "./types.ts";
import type { Type } from "./value.ts";

/** A wanted type with each `any` in it replaced by what the given type has there. Of values that have no content yet. */
export function replaceAny(
  given: Type | undefined,
  wanted: Type,
  unify: (types: readonly Type[]) => Type | undefined,
): Type {
  const replace = (part: Type | undefined, by: Type) => replaceAny(part, by, unify);
  if (given === undefined || given === "any") return wanted;
  if (wanted === "any") return given;
  if (typeof wanted === "string") return wanted;
  const shape = shapeOf(given);
  if ("map" in wanted) {
    if (shape === "map") return { map: replace(elementType(given), wanted.map) };
    return shape === "object" ? { map: replace(unify(Object.values(attributeTypes(given))), wanted.map) } : wanted;
  }
  if ("object" in wanted) {
    const attributes = attributeTypes(given);
    const part = (name: string) =>
      shape === "map" ? elementType(given) : Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return {
      object: Object.fromEntries(
        Object.entries(wanted.object).map(([name, type]) => [name, replace(part(name), type)]),
      ),
    };
  }
  if ("tuple" in wanted) {
    const parts = tupleTypes(given);
    return { tuple: wanted.tuple.map((type, i) => replace(parts[i], type)) };
  }
  const element = shape === "tuple" ? unify(tupleTypes(given)) : elementType(given);
  if (shape !== "list" && shape !== "set" && shape !== "tuple") return wanted;
  return "list" in wanted ? { list: replace(element, wanted.list) } : { set: replace(element, wanted.set) };
}
