import { convert, evaluate, isSecret, toValue } from "../../core/expression/index.ts";
import { ExpressionError, hasUnknown } from "../../core/model/index.ts";
import { type Entry, valueSpan } from "../source/tree.ts";
import { type Block, blocksOf } from "./blocks.ts";
import { compile, reportExpression } from "./compile.ts";
import { checkKeys, KEYS } from "./keys.ts";
import { checkNames, type Declared } from "./references.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Variable } from "./variables.ts";

/** Holds the values of variables against their `validation`. A value itself is in no message but that of the stack's own. */
export function validateVariables(surroundings: Surroundings, declared: Declared): void {
  for (const variable of surroundings.variables.values()) {
    const entry = variable.block.body.entries.get("validation");
    // Without a value, which is reported, there is nothing to hold against it.
    if (entry === undefined || typeof variable.value.content === "symbol") continue;
    for (const block of blocksOf(entry, [], declared.diags)) validate(variable, block, surroundings, declared);
  }
}

function validate(variable: Variable, block: Block, surroundings: Surroundings, declared: Declared): void {
  const { diags } = declared;
  checkKeys(block, KEYS["variable.validation"], (key) => `\`validation\` has no ${key} here`, diags);
  const condition = block.body.entries.get("condition");
  const message = block.body.entries.get("error_message");
  if (condition === undefined || message === undefined) {
    const fix = 'Write `{"condition": "${var.NAME > 0}", "error_message": "…"}`.';
    diags.add(block.body.span, "config.missing_attribute", "`validation` needs `condition` and `error_message`", {
      fix,
    });
    return;
  }
  const result = evaluated(condition, surroundings, declared);
  if (result === undefined) return;
  if (typeof result.value !== "boolean") {
    const summary = `The condition of the variable "${variable.name}" is neither true nor false`;
    diags.add(valueSpan(condition), "config.expression", summary, {
      fix: "Use the variable itself, other variables and locals: what is known before the account is asked.",
    });
    return;
  }
  if (result.value) return;
  const text = evaluated(message, surroundings, declared);
  const shown = text === undefined || text.secret || typeof text.value !== "string" ? undefined : text.value;
  const { name, from } = variable;
  diags.add(variable.block.keySpan, "config.variable", `The value of the variable "${name}" is not accepted`, {
    ...(shown !== undefined && { detail: shown }),
    fix:
      from === undefined
        ? "Correct its default, or give another value."
        : `Correct the value that is given by ${from}.`,
  });
}

function evaluated(entry: Entry, surroundings: Surroundings, declared: Declared) {
  const { diags } = declared;
  const compiled = compile(entry.value, diags);
  if (compiled === undefined || !checkNames(compiled, declared, {})) return undefined;
  try {
    const typed = evaluate(compiled.expression, surroundings.names());
    const value = toValue(entry.key === "condition" ? convert(typed, "bool") : typed);
    return { value: hasUnknown(value) ? null : value, secret: isSecret(typed) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    // Its words may repeat the value.
    const discreet = new ExpressionError("this cannot be evaluated", error.offset, error.path);
    reportExpression(discreet, entry.value, diags);
    return undefined;
  }
}
