/** Finds characters in a line that look like a space, or like nothing, and that a declaration does not take for one. */
import type { Remark } from "./diagnostics.ts";
import { rangeOf, type Span } from "./source.ts";

/** Quoted texts and comments may hold such a character; the first group holds one outside them. */
const BLANK =
  /(?<![^\s,:[{])(?:"(?:[^"\\]|\\.)*"|'[^']*')|(?<!\S)#.*|((?! )[\p{Z}\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff])/gu;

const NAMES: Readonly<Record<string, string>> = {
  "\u00a0": "a no-break space",
  "\u200b": "a zero-width space",
  "\u202f": "a narrow no-break space",
  "\u2060": "a word joiner",
  "\u3000": "an ideographic space",
  "\ufeff": "a byte order mark",
};

/** The first such character on the line of a mistake, with its fix; undefined if the line has none. */
export function blankAt(span: Span): Required<Pick<Remark, "detail" | "fix">> | undefined {
  const { text = "" } = rangeOf(span);
  for (const { index, 1: found } of text.matchAll(BLANK)) {
    if (found === undefined) continue;
    const isSpace = /\p{Z}/u.test(found);
    const name = NAMES[found] ?? (isSpace ? "a special space" : "an invisible character");
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    const fix = isSpace ? "Replace it by a space." : "Remove it.";
    return { detail: `Column ${index + 1} holds ${name} (U+${code}).`, fix };
  }
  return undefined;
}
