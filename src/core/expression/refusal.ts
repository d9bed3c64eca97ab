import { SYNTAX } from "../messages/expressions.ts";
import { ExpressionError } from "../model/index.ts";

// Errors for expressions that only Terraform evaluates, and for unresolved tokens of CDKTF.

/**
 * An expression that Terraform evaluates and hostform does not. `try`, `can` and unselected branches of conditions ignore an
 * error in an expression, but never a refusal: the result would differ from Terraform's.
 */
export class Refusal extends ExpressionError {}

/** The result of a computation, or of `instead` after an error in an expression. */
export function attempt<T, U>(compute: () => T, instead: (error: ExpressionError) => U): T | U {
  try {
    return compute();
  } catch (error) {
    if (error instanceof ExpressionError) return instead(error);
    throw error;
  }
}

/** Runs; an ExpressionError is replaced, a refusal is not. */
export function replacingErrors<T>(run: () => T, replace: (error: ExpressionError) => Error): T {
  return attempt(run, (error) => {
    throw error instanceof Refusal ? error : replace(error);
  });
}

/** The same error at another place; a refusal remains one. */
export function placed(
  error: ExpressionError,
  place: Partial<Pick<ExpressionError, "offset" | "path" | "message">>,
): ExpressionError {
  const { message, offset, path } = { message: error.message, offset: error.offset, path: error.path, ...place };
  return error instanceof Refusal ? new Refusal(message, offset, path) : new ExpressionError(message, offset, path);
}

/** Runs a recursion. @throws Refusal when it exceeds the call stack. */
export function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(SYNTAX.nested);
    throw error;
  }
}

/** `TfToken[TOKEN.3]`, or a number that encodes a token: `-8.109073448161234e+298`. */
const IN_TEXT = /TfToken\[[\w:.-]+\]|\bToken\[[\w:.-]+\.\d+\]|-?\d(?:\.\d{6,})?e\+29[0-9]/;
/** CDKTF's numeric tokens are about -8.1e+298, and so are results computed with one. */
const LEAST = 1e290;

/** @throws ExpressionError when a text contains a CDKTF token instead of its value. */
export function caughtToken(text: string, offset: number): void {
  const match = IN_TEXT.exec(text);
  if (match !== null) throw new ExpressionError(SYNTAX.token(match[0]), offset + match.index);
}

/** @throws ExpressionError when a number is a CDKTF token, or was computed with one. */
export function caughtNumber(value: number, offset: number): void {
  if (Math.abs(value) >= LEAST) throw new ExpressionError(SYNTAX.token(value), offset);
}
