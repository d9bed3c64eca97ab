/**
 * What Terraform holds against a provider's answers, as far as this provider's schemas can meet it. Each rule returns
 * sentences; Terraform would call any of them "a bug in the provider, which should be reported".
 */
import {
  type AttributePath,
  equal,
  formatPath,
  hasUnknown,
  isObject,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../src/core/model/index.ts";
import { type Attribute, type Attributes, isNested } from "../../src/core/model/schema.ts";

/** A value for messages; secrets of tests are no secrets. */
const shown = (value: Value) => JSON.stringify(value, (_, part) => (part === UNKNOWN ? "(unknown)" : part));

export interface Planning {
  /** Null for an object that is to be destroyed. */
  readonly config: ValueObject | null;
  readonly prior: ValueObject | null;
  readonly planned: ValueObject | null;
}

/**
 * A planned object. What is declared is in it as declared, or as it was before (the same in another notation); only
 * computed attributes that are not declared may be anything.
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

/** Write-only attributes are null, at any depth, wherever the provider answers with an object. */
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

/** Nothing may be unknown in a state. */
export function unknownProblems(value: ValueObject | null): string[] {
  return Object.entries(value ?? {}).flatMap(([name, part]) => (hasUnknown(part) ? [`${name}: is unknown`] : []));
}

/**
 * What came of something planned: whatever was known in it is as it was planned. Used of applied objects, and of the plan
 * that Terraform makes once more before it applies.
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

/** The value at a path that names an attribute, or a part of one. */
export function valueAt(value: ValueObject | null, path: AttributePath): Value {
  return path.reduce<Value>((part, step) => {
    if (part === null || part === UNKNOWN || typeof part !== "object") return null;
    return (part as { readonly [step: string]: Value })[String(step)] ?? null;
  }, value);
}

/**
 * What Terraform proposes to the provider: declared values, and the recorded ones of computed attributes that are not
 * declared. The provider is free to make something else of it; only its being null (destroy) is binding.
 */
export function proposed(attributes: Attributes, prior: ValueObject | null, config: ValueObject): ValueObject {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, { computed }]) => {
      const declared = config[name] ?? null;
      return [name, declared === null && computed ? (prior?.[name] ?? null) : declared];
    }),
  );
}
