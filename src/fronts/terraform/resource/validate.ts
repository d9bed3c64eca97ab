import type { Kind } from "../../../core/kinds/kind.ts";
import { attributesOf, validate } from "../../../core/lifecycle/index.ts";
import { type Diagnostic, errorOf, isObject, UNKNOWN, type ValueObject } from "../../../core/model/index.ts";
import { checkSettable } from "../schema/check-config.ts";
import { schemaOf } from "../schema/of-kind.ts";
import { declaredIn, labelOf } from "./attribute-mapping.ts";

/**
 * Checks the configuration of one resource. Unknown values pass: Terraform asks again when they are known.
 * @param writeOnlyAllowed whether this Terraform keeps write-only attributes out of plan and state.
 */
export function validateResource(kind: Kind, config: ValueObject, writeOnlyAllowed: boolean): Diagnostic[] {
  const declared = declaredIn(kind, config);
  // An unknown value may become null: what needs another attribute beside it does not need that yet.
  const found = validate(kind, declared, labelOf(kind, declared))
    .diagnostics.filter(({ attribute: [name] = [] }) => name === undefined || declared[name] !== UNKNOWN)
    .map((each) => inHcl(kind, each));
  const exposed = writeOnlyAllowed
    ? []
    : attributesOf(kind).filter(({ name, meta }) => meta.writeOnly && name in declared);
  const tooOld = exposed.map(({ name }) =>
    errorOf("terraform.too_old", `${name} needs Terraform 1.11 or later (OpenTofu 1.11)`, {
      detail: "It is a write-only attribute: an older Terraform would write it into plan and state.",
      remedies: [`Use a newer Terraform, or remove ${name} and set it in the dashboard.`],
      attribute: [name],
    }),
  );
  const settable = checkSettable(schemaOf(kind).attributes, config, `${kind.type}.NAME`);
  return [...settable, ...found, ...tooOld, ...checkTimeouts(config)];
}

/** A missing attribute, with its description for Terraform. */
function inHcl(kind: Kind, diagnostic: Diagnostic): Diagnostic {
  const { code, attribute: [name, ...deeper] = [] } = diagnostic;
  const meta = attributesOf(kind).find((one) => one.name === name)?.meta;
  const isMissing = code === "config.missing_attribute" && deeper.length === 0;
  return isMissing && meta?.hcl !== undefined ? { ...diagnostic, detail: meta.hcl } : diagnostic;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;

/** A duration as Terraform's users write it (`90s`, `1h30m`), in milliseconds; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  return [...parts].reduce((sum, [, number = "0", unit = "s"]) => sum + Number(number) * (UNITS[unit] ?? 0), 0);
}

export function checkTimeouts({ timeouts }: ValueObject): Diagnostic[] {
  if (!isObject(timeouts)) return [];
  return Object.entries(timeouts).flatMap(([name, value]) => {
    if (typeof value !== "string" || durationMs(value) !== undefined) return [];
    return errorOf("config.invalid_value", `timeouts.${name}: expected a duration such as "90s", "20m" or "1h30m"`, {
      detail: `The value is ${JSON.stringify(value.slice(0, 80))}.`,
      attribute: ["timeouts", name],
    });
  });
}
