import { caughtToken } from "./caught-token.ts";
import { guarded } from "./guarded.ts";
import { Parser } from "./parser.ts";
import type { Expression } from "./syntax.ts";

/**
 * An expression in native syntax: what stands within `${}`, the value of a variable of a complex type. Line breaks mean
 * nothing around it. @throws ExpressionError
 */
export function parseExpression(text: string): Expression {
  caughtToken(text, 0);
  return guarded(() => {
    const parser = new Parser(text);
    const expression = parser.ignoringNewlines(() => {
      const whole = parser.expression();
      if (parser.peek().kind !== "end") parser.unexpected("the end of the expression");
      return whole;
    });
    return expression;
  });
}
