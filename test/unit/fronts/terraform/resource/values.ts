/** Values for the attributes of a kind, of the types in Terraform's schema. */
import type { Kind } from "../../../../../src/core/kinds/kind.ts";
import { attributesOf } from "../../../../../src/core/lifecycle/index.ts";
import { type JsonObject, UNKNOWN, type Value, type ValueObject } from "../../../../../src/core/model/index.ts";
import { type Attribute, isNested, type SchemaType } from "../../../../../src/core/model/schema.ts";
import { schemaOf } from "../../../../../src/fronts/terraform/schema/of-kind.ts";
import fc from "../../../../support/fc.ts";

/** A small set, so that two values are often equal. */
const WORDS = ["a", "B", "b"];

function ofType(type: SchemaType): fc.Arbitrary<Value> {
  if (type === "string") return fc.constantFrom(...WORDS);
  if (type === "number") return fc.integer({ min: 1, max: 3 });
  if (type === "bool") return fc.boolean();
  if ("map" in type)
    return fc.dictionary(fc.constantFrom("x", "y"), ofType(type.map), { maxKeys: 2 }) as fc.Arbitrary<Value>;
  return fc.uniqueArray(ofType("list" in type ? type.list : type.set), { maxLength: 2 }) as fc.Arbitrary<Value>;
}

/** A known value of an attribute. Each part of a nested value may be null. */
export function anyOf({ type }: Attribute): fc.Arbitrary<Value> {
  if (!isNested(type)) return ofType(type);
  const parts = Object.entries(type.attributes).map(
    ([name, part]) => [name, fc.option(anyOf(part), { nil: null })] as const,
  );
  return fc.record(Object.fromEntries(parts)) as fc.Arbitrary<Value>;
}

const objectOf = (kind: Kind, value: (name: string, attribute: Attribute) => fc.Arbitrary<Value>) => {
  const own = new Set(attributesOf(kind).map(({ name }) => name));
  const entries = Object.entries(schemaOf(kind).attributes).filter(([name]) => own.has(name));
  return fc.record(
    Object.fromEntries(entries.map(([name, attribute]) => [name, value(name, attribute)])),
  ) as fc.Arbitrary<ValueObject>;
};

/** A configuration: optional attributes are null, known or unknown; required attributes are set. */
export const configOf = (kind: Kind): fc.Arbitrary<ValueObject> =>
  objectOf(kind, (_, attribute) => {
    if (!attribute.required && !attribute.optional) return fc.constant(null);
    const given = fc.oneof(
      { weight: 3, arbitrary: anyOf(attribute) },
      { weight: 1, arbitrary: fc.constant<Value>(UNKNOWN) },
    );
    return attribute.required ? given : fc.option(given, { nil: null });
  });

/** A recorded object: no value is unknown, and write-only attributes are absent. */
export const recordedOf = (kind: Kind): fc.Arbitrary<JsonObject> =>
  objectOf(kind, (_, attribute) =>
    attribute.writeOnly ? fc.constant(null) : fc.option(anyOf(attribute), { nil: null }),
  ) as fc.Arbitrary<JsonObject>;

/** Returns every value that a plan may compute. */
export const anythingOf = (kind: Kind): fc.Arbitrary<ValueObject> =>
  objectOf(kind, (_, attribute) => fc.oneof(anyOf(attribute), fc.constant<Value>(null), fc.constant<Value>(UNKNOWN)));
