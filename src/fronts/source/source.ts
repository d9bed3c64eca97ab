import type { Kinds } from "../../core/kinds/kind.ts";
import { type Diagnostic, HostformError, type SourceRange } from "../../core/model/index.ts";
import { problem } from "./messages.ts";

/** A file of the declaration. `path`: for messages, relative to the working folder. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** False if the text is not a declaration. Messages then contain none of its lines. Default: true. */
  readonly quotable?: boolean;
  /** Paths in a value, one for each line of its JSON. Messages then contain paths instead of lines. */
  readonly paths?: readonly string[];
}

/**
 * Returns a value as JSON with one scalar on each line. JSON is a subset of YAML. Omits attributes that are undefined.
 * @throws HostformError with the path of a part that is not JSON.
 */
export function valueFile(value: unknown): SourceFile {
  const lines: { readonly text: string; readonly path: string }[] = [];
  const write = (part: unknown, path: string, before: string, after: string, within: readonly unknown[]): void => {
    if (within.includes(part) || !isJson(part)) {
      const at = { line: 1, column: 1, endLine: 1, endColumn: 1 };
      const range = { file: "declaration", ...at, path };
      throw new HostformError([problem("config.invalid_value/not_json", { range })]);
    }
    if (typeof part !== "object" || part === null) {
      lines.push({ text: before + JSON.stringify(part) + after, path });
      return;
    }
    const isList = Array.isArray(part);
    lines.push({ text: before + (isList ? "[" : "{"), path });
    const entries = isList ? [...part.entries()] : Object.entries(part).filter(([, inner]) => inner !== undefined);
    for (const [nth, [name, inner]] of entries.entries()) {
      const key = JSON.stringify(name);
      const step = isList ? `[${nth}]` : /^[\w-]+$/.test(String(name)) ? `${path && "."}${name}` : `[${key}]`;
      write(inner, path + step, isList ? "" : `${key}: `, nth < entries.length - 1 ? "," : "", [...within, part]);
    }
    lines.push({ text: (isList ? "]" : "}") + after, path });
  };
  write(value, "", "", "", []);
  return { path: "declaration", text: lines.map(({ text }) => text).join("\n"), paths: lines.map(({ path }) => path) };
}

/** Returns false for a part that JSON would omit, change or reject. */
function isJson(part: unknown): boolean {
  if (typeof part === "number") return Number.isFinite(part);
  if (typeof part !== "object") return typeof part === "string" || typeof part === "boolean";
  // The prototype of a plain object has no prototype, in each realm.
  const prototype = part && Object.getPrototypeOf(part);
  return prototype === null || Array.isArray(part) || Object.getPrototypeOf(prototype) === null;
}

/** A range of a source. Offsets count UTF-16 units. The end is exclusive. */
export interface Span {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
  /** Location that uses this range, for example the block that uses a template. */
  readonly usedAt?: Span | undefined;
}

/** Maximum length of a line in diagnostics. Longer lines are omitted. */
const LONGEST_LINE = 1000;

/** A source text with its lines. Columns count UTF-16 units from 1, as editors do. */
export class Source {
  readonly path: string;
  /** Text without byte order mark. */
  readonly text: string;
  /** Index of this source. Diagnostics are sorted by it. */
  readonly index: number;
  readonly #lineStarts: number[] = [0];
  readonly #quotable: boolean;
  readonly #paths: readonly string[] | undefined;

  constructor(file: SourceFile, index = 0) {
    this.path = file.path;
    this.text = file.text.startsWith("\uFEFF") ? file.text.slice(1) : file.text;
    this.index = index;
    this.#quotable = file.paths === undefined && (file.quotable ?? true);
    this.#paths = file.paths;
    for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) this.#lineStarts.push(at + 1);
  }

  span(start: number, end: number): Span {
    return { source: this, start, end: Math.max(start, end) };
  }

  range(start: number, end: number): SourceRange {
    const first = this.#position(start);
    const last = this.#position(Math.max(start, end));
    const text = this.#line(first.line);
    const path = this.#paths?.[first.line - 1];
    return {
      file: this.path,
      ...first,
      ...(path !== undefined && { path }),
      endLine: last.line,
      endColumn: last.column,
      ...(this.#quotable && text.length <= LONGEST_LINE && { text: hideSecrets(text) }),
    };
  }

  /** Returns the offset of a line and column. */
  offset(line: number, column: number): number {
    return (this.#lineStarts[line - 1] ?? 0) + column - 1;
  }

  #position(offset: number): { line: number; column: number } {
    const line = lastStart(this.#lineStarts, offset);
    return { line: line + 1, column: offset - (this.#lineStarts[line] ?? 0) + 1 };
  }

  #line(line: number): string {
    const text = this.text.slice(this.#lineStarts[line - 1] ?? 0, (this.#lineStarts[line] ?? this.text.length + 1) - 1);
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  }
}

/** Returns the index of the last start that is not after the offset. 0 if all are. `starts` must be sorted. */
export function lastStart(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function rangeOf(span: Span): SourceRange {
  const range = span.source.range(span.start, span.end);
  const uses: Pick<SourceRange, "file" | "line" | "column">[] = [];
  for (let use = span.usedAt; use !== undefined; use = use.usedAt) {
    const { file, line, column } = use.source.range(use.start, use.end);
    uses.push({ file, line, column });
  }
  return uses.length === 0 ? range : { ...range, usedAt: uses };
}

/** Pattern of a misleading character. Skips quoted strings and comments, which may contain it. Group 1: the character. */
const BLANK =
  /(?<![^\s,:[{])(?:"(?:[^"\\]|\\.)*"|'[^']*')|(?<!\S)#.*|((?! )[\p{Z}\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff])/gu;

/**
 * Returns detail and remedy about the first misleading character on a line with a mistake: it looks like a space or is
 * invisible, but is no white space in YAML.
 */
export function blankAt(span: Span): Pick<Diagnostic, "detail" | "remedies"> | undefined {
  const { text = "" } = rangeOf(span);
  for (const { index, 1: found } of text.matchAll(BLANK)) {
    if (found === undefined) continue;
    const { detail, remedies } = problem("config.syntax/blank", { column: index + 1, found });
    return { detail, remedies };
  }
  return undefined;
}

const SECRET_VALUE =
  /((?:token|bearer|pas+[a-z]*|secret|credentials?|(?:api|access|secret|customer)_?key|authorization|conn_str)["']?\s*:\s*)(?!["']?\$\{[^\s{}]+\}["']?\s*(?:$|[,}#]))("(?:[^"\\]|\\.)*"|'[^']*'|\S.*)/gi;
const TOKEN_AS_NAME = /(token_env["']?\s*:\s*)(?!["']?[A-Z_][A-Z0-9_]*["']?\s*(?:$|[,}#]))(\S.*)/g;
const TOKEN_VALUE = /\bbearer\s+\S+|\b\d+\|[A-Za-z0-9]{16,}/gi;
const PASSWORD_IN_URL = /(?<=:\/\/)[^/?#\s]+(?=@)/g;
const PARAMETER_IN_URL = /(?<=[?&][\w.-]{0,50}(?:token|password|secret|key)[\w.-]{0,50}=)[^&\s"']+/gi;

/**
 * Replaces secrets in a line with asterisks: values of keys for secrets (`password`, even misspelt), and strings that look
 * like a token. A value that is only a reference is public. The length stays the same, so that the caret is correct. An
 * unquoted value is hidden to the end of the line.
 */
function hideSecrets(line: string): string {
  const hide = (secret: string) => "*".repeat(secret.length);
  const hideValue = (_: string, key: string, value: string) => key + hide(value);
  return line
    .replace(SECRET_VALUE, hideValue)
    .replace(TOKEN_AS_NAME, hideValue)
    .replace(TOKEN_VALUE, hide)
    .replace(PASSWORD_IN_URL, hide)
    .replace(PARAMETER_IN_URL, hide);
}

const SECRET_KEY =
  /^(?:.*[_-])?(?:token|bearer|password|secret|(?:api|access|secret|customer)_?key|authorization|credentials?)$/i;

/** Returns true if a key usually has a secret value. */
export function namesSecret(key: string): boolean {
  return SECRET_KEY.test(key);
}

/** Top-level keys of a stack that are rare in other JSON files. */
const STACK = ["terraform", "provider", "resource", "variable", "locals", "moved", "removed"];
const SECTIONS = [
  "project",
  "provider",
  "providers",
  "guards",
  "notify",
  "backend",
  "outputs",
  "moved",
  "removed",
  "import",
  "templates",
];

/**
 * Returns true if a text looks like a YAML declaration: one of the keys is at the beginning of a line, or in a JSON map.
 * Messages contain no line of any other text, because `hosting.yaml` or `-f` may be a link to a file with secrets.
 */
export function isDeclaration(text: string, kinds: Kinds): boolean {
  const sections = [...kinds.values()].flatMap(({ nested, section }) => (nested === undefined ? [section] : []));
  const keys = [...SECTIONS, ...sections].join("|");
  return inFlow(text, keys) || new RegExp(`^\\uFEFF?["']?(?:${keys})["']?[ \\t]*:(?=\\s|$)`, "m").test(text);
}

/** Returns true if a text looks like a stack in Terraform's JSON. */
export function isStack(text: string): boolean {
  return inFlow(text, STACK.join("|"));
}

function inFlow(text: string, keys: string): boolean {
  return /^\uFEFF?\s*[{[]/.test(text) && new RegExp(`[{,]\\s*(["']?)(?:${keys})\\1\\s*:`).test(text);
}
