import { fileURLToPath } from "node:url";
import { JsonError, type JsonMaker, type JsonPlace, readJson } from "../../core/expression/json.ts";
import {
  canonicalDecimal,
  type Diagnostic,
  isObject,
  type JsonObject,
  type SourceRange,
} from "../../core/model/index.ts";
import { DiagnosticCollector, isFirst } from "../source/diagnostics.ts";
import { lastStart, Source, type SourceFile, type Span } from "../source/source.ts";
import { type Entry, type MapTree, stringOf, type Tree, toJson, treeAt } from "../source/tree.ts";
import { problem } from "./messages.ts";

/**
 * Reads the JSON of a stack into trees with locations: line and column, construct, and line of the program. Uses the JSON
 * parser of the expression language, and adds limits and diagnostics.
 */

/** Limits of one file. A stack with five hundred services uses 2 % of each. */
export const JSON_LIMITS = {
  /** Maximum length of a file, in UTF-16 units. */
  length: 64 * 1024 * 1024,
  /** Maximum nesting of objects and arrays. */
  depth: 100,
  /** Maximum number of values in a file. */
  values: 5_000_000,
} as const;

/**
 * Reads JSON into a tree with locations. Duplicate keys are errors, because they hide a value. So are numbers that JavaScript
 * would round.
 * @returns undefined after a reported syntax error or an exceeded limit.
 */
export function readTree(source: Source, diags: DiagnosticCollector): Tree | undefined {
  try {
    if (source.text.length > JSON_LIMITS.length) throw new TooLarge("is larger than 64 MiB", 0);
    return readJson(source.text, treeMaker(source, diags));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { message, offset } = error;
    const span = source.span(offset, offset + 1);
    if (error instanceof TooLarge) {
      return diags.add(span, problem("config.too_large/file", { path: source.path, message }));
    }
    return diags.add(span, problem("config.syntax", { message }));
  }
}

/** Error: the file exceeds a limit. */
class TooLarge extends JsonError {}

function treeMaker(source: Source, diags: DiagnosticCollector): JsonMaker<Tree> {
  let values = 0;
  const span = ({ start, end }: JsonPlace) => source.span(start, end);
  return {
    enter(depth, start) {
      values += 1;
      if (values > JSON_LIMITS.values) throw new TooLarge(`has more than ${JSON_LIMITS.values} values`, start);
      if (depth > JSON_LIMITS.depth) throw new TooLarge(`is nested more than ${JSON_LIMITS.depth} levels deep`, start);
    },
    number(digits, place) {
      const value = Number(digits);
      if (!isExact(digits, value)) {
        diags.add(span(place), problem("config.invalid_value/digits"));
      }
      return { form: "leaf", value, span: span(place) };
    },
    leaf(value, place) {
      if (typeof value === "string") checkText(value, place);
      return { form: "leaf", value, span: span(place) };
    },
    list: (items, place) => ({ form: "list", items, span: span(place) }),
    object(members, place) {
      const entries = new Map<string, Entry>();
      for (const { key, place: keyPlace, value } of members) {
        checkText(key, keyPlace);
        const keySpan = span(keyPlace);
        if (key === "__proto__") {
          diags.add(keySpan, problem("config.structure/proto"));
        } else if (isFirst(key, keySpan, entries, "object", diags)) entries.set(key, { key, keySpan, value });
      }
      return { form: "map", entries, span: span(place) };
    },
  };
}

function checkText(text: string, { start }: JsonPlace): void {
  if (!text.isWellFormed()) throw new JsonError("this string contains an unpaired surrogate", start);
}

/** Returns true if the parsed number is exactly the number in the text. */
function isExact(text: string, value: number): boolean {
  const kept = String(value);
  return kept === text || (Number.isFinite(value) && canonicalDecimal(text) === canonicalDecimal(kept));
}

/** Line of the program that created a block. */
interface Frame {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Range of the text that one construct created. */
interface Origin {
  readonly start: number;
  readonly end: number;
  readonly construct: string | undefined;
  readonly frame: Frame | undefined;
}

/**
 * A synthesized text. Its ranges contain the construct that created them. With stack traces in the text, messages print the
 * line of the program instead of the line of the JSON. Printed lines hide secrets.
 */
export class SynthesizedSource extends Source {
  /** Origins in the order of the text. They do not overlap. */
  readonly #origins: Origin[] = [];
  readonly #starts: number[] = [];
  readonly #secrets = new Set<string>();
  /** Secrets, longest first: hiding a part of a longer secret would reveal the rest. Undefined after a new secret. */
  #sorted: readonly string[] | undefined;

  /**
   * Adds the construct that created a block, from its `//`. Must be called in the order of the text.
   * @param start Offset of the block's key.
   */
  credit(start: number, block: MapTree): void {
    if (start < (this.#origins.at(-1)?.end ?? 0)) return;
    const metadata = treeAt(block, ["//", "metadata"]);
    const construct = stringOf(treeAt(metadata, ["path"]));
    const trace = treeAt(metadata, ["stackTrace"]);
    const frame = trace?.form === "list" ? frameOf(trace.items.flatMap((item) => stringOf(item) ?? [])) : undefined;
    if (construct === undefined && frame === undefined) return;
    this.#origins.push({ start, end: block.span.end, construct, frame });
    this.#starts.push(start);
  }

  /**
   * Hides a secret in all printed lines.
   * @param span Location of the secret, which may contain escapes.
   */
  hide(secret: string, { start, end }: Span): void {
    const forms = [secret, JSON.stringify(secret).slice(1, -1), this.text.slice(start + 1, end - 1)];
    for (const form of forms) if (form !== "") this.#secrets.add(form);
    this.#sorted = undefined;
  }

  override range(start: number, end: number): SourceRange {
    const origin = this.#originOf(start);
    const construct = origin?.construct === undefined ? {} : { construct: origin.construct };
    if (origin?.frame !== undefined) {
      const { file, line, column } = origin.frame;
      return { file, line, column, endLine: line, endColumn: column + 1, ...construct };
    }
    const { text, ...range } = super.range(start, end);
    return { ...range, ...(text !== undefined && { text: this.#hidden(text) }), ...construct };
  }

  #originOf(offset: number): Origin | undefined {
    const found = this.#origins[lastStart(this.#starts, offset)];
    return found !== undefined && offset >= found.start && offset < found.end ? found : undefined;
  }

  #hidden(text: string): string {
    let shown = text;
    this.#sorted ??= [...this.#secrets].sort((a, b) => b.length - a.length);
    for (const secret of this.#sorted) shown = shown.replaceAll(secret, "*".repeat(secret.length));
    return shown;
  }
}

const FOREIGN = /[\\/]node_modules[\\/]|^node:|^internal[\\/]|<anonymous>/;

/**
 * Returns the first line of a stack trace outside of libraries and Node.js: `new Site (/app/main.ts:12:34)`,
 * `/app/main.ts:12:34`.
 */
function frameOf(trace: readonly string[]): Frame | undefined {
  for (const line of trace.slice(0, 200)) {
    const [, inner, bare] = /\(([^()]+:\d+:\d+)\)\s*$|^\s*(?:at\s+)?(\S.*:\d+:\d+)\s*$/.exec(line.slice(0, 2000)) ?? [];
    const [, file, row, column] = /^(.+):(\d+):(\d+)$/.exec(inner ?? bare ?? "") ?? [];
    if (file === undefined || FOREIGN.test(file)) continue;
    return { file: pathOf(file), line: Number(row), column: Number(column) };
  }
  return undefined;
}

function pathOf(file: string): string {
  try {
    return file.startsWith("file:") ? fileURLToPath(file) : file;
  } catch {
    return file;
  }
}

/**
 * Reads a `*.tfvars.json` as Terraform does: strings are literals. Messages print no line of the file, because it may contain
 * secrets.
 * @returns the values by name, undefined if the file is not a JSON object. Also returns diagnostics of duplicate keys and
 * inexact numbers. If there are any, no value may be used.
 */
export function readValuesFile(file: SourceFile): {
  readonly values: JsonObject | undefined;
  readonly diagnostics: readonly Diagnostic[];
} {
  const diags = new DiagnosticCollector();
  const tree = readTree(new Source({ ...file, quotable: false }), diags);
  const values = tree && toJson(tree);
  const diagnostics = tree === undefined ? [] : diags.list();
  return { values: isObject(values) ? (values as JsonObject) : undefined, diagnostics };
}
