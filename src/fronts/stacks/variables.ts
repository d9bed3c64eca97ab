import {
  callIn,
  convert,
  evaluate,
  fromValue,
  isSecret,
  parseExpression,
  parseType,
  type Type,
  type Typed,
  toValue,
} from "../../core/expression/index.ts";
import { ExpressionError, hasUnknown, type Value } from "../../core/model/index.ts";
import { checkName, type DiagnosticCollector, suggestionOf } from "../source/diagnostics.ts";
import { type Entry, toJson, valueSpan } from "../source/tree.ts";
import { type Block, blocksOf, checkKeys, KEYS, literalFlag, literalText } from "./blocks.ts";
import { attempt, compile, MISSING, reportExpression } from "./expressions.ts";
import { checkNames } from "./references.ts";
import type { StackContext, Variable } from "./stack-context.ts";

/** The variables of a stack: their values, from outside or by default, held against their types and validations. */

/** A value that somebody gave for a variable. */
export interface GivenVariable {
  readonly name: string;
  /** `-var`, `TF_VAR_name`, or the name of the file that it stands in. */
  readonly from: string;
  /** A text, to be read as the variable's type asks for; or a JSON value of a file, unknown where it is withheld. */
  readonly value: { readonly text: string } | { readonly json: Value };
}

/**
 * The variables of a stack with their values: what was given last, else the default. A value is never part of a message.
 * Their `validation` is not looked at: it may use other names.
 */
export function readVariables(
  blocks: ReadonlyMap<string, Block>,
  given: readonly GivenVariable[],
  diags: DiagnosticCollector,
): ReadonlyMap<string, Variable> {
  for (const one of given) if (!blocks.has(one.name)) reportUndeclared(one, [...blocks.keys()], diags);
  const last = new Map(given.map((one) => [one.name, one]));
  return new Map([...blocks].map(([name, block]) => [name, readVariable(name, block, last.get(name), diags)]));
}

function reportUndeclared({ name, from }: GivenVariable, names: readonly string[], diags: DiagnosticCollector): void {
  if (from.startsWith("TF_VAR_")) return;
  const summary = `The stack declares no variable "${name.slice(0, 100)}".${suggestionOf(diags.nearest(name, names))}`;
  const detail = `A value for it is given by ${from}.`;
  if (from === "-var")
    diags.add(undefined, "config.variable", summary, { detail, fix: "Leave it out, or correct the name." });
  else
    diags.warn(undefined, "config.variable", summary, { detail, fix: "Remove it from the file, or correct the name." });
}

function readVariable(
  name: string,
  block: Block,
  given: GivenVariable | undefined,
  diags: DiagnosticCollector,
): Variable {
  const { body, keySpan } = block;
  checkName(name, keySpan, "the name of a variable", diags);
  checkKeys(block, KEYS.variable, (key) => `A variable has no ${key}`, diags);
  const entry = (key: (typeof KEYS.variable.known)[number]) => body.entries.get(key);
  const type = typeOf(entry("type"), diags);
  const sensitive = literalFlag(entry("sensitive"), diags) ?? false;
  const ephemeral = literalFlag(entry("ephemeral"), diags) ?? false;
  const nullable = literalFlag(entry("nullable"), diags) ?? true;
  literalText(entry("description"), diags);
  const secret = sensitive || ephemeral;
  const fallback = defaultOf(entry("default"), type?.type, { name, secret }, diags);
  const own = given && type && givenValue(given, type, block, diags);
  // What may not be null and is given as null takes its default.
  const value = own === undefined || (own.content === null && !nullable) ? fallback : own;
  if (value === undefined && type !== undefined && entry("default") === undefined && (given === undefined || own)) {
    diags.add(keySpan, "config.variable", `The variable "${name}" has no value`, {
      fix: `Set the environment variable TF_VAR_${name}, or give \`--var '${name}=…'\`.`,
    });
  }
  const known = value ?? MISSING;
  const from = value === undefined || value !== own ? undefined : given?.from;
  return { name, block, value: secret ? { ...known, secret } : known, sensitive: secret, ephemeral, from };
}

interface VariableType {
  readonly type: Type;
  /** A text that is given is the value itself, not an expression. */
  readonly plain: boolean;
}

/** @returns undefined after a mistake. */
function typeOf(entry: Entry | undefined, diags: DiagnosticCollector): VariableType | undefined {
  if (entry === undefined) return { type: "any", plain: true };
  const text = literalText(entry, diags);
  if (text === undefined) return undefined;
  const type = attempt(
    () => parseType(text),
    ({ message }) => {
      diags.add(valueSpan(entry), "config.variable", `This is not the type of a variable: ${message}`, {
        fix: "Write a type such as string, number, bool, list(string) or object({name=string}).",
      });
      return undefined;
    },
  );
  return type && { type, plain: type === "string" || type === "number" || type === "bool" };
}

/** The default is a literal: nothing in it is evaluated, as in Terraform. */
function defaultOf(
  entry: Entry | undefined,
  type: Type | undefined,
  { name, secret }: { readonly name: string; readonly secret: boolean },
  diags: DiagnosticCollector,
): Typed | undefined {
  if (entry === undefined || type === undefined) return undefined;
  const read = () => convert(fromValue(toJson(entry.value)), type);
  return attempt(read, ({ message }) => {
    diags.add(entry.keySpan, "config.variable", `The default of the variable "${name}" does not fit its type`, {
      ...(!secret && { detail: message }),
      fix: "Correct the default, or the type.",
    });
    return undefined;
  });
}

/** What is given from outside is evaluated, and may neither name nor call anything: Terraform refuses it. */
function literal(text: string): Typed {
  const expression = parseExpression(text);
  if (callIn(expression) !== undefined) throw new ExpressionError("function calls are not allowed here", 0);
  return evaluate(expression, { resolve: () => undefined });
}

/** @returns undefined after a mistake. */
function givenValue(
  { name, from, value }: GivenVariable,
  { type, plain }: VariableType,
  block: Block,
  diags: DiagnosticCollector,
): Typed | undefined {
  const read = () => {
    if ("json" in value) return convert(fromValue(value.json), type);
    return convert(plain ? fromValue(value.text) : literal(value.text), type);
  };
  return attempt(read, () => {
    diags.add(block.keySpan, "config.variable", `The value of the variable "${name}" does not fit its type`, {
      // The message of the failure may repeat the value, which is a secret perhaps.
      detail: `It is given by ${from}.`,
      fix: plain
        ? "Correct the value that is given."
        : `Give it as an expression: \`'["a", "b"]'\` or \`'{name = "a"}'\`, with quotes around every string, and without functions.`,
    });
    return undefined;
  });
}

/** Holds the values of variables against their `validation`. A value itself is in no message but that of the stack's own. */
export function validateVariables(context: StackContext): void {
  for (const variable of context.variables.values()) {
    const entry = variable.block.body.entries.get("validation");
    // Without a value, which is reported, there is nothing to hold against it.
    if (entry === undefined || typeof variable.value.content === "symbol") continue;
    for (const block of blocksOf(entry, [], context.diags)) validate(variable, block, context);
  }
}

function validate({ name, from, block: { keySpan } }: Variable, block: Block, context: StackContext): void {
  const { diags } = context;
  checkKeys(block, KEYS["variable.validation"], (key) => `\`validation\` has no ${key} here`, diags);
  const { span, entries } = block.body;
  const condition = entries.get("condition");
  const message = entries.get("error_message");
  if (condition === undefined || message === undefined) {
    const fix = 'Write `{"condition": "${var.NAME > 0}", "error_message": "…"}`.';
    const summary = "`validation` needs `condition` and `error_message`";
    diags.add(span, "config.missing_attribute", summary, { fix });
    return;
  }
  const result = validationValue(condition, context);
  if (result === undefined) return;
  if (typeof result.value !== "boolean") {
    const summary = `The condition of the variable "${name}" is neither true nor false`;
    diags.add(valueSpan(condition), "config.expression", summary, {
      fix: "Use the variable itself, other variables and locals: what is known before the account is asked.",
    });
    return;
  }
  if (result.value) return;
  const text = validationValue(message, context);
  diags.add(keySpan, "config.variable", `The value of the variable "${name}" is not accepted`, {
    ...(text?.secret === false && typeof text.value === "string" && { detail: text.value }),
    fix:
      from === undefined
        ? "Correct its default, or give another value."
        : `Correct the value that is given by ${from}.`,
  });
}

function validationValue(entry: Entry, context: StackContext) {
  const { diags } = context;
  const compiled = compile(entry.value, diags);
  if (compiled === undefined || !checkNames(compiled, context, {})) return undefined;
  const compute = () => {
    const typed = evaluate(compiled.expression, context.names());
    const value = toValue(entry.key === "condition" ? convert(typed, "bool") : typed);
    return { value: hasUnknown(value) ? null : value, secret: isSecret(typed) };
  };
  return attempt(compute, ({ offset, path }) => {
    // Its words may repeat the value.
    reportExpression(new ExpressionError("this cannot be evaluated", offset, path), entry.value, diags);
    return undefined;
  });
}
