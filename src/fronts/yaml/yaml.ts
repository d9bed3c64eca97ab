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
import { type Diagnostic, some } from "../../core/model/index.ts";
import { type DiagnosticCollector, isFirst } from "../source/diagnostics.ts";
import { Source, type SourceFile, type Span } from "../source/source.ts";
import { type Entry, isNull, type Leaf, type Tree, textOf } from "../source/tree.ts";
import { type Limit, problem } from "./messages.ts";
import { keepsText, readPlain } from "./plain.ts";

/**
 * Parses YAML into trees with locations. Parses incrementally within limits. Then converts each document: resolves aliases
 * and merge keys, and reports duplicate keys and values without a JSON equivalent.
 */

/**
 * Limits of a declaration that may come from untrusted people. A declaration with a thousand services uses a tenth of each.
 */
export const STRICT_LIMITS = {
  /** Maximum bytes of a file. */
  bytes: 1024 * 1024,
  /** Maximum number of tokens (words, punctuation, blanks). They determine the parsing time. */
  tokens: 500_000,
  /** Maximum number of anchors and tags. Many of these at one node would be slow. */
  marks: 10_000,
  /** Maximum nesting of maps and lists, with aliases expanded. */
  depth: 50,
  /** Maximum number of values in a document, with aliases expanded. */
  values: 250_000,
  /** Maximum number of documents in a file. */
  documents: 1000,
  /** Maximum number of syntax errors. After that, the rest of the file is skipped. */
  errors: 100,
  /** Maximum number of resources. At 60 requests per minute, one request for each takes 5.6 hours. */
  resources: 20_000,
};

export type DeclarationLimits = Readonly<typeof STRICT_LIMITS>;

/**
 * Limits of the user's own declaration: enough for a hundred thousand services in one file, and still within the available
 * memory.
 */
export const OWN_LIMITS: DeclarationLimits = {
  ...STRICT_LIMITS,
  bytes: 16 * 1024 * 1024,
  tokens: 8_000_000,
  values: 4_000_000,
  resources: 200_000,
};

/** Formats a limit as `1 MiB`. */
export const mebibytes = ({ bytes }: DeclarationLimits): string => `${bytes / 1024 / 1024} MiB`;

/** The documents of a YAML file, without empty ones. */
export interface Read {
  readonly documents: readonly Tree[];
  /** False if a part of the file could not be read. */
  readonly complete: boolean;
}

/**
 * Reads a YAML file (1.2, core schema, with merge keys) with one or more documents. Omits a document with a syntax error,
 * because the text after the error would cause false errors.
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

/** Reads a file with the YAML parser. */
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
    diags.add(error.span, problem("config.too_large/file", { path: source.path, ...error.limit }));
    return { documents: [], complete: false };
  }
}

/** Parses incrementally, so that limits stop a hostile file early. */
function compose(source: Source, limits: DeclarationLimits): Document.Parsed[] {
  const { text } = source;
  const here = (offset: number) => source.span(offset, offset + 1);
  if (text.length > limits.bytes) throw new Excess({ size: mebibytes(limits) }, here(0));
  const parser = new Parser();
  const composer = new Composer({
    schema: "core",
    resolveKnownTags: false,
    uniqueKeys: false, // the parser compares every pair of keys; the conversion uses a set instead
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents: Document.Parsed[] = [];
  const take = (composed: Iterable<Document.Parsed>) => {
    for (const document of composed) documents.push(document);
    if (documents.length > limits.documents)
      throw new Excess({ number: limits.documents, of: "documents" }, here(parser.offset));
  };
  let tokens = 0;
  let marks = 0;
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > limits.tokens) throw new Excess({ number: limits.tokens, of: "words" }, here(parser.offset));
    if (lexeme.startsWith("&") || lexeme.startsWith("!")) marks += 1;
    if (marks > limits.marks) throw new Excess({ number: limits.marks, of: "marks" }, here(parser.offset));
    for (const token of parser.next(lexeme)) {
      if (token.type === "error") errors += 1;
      take(composer.next(token));
    }
    if (errors > limits.errors) break;
    if (parser.stack.length > limits.depth + 2) {
      throw new Excess({ number: limits.depth, of: "levels" }, here(parser.offset));
    }
  }
  for (const token of parser.end()) take(composer.next(token));
  take(composer.end(true, text.length));
  return documents;
}

/**
 * Reports the first error of each line, because it causes the others.
 * @returns true if the document has an error.
 */
function reportSyntax(document: Document.Parsed, source: Source, diags: DiagnosticCollector): boolean {
  // The parser only warns about unknown tags. In a declaration, a tag would change the meaning of a value.
  const errors: YAMLError[] = [...document.errors, ...document.warnings.filter((w) => w.code === "TAG_RESOLVE_FAILED")];
  const lines = new Set<number>();
  for (const { code, message, pos } of errors.toSorted((a, b) => a.pos[0] - b.pos[0])) {
    const span = source.span(Math.min(pos[0], source.text.length), Math.min(pos[1], source.text.length));
    const { line } = source.range(span.start, span.end);
    if (lines.has(line)) continue;
    lines.add(line);
    const template = templateAt(source.text, pos[0]);
    if (template !== undefined) {
      diags.add(span, problem("config.syntax/template", { template }));
      // After a mismatched bracket, all further errors would be false.
      break;
    }
    const words = message.replace(/: ".*$/s, "").replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    diags.add(span, problem("config.syntax/yaml", { words, code }));
  }
  return errors.length > 0;
}

/** Pattern of git's conflict markers. Seven equal signs alone may be a string. */
const CONFLICT = /^(?:<{7}|>{7}|\|{7})(?= |\r?$)/m;
const MARKER = /^(?:<{7}|>{7}|\|{7}|={7})(?=[ \r]|$)/;

/** Reports the markers of an unfinished merge. @returns true if the file has markers. */
function reportConflict(source: Source, diags: DiagnosticCollector): boolean {
  const first = source.text.search(CONFLICT);
  if (first < 0) return false;
  const lines = source.text.split("\n").flatMap((line, i) => (MARKER.test(line) ? [String(i + 1)] : []));
  diags.add(source.span(first, first + 7), problem("config.syntax/conflict", { some: some(lines) }));
  return true;
}

/** Returns the `${…}` whose `{` the parser reads as a map. This happens inside brackets without quotes. */
function templateAt(text: string, brace: number): string | undefined {
  if (text.slice(brace - 1, brace + 1) !== "${") return undefined;
  const [template] = /^\$\{[^{}\n]{1,200}\}/.exec(text.slice(brace - 1, brace + 300)) ?? [];
  return template ?? "${…}";
}

/** Error: a file exceeds a limit. */
class Excess extends Error {
  readonly limit: Limit;
  readonly span: Span;
  constructor(limit: Limit, span: Span) {
    super("the file is beyond the limits");
    this.limit = limit;
    this.span = span;
  }
}

/** A tree, with its size if all aliases were expanded. */
interface Weighed {
  readonly tree: Tree;
  readonly values: number;
  readonly depth: number;
}

/**
 * Converts the nodes of a document to a {@link Tree}. Aliases share a branch and are never copied, so a huge expansion is
 * rejected by its computed size. `complete`: false if a part had to be omitted. Throws {@link Excess} if the expanded
 * document exceeds the limits.
 */
class Conversion {
  complete = true;
  readonly #source: Source;
  readonly #diags: DiagnosticCollector;
  readonly #limits: DeclarationLimits;
  /**
   * Values by name of the anchor. Undefined while the anchored node is read. A later anchor of the same name replaces the
   * value.
   */
  readonly #anchors = new Map<string, Weighed | undefined>();
  /** Number of entries copied by merge keys. */
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
      throw new Excess({ number: this.#limits.values, of: "aliases" }, this.#span(node));
    }
    if (weighed.depth > this.#limits.depth) {
      throw new Excess({ number: this.#limits.depth, of: "levels" }, this.#span(node));
    }
    if (anchor !== undefined) this.#anchors.set(anchor, weighed);
    return weighed;
  }

  #follow(node: Node, name: string): Weighed {
    const target = this.#anchors.get(name);
    if (target !== undefined) return target;
    if (this.#anchors.has(name)) {
      return this.#refuse(node, problem("config.structure/own_alias", { name }));
    }
    return this.#refuse(node, problem("config.structure/alias", { name }));
  }

  #scalar(node: Scalar): Weighed {
    const value = plainValue(node);
    if (value !== undefined) return leaf(value, this.#span(node), node.source);
    return this.#refuse(node, problem("config.structure/infinite"));
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
    this.#refuse(node, problem(key === "" ? "config.structure/key" : "config.structure/proto"));
    return undefined;
  }

  /**
   * Rules of https://yaml.org/type/merge.html: own keys of the map override merged keys, and earlier sources override later
   * ones.
   */
  #merge(entries: Map<string, Entry>, from: Tree, at: Node): void {
    for (const tree of from.form === "list" ? from.items : [from]) {
      if (tree.form !== "map") {
        this.#refuse(at, problem("config.structure/merge"));
        return;
      }
      this.#merged += tree.entries.size;
      if (this.#merged > this.#limits.values) {
        throw new Excess({ number: this.#limits.values, of: "merges" }, this.#span(at));
      }
      for (const [key, entry] of tree.entries) if (!entries.has(key)) entries.set(key, entry);
    }
  }

  #refuse(node: Node, mistake: Diagnostic): Weighed {
    this.complete = false;
    const span = this.#span(node);
    this.#diags.refuse(span, mistake);
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
 * Returns the value of a scalar. Undefined without a JSON equivalent (`.inf`, `.nan`). An integer that a number would change
 * stays a string: ids above 2^53, postcodes with leading zeros, phone numbers with `+`.
 */
function plainValue({ value, source = "" }: Scalar): Leaf["value"] | undefined {
  if (typeof value !== "number") return value === null || typeof value === "boolean" ? value : String(value);
  if (/^[-+]?\d+$/.test(source) && String(value) !== source) return source;
  return Number.isFinite(value) ? value : undefined;
}
