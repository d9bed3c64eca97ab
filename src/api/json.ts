/**
 * Parses JSON; undefined when the text is not JSON. Integers beyond 2^53 become strings of their digits, so that a
 * long id survives (ids other than those of services and invoices are not specified).
 */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    const source = text.replace(/^\uFEFF/, "");
    return { value: /\d{16}/.test(source) ? JSON.parse(source, keepDigits) : JSON.parse(source) };
  } catch {
    return undefined;
  }
}

/** A reviver; its third parameter, the source text, is newer than TypeScript's declaration of JSON.parse. */
function keepDigits(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  return typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? source
    : value;
}
