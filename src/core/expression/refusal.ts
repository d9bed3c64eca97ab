import { SYNTAX } from "../messages/expressions.ts";
import { ExpressionError } from "../model/index.ts";

// Errors about expressions that only Terraform evaluates, and about unresolved CDKTF tokens.

/**
 * Error about an expression that Terraform supports and hostform does not. `try`, `can` and unselected branches ignore other
 * errors, but never a refusal: the result would differ from Terraform's.
 */
export class Refusal extends ExpressionError {}

/** Returns the result of `compute`. After an ExpressionError: of `instead`. */
export function attempt<T, U>(compute: () => T, instead: (error: ExpressionError) => U): T | U {
  try {
    return compute();
  } catch (error) {
    if (error instanceof ExpressionError) return instead(error);
    throw error;
  }
}

/** Runs `run` and replaces an ExpressionError, unless it is a refusal. */
export function replacingErrors<T>(run: () => T, replace: (error: ExpressionError) => Error): T {
  return attempt(run, (error) => {
    throw error instanceof Refusal ? error : replace(error);
  });
}

/** Returns a copy of the error at another position. */
export function placed(
  error: ExpressionError,
  place: Partial<Pick<ExpressionError, "offset" | "path" | "message">>,
): ExpressionError {
  const { message, offset, path } = { message: error.message, offset: error.offset, path: error.path, ...place };
  return error instanceof Refusal ? new Refusal(message, offset, path) : new ExpressionError(message, offset, path);
}

/** Runs a recursive function. @throws Refusal if the call stack overflows. */
export function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(SYNTAX.nested);
    throw error;
  }
}

/** Pattern of a CDKTF token: `TfToken[TOKEN.3]`, or a number that encodes one, such as `-8.109073448161234e+298`. */
const IN_TEXT = /TfToken\[[\w:.-]+\]|\bToken\[[\w:.-]+\.\d+\]|-?\d(?:\.\d{6,})?e\+29[0-9]/;
/** Lower bound of numeric CDKTF tokens (about -8.1e+298) and of results computed with these. */
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
