/**
 * Rules of Terraform for a provider's responses, as far as this provider's schemas can violate them. Each rule returns
 * sentences. Terraform would report each violation as "a bug in the provider".
 */
import {
  type AttributePath,
  equal,
  formatPath,
  hasUnknown,
  isObject,
  PENDING_CREATE,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../src/core/model/index.ts";
import { type Attribute, type Attributes, isNested } from "../../src/core/model/schema.ts";

/**
 * Checks the identity in a response, by the rules of Terraform 1.12 and newer: an object has a known identity, which stays the same.
 * A deleted object keeps its identity. A pending create has none. The origin of an account may change, so it is not compared.
 * @param before Identity in the request.
 */
export function identityProblems(
  { id, service_id: parent }: ValueObject,
  identity: ValueObject | undefined,
  before: ValueObject | undefined,
): string[] {
  if (id == null || id === UNKNOWN || id === PENDING_CREATE)
    return identity === undefined ? [] : ["identity without an object"];
  if (identity === undefined) return ["no identity"];
  return [
    ...(hasUnknown(identity) ? ["identity with unknown values"] : []),
    ...(identity.id === id && (!("service_id" in identity) || identity.service_id === parent)
      ? []
      : [`identity of another object: ${shown(identity)}`]),
    ...(typeof identity.origin === "string" ? [] : ["identity without an origin"]),
    ...(before && before.id !== identity.id ? [`identity changed from ${shown(before)} to ${shown(identity)}`] : []),
  ];
}

/** Returns a value for messages. Secrets of tests may be shown. */
const shown = (value: Value) => JSON.stringify(value, (_, part) => (part === UNKNOWN ? "(unknown)" : part));

export interface Planning {
  /** Configuration. Null if the plan destroys the object. */
  readonly config: ValueObject | null;
  readonly prior: ValueObject | null;
  readonly planned: ValueObject | null;
}

/**
 * Checks a planned object. A declared attribute must have its declared value, or the prior value if the two are equal
 * in another notation. Only undeclared computed attributes may have any value.
 */
export function planProblems(attributes: Attributes, { config, prior, planned }: Planning): string[] {
  if (config === null) return planned === null ? [] : ["planned for existence, but the configuration wants absence"];
  if (planned === null) return ["planned for absence, but the configuration wants existence"];
  return attributesProblems(attributes, { config, prior, planned }, []);
}

function attributesProblems(
  attributes: Attributes,
  { config, prior, planned }: { config: ValueObject; prior: ValueObject | null; planned: ValueObject },
  path: AttributePath,
): string[] {
  return Object.entries(attributes).flatMap(([name, attribute]) =>
    attributeProblems(
      attribute,
      { config: config[name] ?? null, prior: prior?.[name] ?? null, planned: planned[name] ?? null },
      [...path, name],
    ),
  );
}

function attributeProblems(
  attribute: Attribute,
  { config, prior, planned }: { config: Value; prior: Value; planned: Value },
  path: AttributePath,
): string[] {
  const { type } = attribute;
  if (attribute.writeOnly) {
    return planned === null ? [] : [`${formatPath(path)}: write-only, and ${shown(planned)} is planned`];
  }
  if (equal(planned, config)) return [];
  if (equal(planned, prior) && prior !== null && config !== null) return [];
  if (attribute.computed && config === null) return [];
  if (isNested(type) && type.nesting === "single" && isObject(config) && isObject(planned)) {
    const parts = {
      config: config as ValueObject,
      prior: prior as ValueObject | null,
      planned: planned as ValueObject,
    };
    return attributesProblems(type.attributes, parts, path);
  }
  const than = prior === null ? "" : ` nor ${shown(prior)} before`;
  return [`${formatPath(path)}: planned is ${shown(planned)}, which is neither ${shown(config)} as declared${than}`];
}

/** Checks that write-only attributes are null at any depth in each response of the provider. */
export function writeOnlyProblems(
  attributes: Attributes,
  value: ValueObject | null,
  path: AttributePath = [],
): string[] {
  if (value === null) return [];
  return Object.entries(attributes).flatMap(([name, { type, writeOnly }]) => {
    const part = value[name] ?? null;
    if (part === null) return [];
    if (writeOnly) return [`${formatPath([...path, name])}: write-only, and is ${shown(part)}`];
    return isNested(type) && isObject(part)
      ? writeOnlyProblems(type.attributes, part as ValueObject, [...path, name])
      : [];
  });
}

/** Checks that a state contains no unknown value. */
export function unknownProblems(value: ValueObject | null): string[] {
  return Object.entries(value ?? {}).flatMap(([name, part]) => (hasUnknown(part) ? [`${name}: is unknown`] : []));
}

/**
 * Checks that an object has the planned value wherever this value was known. Terraform applies the rule to applied
 * objects, and to the final plan before an apply.
 */
export function compatibilityProblems(planned: Value, actual: Value, path: AttributePath = []): string[] {
  if (planned === UNKNOWN) return [];
  const at = path.length === 0 ? "the object" : formatPath(path);
  if (actual === null || planned === null) {
    return actual === planned ? [] : [`${at}: was planned as ${shown(planned)}, and is ${shown(actual)}`];
  }
  if (Array.isArray(planned) && Array.isArray(actual)) {
    if (planned.length !== actual.length) return [`${at}: ${planned.length} elements planned, ${actual.length} came`];
    return planned.flatMap((item, i) => compatibilityProblems(item, actual[i], [...path, i]));
  }
  if (isObject(planned) && isObject(actual)) {
    const names = new Set([...Object.keys(planned), ...Object.keys(actual)]);
    return [...names].flatMap((name) =>
      compatibilityProblems((planned as ValueObject)[name] ?? null, (actual as ValueObject)[name] ?? null, [
        ...path,
        name,
      ]),
    );
  }
  return equal(planned, actual) ? [] : [`${at}: was planned as ${shown(planned)}, and is ${shown(actual)}`];
}

/** Returns the value at a path of an attribute or a part of an attribute. */
export function valueAt(value: ValueObject | null, path: AttributePath): Value {
  return path.reduce<Value>((part, step) => {
    if (part === null || part === UNKNOWN || typeof part !== "object") return null;
    return (part as { readonly [step: string]: Value })[String(step)] ?? null;
  }, value);
}

/**
 * Returns the object that Terraform proposes to the provider: declared values, and the prior values of undeclared
 * computed attributes. The provider may plan another object. Only a null proposal (destroy) is binding.
 */
export function proposed(attributes: Attributes, prior: ValueObject | null, config: ValueObject): ValueObject {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, { computed }]) => {
      const declared = config[name] ?? null;
      return [name, declared === null && computed ? (prior?.[name] ?? null) : declared];
    }),
  );
}
