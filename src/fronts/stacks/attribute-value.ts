import { convert, type Type, type Typed, toValue, typeOfAttribute } from "../../core/expression/index.ts";
import { type Attribute, isNested, isObject, type Value, type ValueObject } from "../../core/model/index.ts";

/** The type that a declared value is converted to: of a nested object any attribute may be left out. */
export function constraintOf(type: Attribute["type"]): Type {
  if (!isNested(type)) return typeOfAttribute(type);
  const names = Object.keys(type.attributes);
  const object = Object.fromEntries(
    Object.entries(type.attributes).map(([name, part]) => [name, constraintOf(part.type)] as const),
  );
  const nested: Type = { object, optional: Object.fromEntries(names.map((name) => [name, undefined])) };
  return type.nesting === "list" ? { list: nested } : nested;
}

const constraints = new WeakMap<Attribute, Type>();

/**
 * An evaluated value as an attribute takes it: converted to its type (`"11"` becomes 11 for a number), a set as a list, and
 * what is null in a nested object left out, since nobody has written it.
 * @throws ExpressionError when it is not of that type.
 */
export function attributeValue(typed: Typed, attribute: Attribute): Value {
  const constraint = constraints.get(attribute) ?? constraintOf(attribute.type);
  constraints.set(attribute, constraint);
  const value = toValue(convert(typed, constraint));
  return isNested(attribute.type) ? withoutNulls(value) : value;
}

function withoutNulls(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const given = Object.entries(value as ValueObject).filter(([, part]) => part !== null);
  return Object.fromEntries(given.map(([name, part]) => [name, withoutNulls(part)]));
}
