import { childrenOf, type Expression } from "./syntax.ts";

/** The name of the first function that an expression calls, whether it would be reached or not; undefined when it calls none. */
export function callIn(expression: Expression): string | undefined {
  if (expression.kind === "call") return expression.name;
  const parts = expression.kind === "placed" ? [expression.inner] : childrenOf(expression);
  for (const part of parts) {
    const found = callIn(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
