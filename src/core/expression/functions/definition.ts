import { ExpressionError } from "../../model/index.ts";
import { convertOr } from "../conversion.ts";
import { type BigFloat, toBigInt } from "../number.ts";
import { Refusal } from "../refusal.ts";
import {
  isKnown,
  isSecret,
  list,
  nullOf,
  originOf,
  secretIf,
  type Type,
  type Typed,
  text,
  unknown,
  withoutSecrets,
} from "../typed-value.ts";

// The definition of a function, and Terraform's processing of its arguments.

/** A parameter. Values that it does not declare to handle (null, unknown) never reach the function. */
export interface Parameter {
  /** Its name in Terraform's messages. */
  readonly name: string;
  /** Arguments are converted to it; `any` leaves them as they are. */
  readonly type: Type;
  readonly nullable?: true;
  readonly unknown?: true;
  /** A null or unknown value without a type. */
  readonly untyped?: true;
  /**
   * What makes the result secret, besides secret parts of it: the argument's own mark (`own`), or only what the function marks
   * (`parts`). Absent: any secret in the argument.
   */
  readonly secret?: "own" | "parts";
}

export interface Definition {
  readonly parameters: readonly Parameter[];
  /** Type of all further arguments. */
  readonly rest?: Parameter;
  /** The type of the result, as far as the arguments are known. @throws ArgumentError, CallError */
  readonly result: Type | ((args: readonly Typed[]) => Type);
  /** The result. All arguments have the type of their parameter. @throws ArgumentError, CallError */
  run(args: readonly Typed[], result: Type): Typed;
}

/** An error in one of the arguments. */
export class ArgumentError extends Error {
  readonly index: number;
  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/** An error in the call as a whole. */
export class CallError extends Error {}

/**
 * Calls a function as Terraform does: counts and converts arguments, refuses null ones, and returns an unknown value for unknown
 * ones.
 * @throws ExpressionError with offset 0; it does not show secret arguments.
 */
export function call(name: string, definition: Definition, given: readonly Typed[]): Typed {
  const parameterOf = countedParameters(name, definition, given.length);
  const hidden = given.some(isSecret);
  try {
    return prepared(
      definition,
      parameterOf,
      given.map((arg, i) => converted(arg, i, parameterOf(i).type)),
    );
  } catch (error) {
    throw described(error, name, (i) => parameterOf(i).name, hidden);
  }
}

/** The error as shown; without details when an argument is secret. */
function described(error: unknown, name: string, parameterName: (i: number) => string, hidden: boolean): unknown {
  if (error instanceof ArgumentError) {
    const what = hidden ? "the error is not shown, because an argument is secret" : error.message;
    return new ExpressionError(`Invalid value for "${parameterName(error.index)}" parameter: ${what}`);
  }
  const what = hidden ? "the reason is not shown, because an argument is secret" : "";
  if (error instanceof Refusal) return hidden ? new Refusal(`${name}() of this is not supported: ${what}`) : error;
  if (error instanceof CallError || error instanceof ExpressionError)
    return new ExpressionError(`Call to function "${name}" failed: ${hidden ? what : error.message}`);
  return error;
}

function countedParameters(name: string, { parameters, rest }: Definition, count: number): (i: number) => Parameter {
  const missing = parameters[count];
  if (missing !== undefined)
    throw new ExpressionError(
      `Function "${name}" expects ${rest ? "at least " : ""}${parameters.length} argument(s). Missing value for "${missing.name}"`,
    );
  if (rest === undefined && count > parameters.length)
    throw new ExpressionError(`Function "${name}" expects only ${parameters.length} argument(s); got ${count}`);
  return (i) => parameters[i] ?? rest ?? { name: "argument", type: "any" };
}

function converted(arg: Typed, index: number, type: Type): Typed {
  if (type === "any") return arg;
  return convertOr(arg, type, ({ message }) => new ArgumentError(index, message));
}

function prepared(definition: Definition, parameterOf: (i: number) => Parameter, given: readonly Typed[]): Typed {
  const marks = given.map((arg, i) => {
    const { secret } = parameterOf(i);
    return secret === "own" ? arg.secret : secret === undefined ? originOf(arg) : undefined;
  });
  const args = given.map((arg, i) => (parameterOf(i).secret === undefined ? withoutSecrets(arg) : arg));
  // Without a call, the result could be any part of a secret.
  const open = (type: Type) => secretIf(unknown(type), ...given.map(originOf));

  for (const [i, arg] of args.entries()) {
    const { nullable, untyped } = parameterOf(i);
    if (arg.content === null && nullable !== true) throw new ArgumentError(i, "argument must not be null");
    if (arg.type !== "any" || untyped === true) continue;
    if (arg.content !== null) return open("any");
    // For Terraform the result stays unknown, even after apply.
    throw new Refusal("an argument that is null without a type is not supported");
  }
  const type = typeof definition.result === "function" ? definition.result(args) : definition.result;
  if (args.some((arg, i) => !isKnown(arg) && parameterOf(i).unknown !== true)) return open(type);
  return secretIf(definition.run(args, type), ...marks);
}

/** A parameter for strings. */
export const textArg = (name: string): Parameter => ({ name, type: "string" });

/** The default in destructuring; the count of the arguments excludes it. */
export const NOTHING: Typed = nullOf("any");

/** The content of a known string that is not null, as the check of the arguments ensures. */
export function textOf({ content }: Typed): string {
  return typeof content === "string" ? content : "";
}

export const texts = (content: readonly string[]): Typed => list("string", content.map(text));

/** The content of a known number. */
export function numberIn({ content }: Typed): BigFloat {
  if (typeof content === "object" && content !== null && "mantissa" in content) return content;
  throw new CallError("a number is required");
}

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
const RANGE = `value must be a whole number, between ${LEAST} and ${MOST}`;

/** The argument as an index, a length, a base …; with `index`, the message names that argument. */
export function integerIn(arg: Typed, index?: number, prefix = ""): number {
  const value = numberIn(arg);
  const whole = value.exponent > 64 ? undefined : toBigInt(value);
  if (whole === undefined || whole < LEAST || whole > MOST)
    throw index === undefined ? new CallError(prefix + RANGE) : new ArgumentError(index, prefix + RANGE);
  return Number(whole);
}
