import { ExpressionError } from "../model/index.ts";
import { caughtToken } from "./caught-token.ts";
import { stringEscape } from "./escapes.ts";
import type { Reader } from "./reader.ts";
import type { Expression } from "./syntax.ts";

/** A template as it is written, before `if` and `for` are put together. */
export type Part =
  | { readonly kind: "literal"; text: string; readonly offset: number }
  | { readonly kind: "value"; readonly value: Expression; readonly offset: number }
  | { readonly kind: "if"; readonly condition: Expression; readonly offset: number }
  | {
      readonly kind: "for";
      readonly keyName?: string;
      readonly valueName: string;
      readonly source: Expression;
      readonly offset: number;
    }
  | { readonly kind: "else" | "endif" | "endfor"; readonly offset: number };

const LEADING = /^\p{White_Space}+/u;
const TRAILING = /\p{White_Space}+$/u;

/**
 * Takes a template apart from `reader.at` on: one in quotes up to and including the closing one, a bare one to the end of the text.
 * @throws ExpressionError
 */
export function readParts(reader: Reader, quoted: boolean, start: number): Part[] {
  const parts: Part[] = [];
  let trimNext = false;
  for (;;) {
    const offset = reader.at;
    if (quoted ? reader.text[offset] === '"' : offset >= reader.text.length) {
      reader.at += 1;
      return parts;
    }
    if (offset >= reader.text.length) throw new ExpressionError("this string is not closed by a quote", start);
    const opening = /^[$%]\{~?/.exec(reader.text.slice(offset, offset + 3))?.[0];
    if (opening === undefined) {
      const literal = quoted ? quotedLiteral(reader) : bareLiteral(reader);
      parts.push({ kind: "literal", text: trimNext ? literal.replace(LEADING, "") : literal, offset });
      trimNext = false;
      continue;
    }
    const last = parts.at(-1);
    if (opening.endsWith("~") && last?.kind === "literal") last.text = last.text.replace(TRAILING, "");
    reader.at += opening.length;
    const directive = opening.startsWith("%");
    parts.push(reader.ignoringNewlines(() => sequence(reader, directive, offset)));
    trimNext = reader.text[reader.at - 2] === "~";
  }
}

function sequence(reader: Reader, directive: boolean, offset: number): Part {
  const part: Part = directive ? readDirective(reader, offset) : { kind: "value", value: reader.expression(), offset };
  const close = reader.peek();
  if (close.text !== "}" && close.text !== "~}") {
    const sign = directive ? "%" : "$";
    const hint = `write ${sign}${sign}{ where a literal ${sign}{ is meant`;
    if (close.kind === "end") throw new ExpressionError(`this ${sign}{ is not closed by a }; ${hint}`, offset);
    throw new ExpressionError(`expected the } that closes ${sign}{, found ${close.text}; ${hint}`, close.start);
  }
  reader.take();
  return part;
}

function readDirective(reader: Reader, offset: number): Part {
  const keyword = reader.peek();
  if (keyword.kind === "identifier") {
    reader.take();
    switch (keyword.text) {
      case "if":
        return { kind: "if", condition: reader.expression(), offset };
      case "for": {
        const names = reader.forNames();
        return { kind: "for", ...names, source: reader.expression(), offset };
      }
      case "else":
      case "endif":
      case "endfor":
        return { kind: keyword.text, offset };
    }
  }
  throw new ExpressionError(
    `"%{" begins a directive: if, else, endif, for or endfor; write %%{ where a literal %{ is meant`,
    keyword.start,
  );
}

/** Up to the next sequence or the closing quote. */
function quotedLiteral(reader: Reader): string {
  const { text } = reader;
  let literal = "";
  while (reader.at < text.length && text[reader.at] !== '"' && !isOpening(text, reader.at)) {
    const character = text[reader.at] ?? "";
    if (character === "\n" || character === "\r")
      throw new ExpressionError("a quoted string may not go over several lines; write \\n for a line break", reader.at);
    const meant = character === "\\" ? stringEscape(text, reader.at) : templateEscape(text, reader.at);
    literal += meant.text;
    reader.at += meant.length;
  }
  return literal;
}

/** Up to the next sequence or the end of the line: trimming goes no further than that. */
function bareLiteral(reader: Reader): string {
  const { text } = reader;
  let literal = "";
  while (reader.at < text.length && !isOpening(text, reader.at)) {
    const character = text[reader.at];
    // Terraform's scanner gives up at a carriage return on its own: the rest is literal.
    if (character === "\r" && text[reader.at + 1] !== "\n") return literal + restOf(reader);
    const meant = templateEscape(text, reader.at);
    literal += meant.text;
    reader.at += meant.length;
    if (character === "\n") break;
  }
  return literal;
}

function restOf(reader: Reader): string {
  const rest = reader.text.slice(reader.at).replace(/([$%])\1\{/g, "$1{");
  reader.at = reader.text.length;
  return rest;
}

function isOpening(text: string, at: number): boolean {
  return text.startsWith("${", at) || text.startsWith("%{", at);
}

/** `$${` and `%%{` are a literal `${` and `%{`; anything else is itself. */
function templateEscape(text: string, at: number): { text: string; length: number } {
  for (const sign of ["$", "%"]) {
    if (text.startsWith(`${sign}${sign}{`, at)) return { text: `${sign}{`, length: 3 };
  }
  return { text: text[at] ?? "", length: 1 };
}

/** Literals that follow each other as one, as Terraform has them. */
export function melded(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part.kind === "literal" && last?.kind === "literal") last.text += part.text;
    else result.push(part);
  }
  for (const part of result) if (part.kind === "literal") caughtToken(part.text, part.offset);
  return result;
}
