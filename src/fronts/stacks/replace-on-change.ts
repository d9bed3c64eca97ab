import { evaluate } from "../../core/expression/index.ts";
import { ExpressionError, inQuotes } from "../../core/model/index.ts";
import { attributeValue } from "./attribute-value.ts";
import { reportExpression } from "./compile.ts";
import type { Draft } from "./draft.ts";
import type { Common } from "./instance.ts";

/**
 * `replace_on_change` orders anew, in Terraform, whatever has no call to change it. Here that is said with each plan,
 * never once and for all.
 */
export function refuseReplaceOnChange({ base, replaceOnChange }: Draft, { surroundings, declared }: Common): void {
  const compiled = replaceOnChange?.compiled;
  if (replaceOnChange === undefined || compiled === undefined) return;
  const remark = { address: base, attribute: ["replace_on_change"] };
  try {
    const value = attributeValue(evaluate(compiled.expression, surroundings.names()), replaceOnChange.schema);
    if (value === false || value === null) return;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportExpression(error, compiled.tree, declared.diags, remark);
    return;
  }
  declared.diags.add(replaceOnChange.entry.keySpan, "config.unsupported", "`replace_on_change` is not supported here", {
    ...remark,
    fix: `Remove it. To order anew on purpose: \`hostform plan --reorder ${inQuotes(base)}\`; or apply the stack with Terraform.`,
  });
}
