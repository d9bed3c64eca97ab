/**
 * JSON whose numbers keep their digits: an integer that no double holds becomes a bigint, any other number that JSON
 * writes in more digits than a double has, its text.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

/** The third parameter is newer than the types. */
function exact(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : context.source;
}
