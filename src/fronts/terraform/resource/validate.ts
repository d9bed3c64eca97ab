import type { Kind } from "../../../core/kinds/kind.ts";
import { attributesOf, validate } from "../../../core/lifecycle/index.ts";
import type { Diagnostic, ValueObject } from "../../../core/model/index.ts";
import { declaredIn, labelOf } from "./attribute-mapping.ts";
import { checkTimeouts } from "./timeouts.ts";

/**
 * Checks the declaration of one resource; unknown values pass, Terraform asks again when they are known.
 * @param writeOnlyAllowed whether this Terraform keeps write-only attributes out of plan and state.
 */
export function validateResource(kind: Kind, config: ValueObject, writeOnlyAllowed: boolean): Diagnostic[] {
  const declared = declaredIn(kind, config);
  const found = validate(kind, declared, labelOf(kind, declared)).diagnostics.map((each) => inHcl(kind, each));
  const exposed = writeOnlyAllowed
    ? []
    : attributesOf(kind).filter(([name, , meta]) => meta.writeOnly && name in declared);
  const tooOld = exposed.map(
    ([name]): Diagnostic => ({
      severity: "error",
      code: "terraform.too_old",
      summary: `${name} needs Terraform 1.11 or later (OpenTofu 1.11)`,
      detail: "It is a write-only attribute: an older Terraform would write it into plan and state.",
      remedies: [`Use a newer Terraform; or leave ${name} out, and set it in the dashboard.`],
      attribute: [name],
    }),
  );
  return [...found, ...tooOld, ...checkTimeouts(config)];
}

/** What the configuration lacks, with what Terraform's users need to know of the attribute. */
function inHcl(kind: Kind, diagnostic: Diagnostic): Diagnostic {
  const { code, attribute: [name, ...deeper] = [] } = diagnostic;
  const [, , meta] = attributesOf(kind).find((one) => one[0] === name) ?? [];
  const isMissing = code === "config.missing_attribute" && deeper.length === 0;
  return isMissing && meta?.hcl !== undefined ? { ...diagnostic, detail: meta.hcl } : diagnostic;
}
