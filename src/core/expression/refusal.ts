import { SYNTAX } from "../messages/expressions.ts";
import { ExpressionError } from "../model/index.ts";

// Errors about expressions that only Terraform evaluates, and about unresolved CDKTF tokens.

/**
 * Error about an expression that Terraform supports but hostform does not. `try`, `can` and unselected branches ignore errors,
 * but never a refusal, because the result would differ from Terraform's.
 */
export class Refusal extends ExpressionError {}

/** Returns the result of a computation, or of `instead` after an ExpressionError. */
export function attempt<T, U>(compute: () => T, instead: (error: ExpressionError) => U): T | U {
  try {
    return compute();
  } catch (error) {
    if (error instanceof ExpressionError) return instead(error);
    throw error;
  }
}

/** Runs, and replaces an ExpressionError. Refusals are not replaced. */
export function replacingErrors<T>(run: () => T, replace: (error: ExpressionError) => Error): T {
  return attempt(run, (error) => {
    throw error instanceof Refusal ? error : replace(error);
  });
}

/** Returns the same error at another position. A refusal stays a refusal. */
export function placed(
  error: ExpressionError,
  place: Partial<Pick<ExpressionError, "offset" | "path" | "message">>,
): ExpressionError {
  const { message, offset, path } = { message: error.message, offset: error.offset, path: error.path, ...place };
  return error instanceof Refusal ? new Refusal(message, offset, path) : new ExpressionError(message, offset, path);
}

/** Runs a recursion. @throws Refusal if the call stack overflows. */
export function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(SYNTAX.nested);
    throw error;
  }
}

/** CDKTF token in a text: `TfToken[TOKEN.3]`, or a number that encodes a token such as `-8.109073448161234e+298`. */
const IN_TEXT = /TfToken\[[\w:.-]+\]|\bToken\[[\w:.-]+\.\d+\]|-?\d(?:\.\d{6,})?e\+29[0-9]/;
/** Lower bound of numeric CDKTF tokens, which are about -8.1e+298. Results computed with a token are equally large. */
const LEAST = 1e290;

/** @throws ExpressionError if a text contains a CDKTF token. */
export function caughtToken(text: string, offset: number): void {
  const match = IN_TEXT.exec(text);
  if (match !== null) throw new ExpressionError(SYNTAX.token(match[0]), offset + match.index);
}

/** @throws ExpressionError if a number is a CDKTF token, or was computed with one. */
export function caughtNumber(value: number, offset: number): void {
  if (Math.abs(value) >= LEAST) throw new ExpressionError(SYNTAX.token(value), offset);
}
