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

// Defines functions, and processes their arguments as Terraform does.

/**
 * Trait of a parameter. `nullable`, `unknown`, `untyped`: the function receives null, unknown, or untyped unknown arguments;
 * otherwise it is not called with these. By default, any secret part of the argument makes the result secret. `own`: only if
 * the whole argument is secret. `parts`: the function itself keeps the marks.
 */
type Trait = "nullable" | "unknown" | "untyped" | "own" | "parts";

export interface Parameter {
  /** Name in Terraform's messages. */
  readonly name: string;
  /** Type to which the argument is converted. `any`: no conversion. */
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
  /** Parameter of all further arguments. */
  readonly rest?: Parameter;
  /** Type of the result. May depend on the arguments. @throws CallError */
  readonly result: Type | ((...args: readonly Typed[]) => Type);
  /** Computes the result. The arguments already have the types of their parameters. @throws CallError */
  run(result: Type, ...args: readonly Typed[]): Typed;
}

/** Error about a call, or about its argument number `index` (from 0). */
export class CallError extends Error {
  readonly index: number | undefined;
  constructor(message: string, index?: number) {
    super(message);
    this.index = index;
  }
}

/**
 * Calls a function as Terraform does: checks the number of arguments, converts them, and rejects null. An unknown argument
 * makes the result unknown.
 * @throws ExpressionError with offset 0. The message contains no secret.
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

/** Prepares the arguments and calls the function. @param parameters One for each argument. @throws CallError */
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
  // If the function is not called, any part of its result may be secret.
  const open = (type: Type) => secretIf(unknown(type), ...given.map(originOf));

  for (const [i, arg] of args.entries()) {
    if (arg.content === null && !has(i, "nullable")) throw new CallError(CALLS.null_argument, i);
    if (arg.type !== "any" || has(i, "untyped")) continue;
    if (arg.content !== null) return open("any");
    // In Terraform, this result stays unknown even after the apply.
    throw new Refusal(CALLS.untyped_null);
  }
  const type = typeof result === "function" ? result(...args) : result;
  if (args.some((arg, i) => !isKnown(arg) && !has(i, "unknown"))) return open(type);
  return secretIf(run(type, ...args), ...marks);
}

/** Returns the content of a known string. Earlier checks exclude null. */
export function textOf({ content }: Typed): string {
  return typeof content === "string" ? content : "";
}

export const texts = (content: readonly string[]): Typed => list("string", content.map(text));

/** Returns the content of a known number. */
export function numberIn({ content }: Typed): BigFloat {
  if (typeof content === "object" && content !== null && "mantissa" in content) return content;
  throw new CallError(CALLS.number);
}

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

/** Returns the argument as an integer. @param index Position of the argument, for messages. */
export function integerIn(arg: Typed, index?: number): number {
  const value = numberIn(arg);
  const whole = value.exponent > 64 ? undefined : toBigInt(value);
  if (whole === undefined || whole < LEAST || whole > MOST) throw new CallError(CALLS.integer, index);
  return Number(whole);
}
