import { ExpressionError } from "../model/index.ts";
import { Refusal } from "./refusal.ts";

/** A token of the native syntax. Strings are not tokens: they have expressions in them, and the parser goes through them. */
export interface Token {
  readonly kind: "number" | "identifier" | "symbol" | "quote" | "newline" | "end";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const SPACE = /(?:[ \t]+|\/\*[\s\S]*?\*\/)+/y;
const LINE_COMMENT = /(?:#|\/\/)[^\n]*(?:\n|$)/y;
const NEWLINE = /\r?\n/y;
const NUMBER = /\d(?:(?:[\d.]|[eE][+-]?\d)*(?:\d|[eE][+-]?\d))?/y;
const IDENTIFIER = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy;
const SYMBOL = /==|!=|>=|<=|&&|\|\||::|\.\.\.|=>|~\}|[[\](){}.,*/%+\-=<>!?:]/y;
const HEREDOC = /<<-?[\p{ID_Start}_][\p{ID_Continue}-]*\r?\n/uy;

/** The token at a place, spaces and comments before it passed over; line breaks only where they mean nothing. @throws ExpressionError */
export function tokenAt(text: string, from: number, newlines: boolean): Token {
  let at = from;
  for (;;) {
    const space = match(SPACE, text, at);
    const comment = match(LINE_COMMENT, text, at + space.length);
    const end = at + space.length + comment.length;
    if (comment !== "" && comment.endsWith("\n") && newlines)
      return { kind: "newline", text: comment, start: at + space.length, end };
    const newline = comment === "" ? match(NEWLINE, text, end) : "";
    if (newline !== "" && newlines) return { kind: "newline", text: newline, start: end, end: end + newline.length };
    if (space + comment + newline === "") break;
    at = end + newline.length;
  }
  if (at >= text.length) return { kind: "end", text: "", start: text.length, end: text.length };
  if (match(HEREDOC, text, at) !== "")
    throw new Refusal("heredocs (<<EOT) are not supported here; write a quoted string with \\n", at);
  const token = (kind: Token["kind"], content: string): Token => ({
    kind,
    text: content,
    start: at,
    end: at + content.length,
  });
  if (text[at] === '"') return token("quote", '"');
  for (const [kind, pattern] of KINDS) {
    const content = match(pattern, text, at);
    if (content !== "") return token(kind, content);
  }
  throw new ExpressionError(
    `${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))} has no meaning here`,
    at,
  );
}

const KINDS = [
  ["number", NUMBER],
  ["identifier", IDENTIFIER],
  ["symbol", SYMBOL],
] as const;

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}
