import { SYNTAX } from "../messages/expressions.ts";
import { ExpressionError } from "../model/index.ts";
import { Refusal } from "./refusal.ts";
import { childrenOf, type Expression } from "./syntax.ts";

// Splits an expression into tokens. template.ts reads the literal text of templates.

/** Token of the native syntax. Strings are no tokens, because they can contain expressions; the parser reads these. */
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

/**
 * Returns the next token. Skips spaces and comments.
 * @param newlines True if line breaks are tokens.
 * @throws ExpressionError
 */
function tokenAt(text: string, from: number, newlines: boolean): Token {
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
  if (match(HEREDOC, text, at) !== "") throw new Refusal(SYNTAX.heredoc, at);
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
  throw new ExpressionError(SYNTAX.character(String.fromCodePoint(text.codePointAt(at) ?? 0)), at);
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

/** Maximum depth of a syntax tree. A long chain of operators is a deep tree. */
const MOST_DEEP = 600;

/**
 * Reads an expression token by token. Expressions and templates contain each other, so their grammars share this class. All
 * methods throw ExpressionError.
 */
export abstract class Reader {
  readonly text: string;
  /** Position in the text. */
  at = 0;
  #newlines = true;
  #token: Token | undefined;
  #tokenFrom = -1;
  readonly #depth = new WeakMap<Expression, number>();

  constructor(text: string) {
    this.text = text;
  }

  abstract expression(): Expression;

  /** Reads the variables of `for`, up to and including `in`. */
  abstract forNames(): { readonly keyName?: string; readonly valueName: string };

  peek(): Token {
    if (this.#token === undefined || this.#tokenFrom !== this.at) {
      this.#token = tokenAt(this.text, this.at, this.#newlines);
      this.#tokenFrom = this.at;
    }
    return this.#token;
  }

  take(): Token {
    const token = this.peek();
    this.at = token.end;
    return token;
  }

  /** Reads the symbol if it is next. @returns false if it is not. */
  accept(symbol: string): boolean {
    const found = this.peek().kind === "symbol" && this.peek().text === symbol;
    if (found) this.take();
    return found;
  }

  /** Reads the symbol, or throws an error. */
  expect(symbol: string): void {
    if (!this.accept(symbol)) this.unexpected(`"${symbol}"`);
  }

  unexpected(wanted: string): never {
    const { kind, text, start } = this.peek();
    const found = kind === "end" ? "the end" : kind === "newline" ? "the end of the line" : text;
    throw new ExpressionError(SYNTAX.expected(wanted, found), start);
  }

  /** Runs while line breaks are ignored, as inside ( and [. */
  ignoringNewlines<T>(run: () => T): T {
    return this.withNewlines(false, run);
  }

  /** Runs while line breaks are tokens, or ignored. */
  withNewlines<T>(newlines: boolean, run: () => T): T {
    const before = this.#newlines;
    this.#newlines = newlines;
    this.#token = undefined;
    const result = run();
    this.#newlines = before;
    this.#token = undefined;
    return result;
  }

  /** Returns a new node. Rejects a tree that is too deep. */
  made<T extends Expression>(node: T): T {
    const children = childrenOf(node).slice(0, 5000);
    const depth = 1 + Math.max(0, ...children.map((child) => this.#depth.get(child) ?? 0));
    if (depth > MOST_DEEP) throw new Refusal(SYNTAX.too_deep, node.offset);
    this.#depth.set(node, depth);
    return node;
  }
}
