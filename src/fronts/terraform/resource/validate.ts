import type { Kind } from "../../../core/kinds/kind.ts";
import { attributesOf, validate } from "../../../core/lifecycle/index.ts";
import { type Diagnostic, isObject, UNKNOWN, type ValueObject } from "../../../core/model/index.ts";
import { type Attribute, type Attributes, isNested } from "../../../core/model/schema.ts";
import { problem } from "../messages.ts";
import { schemaOf } from "../schema/of-kind.ts";
import { declaredIn, labelOf } from "./attribute-mapping.ts";

/**
 * Checks the configuration of one resource. Accepts unknown values: Terraform calls the function again when they are known.
 * @param writeOnlyAllowed true if this Terraform keeps write-only attributes out of plan and state.
 */
export function validateResource(kind: Kind, config: ValueObject, writeOnlyAllowed: boolean): Diagnostic[] {
  const declared = declaredIn(kind, config);
  // An unknown value may become null, so it does not require other attributes yet.
  const found = validate(kind, declared, labelOf(kind, declared))
    .diagnostics.filter(({ attribute: [name] = [] }) => name === undefined || declared[name] !== UNKNOWN)
    .map((each) => inHcl(kind, each));
  const exposed = writeOnlyAllowed
    ? []
    : attributesOf(kind).filter(({ name, meta }) => meta.writeOnly && name in declared);
  const tooOld = exposed.map(({ name }) => problem("terraform.too_old", { name, attribute: [name] }));
  const settable = checkSettable(schemaOf(kind).attributes, config, `${kind.type}.NAME`);
  return [...settable, ...found, ...tooOld, ...checkTimeouts(config)];
}

/**
 * Rejects values of read-only attributes, including unknown values, because Terraform leaves this check to providers.
 * @param of prefix of references to the block: `hosting_webhook.NAME`; the provider's own block has none.
 */
export function checkSettable(
  attributes: Attributes,
  config: ValueObject,
  of = "",
  above: readonly string[] = [],
): Diagnostic[] {
  return Object.entries(attributes).flatMap(([last, attribute]) => {
    const value = config[last] ?? null;
    if (value === null) return [];
    const path = [...above, last];
    const { type } = attribute;
    return [
      ...(isReadOnly(attribute) ? [readOnly(path, attributes, of)] : []),
      ...(isNested(type) && isObject(value) ? checkSettable(type.attributes, value as ValueObject, of, path) : []),
    ];
  });
}

const isReadOnly = ({ computed, optional, required }: Attribute) => computed && !optional && !required;

function readOnly(attribute: readonly string[], attributes: Attributes, of: string): Diagnostic {
  const name = attribute.join(".");
  const near = Object.keys(attributes).find(
    (other) => other.startsWith(`${name}_`) && !isReadOnly(attributes[other] as Attribute),
  );
  return problem("config.computed", { name, of, near, attribute });
}

/** Returns the error about a missing attribute, with its description for Terraform. */
function inHcl(kind: Kind, diagnostic: Diagnostic): Diagnostic {
  const { code, attribute: [name, ...deeper] = [] } = diagnostic;
  const meta = attributesOf(kind).find((one) => one.name === name)?.meta;
  const isMissing = code === "config.missing_attribute" && deeper.length === 0;
  return isMissing && meta?.hcl !== undefined ? { ...diagnostic, detail: meta.hcl } : diagnostic;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;

/** Returns a Terraform duration (`90s`, `1h30m`) in milliseconds; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  return [...parts].reduce((sum, [, number = "0", unit = "s"]) => sum + Number(number) * (UNITS[unit] ?? 0), 0);
}

export function checkTimeouts({ timeouts }: ValueObject): Diagnostic[] {
  if (!isObject(timeouts)) return [];
  return Object.entries(timeouts).flatMap(([name, value]) => {
    if (typeof value !== "string" || durationMs(value) !== undefined) return [];
    return problem("config.invalid_value/duration", { name, value, attribute: ["timeouts", name] });
  });
}
