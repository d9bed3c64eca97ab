import { CALLS } from "../../messages/expressions.ts";
import { ExpressionError, type Origin } from "../../model/index.ts";
import { convertOr } from "../conversion.ts";
import { type BigFloat, toBigInt } from "../number.ts";
import { Refusal } from "../refusal.ts";
import {
  isKnown,
  isSecret,
  list,
  originOf,
  secretIf,
  type Type,
  type Typed,
  text,
  unknown,
  withoutSecrets,
} from "../typed-value.ts";

// The definition of a function, and Terraform's processing of its arguments.

/**
 * A property of a parameter. Values of a kind that it does not declare (`nullable`, `unknown`, `untyped`: null or unknown without a
 * type) never reach the function. By default any secret in the argument makes the result secret; `own`: only the argument's own mark;
 * `parts`: only the marks that the function keeps.
 */
type Trait = "nullable" | "unknown" | "untyped" | "own" | "parts";

export interface Parameter {
  /** Its name in Terraform's messages. */
  readonly name: string;
  /** Arguments are converted to it; `any` accepts them unchanged. */
  readonly type: Type;
  readonly traits: readonly Trait[];
}

export const take = (name: string, type: Type = "string", ...traits: readonly Trait[]): Parameter => ({
  name,
  type,
  traits,
});

export interface Definition {
  readonly parameters: readonly Parameter[];
  /** Type of all further arguments. */
  readonly rest?: Parameter;
  /** The type of the result, as far as the arguments are known. @throws CallError */
  readonly result: Type | ((...args: readonly Typed[]) => Type);
  /** The result. All arguments have the type of their parameter. @throws CallError */
  run(result: Type, ...args: readonly Typed[]): Typed;
}

/** An error in a call; with `index` in that argument. */
export class CallError extends Error {
  readonly index: number | undefined;
  constructor(message: string, index?: number) {
    super(message);
    this.index = index;
  }
}

/**
 * Calls a function as Terraform does: counts and converts arguments, refuses null ones, and returns an unknown value for unknown
 * ones.
 * @throws ExpressionError with offset 0; it does not show secret arguments.
 */
export function call(name: string, definition: Definition, given: readonly Typed[]): Typed {
  const { parameters, rest } = definition;
  const missing = parameters[given.length];
  if (missing !== undefined)
    throw new ExpressionError(CALLS.missing(name, rest !== undefined, parameters.length, missing.name));
  if (rest === undefined && given.length > parameters.length)
    throw new ExpressionError(CALLS.count(name, parameters.length, given.length));
  const parameterOf = (i: number) => parameters[i] ?? rest ?? take("argument");
  try {
    return prepared(
      definition,
      given,
      given.map((_, i) => parameterOf(i)),
    );
  } catch (error) {
    const hidden = given.some(isSecret);
    if (error instanceof Refusal) throw hidden ? new Refusal(CALLS.unsupported_secret(name)) : error;
    if (!(error instanceof CallError || error instanceof ExpressionError)) throw error;
    const index = error instanceof CallError ? error.index : undefined;
    if (index === undefined)
      throw new ExpressionError(CALLS.failed(name, hidden ? CALLS.hidden_reason : error.message));
    const why = hidden ? CALLS.hidden_argument : error.message;
    throw new ExpressionError(CALLS.argument(parameterOf(index).name, why));
  }
}

/** @param parameters one for each argument. @throws CallError */
function prepared({ result, run }: Definition, given: readonly Typed[], parameters: readonly Parameter[]): Typed {
  const has = (i: number, trait: Trait) => parameters[i]?.traits.includes(trait) === true;
  const marks: (Origin | undefined)[] = [];
  const args = given.map((arg, i) => {
    const type = parameters[i]?.type ?? "any";
    const converted = type === "any" ? arg : convertOr(arg, type, ({ message }) => new CallError(message, i));
    if (has(i, "parts")) return converted;
    marks.push(has(i, "own") ? converted.secret : originOf(converted));
    return has(i, "own") ? converted : withoutSecrets(converted);
  });
  // Without a call, the result could be any part of a secret.
  const open = (type: Type) => secretIf(unknown(type), ...given.map(originOf));

  for (const [i, arg] of args.entries()) {
    if (arg.content === null && !has(i, "nullable")) throw new CallError(CALLS.null_argument, i);
    if (arg.type !== "any" || has(i, "untyped")) continue;
    if (arg.content !== null) return open("any");
    // For Terraform the result stays unknown, even after apply.
    throw new Refusal(CALLS.untyped_null);
  }
  const type = typeof result === "function" ? result(...args) : result;
  if (args.some((arg, i) => !isKnown(arg) && !has(i, "unknown"))) return open(type);
  return secretIf(run(type, ...args), ...marks);
}

/** The content of a known string that is not null, as the check of the arguments ensures. */
export function textOf({ content }: Typed): string {
  return typeof content === "string" ? content : "";
}

export const texts = (content: readonly string[]): Typed => list("string", content.map(text));

/** The content of a known number. */
export function numberIn({ content }: Typed): BigFloat {
  if (typeof content === "object" && content !== null && "mantissa" in content) return content;
  throw new CallError(CALLS.number);
}

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

/** The argument as an index, a length, a base …; with `index`, the message names that argument. */
export function integerIn(arg: Typed, index?: number, prefix = ""): number {
  const value = numberIn(arg);
  const whole = value.exponent > 64 ? undefined : toBigInt(value);
  if (whole === undefined || whole < LEAST || whole > MOST) throw new CallError(prefix + CALLS.integer, index);
  return Number(whole);
}
