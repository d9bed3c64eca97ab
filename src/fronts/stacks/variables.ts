import {
  callIn,
  convert,
  evaluate,
  fromValue,
  type Names,
  parseExpression,
  parseType,
  type Type,
  type Typed,
} from "../../core/expression/index.ts";
import { ExpressionError, isName, UNKNOWN } from "../../core/model/index.ts";
import { type DiagnosticCollector, didYouMean } from "../source/diagnostics.ts";
import { type Entry, toJson, valueSpan } from "../source/tree.ts";
import { type Block, flagOf, textOf } from "./blocks.ts";
import { checkKeys, KEYS } from "./keys.ts";
import type { GivenVariable } from "./options.ts";

/** A declared variable with its value. */
export interface Variable {
  readonly name: string;
  readonly block: Block;
  readonly value: Typed;
  readonly sensitive: boolean;
  /** May only go where nothing is recorded. */
  readonly ephemeral: boolean;
  /** Who gave the value; undefined: its default. */
  readonly from: string | undefined;
}

/** The value where a mistake, which is reported, leaves none. */
export const MISSING: Typed = { type: "any", content: UNKNOWN };

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
  const summary = `The stack declares no variable "${name.slice(0, 100)}".${didYouMean(diags.nearest(name, names))}`;
  const detail = `A value for it is given by ${from}.`;
  if (from === "-var")
    diags.add(undefined, "config.variable", summary, { detail, fix: "Leave it out, or correct the name." });
  else
    diags.warn(undefined, "config.variable", summary, {
      detail,
      fix: "Remove it from the file, or correct the name.",
    });
}

function readVariable(
  name: string,
  block: Block,
  given: GivenVariable | undefined,
  diags: DiagnosticCollector,
): Variable {
  const { body, keySpan } = block;
  if (!isName(name)) {
    const fix = "Use letters, digits, `_` and `-`, beginning with a letter.";
    diags.add(keySpan, "config.structure", `"${name.slice(0, 100)}" cannot be the name of a variable`, { fix });
  }
  checkKeys(block, KEYS.variable, (key) => `A variable has no ${key}`, diags);
  const entry = (key: (typeof KEYS.variable.known)[number]) => body.entries.get(key);
  const type = typeOf(entry("type"), diags);
  const sensitive = flagOf(entry("sensitive"), diags) ?? false;
  const ephemeral = flagOf(entry("ephemeral"), diags) ?? false;
  const nullable = flagOf(entry("nullable"), diags) ?? true;
  textOf(entry("description"), diags);
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
  const from = value === undefined || value !== own ? undefined : given?.from;
  return { name, block, value: marked(value ?? MISSING, secret), sensitive: secret, ephemeral, from };
}

const marked = (value: Typed, secret: boolean): Typed => (secret ? { ...value, secret: true } : value);

interface VariableType {
  readonly type: Type;
  /** A text that is given is the value itself, not an expression. */
  readonly plain: boolean;
}

/** @returns undefined after a mistake. */
function typeOf(entry: Entry | undefined, diags: DiagnosticCollector): VariableType | undefined {
  if (entry === undefined) return { type: "any", plain: true };
  const text = textOf(entry, diags);
  if (text === undefined) return undefined;
  try {
    const type = parseType(text);
    return { type, plain: type === "string" || type === "number" || type === "bool" };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    diags.add(valueSpan(entry), "config.variable", `This is not the type of a variable: ${error.message}`, {
      fix: "Write a type such as string, number, bool, list(string) or object({name=string}).",
    });
    return undefined;
  }
}

/** The default is a literal: nothing in it is evaluated, as in Terraform. */
function defaultOf(
  entry: Entry | undefined,
  type: Type | undefined,
  { name, secret }: { readonly name: string; readonly secret: boolean },
  diags: DiagnosticCollector,
): Typed | undefined {
  if (entry === undefined || type === undefined) return undefined;
  try {
    return convert(fromValue(toJson(entry.value)), type);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    diags.add(entry.keySpan, "config.variable", `The default of the variable "${name}" does not fit its type`, {
      ...(!secret && { detail: error.message }),
      fix: "Correct the default, or the type.",
    });
    return undefined;
  }
}

/** No name and no function means anything where a value is given from outside. */
const NOTHING: Names = { resolve: () => undefined };

/** What is given from outside is evaluated, and may neither name nor call anything: Terraform refuses it. */
function literal(text: string): Typed {
  const expression = parseExpression(text);
  if (callIn(expression) !== undefined) throw new ExpressionError("function calls are not allowed here", 0);
  return evaluate(expression, NOTHING);
}

/** @returns undefined after a mistake. */
function givenValue(
  { name, from, value }: GivenVariable,
  { type, plain }: VariableType,
  block: Block,
  diags: DiagnosticCollector,
): Typed | undefined {
  try {
    if ("json" in value) return convert(fromValue(value.json), type);
    return convert(plain ? fromValue(value.text) : literal(value.text), type);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const fix = plain
      ? "Correct the value that is given."
      : `Give it as an expression: \`'["a", "b"]'\` or \`'{name = "a"}'\`, with quotes around every text, and without functions.`;
    diags.add(block.keySpan, "config.variable", `The value of the variable "${name}" does not fit its type`, {
      // The message of the failure may repeat the value, which is a secret perhaps.
      detail: `It is given by ${from}.`,
      fix,
    });
    return undefined;
  }
}
