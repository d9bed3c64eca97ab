import type { Mistakes } from "./mistakes.ts";
import { rangeOf, type Span } from "./source.ts";

/** Reports what is declared more than once, at each of its places. */
export function reportTwice<T>(
  same: readonly T[],
  spanOf: (one: T) => Span,
  nameOf: (one: T) => string,
  mistakes: Mistakes,
): void {
  if (same.length < 2) return;
  for (const [i, one] of same.entries()) {
    const other = same[i === 0 ? 1 : 0] ?? one;
    mistakes.add(
      spanOf(one),
      "config.duplicate",
      `${nameOf(one)} is declared ${same.length === 2 ? "twice" : `${same.length} times`}`,
      {
        detail: `It is also declared in ${place(spanOf(other))}.`,
        fix: "Remove or rename all but one.",
      },
    );
  }
}

/** `hosting.yaml:3:5`, for sentences. */
export function place(span: Span): string {
  const { file, line, column } = rangeOf(span);
  return `${file}:${line}:${column}`;
}
