/**
 * Edits one file of a declaration as text. Each edit replaces, adds or removes complete nodes. All other bytes stay:
 * comments, order, quotes, anchors and line ends.
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

/** One file with its edits. All edits run together, so offsets refer to the original text. */
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

  /** Returns the path to the key or scalar at the start of a range. */
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

  /** Returns the error that the user must edit this place. */
  byHand(path: KeyPath, why: Obstacle, fix: string): HostformError {
    return new HostformError([problem("config.by_hand", { why, fix, range: this.rangeOf(path) })]);
  }

  rangeOf(path: KeyPath): SourceRange {
    const [start = 0, end = 0] = last(path).pair.key.range ?? [];
    return this.source.range(start, end);
  }

  /** Returns the comment after a value, on the same line. */
  comment(path: KeyPath): string {
    return this.#comment(endOf(last(path).pair)).text;
  }

  /** Replaces the comment after a value, on the same line. JSON files have no comments. */
  setComment(path: KeyPath, text: string): void {
    this.#setComment(endOf(last(path).pair), text);
  }

  #setComment(at: number, text: string): void {
    const { start, end, text: old } = this.#comment(at);
    if (text !== old && !this.#isJson) this.#splice(start, end, text === "" ? "" : ` # ${text}`);
  }

  #comment(at: number): { readonly start: number; readonly end: number; readonly text: string } {
    const rest = this.source.text.slice(at, this.#lineEnd(at)).trimEnd();
    const [, value = "", text = ""] = /^(.*?)(?:\s+#\s*(.*))?$/.exec(rest) ?? [];
    return { start: at + value.length, end: at + rest.length, text };
  }

  /** Replaces a value on one line. @throws HostformError `config.by_hand`. */
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

  /**
   * Adds entries or items at the end of a value.
   * @param comment Comment after the last line.
   * @throws HostformError `config.by_hand`.
   */
  add(path: KeyPath, content: JsonObject | readonly Json[], comment = ""): void {
    const { pair } = last(path);
    if (isMap(pair.value) || isSeq(pair.value)) this.append(pair.value as YAMLMap, content, "", comment);
    else if (isEmpty(pair.value)) this.#addLines(endOf(pair), this.#column(startOf(pair)) + 2, printYaml(content));
    else throw this.byHand(path, "alias", `Add ${JSON.stringify(content)}.`);
  }

  /** Adds entries at the end of a map or list. @param before Text before the entries. */
  append(node: YAMLMap | YAMLSeq, content: JsonObject | readonly Json[], before = "", comment = ""): void {
    const end = node.items.at(-1) as Part;
    const short = this.#inline(content).slice(1, -1).trim();
    if (!isLined(node)) {
      const at = end == null ? (node.range?.[0] ?? 0) + 1 : endOf(end);
      this.#splice(at, at, end == null ? short : `, ${short}`);
      const old = this.#comment(at).text;
      if (comment !== "") this.#setComment(at, old === "" ? comment : `${comment}; ${old}`);
      return;
    }
    // Write the new block in the style of the previous one.
    const isShort = isMap(node) && isMap((end as Step["pair"]).value) && !isLined((end as Step["pair"]).value);
    const printed = isShort && before === "" ? `${short}\n` : printYaml(content);
    const lines = comment === "" ? printed : printed.replace(/\n$/, ` # ${comment}\n`);
    this.#addLines(endOf(end), this.#column(node.range?.[0] ?? 0), before + lines);
  }

  /** Adds items to a top-level list. Creates a missing list. */
  addItems([{ map }]: KeyPath, section: string, items: readonly Json[]): void {
    const list = this.paths.find(([step]) => step?.map === map && step.key === section);
    if (list === undefined) this.append(map, { [section]: [...items] }, "\n");
    else this.add(list, items);
  }

  /** Removes an entry with the comments above it. The last entry of a section also removes the section. */
  remove(path: KeyPath): void {
    const { pair, map } = last(path);
    this.#removed.set(pair, path);
    // In a block, an empty section would remove that section of its template.
    const isSection = [2, 4].includes(path.length) && !path[0].key.startsWith("x-");
    if (isSection && map.items.every((one) => this.#removed.has(one as Step["pair"])))
      this.remove(path.slice(0, -1) as unknown as KeyPath);
  }

  renameKey(path: KeyPath, name: string): void {
    const [start = 0, end = 0] = last(path).pair.key.range ?? [];
    this.#splice(start, end, /["']/.test(this.source.text[start] ?? "") ? JSON.stringify(name) : name);
  }

  /** Replaces all matches in values. @param except Top-level sections to skip. */
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

  /** Removes the comments and empty lines between two entries that are both removed. */
  removeBetween(path: KeyPath, next: KeyPath): void {
    this.#splice(this.#lines(path).end, this.#lines(next).start, "");
  }

  /** Returns the text of the lines of an entry, or from an entry to a later one, with the comments above and between. */
  linesOf(path: KeyPath, to = path): string {
    return this.source.text.slice(this.#lines(path).start, this.#lines(to).end).replace(/\n?$/, "\n");
  }

  #lines(path: KeyPath): { readonly start: number; readonly end: number } {
    const { text } = this.source;
    const { pair } = last(path);
    const comments = new RegExp(`(?:(?<![^\\n]) {${this.#column(startOf(pair))}}#[^\\n]*\\n)*$`);
    const own = this.#lineStart(startOf(pair));
    // Search only the text after the last empty line: a search of the complete text would take too long.
    const above = text.slice(text.lastIndexOf("\n\n", own) + 1, own);
    const start = own - (comments.exec(above)?.[0].length ?? 0);
    const end = this.#lineEnd(endOf(pair));
    // Comments that are indented like the content belong to the entry.
    const inside = new RegExp(`(?:(?:\\r?\\n)* {${this.#column(startOf(pair)) + 1},}#[^\\n]*\\n?)*`, "y");
    inside.lastIndex = end;
    return { start, end: end + (inside.exec(text)?.[0].length ?? 0) };
  }

  /** Changes the addresses in each item of `moved`. */
  setMoves(change: (from: string, to: string) => readonly [string, string]): void {
    for (const { item, value: from } of this.#items("moved", "from")) {
      const to = item.get("to", true);
      if (!isScalar(to)) continue;
      const [start, end] = change(String(from.value), String(to.value));
      for (const [{ value, range }, now] of [[from, start] as const, [to, end] as const])
        if (range && value !== now) this.#splice(range[0], range[1], now);
    }
  }

  /** Removes the items of a top-level list whose address passes a test. @param key of the address in an item. */
  dropItems(section: "moved" | "removed", key: "from" | "to", isDropped: (address: string) => boolean): void {
    const dropped = this.#items(section, key).filter(({ value }) => isDropped(String(value.value)));
    for (const [path, items] of Map.groupBy(dropped, (one) => one.path)) {
      const list = last(path).pair.value as YAMLSeq<YAMLMap>;
      const gone = new Set(items.map(({ item }) => item));
      const kept = list.items.filter((item) => !gone.has(item));
      if (kept.length === 0) this.remove(path);
      else if (isLined(list))
        for (const item of gone) this.#splice(this.#lineStart(item.range?.[0] ?? 0), this.#lineEnd(endOf(item)), "");
      else {
        const texts = kept.map((item) => this.source.text.slice(item.range?.[0], endOf(item)));
        this.#splice(list.range?.[0] ?? 0, endOf(list), `[${texts.join(", ")}]`);
      }
    }
  }

  /** Returns the items of a top-level list with the value of a key, in the order of the text. */
  #items(section: "moved" | "removed", key: "from" | "to") {
    return this.paths.flatMap((path) => {
      const list = last(path).pair.value;
      if (path.length > 1 || path[0].key !== section || !isSeq(list)) return [];
      return (list as YAMLSeq).items.flatMap((item) => {
        const value = isMap(item) ? item.get(key, true) : undefined;
        return isScalar(value) ? [{ path, item: item as YAMLMap, value }] : [];
      });
    });
  }

  /** Returns the first place outside of an entry that refers to an anchor inside it. */
  userOf(path: KeyPath): { readonly path: KeyPath; readonly anchor: string } | undefined {
    const { start, end } = this.#lines(path);
    const isInside = (other: KeyPath) => startOf(last(other).pair) >= start && startOf(last(other).pair) < end;
    const anchors = [...this.source.text.slice(start, end).matchAll(/(?<=[:\s[])&([^\s,[\]{}]+)/g)].map(
      ([, name]) => name,
    );
    for (const other of this.paths) {
      if (isMap(last(other).pair.value) || isInside(other)) continue;
      const anchor = anchors.find((name) =>
        this.textOf(other)
          .split(/[\s,[\]]+/)
          .includes(`*${name}`),
      );
      if (anchor !== undefined) return { path: other, anchor };
    }
    return undefined;
  }

  /** Converts a position in the result to a range in the original text. Undefined for added text. */
  originOf({ line, column }: Pick<SourceRange, "line" | "column">): SourceRange | undefined {
    const at = new Source({ path: this.source.path, text: this.result() }).offset(line, column);
    let out = 0;
    for (const { start, end, text } of this.#pieces()) {
      if (at < out + end - start) return this.source.range(start + at - out, start + at - out);
      out += end - start + text.length;
      if (at < out) return undefined;
    }
    return undefined;
  }

  /** Returns the text with all edits. */
  result(): string {
    return this.#pieces()
      .map(({ start, end, text }) => this.source.text.slice(start, end) + text)
      .join("");
  }

  /** Returns the kept ranges of the original text, each with the text to add after it. */
  #pieces() {
    const { text } = this.source;
    const cuts = [...this.#removed.values()]
      .filter((path) => !path.slice(0, -1).some(({ pair }) => this.#removed.has(pair)))
      .map((path) => ({ ...this.#cut(path), text: "" }));
    let from = 0;
    const pieces = [...cuts, ...this.#splices]
      .sort((a, b) => a.start - b.start)
      .map(({ start, end, text: added }) => {
        const piece = { start: from, end: Math.max(from, start), text: added };
        from = Math.max(from, end);
        return piece;
      });
    return [...pieces, { start: from, end: text.length, text: "" }];
  }

  #cut(path: KeyPath): { start: number; end: number } {
    const { text } = this.source;
    const { pair, map } = last(path);
    if (isLined(map)) {
      const { start, end } = this.#lines(path);
      const [blank = ""] = /\n\r?\n$/.test(text.slice(start - 3, start))
        ? (/^(?:\r?\n)+/.exec(text.slice(end)) ?? [])
        : [];
      // The last entry of a file takes the empty lines above.
      const [, above = ""] =
        end + blank.length < text.length ? [] : (/\n((?:\r?\n)+)$/.exec(text.slice(0, start)) ?? []);
      return { start: start - above.length, end: end + blank.length };
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

  get #isJson(): boolean {
    return /^\s*\{/.test(this.source.text);
  }

  #column(offset: number): number {
    return offset - this.#lineStart(offset);
  }

  #lineStart(offset: number): number {
    return offset <= 0 ? 0 : this.source.text.lastIndexOf("\n", offset - 1) + 1;
  }

  /** Returns the offset after the line of the last character before `end`. */
  #lineEnd(end: number): number {
    const newline = this.source.text.indexOf("\n", this.source.text[end - 1] === "\n" ? end - 1 : end);
    return newline < 0 ? this.source.text.length : newline + 1;
  }

  /** Formats a value on one line: as JSON in a JSON file, otherwise with as few quotes as possible. */
  #inline(value: Json | readonly Json[]): string {
    if (this.#isJson) return JSON.stringify(value);
    return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim();
  }
}

/** Location of entries in a block, such as `grants` of `www` in `services`. */
export interface NestedPlace {
  readonly section: string;
  readonly name: string;
  readonly nested: string;
}

/**
 * Adds entries at the end of a nested section. Adds a missing section at the end of its block.
 * @returns undefined if the block is not on its own lines (flow style or an anchor).
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
