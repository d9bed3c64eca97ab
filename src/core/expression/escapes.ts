import { ExpressionError } from "../model/index.ts";

const SIMPLE = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ['"', '"'],
  ["\\", "\\"],
]);
const UNICODE = /u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}/y;

/** What a backslash and the characters after it mean in a quoted string. @throws ExpressionError */
export function stringEscape(text: string, at: number): { text: string; length: number } {
  const simple = SIMPLE.get(text[at + 1] ?? "");
  if (simple !== undefined) return { text: simple, length: 2 };
  UNICODE.lastIndex = at + 1;
  const unicode = UNICODE.exec(text)?.[0];
  const code = Number.parseInt(unicode?.slice(1) ?? "", 16);
  if (unicode === undefined)
    throw new ExpressionError('this escape means nothing; there are \\n \\r \\t \\" \\\\ \\uXXXX \\UXXXXXXXX', at);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    throw new ExpressionError(`\\${unicode} is no character`, at);
  return { text: String.fromCodePoint(code), length: unicode.length + 1 };
}
