import type { Source, Span } from "../source/source.ts";
import type { Entry, Leaf, Tree } from "../source/tree.ts";

/**
 * Fast reader for plain YAML: maps, lists, and one-line scalars. Large declarations contain almost nothing else, and this
 * reader is ten times as fast as the YAML parser. If it finds any other syntax or an error, it gives up, and the YAML parser
 * reads the complete text. A property test checks that both return the same trees (decision 0043).
 */

/** Limits of this reader. The YAML parser reads larger texts. */
interface PlainLimits {
  readonly tokens: number;
  readonly depth: number;
  readonly values: number;
}

/** Maximum number of parser tokens for one entry: key, colon, spaces, value, comma, brackets, comment, line feed. */
const TOKENS_OF_A_VALUE = 14;

/** Pattern of printable characters and line feeds. Excludes tabs, other line ends and byte order marks. */
const READABLE = /^[\n\x20-\x7E\u00A0-\u1FFF\u3000-\uD7FF]*$/;
const BLANK_LINES = /(?:[ ]*(?:#[^\n]*)?\n)*/y;
const SPACES = /[ ]*/y;
/** Pattern of text after a value on the same line. */
const END_OF_LINE = /[ ]*(?:[ ]#[^\n]*)?(?:\n|$)/y;
const KEY = /(?:[A-Za-z0-9_][\w.@/+-]{0,999}|"[^"\\\n]{1,999}"|'[^'\n]{1,999}')(?=:[ \n])/y;
const QUOTED = /"[^"\\\n]*"|'[^'\n]*'(?!')/y;
const WORD = /[A-Za-z0-9_$./+](?:[^\s:#]|:(?=\S)|[ ]+(?=[^\s:#]))*/y;
const WORD_IN_FLOW = /[A-Za-z0-9_./+](?:[^\s:#,[\]{}]|:(?=[^\s,[\]{}])|[ ]+(?=[^\s:#,[\]{}]))*/y;

/** The core schema, https://yaml.org/spec/1.2.2/#1032-tag-resolution. */
const INTEGER = /^(?:0|[1-9][0-9]{0,14})$/;
const NUMBER =
  /^(?:[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map([
  ...["null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
]);

/** Reads a text with a single document. Undefined if the YAML parser must read the text. */
export function readPlain(source: Source, limits: PlainLimits): Tree | undefined {
  if (!READABLE.test(source.text)) return undefined;
  const reader = new PlainReader(source);
  const tree = reader.document(limits.depth);
  return reader.values <= Math.min(limits.values, limits.tokens / TOKENS_OF_A_VALUE) ? tree : undefined;
}

/** Reads from the current offset. All methods return undefined (or false) for other syntax. */
class PlainReader {
  values = 0;
  readonly #source: Source;
  readonly #text: string;
  #at = 0;
  #lineStart = 0;
  /** Column of the first character on the current line, from 0. -1: end of the text. */
  #indent = -1;
  /** Offset of the end of the last line with content. */
  #end = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#text = source.text;
  }

  /** @param depth Maximum nesting of maps and lists. */
  document(depth: number): Tree | undefined {
    if (!this.#nextLine() || this.#indent < 0) return undefined;
    const tree = this.#block(depth);
    return this.#indent < 0 ? tree : undefined;
  }

  #block(depth: number): Tree | undefined {
    this.values++;
    if (depth === 0) return undefined;
    return this.#isItem() ? this.#list(depth) : this.#map(depth);
  }

  #map(depth: number): Tree | undefined {
    const start = this.#at;
    const column = start - this.#lineStart;
    const entries = new Map<string, Entry>();
    do {
      const keySpan = this.#key();
      if (keySpan === undefined) return undefined;
      const key = this.#keyOf(keySpan);
      const value = this.#valueOfKey(column, depth);
      if (value === undefined || key === "__proto__" || entries.has(key)) return undefined;
      entries.set(key, { key, keySpan, value });
    } while (this.#indent === column);
    // A deeper line continues the last scalar, or is an error.
    return this.#indent < column ? { form: "map", entries, span: this.#source.span(start, this.#end) } : undefined;
  }

  /**
   * Reads the value of a key. The value is on the same line, or indented below. A list may start in the column of the key.
   */
  #valueOfKey(column: number, depth: number): Tree | undefined {
    const colon = this.#at;
    this.#at++;
    if (!this.#endsLine()) {
      this.#at = colon + 1;
      return this.#valueOnLine(depth - 1);
    }
    const isBelow = this.#nextLine() && (this.#indent > column || (this.#indent === column && this.#isItem()));
    return isBelow ? this.#block(depth - 1) : undefined;
  }

  #list(depth: number): Tree | undefined {
    const start = this.#at;
    const column = start - this.#lineStart;
    const items: Tree[] = [];
    do {
      this.#at++;
      this.#skip(SPACES);
      // `- name: value` starts a map in the column of the name.
      const item = this.#startsWith(KEY) ? this.#block(depth - 1) : this.#valueOnLine(depth - 1);
      if (item === undefined) return undefined;
      items.push(item);
    } while (this.#indent === column && this.#isItem());
    return this.#indent <= column ? { form: "list", items, span: this.#source.span(start, this.#end) } : undefined;
  }

  /** Reads a value, and the rest of its line. */
  #valueOnLine(depth: number): Tree | undefined {
    this.#skip(SPACES);
    const value = this.#value(depth, WORD);
    return value !== undefined && this.#endsLine() && this.#nextLine() ? value : undefined;
  }

  #value(depth: number, word: RegExp): Tree | undefined {
    const first = this.#text[this.#at];
    return first === "{" || first === "[" ? this.#flow(first, depth) : this.#scalar(first, word);
  }

  /** Reads `{…}` or `[…]` on one line. */
  #flow(open: "{" | "[", depth: number): Tree | undefined {
    const start = this.#at++;
    this.values++;
    if (depth === 0) return undefined;
    const entries = new Map<string, Entry>();
    const items: Tree[] = [];
    const close = open === "{" ? "}" : "]";
    this.#skip(SPACES);
    while (this.#text[this.#at] !== close) {
      const keySpan = open === "{" ? this.#key() : undefined;
      if (open === "{") {
        if (keySpan === undefined) return undefined;
        this.#at++;
        this.#skip(SPACES);
      }
      const value = this.#value(depth - 1, WORD_IN_FLOW);
      if (value === undefined) return undefined;
      if (keySpan === undefined) items.push(value);
      else {
        const key = this.#keyOf(keySpan);
        if (key === "__proto__" || entries.has(key)) return undefined;
        entries.set(key, { key, keySpan, value });
      }
      this.#skip(SPACES);
      if (this.#text[this.#at] === close) break;
      if (this.#text[this.#at] !== ",") return undefined;
      this.#at++;
      this.#skip(SPACES);
      if (this.#text[this.#at] === close) return undefined;
    }
    this.#at++;
    const span = this.#source.span(start, this.#at);
    return open === "{" ? { form: "map", entries, span } : { form: "list", items, span };
  }

  #scalar(first: string | undefined, word: RegExp): Leaf | undefined {
    const start = this.#at;
    const isQuoted = first === '"' || first === "'";
    if (!this.#skip(isQuoted ? QUOTED : word)) return undefined;
    this.values++;
    const span = this.#source.span(start, this.#at);
    if (isQuoted) return { form: "leaf", value: this.#text.slice(start + 1, this.#at - 1), span };
    const text = this.#text.slice(start, this.#at);
    const value = plainValue(text);
    if (value === undefined) return undefined;
    return typeof value === "string" || keepsText(value, text)
      ? { form: "leaf", value, span }
      : { form: "leaf", value, written: text, span };
  }

  #key(): Span | undefined {
    const start = this.#at;
    return this.#skip(KEY) ? this.#source.span(start, this.#at) : undefined;
  }

  #keyOf({ start, end }: Span): string {
    const quote = this.#text[start];
    return quote === '"' || quote === "'" ? this.#text.slice(start + 1, end - 1) : this.#text.slice(start, end);
  }

  #isItem(): boolean {
    return this.#text[this.#at] === "-" && this.#text[this.#at + 1] === " ";
  }

  #endsLine(): boolean {
    if (!this.#skip(END_OF_LINE)) return false;
    this.#end = this.#at;
    return true;
  }

  /**
   * Goes to the next line with content.
   * @returns false if a comment is indented differently than that content.
   */
  #nextLine(): boolean {
    const from = this.#at;
    this.#skip(BLANK_LINES);
    this.#lineStart = this.#at;
    this.#skip(SPACES);
    const column = this.#at - this.#lineStart;
    const isLast = this.#at === this.#text.length;
    this.#indent = isLast ? -1 : column;
    if (this.#text[this.#at] === "#" || (isLast && column > 0)) return false;
    if (this.#lineStart === from) return true;
    // The YAML parser may attach such a comment to the preceding block.
    const lines = this.#text.slice(from, this.#lineStart).split("\n");
    return lines.every((line) => !line.includes("#") || line.indexOf("#") === column);
  }

  #startsWith(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
  }

  #skip(pattern: RegExp): boolean {
    if (!this.#startsWith(pattern)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }
}

/** Returns true if the value formats to the same text. Null has three notations. */
export const keepsText = (value: null | boolean | number, text: string): boolean =>
  value === null ? ["", "~", "null"].includes(text) : String(value) === text;

/** Returns the value of an unquoted scalar. Undefined for a number with several notations. */
function plainValue(text: string): Leaf["value"] | undefined {
  if (INTEGER.test(text)) return Number(text);
  if (NUMBER.test(text)) return undefined;
  const constant = CONSTANTS.get(text);
  return constant === undefined ? text : constant;
}
