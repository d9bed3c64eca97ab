import { UNKNOWN, type Value, type ValueObject } from "../../../../../src/core/model/index.ts";
import { type Attribute, type Attributes, isNested, type SchemaType } from "../../../../../src/core/model/schema.ts";
import { character, fc } from "../../../../support/fc.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/);

/** Draws any text except the one key that cannot be sent. */
export const text = fc.string({ unit: character });
const key = text.filter((word) => word !== "__proto__");

export const number = fc
  .oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => value + 0);

const leaf: fc.Arbitrary<SchemaType> = fc.constantFrom("string", "number", "bool");

/** Draws types without sets, because a set returns in another order. */
export const orderedType: fc.Arbitrary<SchemaType> = fc.letrec<{ type: SchemaType }>((tie) => ({
  type: fc.oneof({ maxDepth: 2 }, leaf, fc.record({ list: tie("type") }), fc.record({ map: tie("type") })),
})).type;

const setType: fc.Arbitrary<SchemaType> = orderedType.map((set) => ({ set }));

/** Draws attributes, including nested attributes. */
export function attributes(type: fc.Arbitrary<SchemaType>, depth = 2): fc.Arbitrary<Attributes> {
  const nested = fc.record({
    nesting: fc.constantFrom("single" as const, "list" as const),
    attributes: depth === 0 ? fc.constant({}) : attributes(type, depth - 1),
  });
  const one = (depth === 0 ? type : fc.oneof({ weight: 3, arbitrary: type }, nested)).map(
    (of): Attribute => ({ type: of, description: "One.", optional: true }),
  );
  return fc.dictionary(name, one, { maxKeys: 5, noNullPrototype: true });
}

export const withSets = fc.oneof(orderedType, setType);

/**
 * Draws values of a type, with null and unknown at any depth.
 * @param unknown true if values may be unknown.
 */
export function anyOf(type: Attribute["type"], unknown = true): fc.Arbitrary<Value> {
  const rare: fc.Arbitrary<Value> = unknown ? fc.constantFrom(null, UNKNOWN) : fc.constant(null);
  return fc.oneof({ weight: 5, arbitrary: known(type, unknown) }, { weight: 1, arbitrary: rare });
}

function known(type: Attribute["type"], unknown: boolean): fc.Arbitrary<Value> {
  if (type === "string") return text;
  if (type === "number") return number;
  if (type === "bool") return fc.boolean();
  if (isNested(type)) {
    const object = objectOf(type.attributes, unknown);
    return type.nesting === "single" ? object : fc.array(object, { maxLength: 3 });
  }
  if ("map" in type) return fc.dictionary(key, anyOf(type.map, unknown), { maxKeys: 3, noNullPrototype: true });
  return fc.array(anyOf("list" in type ? type.list : type.set, unknown), { maxLength: 3 });
}

export function objectOf(of: Attributes, unknown = true): fc.Arbitrary<ValueObject> {
  return fc.record(Object.fromEntries(Object.entries(of).map(([each, { type }]) => [each, anyOf(type, unknown)])), {
    noNullPrototype: true,
  });
}
