import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  Lexer,
  type Node,
  type Pair,
  parseAllDocuments,
  type ScalarTag,
  visit,
  type YAMLMap,
} from "yaml";
import { stringifyString } from "yaml/util";
import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import { equal, escapeLine, HostformError } from "../../core/model/index.ts";
import { DiagnosticCollector } from "../source/diagnostics.ts";
import type { SourceFile } from "../source/source.ts";
import { type Tree, toJson } from "../source/tree.ts";
import { EXPANDED, expand, TEMPLATE_KEYS } from "./expand.ts";
import { problem } from "./messages.ts";
import { printYaml, visibleQuoted } from "./print.ts";
import { OWN_LIMITS, readYaml } from "./yaml.ts";

/**
 * Formats a declaration: two spaces, sections and attributes in the order of the schema, an empty line between blocks with
 * several lines. Keeps comments, anchors, quotes and flow collections.
 */

/** Order of top-level keys. The empty entry stands for the sections of the kinds. Unknown keys come last. */
const TOP = [
  ...[
    "project",
    "required_version",
    "include",
    "variables",
    "provider",
    "providers",
    "backend",
    "guards",
    "notify",
    "defaults",
    "templates",
  ],
  ...["", "moved", "removed", "import", "outputs"],
];
const FIRST = ["<<", "parameters", ...TEMPLATE_KEYS];
const LAST = ["provider", "client", "depends_on", "import"];

/**
 * @returns the formatted text.
 * @throws HostformError for syntax errors. Throws `internal` if the formatted text has another meaning or lacks a comment.
 */
export function formatYaml(file: SourceFile, kinds: Kinds): string {
  const meaning = meaningOf(file);
  const comments = commentsOf(file.text);
  const { head, rest } = parted(file.text);
  // Second attempt without sorting, in case sorting moves an alias before its anchor.
  for (const sorts of [true, false]) {
    const body = settled(rest, kinds, sorts);
    const text = body === undefined ? undefined : head + body;
    const same = (result: string) =>
      equal(meaningOf({ ...file, text: result }), meaning) && equal(commentsOf(result), comments);
    if (text !== undefined && same(text)) return text;
  }
  throw new HostformError([problem("internal/format", { path: file.path })]);
}

/**
 * Returns a declaration with templates, defaults and `include` expanded, in canonical format. Each document stays separate,
 * because its `provider` applies only to it, and begins with the name of its file.
 * @param files All files of the declaration.
 * @throws HostformError for errors in syntax and templates.
 */
export function expandedYaml(files: readonly SourceFile[], kinds: Kinds): string {
  const diags = new DiagnosticCollector();
  const read = files.flatMap((file, index) =>
    readYaml(file, index, diags, OWN_LIMITS).documents.map((tree) => ({ path: file.path, tree })),
  );
  const { documents } = expand(
    read.map(({ tree }) => tree),
    kinds,
    diags,
    OWN_LIMITS,
  );
  if (diags.errors > 0) throw new HostformError(diags.list());
  const texts = documents.flatMap((tree, i) => {
    if (tree.form !== "map") return [];
    const entries = [...tree.entries].filter(([key]) => key !== "include" && !key.startsWith("x-"));
    const text = printTree({ ...tree, entries: new Map(entries) });
    const path = escapeLine(read[i]?.path ?? "");
    return entries.length === 0 ? [] : [formatYaml({ path, text: `# ${path}\n\n${text}` }, kinds)];
  });
  return texts.join("---\n");
}

/** A scalar with its source text. */
class Written {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const WRITTEN: ScalarTag = {
  tag: "tag:hostform,2026:written",
  default: true,
  identify: (value) => value instanceof Written,
  resolve: (text: string) => text,
  stringify: ({ value }) => (value as Written).text,
};

/** Prints a tree as YAML. The result parses to the same tree. */
function printTree(tree: Tree): string {
  const plainOf = (part: Tree): unknown => {
    if (part.form === "list") return part.items.map(plainOf);
    if (part.form === "map") return new Map([...part.entries].map(([key, { value }]) => [key, plainOf(value)]));
    return part.written === undefined ? part.value : new Written(part.written);
  };
  return printYaml(plainOf(tree), [WRITTEN]);
}

/** Pattern of the head of a file: a first line for editors, or the first comment if an empty line follows it. */
const HEAD = /^(?:# ?(?:yaml-language-server:|\$schema)[^\n]*\n|(?:#[^\n]*\n)+(?=\s*\n))(?:[ \t\r]*\n)*/;

/** Splits a text into the head with formatted comments, and the rest. */
function parted(given: string): { head: string; rest: string } {
  const text = given.replace(/^\uFEFF/, "");
  const isEmpty = text.split("\n").every((line) => /^(?:(?:---|\.\.\.)(?=\s|$))?\s*(?:#|$)/.test(line));
  const found = isEmpty ? text.replace(/^(?:---|\.\.\.)/gm, "") : (HEAD.exec(text)?.[0] ?? "");
  const comments = found.replace(/^[ \t]+|[ \t\r]+$/gm, "").replace(/\n{3,}/g, "\n\n");
  if (isEmpty) return { head: `${comments.trim()}\n`.trimStart(), rest: "" };
  return { head: comments, rest: text.slice(found.length) };
}

const ROUNDS = 4;

/**
 * Formats a text until another pass changes nothing. Undefined if this never happens, or if an alias would precede its
 * anchor.
 */
function settled(before: string, kinds: Kinds, sorts: boolean): string | undefined {
  let text = before;
  for (let round = 0; round < ROUNDS; round += 1) {
    let next: string;
    try {
      next = printed(text, kinds, sorts);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("Unresolved alias")) return undefined;
      throw error;
    }
    if (next === text) return text;
    text = next;
  }
  return undefined;
}

function meaningOf(file: SourceFile): unknown {
  const diags = new DiagnosticCollector();
  const { documents, complete } = readYaml(file, 0, diags, OWN_LIMITS);
  if (!complete || diags.any) throw new HostformError(diags.list());
  return documents.map(toJson);
}

/** Returns all comments and anchors, unordered. */
const commentsOf = (text: string): readonly string[] =>
  [...new Lexer().lex(text)]
    .filter((token) => /^[#&*]/.test(token))
    .map((token) => token.trimEnd())
    .sort();

/** Tag that keeps words and one-line quoted strings as written: `007`, `1e3`, `~`, `"a\u00a0b"`. */
const AS_WRITTEN: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: () => true,
  resolve: (text: string) => text,
  stringify: (item, ...rest) => {
    if (item.type?.startsWith("BLOCK") !== true && item.source?.includes("\n") === false) return item.source;
    const written = stringifyString(item, ...rest);
    return written.startsWith('"') ? visibleQuoted(written) : written;
  },
};

function parsed(text: string): Document.Parsed[] {
  const documents = parseAllDocuments(text, {
    schema: "failsafe",
    customTags: (tags) => [
      ...tags.filter((tag) => typeof tag !== "object" || tag.collection !== undefined),
      AS_WRITTEN,
    ],
    uniqueKeys: false,
    logLevel: "silent",
  }) as Document.Parsed[];
  for (const document of documents) {
    visit(document, {
      Scalar: (_, scalar) => {
        // The parser stores the value of a quoted string here. Restore the source text.
        if (scalar.type?.startsWith("QUOTE") && scalar.range) scalar.source = text.slice(...scalar.range.slice(0, 2));
      },
    });
  }
  return documents;
}

/** Inserts a placeholder for each missing value. Otherwise the parser would attach the following comments to the key. */
function filled(text: string, word: string): string {
  const places: number[] = [];
  for (const document of parsed(text)) {
    visit(document, {
      Scalar: (key, { type, source, range }) => {
        const isValue = key === "value" || typeof key === "number";
        if (isValue && type === "PLAIN" && source === "" && range) places.push(range[0]);
      },
    });
  }
  return [...places, text.length].map((place, i) => text.slice(places[i - 1] ?? 0, place)).join(` ${word} `);
}

function printed(text: string, kinds: Kinds, sorts: boolean): string {
  let word = "\uE000";
  while (text.includes(word)) word += "\uE000";
  const documents = parsed(filled(text, word));
  for (const [index, document] of documents.entries()) {
    if (document.directives) document.directives.docStart = index > 0 ? true : null;
    if (isMap(document.contents)) arrange(document.contents, kinds, sorts);
  }
  const texts = documents.map((document) =>
    document.toString({ indent: 2, lineWidth: 0, flowCollectionPadding: false }),
  );
  return texts.join("").replaceAll(` ${word}`, "");
}

function arrange(top: YAMLMap, kinds: Kinds, sorts: boolean): void {
  const all = [...kinds.values()];
  const outer = all.filter(({ nested }) => nested === undefined);
  const sections = outer.map(({ section }) => section);
  const order = TOP.flatMap((key) => (key === "" ? sections : [key]));
  if (sorts) sort(top, order);
  spread(top, (pair) => isWide(pair.value));
  for (const { key, value } of top.items) {
    const section = keyOf(key);
    const kind = outer.find((one) => one.section === section);
    if ((kind === undefined && !EXPANDED.includes(section)) || !isMap(value)) continue;
    spread(value, (pair) => isWide(pair.value));
    if (!sorts) continue;
    if (section === "defaults") sort(value, all.map(sectionOf));
    for (const block of value.items) {
      const named = section === "defaults" ? all.find((one) => sectionOf(one) === keyOf(block.key)) : kind;
      const of = section === "templates" ? likeliest(block.value, outer, kinds) : named;
      if (of !== undefined) sortBlock(block.value, of, kinds);
    }
  }
}

const sectionOf = ({ section, nested }: Kind): string => nested?.section ?? section;

const innerOf = (kind: Kind, kinds: Kinds) => [...kinds.values()].filter(({ nested }) => nested?.in === kind.type);
const keysOf = (kind: Kind, kinds: Kinds): readonly string[] => [
  ...Object.keys(kind.attributes.shape),
  ...innerOf(kind, kinds).map(sectionOf),
];

/** Returns the likely kind of a template: the first kind with most of its keys. */
function likeliest(block: unknown, outer: readonly Kind[], kinds: Kinds): Kind | undefined {
  const names = isMap(block) ? block.items.map(({ key }) => keyOf(key)) : [];
  const known = (kind: Kind) => keysOf(kind, kinds).filter((key) => names.includes(key)).length;
  return outer.toSorted((a, b) => known(b) - known(a))[0];
}

function sortBlock(block: unknown, kind: Kind, kinds: Kinds): void {
  if (!isMap(block)) return;
  sort(block, [...FIRST, ...keysOf(kind, kinds), ...LAST]);
  for (const { key, value } of block.items) {
    const nested = innerOf(kind, kinds).find((one) => sectionOf(one) === keyOf(key));
    if (nested !== undefined && isMap(value)) for (const one of value.items) sortBlock(one.value, nested, kinds);
  }
}

/** Sorts known keys in the given order. An unknown key stays after the preceding known key. */
function sort(map: YAMLMap, order: readonly string[]): void {
  let rank = -1;
  const ranked = map.items.map((pair) => {
    const known = order.indexOf(keyOf(pair.key));
    if (known >= 0) rank = known;
    return { pair, rank };
  });
  const [first] = map.items;
  map.items = ranked.sort((a, b) => a.rank - b.rank).map(({ pair }) => pair);
  const [top] = map.items;
  if (top !== first && isNode(first?.key) && isNode(top?.key)) top.key.spaceBefore = false;
}

/** Adds an empty line before and after each wide entry. Other empty lines stay. */
function spread(map: YAMLMap, wide: (pair: Pair) => boolean): void {
  for (const [index, pair] of map.items.entries()) {
    const before = map.items[index - 1];
    if (isNode(pair.key) && before !== undefined && (wide(pair) || wide(before))) pair.key.spaceBefore = true;
  }
}

const isNode = (key: unknown): key is Node => isScalar(key) || isAlias(key);
const keyOf = (key: unknown): string => (isScalar(key) ? String(key.value) : "");
const isWide = (value: unknown): boolean => isCollection(value) && value.flow !== true && value.items.length > 0;
