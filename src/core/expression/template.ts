import { SYNTAX } from "../messages/expressions.ts";
import { ExpressionError } from "../model/index.ts";
import type { Reader } from "./lexer.ts";
import { caughtToken } from "./refusal.ts";
import type { Expression, NodeOf } from "./syntax.ts";
import { text } from "./typed-value.ts";

// Parses strings with `${}` and `%{}`, and builds their syntax tree.

/**
 * Reads a template that starts at `reader.at`: a quoted one up to its closing quote, any other up to the end of the text. A
 * template that is only `${…}` becomes its expression, of any type.
 * @throws ExpressionError
 */
export function readTemplate(reader: Reader, quoted: boolean, start: number): Expression {
  const parts = melded(readParts(reader, quoted, start));
  const [only] = parts;
  if (parts.length === 1 && only?.kind === "value")
    return reader.made({ kind: "parentheses", inner: only.value, offset: only.offset });

  const { template, end } = sequenceOf(reader, { parts, at: 0 }, start, []);
  if (end === undefined) return template;
  throw new ExpressionError(SYNTAX.directive_alone(end.kind), end.offset);
}

interface Cursor {
  readonly parts: readonly Part[];
  at: number;
}

/** Reads parts up to and including one of the directives `ends`, or up to the end of the template. */
function sequenceOf(reader: Reader, cursor: Cursor, offset: number, ends: readonly Part["kind"][]) {
  const parts: Expression[] = [];
  let end: Part | undefined;
  while (cursor.at < cursor.parts.length && end === undefined) {
    const part = cursor.parts[cursor.at];
    cursor.at += 1;
    if (part === undefined) break;
    if (part.kind === "literal") parts.push(literalNode(part.text, part.offset));
    else if (part.kind === "value") parts.push(part.value);
    else if (part.kind === "if") parts.push(ifOf(reader, cursor, part));
    else if (part.kind === "for") parts.push(forOf(reader, cursor, part));
    else if (ends.length > 0 && !ends.includes(part.kind))
      throw new ExpressionError(SYNTAX.directive_other(ends.join("} or %{"), part.kind), part.offset);
    else end = part;
  }
  if (parts.length === 0) parts.push(literalNode("", offset));
  const template: NodeOf<"template"> = reader.made({ kind: "template", parts, offset });
  return { template, end };
}

const literalNode = (content: string, offset: number): Expression => ({
  kind: "literal",
  value: text(content),
  offset,
});

function ifOf(reader: Reader, cursor: Cursor, start: Part & { kind: "if" }): Expression {
  const { offset, condition } = start;
  const first = sequenceOf(reader, cursor, offset, ["else", "endif"]);
  if (first.end === undefined) throw new ExpressionError(SYNTAX.if_open, offset);
  const second = first.end.kind === "else" ? sequenceOf(reader, cursor, first.end.offset, ["endif"]) : undefined;
  if (second !== undefined && second.end === undefined) throw new ExpressionError(SYNTAX.if_open, offset);
  const nothing: NodeOf<"template"> = { kind: "template", parts: [literalNode("", offset)], offset };
  return reader.made({ kind: "conditional", condition, yes: first.template, no: second?.template ?? nothing, offset });
}

function forOf(reader: Reader, cursor: Cursor, start: Part & { kind: "for" }): Expression {
  const { kind, ...names } = start;
  const { template, end } = sequenceOf(reader, cursor, start.offset, ["endfor"]);
  if (end === undefined) throw new ExpressionError(SYNTAX.for_open, start.offset);
  const texts = reader.made({ kind, ...names, body: template, group: false });
  return reader.made({ kind: "join", texts, offset: start.offset });
}

/** A part of a template. `if` and `for` are not yet nodes. */
type Part =
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

function readParts(reader: Reader, quoted: boolean, start: number): Part[] {
  const parts: Part[] = [];
  let trimNext = false;
  for (;;) {
    const offset = reader.at;
    if (quoted ? reader.text[offset] === '"' : offset >= reader.text.length) {
      reader.at += 1;
      return parts;
    }
    if (offset >= reader.text.length) throw new ExpressionError(SYNTAX.quote_open, start);
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
    if (close.kind === "end") throw new ExpressionError(SYNTAX.template_open(sign, hint), offset);
    throw new ExpressionError(SYNTAX.template_end(sign, close.text, hint), close.start);
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
  throw new ExpressionError(SYNTAX.directive, keyword.start);
}

/** Reads literal text up to the next `${`, `%{` or the closing quote. */
function quotedLiteral(reader: Reader): string {
  const { text } = reader;
  let literal = "";
  while (reader.at < text.length && text[reader.at] !== '"' && !isOpening(text, reader.at)) {
    const character = text[reader.at] ?? "";
    if (character === "\n" || character === "\r") throw new ExpressionError(SYNTAX.line_break, reader.at);
    const meant = character === "\\" ? stringEscape(text, reader.at) : templateEscape(text, reader.at);
    literal += meant.text;
    reader.at += meant.length;
  }
  return literal;
}

/** Reads literal text up to the next `${`, `%{` or the end of the line, where `~` stops trimming. */
function bareLiteral(reader: Reader): string {
  const { text } = reader;
  let literal = "";
  while (reader.at < text.length && !isOpening(text, reader.at)) {
    const character = text[reader.at];
    // Terraform treats everything after a single carriage return as literal.
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

/** Returns the character at a position. `$${` means a literal `${`, and `%%{` a literal `%{`. */
function templateEscape(text: string, at: number): { text: string; length: number } {
  for (const sign of ["$", "%"]) {
    if (text.startsWith(`${sign}${sign}{`, at)) return { text: `${sign}{`, length: 3 };
  }
  return { text: text[at] ?? "", length: 1 };
}

/** Joins adjacent literals. */
function melded(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part.kind === "literal" && last?.kind === "literal") last.text += part.text;
    else result.push(part);
  }
  for (const part of result) if (part.kind === "literal") caughtToken(part.text, part.offset);
  return result;
}

const SIMPLE = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ['"', '"'],
  ["\\", "\\"],
]);
const UNICODE = /u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}/y;

/** Returns the character of an escape in a quoted string. @throws ExpressionError */
function stringEscape(text: string, at: number): { text: string; length: number } {
  const simple = SIMPLE.get(text[at + 1] ?? "");
  if (simple !== undefined) return { text: simple, length: 2 };
  UNICODE.lastIndex = at + 1;
  const unicode = UNICODE.exec(text)?.[0];
  const code = Number.parseInt(unicode?.slice(1) ?? "", 16);
  if (unicode === undefined) throw new ExpressionError(SYNTAX.escape, at);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    throw new ExpressionError(SYNTAX.no_character(unicode), at);
  return { text: String.fromCodePoint(code), length: unicode.length + 1 };
}
