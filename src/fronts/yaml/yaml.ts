import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  Parser,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { some } from "../../core/model/index.ts";
import { type DiagnosticCollector, isFirst } from "../source/diagnostics.ts";
import { Source, type SourceFile, type Span } from "../source/source.ts";
import { type Entry, isNull, type Leaf, type Tree, textOf } from "../source/tree.ts";
import { keepsText, readPlain } from "./plain.ts";

/**
 * Parses YAML into trees with places. A file is parsed step by step within limits, then each document is converted: aliases and
 * merge keys are resolved, duplicate keys and values that JSON does not have are reported.
 */

/**
 * Limits of a file and of a declaration, for one that may come from a stranger. A declaration of a thousand services has a
 * tenth of this.
 */
export const STRICT_LIMITS = {
  /** Bytes of a file. */
  bytes: 1024 * 1024,
  /** Tokens (words, punctuation, blanks): the parser's time grows with them. */
  tokens: 500_000,
  /** Anchors and tags: expensive when piled up where only one is allowed. */
  marks: 10_000,
  /** Nesting of maps and lists, with aliases expanded. */
  depth: 50,
  /** Values of a document, with aliases expanded. */
  values: 250_000,
  /** Documents of a file. */
  documents: 1000,
  /** Syntax errors; after these the rest of a file is not read. */
  errors: 100,
  /** Resources of a declaration: at 60 requests a minute, applying them takes most of a day. */
  resources: 20_000,
};

export type DeclarationLimits = Readonly<typeof STRICT_LIMITS>;

/** For the user's own declaration: a hundred thousand services in one file. A mistake is still reported before memory is full. */
export const OWN_LIMITS: DeclarationLimits = {
  ...STRICT_LIMITS,
  bytes: 16 * 1024 * 1024,
  tokens: 8_000_000,
  values: 4_000_000,
  resources: 200_000,
};

/** `1 MiB` */
export const mebibytes = ({ bytes }: DeclarationLimits): string => `${bytes / 1024 / 1024} MiB`;

/** The valid documents of a YAML file, without empty ones. */
export interface Read {
  readonly documents: readonly Tree[];
  /** False when a part of the file could not be read. */
  readonly complete: boolean;
}

/**
 * Reads a YAML file (1.2, core schema, with merge keys) of one or several documents. A document with a syntax error is left out
 * as a whole: what follows the error would only cause further, false errors.
 */
export function readYaml(
  file: SourceFile,
  index: number,
  diags: DiagnosticCollector,
  limits: DeclarationLimits = STRICT_LIMITS,
): Read {
  const source = new Source(file, index);
  const plain = source.text.length <= limits.bytes ? readPlain(source, limits) : undefined;
  return plain === undefined ? parseYaml(source, diags, limits) : { documents: [plain], complete: true };
}

/** Reads any YAML, with the YAML parser. */
export function parseYaml(source: Source, diags: DiagnosticCollector, limits: DeclarationLimits): Read {
  try {
    const composed = compose(source, limits);
    if (composed.some(({ errors }) => errors.length > 0) && reportConflict(source, diags))
      return { documents: [], complete: false };
    const documents: Tree[] = [];
    let complete = true;
    for (const document of composed) {
      if (reportSyntax(document, source, diags)) {
        complete = false;
        continue;
      }
      if (document.contents === null) continue;
      const conversion = new Conversion(source, diags, limits);
      const { tree } = conversion.read(document.contents);
      complete &&= conversion.complete;
      if (!isNull(tree)) documents.push(tree);
    }
    return { documents, complete };
  } catch (error) {
    if (!(error instanceof Excess)) throw error;
    const fix = "Split the declaration into several files, and use fewer aliases.";
    diags.add(error.span, "config.too_large", `${source.path} ${error.message}`, { fix });
    return { documents: [], complete: false };
  }
}

/** Parses step by step, so that a hostile file is refused before it costs time or stack. */
function compose(source: Source, limits: DeclarationLimits): Document.Parsed[] {
  const { text } = source;
  const here = (offset: number) => source.span(offset, offset + 1);
  if (text.length > limits.bytes) throw new Excess(`is larger than ${mebibytes(limits)}`, here(0));
  const parser = new Parser();
  const composer = new Composer({
    schema: "core",
    resolveKnownTags: false,
    uniqueKeys: false, // compares every key with every other; the conversion does it with a set
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents: Document.Parsed[] = [];
  const take = (composed: Iterable<Document.Parsed>) => {
    for (const document of composed) documents.push(document);
    if (documents.length > limits.documents)
      throw new Excess(`has more than ${limits.documents} documents`, here(parser.offset));
  };
  let tokens = 0;
  let marks = 0;
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > limits.tokens)
      throw new Excess(`has more than ${limits.tokens} words and punctuation marks`, here(parser.offset));
    if (lexeme.startsWith("&") || lexeme.startsWith("!")) marks += 1;
    if (marks > limits.marks) throw new Excess(`has more than ${limits.marks} anchors and tags`, here(parser.offset));
    for (const token of parser.next(lexeme)) {
      if (token.type === "error") errors += 1;
      take(composer.next(token));
    }
    if (errors > limits.errors) break;
    if (parser.stack.length > limits.depth + 2) {
      throw new Excess(`is nested more than ${limits.depth} levels deep`, here(parser.offset));
    }
  }
  for (const token of parser.end()) take(composer.next(token));
  take(composer.end(true, text.length));
  return documents;
}

/** Remedies of common errors, by the parser's code. */
const FIXES: Partial<Record<YAMLError["code"], string>> = {
  TAB_AS_INDENT: "Indent with spaces.",
  BLOCK_AS_IMPLICIT_KEY: 'Put quotes around a value that contains ": ", and start a nested map on a new line.',
  BAD_SCALAR_START: "Put quotes around the value.",
  MULTILINE_IMPLICIT_KEY: "Check the indentation, and put a colon and a space after each key.",
  BAD_INDENT: "Check the indentation, and close every bracket.",
  BAD_DQ_ESCAPE: "Write backslashes twice in double quotes, or use single quotes.",
  TAG_RESOLVE_FAILED: "Remove the tag (the word that begins with `!`); put quotes around a string that begins with it.",
};

/** Reports the first error of each line; others on the line follow from it. @returns whether there was any. */
function reportSyntax(document: Document.Parsed, source: Source, diags: DiagnosticCollector): boolean {
  // For the parser an unknown tag is a warning. In a declaration it would change the meaning of a value.
  const errors: YAMLError[] = [...document.errors, ...document.warnings.filter((w) => w.code === "TAG_RESOLVE_FAILED")];
  const lines = new Set<number>();
  for (const { code, message, pos } of errors.toSorted((a, b) => a.pos[0] - b.pos[0])) {
    const span = source.span(Math.min(pos[0], source.text.length), Math.min(pos[1], source.text.length));
    const { line } = source.range(span.start, span.end);
    if (lines.has(line)) continue;
    lines.add(line);
    const template = templateAt(source.text, pos[0]);
    if (template !== undefined) {
      const summary = `The YAML cannot be parsed: \`${template}\` needs quotes inside {…} and […]`;
      diags.add(span, "config.syntax", summary, { fix: `Write "${template}", quotes included.` });
      // The brackets do not match from here on, so further errors would be false.
      break;
    }
    const words = message.replace(/: ".*$/s, "").replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    const fix = FIXES[code];
    diags.add(span, "config.syntax", `The YAML cannot be parsed: ${words}`, fix === undefined ? {} : { fix });
  }
  return errors.length > 0;
}

/** A line that Git writes where a merge has a conflict. Seven equal signs alone may be a text. */
const CONFLICT = /^(?:<{7}|>{7}|\|{7})(?= |\r?$)/m;
const MARKER = /^(?:<{7}|>{7}|\|{7}|={7})(?=[ \r]|$)/;

/** Reports the markers of an unfinished merge. @returns whether there are any. */
function reportConflict(source: Source, diags: DiagnosticCollector): boolean {
  const first = source.text.search(CONFLICT);
  if (first < 0) return false;
  const lines = source.text.split("\n").flatMap((line, i) => (MARKER.test(line) ? [String(i + 1)] : []));
  const summary = `The YAML cannot be parsed: it has the markers of an unfinished merge (lines ${some(lines)})`;
  const fix = "Finish the merge: keep the lines that apply, and remove the lines with markers.";
  diags.add(source.span(first, first + 7), "config.syntax", summary, { fix });
  return true;
}

/** The template whose `{` the parser reads as the beginning of a map, as it does inside brackets without quotes. */
function templateAt(text: string, brace: number): string | undefined {
  if (text.slice(brace - 1, brace + 1) !== "${") return undefined;
  const [template] = /^\$\{[^{}\n]{1,200}\}/.exec(text.slice(brace - 1, brace + 300)) ?? [];
  return template ?? "${…}";
}

/** A file beyond the limits; the message continues the name of the file. */
class Excess extends Error {
  readonly span: Span;
  constructor(message: string, span: Span) {
    super(message);
    this.span = span;
  }
}

/** A tree with its size when every alias is expanded. */
interface Weighed {
  readonly tree: Tree;
  readonly values: number;
  readonly depth: number;
}

/**
 * Turns the nodes of a document into a {@link Tree}. Aliased branches are shared, never copied, so that an alias bomb is refused
 * by its size before it costs anything. `complete` is false when a part had to be left out.
 * Throws {@link Excess} when the document with expanded aliases is larger or deeper than the limits.
 */
class Conversion {
  complete = true;
  readonly #source: Source;
  readonly #diags: DiagnosticCollector;
  readonly #limits: DeclarationLimits;
  /** By name; `undefined` while the anchored node is being read. A later anchor of the same name replaces it. */
  readonly #anchors = new Map<string, Weighed | undefined>();
  /** Entries that merge keys have copied so far. */
  #merged = 0;

  constructor(source: Source, diags: DiagnosticCollector, limits: DeclarationLimits) {
    this.#source = source;
    this.#diags = diags;
    this.#limits = limits;
  }

  read(node: Node): Weighed {
    if (isAlias(node)) return this.#follow(node, node.source);
    const { anchor } = node as Scalar;
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    const weighed = isMap(node) ? this.#map(node) : isSeq(node) ? this.#list(node) : this.#scalar(node as Scalar);
    if (weighed.values > this.#limits.values) {
      throw new Excess(`has more than ${this.#limits.values} values when its aliases are expanded`, this.#span(node));
    }
    if (weighed.depth > this.#limits.depth) {
      throw new Excess(`is nested more than ${this.#limits.depth} levels deep`, this.#span(node));
    }
    if (anchor !== undefined) this.#anchors.set(anchor, weighed);
    return weighed;
  }

  #follow(node: Node, name: string): Weighed {
    const target = this.#anchors.get(name);
    if (target !== undefined) return target;
    if (this.#anchors.has(name)) {
      return this.#refuse(node, `The alias *${name} is inside its own anchor`, "Move the alias out of its anchor.");
    }
    const fix = `Write &${name} at an earlier value of the same document, or put quotes around a string that begins with "*".`;
    return this.#refuse(node, `No anchor &${name} precedes this alias`, fix);
  }

  #scalar(node: Scalar): Weighed {
    const value = plainValue(node);
    if (value !== undefined) return leaf(value, this.#span(node), node.source);
    return this.#refuse(node, "This number cannot be sent", "Use a finite number, or put quotes around a string.");
  }

  #list(node: YAMLSeq): Weighed {
    const items = node.items.map((item) => this.read(item as Node));
    return {
      tree: { form: "list", items: items.map(({ tree }) => tree), span: this.#span(node) },
      ...weigh(items, []),
    };
  }

  #map(node: YAMLMap): Weighed {
    const entries = new Map<string, Entry>();
    const own: Weighed[] = [];
    const merges: { readonly from: Weighed; readonly at: Node }[] = [];
    for (const pair of node.items) {
      const keyNode = pair.key as Node;
      const keySpan = this.#span(keyNode);
      const key = isMergeKey(keyNode) ? undefined : this.#key(keyNode);
      const value =
        pair.value === null ? leaf(null, this.#source.span(keySpan.end, keySpan.end)) : this.read(pair.value as Node);
      if (isMergeKey(keyNode)) merges.push({ from: value, at: (pair.value as Node | null) ?? keyNode });
      else if (key !== undefined && isFirst(key, keySpan, entries, "map", this.#diags)) {
        entries.set(key, { key, keySpan, value: value.tree });
        own.push(value);
      }
    }
    for (const { from, at } of merges) this.#merge(entries, from.tree, at);
    const from = merges.map((merge) => merge.from);
    return { tree: { form: "map", entries, span: this.#span(node) }, ...weigh(own, from) };
  }

  #key(node: Node): string | undefined {
    const { tree } = this.read(node);
    const key = (isScalar(node) && node.type === "PLAIN" ? node.source : textOf(tree)) ?? "";
    if (key !== "" && key !== "__proto__") return key;
    const summary = key === "" ? "A key must be a string" : '"__proto__" is not accepted as a key';
    this.#refuse(node, summary, key === "" ? "Write `name: value`." : "Choose another name.");
    return undefined;
  }

  /** https://yaml.org/type/merge.html: the map's own keys win over merged ones, earlier sources over later ones. */
  #merge(entries: Map<string, Entry>, from: Tree, at: Node): void {
    for (const tree of from.form === "list" ? from.items : [from]) {
      if (tree.form !== "map") {
        this.#refuse(at, "A merge key (<<) needs a map, an alias of one, or a list of them", "Write `<<: *name`.");
        return;
      }
      this.#merged += tree.entries.size;
      if (this.#merged > this.#limits.values) {
        throw new Excess(
          `has more than ${this.#limits.values} values when its merge keys are expanded`,
          this.#span(at),
        );
      }
      for (const [key, entry] of tree.entries) if (!entries.has(key)) entries.set(key, entry);
    }
  }

  #refuse(node: Node, summary: string, fix: string): Weighed {
    this.complete = false;
    const span = this.#span(node);
    this.#diags.refuse(span, "config.structure", summary, { fix });
    return { tree: { form: "leaf", value: null, isRefused: true, span }, values: 1, depth: 0 };
  }

  #span(node: Node): Span {
    const [start, end] = node.range ?? [0, 0];
    return this.#source.span(start, end);
  }
}

function isMergeKey(node: Node): boolean {
  return isScalar(node) && node.type === "PLAIN" && node.value === "<<";
}

function leaf(value: Leaf["value"], span: Span, source?: string): Weighed {
  const isKept = source === undefined || typeof value === "string" || keepsText(value, source);
  return { tree: { form: "leaf", value, ...(!isKept && { written: source }), span }, values: 1, depth: 0 };
}

function weigh(parts: readonly Weighed[], merged: readonly Weighed[]): { values: number; depth: number } {
  const all = [...parts, ...merged];
  const depths = [...parts.map((part) => part.depth + 1), ...merged.map((part) => part.depth)];
  return {
    values: all.reduce((sum, part) => sum + part.values, 1),
    depth: depths.reduce((most, depth) => Math.max(most, depth), 0),
  };
}

/**
 * The value of a scalar, `undefined` for those that JSON does not have (`.inf`, `.nan`). A decimal integer that a number would
 * change stays a string: ids above 2^53, postcodes with leading zeros, phone numbers with a `+`.
 */
function plainValue({ value, source = "" }: Scalar): Leaf["value"] | undefined {
  if (typeof value !== "number") return value === null || typeof value === "boolean" ? value : String(value);
  if (/^[-+]?\d+$/.test(source) && String(value) !== source) return source;
  return Number.isFinite(value) ? value : undefined;
}
