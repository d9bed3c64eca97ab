import { ExpressionError } from "../model/index.ts";

// What hostform does not evaluate, though Terraform does, and what neither should: tokens that CDKTF has not resolved.

/**
 * Terraform would compute this and hostform does not. Unlike a mistake in the expression, which `try`, `can` and the branch
 * of a condition that is not taken may pass over, a refusal is never passed over: what comes out would be another value.
 */
export class Refusal extends ExpressionError {}

/** The same error at another place; a refusal stays one. */
export function placed(
  error: ExpressionError,
  place: Partial<Pick<ExpressionError, "offset" | "path" | "message">>,
): ExpressionError {
  const { message, offset, path } = { message: error.message, offset: error.offset, path: error.path, ...place };
  return error instanceof Refusal ? new Refusal(message, offset, path) : new ExpressionError(message, offset, path);
}

/** Runs what may go deeper than the stack of this process. @throws Refusal when it does. */
export function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal("the expression or a value in it is nested too deeply", 0);
    throw error;
  }
}

/** `TfToken[TOKEN.3]`, or a number that stands for a token, written out: `-8.109073448161234e+298`. */
const IN_TEXT = /TfToken\[[\w:.-]+\]|\bToken\[[\w:.-]+\.\d+\]|-?\d(?:\.\d{6,})?e\+29[0-9]/;
/** CDKTF's numeric tokens are about -8.1e+298; what code computes with one stays near. */
const LEAST = 1e290;

const ADVICE =
  "in code, before CDKTF resolved it; use Fn… and Op… of the library (or Token.asString) on values that are known only later";

/** @throws ExpressionError when a token of CDKTF went into a text in place of what it stands for. */
export function caughtToken(text: string, offset: number): void {
  const match = IN_TEXT.exec(text);
  if (match !== null)
    throw new ExpressionError(
      `${match[0]} is a token of CDKTF that was used as a string ${ADVICE}`,
      offset + match.index,
    );
}

/** @throws ExpressionError when a number is a token of CDKTF, or what comes of computing with one. */
export function caughtNumber(value: number, offset: number): void {
  if (Math.abs(value) >= LEAST)
    throw new ExpressionError(`${value} is a token of CDKTF that was used as a number ${ADVICE}`, offset);
}
