import {
  attempt,
  callIn,
  convert,
  evaluate,
  fromValue,
  isSecret,
  parseExpression,
  parseType,
  stored,
  type Type,
  type Typed,
  toValue,
} from "../../core/expression/index.ts";
import { VALUES } from "../../core/messages/expressions.ts";
import { ExpressionError, hasUnknown, type Json, type Value, type VariableValue } from "../../core/model/index.ts";
import { checkName, type DiagnosticCollector } from "../source/diagnostics.ts";
import { type Entry, isGiven, toJson, valueSpan } from "../source/tree.ts";
import { type Block, blocksOf, checkKeys, type KEYS, literalFlag, literalText } from "./blocks.ts";
import { MISSING, reportExpression } from "./expressions.ts";
import { problem } from "./messages.ts";
import { compileNamed } from "./references.ts";
import type { StackContext, Variable } from "./stack-context.ts";

/** Reads the variables of a stack: given values or defaults, checked by type and validations. */

/** A given value of a variable. */
export interface GivenVariable {
  readonly name: string;
  /** Origin of the value: `-var`, `TF_VAR_name`, or a file name. */
  readonly from: string;
  /** A string, which is parsed with the type of the variable, or a JSON value from a file. A withheld value is unknown. */
  readonly value: { readonly text: string } | { readonly json: Value };
}

/**
 * Reads the variables with their values: the last given value, or else the default. Messages contain no value. `validation`
 * runs later, because it may refer to other names.
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
  const severity = from === "-var" ? "error" : "warning";
  diags.add(undefined, problem("config.variable/undeclared", { ...diags.unknown(name, names), from, severity }));
}

function readVariable(
  name: string,
  block: Block,
  given: GivenVariable | undefined,
  diags: DiagnosticCollector,
): Variable {
  const { body, keySpan } = block;
  checkName(name, keySpan, "variable", diags);
  checkKeys(block, "variable", diags);
  const entry = (key: (typeof KEYS.variable.known)[number]) => body.entries.get(key);
  const type = typeOf(entry("type"), diags);
  const sensitive = literalFlag(entry("sensitive"), diags) ?? false;
  const ephemeral = literalFlag(entry("ephemeral"), diags) ?? false;
  const nullable = literalFlag(entry("nullable"), diags) ?? true;
  literalText(entry("description"), diags);
  const secret = sensitive || ephemeral;
  const fallback = defaultOf(entry("default"), type?.type, { name, secret }, diags);
  const own = given && type && givenValue(given, type, block, diags);
  // Without `nullable`, null means the default.
  const value = own === undefined || (own.content === null && !nullable) ? fallback : own;
  if (value === undefined && type !== undefined && entry("default") === undefined && (given === undefined || own)) {
    diags.add(keySpan, problem("config.variable/missing", { name }));
  }
  const known = value ?? MISSING;
  const from = value === undefined || value !== own ? undefined : given?.from;
  return {
    name,
    block,
    value: secret ? { ...known, secret: { from: [`var.${name}`] } } : known,
    sensitive: secret,
    ephemeral,
    from,
  };
}

interface VariableType {
  readonly type: Type;
  /** True if a given string is the value itself. False if it is an expression. */
  readonly plain: boolean;
}

/** Returns the type of a variable. @returns undefined after a reported error. */
function typeOf(entry: Entry | undefined, diags: DiagnosticCollector): VariableType | undefined {
  if (entry === undefined) return { type: "any", plain: true };
  const text = literalText(entry, diags);
  if (text === undefined) return undefined;
  const type = attempt(
    () => parseType(text),
    ({ message }) => {
      return diags.add(valueSpan(entry), problem("config.variable/type", { message }));
    },
  );
  return type && { type, plain: type === "string" || type === "number" || type === "bool" };
}

/** Returns the default. As in Terraform, it is a literal. */
function defaultOf(
  entry: Entry | undefined,
  type: Type | undefined,
  { name, secret }: { readonly name: string; readonly secret: boolean },
  diags: DiagnosticCollector,
): Typed | undefined {
  if (entry === undefined || type === undefined) return undefined;
  const read = () => stored(convert(fromValue(toJson(entry.value)), type));
  return attempt(read, ({ message }) => {
    const why = secret ? undefined : message;
    return diags.add(entry.keySpan, problem("config.variable/default", { name, why }));
  });
}

/** Evaluates a given string. As in Terraform, it cannot contain names or calls. */
function literal(text: string): Typed {
  const expression = parseExpression(text);
  if (callIn(expression) !== undefined) throw new ExpressionError(VALUES.call);
  return evaluate(expression, { resolve: () => undefined });
}

/** Returns the given value. @returns undefined after a reported error. */
function givenValue(
  { name, from, value }: GivenVariable,
  { type, plain }: VariableType,
  block: Block,
  diags: DiagnosticCollector,
): Typed | undefined {
  const read = () => {
    const given = "json" in value ? fromValue(value.json) : plain ? fromValue(value.text) : literal(value.text);
    return stored(convert(given, type));
  };
  // The original message may contain the value, which may be secret.
  return attempt(read, () => diags.add(block.keySpan, problem("config.variable/value", { name, from, plain })));
}

/** Returns the known values for reports. Sensitive values are null. */
export function valuesOf(variables: ReadonlyMap<string, Variable>): VariableValue[] {
  return [...variables.values()].flatMap(({ name, block, value, sensitive }): VariableValue[] => {
    const isChecked = block.body.entries.has("validation");
    if (sensitive) return [{ name, value: null, sensitive, isChecked }];
    if (typeof value.content === "symbol") return [];
    const plain = toValue(value);
    return hasUnknown(plain) ? [] : [{ name, value: plain as Json, sensitive, isChecked }];
  });
}

/** Runs the `validation` blocks. Only the message in the stack may contain a value. */
export function validateVariables(context: StackContext): void {
  for (const variable of context.variables.values()) {
    const entry = variable.block.body.entries.get("validation");
    // A missing value was reported earlier.
    if (entry === undefined || typeof variable.value.content === "symbol") continue;
    for (const block of blocksOf(entry, [], context.diags)) validate(variable, block, context);
  }
}

function validate({ name, from, block: { keySpan } }: Variable, block: Block, context: StackContext): void {
  const { diags } = context;
  checkKeys(block, "variable.validation", diags);
  const { span, entries } = block.body;
  const condition = entries.get("condition");
  const message = entries.get("error_message");
  if (condition === undefined || message === undefined) {
    diags.add(span, problem("config.missing_attribute/validation"));
    return;
  }
  const result = validationValue(condition, context);
  if (result === undefined) return;
  if (typeof result.value !== "boolean") {
    diags.add(valueSpan(condition), problem("config.expression/validation", { name }));
    return;
  }
  if (result.value) return;
  const text = validationValue(message, context);
  const why = text?.secret === false && typeof text.value === "string" ? text.value : undefined;
  diags.add(keySpan, problem("config.variable/refused", { name, from, why }));
}

function validationValue(entry: Entry, context: StackContext) {
  const { diags } = context;
  const compiled = compileNamed(entry.value, context);
  if (compiled === undefined) return undefined;
  const compute = () => {
    const typed = evaluate(compiled.expression, context.names());
    const value = toValue(entry.key === "condition" ? convert(typed, "bool") : typed);
    return { value: hasUnknown(value) ? null : value, secret: isSecret(typed) };
  };
  return attempt(compute, ({ offset, path }) => {
    // The original message may contain the value.
    reportExpression(new ExpressionError(VALUES.unreadable, offset, path), entry.value, diags);
    return undefined;
  });
}

/**
 * Returns the environment variable that contains the token of a provider. The declaration never contains the token: `token`
 * must be a variable of the stack, and its value must come from the environment.
 * @returns undefined if there is none, or after a reported error.
 */
export function tokenVariable(entry: Entry, context: StackContext): string | undefined {
  if (!isGiven(entry)) return undefined;
  const { diags, variables } = context;
  const compiled = compileNamed(entry.value, context, {}, { isHidden: true });
  if (compiled === undefined) return undefined;
  const [only, ...others] = compiled.traversals;
  if (only === undefined) {
    return diags.add(entry.keySpan, problem("config.secret/token"));
  }
  const variable = only.root === "var" ? variables.get(String(only.steps[0])) : undefined;
  const lone = others.length === 0 && compiled.json === `\${${only.text}}` && only.steps.length === 1;
  if (variable === undefined || !lone) {
    return diags.add(entry.keySpan, problem("config.unsupported/token"));
  }
  if (variable.value.content === null) return undefined;
  if (variable.from?.startsWith("TF_VAR_")) return variable.from;
  // A missing value was reported elsewhere.
  if (typeof variable.value.content === "symbol") return undefined;
  return diags.add(entry.keySpan, problem("config.secret/token_source", { name: variable.name, from: variable.from }));
}
