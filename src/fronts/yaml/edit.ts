/**
 * Edits one file of a declaration as text. Each edit replaces, adds or removes complete nodes, so all other bytes stay: comments,
 * order, quotes, anchors and line ends.
 */
import {
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { HostformError, type Json, type JsonObject, type SourceRange } from "../../core/model/index.ts";
import { Source, type SourceFile } from "../source/source.ts";
import { type Obstacle, problem } from "./messages.ts";
import { printYaml } from "./print.ts";

/** A key with its value, in its map. */
interface Step {
  readonly key: string;
  readonly map: YAMLMap;
  readonly pair: Pair<Node, Node | null>;
}

/** The keys from the top of a document to one value. */
export type KeyPath = readonly [...Step[], Step];

type Part = Node | Step["pair"] | null | undefined;

const last = (path: KeyPath) => path.at(-1) as Step;
const startOf = ({ key }: Step["pair"]): number => key.range?.[0] ?? 0;
const isLined = (node: unknown): boolean => (isMap(node) || isSeq(node)) && node.flow !== true;
const isEmpty = (node: Part) => node == null || (isScalar(node) && node.range?.[0] === node.range?.[1]);

/** Returns the offset after the last character of a pair or value. */
function endOf(part: Part): number {
  if (part == null) return 0;
  if (isLined(part)) return endOf((part as YAMLMap).items.at(-1) as Part);
  if (!("key" in part)) return part.range?.[1] ?? 0;
  return isEmpty(part.value) ? (part.key.range?.[1] ?? 0) + 1 : endOf(part.value);
}

/** One file with its edits. The edits apply together, so offsets refer to the original text. */
export class FileEdit {
  readonly source: Source;
  /** All keys, in the order of the text. */
  readonly paths: KeyPath[] = [];
  readonly #removed = new Map<Step["pair"], KeyPath>();
  readonly #splices: { readonly start: number; readonly end: number; readonly text: string }[] = [];

  /** @param file a valid file. */
  constructor(file: SourceFile, index = 0) {
    this.source = new Source(file, index);
    const visit = (map: YAMLMap, above: readonly Step[]) => {
      for (const pair of map.items as Step["pair"][]) {
        const path: KeyPath = [...above, { key: isScalar(pair.key) ? String(pair.key.value) : "", map, pair }];
        this.paths.push(path);
        if (isMap(pair.value)) visit(pair.value as YAMLMap, path);
      }
    };
    const documents = parseAllDocuments(this.source.text, { uniqueKeys: false, logLevel: "silent" });
    for (const { contents } of [...documents]) if (isMap(contents)) visit(contents as YAMLMap, []);
  }

  /** Returns the path to the key or single value at the beginning of a range. */
  at({ line, column }: Pick<SourceRange, "line" | "column">): KeyPath | undefined {
    const offset = this.source.offset(line, column);
    return this.paths.findLast((path) =>
      [startOf(last(path).pair), last(path).pair.value?.range?.[0]].includes(offset),
    );
  }

  /** Returns the first path with these keys. */
  find(...keys: readonly string[]): KeyPath | undefined {
    return this.paths.find((path) => path.length === keys.length && path.every(({ key }, i) => key === keys[i]));
  }

  /** Returns the source text of a value. */
  textOf(path: KeyPath): string {
    const { value } = last(path).pair;
    return isEmpty(value) ? "" : this.source.text.slice(value?.range?.[0], endOf(value));
  }

  /** Returns an error that the user must edit this place. */
  byHand(path: KeyPath, why: Obstacle, fix: string): HostformError {
    const [start = 0, end = 0] = last(path).pair.key.range ?? [];
    return new HostformError([problem("config.by_hand", { why, fix, range: this.source.range(start, end) })]);
  }

  /** Replaces a value that is written in one line. @throws HostformError `config.by_hand`. */
  set(path: KeyPath, value: Json): void {
    const { pair, key } = last(path);
    const { value: old } = pair;
    const fix = `Set ${key} to ${JSON.stringify(value)}.`;
    if (this.textOf(path).includes("${")) throw this.byHand(path, "expression", fix);
    if (
      isEmpty(old) ||
      isLined(old) ||
      (old as { anchor?: string; source?: string }).anchor ||
      /^\*/.test(this.textOf(path))
    )
      throw this.byHand(path, "alias", fix);
    this.#splice(old?.range?.[0] ?? 0, endOf(old), this.#inline(value));
  }

  /** Adds entries or items at the end of the value at a path. @throws HostformError `config.by_hand`. */
  add(path: KeyPath, content: JsonObject | readonly Json[]): void {
    const { pair } = last(path);
    if (isMap(pair.value) || isSeq(pair.value)) this.append(pair.value as YAMLMap, content);
    else if (isEmpty(pair.value)) this.#addLines(endOf(pair), this.#column(startOf(pair)) + 2, printYaml(content));
    else throw this.byHand(path, "alias", `Add ${JSON.stringify(content)}.`);
  }

  /** Adds entries at the end of a map or list. @param before text above. */
  append(node: YAMLMap | YAMLSeq, content: JsonObject | readonly Json[], before = ""): void {
    const end = node.items.at(-1) as Part;
    const short = this.#inline(content).slice(1, -1).trim();
    if (!isLined(node)) {
      const at = end == null ? (node.range?.[0] ?? 0) + 1 : endOf(end);
      this.#splice(at, at, end == null ? short : `, ${short}`);
      return;
    }
    // A new block has the style of the block above.
    const isShort = isMap(node) && isMap((end as Step["pair"]).value) && !isLined((end as Step["pair"]).value);
    const lines = isShort && before === "" ? `${short}\n` : printYaml(content);
    this.#addLines(endOf(end), this.#column(node.range?.[0] ?? 0), before + lines);
  }

  /** Adds items to a list at the top of the document of a path. Creates a missing list. */
  addItems([{ map }]: KeyPath, section: string, items: readonly Json[]): void {
    const list = this.paths.find(([step]) => step?.map === map && step.key === section);
    if (list === undefined) this.append(map, { [section]: [...items] }, "\n");
    else this.add(list, items);
  }

  /** Removes an entry with the comments above it. A section without entries is removed with its last entry. */
  remove(path: KeyPath): void {
    const { pair, map } = last(path);
    this.#removed.set(pair, path);
    // In a block, an empty section could remove the section of its template.
    const isSection = [2, 4].includes(path.length) && !path[0].key.startsWith("x-");
    if (isSection && map.items.every((one) => this.#removed.has(one as Step["pair"])))
      this.remove(path.slice(0, -1) as unknown as KeyPath);
  }

  renameKey(path: KeyPath, name: string): void {
    const [start = 0, end = 0] = last(path).pair.key.range ?? [];
    this.#splice(start, end, /["']/.test(this.source.text[start] ?? "") ? JSON.stringify(name) : name);
  }

  /** Replaces each match in the values outside these top-level sections. */
  replaceAll(pattern: RegExp, text: string, except: readonly string[]): void {
    for (const path of this.paths) {
      const { value } = last(path).pair;
      if (isMap(value) || except.includes(path[0].key)) continue;
      for (const { 0: found, index } of this.textOf(path).matchAll(pattern)) {
        const start = (value?.range?.[0] ?? 0) + index;
        this.#splice(start, start + found.length, found.replace(pattern, text));
      }
    }
  }

  /** Returns the text of the lines of an entry, with the comments above it. */
  linesOf(path: KeyPath): string {
    const { start, end } = this.#lines(path);
    return this.source.text.slice(start, end).replace(/\n?$/, "\n");
  }

  #lines(path: KeyPath): { readonly start: number; readonly end: number } {
    const { text } = this.source;
    const { pair } = last(path);
    const comments = new RegExp(`(?:(?<![^\\n]) {${this.#column(startOf(pair))}}#[^\\n]*\\n)*$`);
    const own = this.#lineStart(startOf(pair));
    // A regular expression of the whole text above would take too long for each entry.
    const above = text.slice(text.lastIndexOf("\n\n", own) + 1, own);
    const start = own - (comments.exec(above)?.[0].length ?? 0);
    return { start, end: this.#lineEnd(endOf(pair)) };
  }

  /** Returns the text with all edits. */
  result(): string {
    const { text } = this.source;
    const cuts = [...this.#removed.values()]
      .filter((path) => !path.slice(0, -1).some(({ pair }) => this.#removed.has(pair)))
      .map((path) => ({ ...this.#cut(path), text: "" }));
    let out = "";
    let from = 0;
    for (const { start, end, text: added } of [...cuts, ...this.#splices].sort((a, b) => a.start - b.start)) {
      out += text.slice(from, Math.max(from, start)) + added;
      from = Math.max(from, end);
    }
    return out + text.slice(from);
  }

  #cut(path: KeyPath): { start: number; end: number } {
    const { text } = this.source;
    const { pair, map } = last(path);
    if (isLined(map)) {
      const { start, end } = this.#lines(path);
      const [blank = ""] = /\n\r?\n$/.test(text.slice(start - 3, start))
        ? (/^(?:\r?\n)+/.exec(text.slice(end)) ?? [])
        : [];
      return { start, end: end + blank.length };
    }
    const pairs = map.items as Step["pair"][];
    const nth = pairs.indexOf(pair);
    const next = pairs[nth + 1];
    const isAfter = pairs.slice(0, nth).some((one) => !this.#removed.has(one));
    if (!isAfter && next !== undefined) return { start: startOf(pair), end: startOf(next) };
    return { start: isAfter ? endOf(pairs[nth - 1]) : startOf(pair), end: endOf(pair) };
  }

  #splice(start: number, end: number, text: string): void {
    this.#splices.push({ start, end, text });
  }

  #addLines(end: number, column: number, lines: string): void {
    const { text } = this.source;
    const at = this.#lineEnd(end);
    const indented = lines.replace(/(?<![^\n])(?=[^\n])/g, " ".repeat(column));
    const added = text[at - 1] === "\n" ? indented : `\n${indented}`;
    this.#splice(at, at, text.includes("\r\n") ? added.replaceAll("\n", "\r\n") : added);
  }

  #column(offset: number): number {
    return offset - this.#lineStart(offset);
  }

  #lineStart(offset: number): number {
    return offset <= 0 ? 0 : this.source.text.lastIndexOf("\n", offset - 1) + 1;
  }

  /** Returns the offset after the line that contains the last character before `end`. */
  #lineEnd(end: number): number {
    const newline = this.source.text.indexOf("\n", this.source.text[end - 1] === "\n" ? end - 1 : end);
    return newline < 0 ? this.source.text.length : newline + 1;
  }

  /** Prints a value in one line: as JSON in a file of JSON, or with as few quotes as possible. */
  #inline(value: Json | readonly Json[]): string {
    if (/^\s*\{/.test(this.source.text)) return JSON.stringify(value);
    return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim();
  }
}

/** Position of added lines in a block, such as `grants` of `www` in `services`. */
export interface NestedPlace {
  readonly section: string;
  readonly name: string;
  readonly nested: string;
}

/**
 * Returns the text with entries added at the end of a nested section. If the section is missing, adds it at the end of its block.
 * @returns undefined if the block is not written on its own lines (flow style or an anchor). The text then stays unchanged.
 */
export function insertNested(
  text: string,
  { section, name, nested }: NestedPlace,
  entries: JsonObject,
): string | undefined {
  const edit = new FileEdit({ path: "", text });
  const block = edit.find(section, name);
  const inner = edit.find(section, name, nested);
  const isWritable = (path: KeyPath | undefined) => path === undefined || isLined(last(path).pair.value);
  if (block === undefined || !isWritable(block) || !isWritable(inner)) return undefined;
  edit.add(inner ?? block, inner === undefined ? { [nested]: entries } : entries);
  return edit.result();
}
