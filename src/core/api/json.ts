/** Far more than any record has. What goes through a value level by level must not come to the end of the stack. */
const MOST_LEVELS = 100;

/**
 * Parses JSON; undefined when the text is not JSON, or nested more than 100 levels deep. Integers beyond 2^53 become strings of their digits, so that a
 * long id survives (ids other than those of services and invoices are not specified).
 */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    const source = text.replace(/^\uFEFF/, "");
    if (isDeep(source)) return undefined;
    return { value: /\d{16}/.test(source) ? JSON.parse(source, keepDigits) : JSON.parse(source) };
  } catch {
    return undefined;
  }
}

function isDeep(text: string): boolean {
  let levels = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case 0x5b: // [
      case 0x7b: // {
        levels += 1;
        if (levels > MOST_LEVELS) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        levels -= 1;
    }
  }
  return false;
}

const QUOTE = 0x22;

/** The quote that ends the string which begins here: the next one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === "\\") before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** A reviver; its third parameter, the source text, is newer than TypeScript's declaration of JSON.parse. */
function keepDigits(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  return typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? source
    : value;
}
