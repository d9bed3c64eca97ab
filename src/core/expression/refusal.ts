import { ExpressionError } from "../model/index.ts";

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
