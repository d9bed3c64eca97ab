/**
 * Edits one file of a declaration as text. Each edit replaces, adds or removes complete nodes, so all other bytes stay: comments,
 * order, quotes, anchors and line ends.
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  stringify,
  type YAMLMap,
} from "yaml";
import { HostformError, type Json, type JsonObject, type SourceRange } from "../../core/model/index.ts";
import { Source, type SourceFile } from "../source/source.ts";
import { problem } from "./messages.ts";
import { printYaml } from "./print.ts";

/** A key with its value, in its map. */
export interface Step {
  readonly map: YAMLMap;
  readonly pair: Pair<Node, Node | null>;
}

/** The keys from the top of a document to one value. Never empty. */
export type KeyPath = readonly [Step, ...Step[]];

/** Reason why a place cannot be edited. Each has its own fix. */
export type Obstacle = "expression" | "alias" | "shared" | "secret";

export const keyOf = ({ key }: Pair<Node, unknown>): string => (isScalar(key) ? String(key.value) : "");
const startOf = ({ key }: Step["pair"]): number => key.range?.[0] ?? 0;
const pairsOf = (map: YAMLMap) => map.items as Step["pair"][];
const isFlow = (node: unknown) => (node as { flow?: boolean }).flow === true;
const isEmpty = (node: Node | null): boolean =>
  node === null || (isScalar(node) && node.range?.[0] === node.range?.[1]);

/** Returns the offset after the last character of a pair or value. */
function endOf(part: unknown): number {
  if (isMap(part) && !isFlow(part)) return endOfPair(pairsOf(part).at(-1));
  if (isSeq(part) && !isFlow(part)) return endOf(part.items.at(-1));
  return (part as Node | undefined)?.range?.[1] ?? 0;
}
const endOfPair = (pair: Step["pair"] | undefined): number =>
  pair === undefined ? 0 : isEmpty(pair.value) ? (pair.key.range?.[1] ?? 0) + 1 : endOf(pair.value);

/** Inserts lines, or replaces a range. */
interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** One file with its edits. The edits apply together, so offsets refer to the original text. */
export class FileEdit {
  readonly source: Source;
  readonly #documents: readonly YAMLMap[];
  readonly #keys = new Map<number, KeyPath>();
  readonly #values = new Map<number, KeyPath>();
  readonly #removed = new Map<Step["pair"], KeyPath>();
  readonly #splices: Splice[] = [];

  /** @param file a valid file. Its text has no byte order mark. */
  constructor(file: SourceFile, index = 0) {
    this.source = new Source(file, index);
    const options = { schema: "core", uniqueKeys: false, resolveKnownTags: false, logLevel: "silent" } as const;
    const documents = [...parseAllDocuments(this.source.text, options)];
    this.#documents = documents.flatMap(({ contents }) => (isMap(contents) ? [contents as YAMLMap] : []));
    for (const map of this.#documents) this.#index(map, []);
  }

  /** Returns the keys to the value that a range begins. Undefined if no key or single value begins there. */
  at({ line, column }: Pick<SourceRange, "line" | "column">): KeyPath | undefined {
    const offset = this.source.offset(line, column);
    return this.#keys.get(offset) ?? this.#values.get(offset);
  }

  /** Returns the path with these keys, from the first document that contains them. */
  find(...keys: readonly string[]): KeyPath | undefined {
    return this.#documents.map((map) => this.#within(map, keys)).find((path) => path !== undefined);
  }

  /** Returns a key of the map at a path. */
  inside(path: KeyPath, key: string): KeyPath | undefined {
    const { value } = (path.at(-1) as Step).pair;
    const found = isMap(value) ? this.#within(value as YAMLMap, [key]) : undefined;
    return found && [...path, ...found];
  }

  /** Returns the lines of an entry with the comments above it. */
  linesOf(path: KeyPath): string {
    const { start, end } = this.#lines((path.at(-1) as Step).pair);
    return this.source.text.slice(start, end);
  }

  /** Returns the source text of a value. */
  textOf(path: KeyPath): string {
    const { value } = (path.at(-1) as Step).pair;
    return isEmpty(value) ? "" : this.source.text.slice(value?.range?.[0], endOf(value));
  }

  range(path: KeyPath): SourceRange {
    const { key } = (path.at(-1) as Step).pair;
    return this.source.range(key.range?.[0] ?? 0, key.range?.[1] ?? 0);
  }

  /** Returns an error that the user must edit this place. */
  byHand(path: KeyPath, why: Obstacle, fix: string): HostformError {
    return new HostformError([problem("edit.by_hand", { why, fix, range: this.range(path) })]);
  }

  /** Replaces a value. @throws HostformError `edit.by_hand` for an alias, an anchor and an expression. */
  set(path: KeyPath, value: Json): void {
    const { pair, map } = path.at(-1) as Step;
    const old = pair.value;
    const fix = `Set ${keyOf(pair)} to ${JSON.stringify(value)}.`;
    if (isAlias(old) || (old as Node & { anchor?: string })?.anchor !== undefined)
      throw this.byHand(path, "alias", fix);
    if (this.textOf(path).includes("${")) throw this.byHand(path, "expression", fix);
    if (isEmpty(old)) {
      const at = this.source.text.indexOf(":", pair.key.range?.[1]) + 1;
      this.#splices.push({ start: at, end: at, text: ` ${this.#inline(value, map)}` });
      return;
    }
    const start = old?.range?.[0] ?? 0;
    const isBlock = (isMap(old) || isSeq(old)) && !isFlow(old);
    const text = isBlock ? this.#lined(value, " ".repeat(this.#column(start))).trimStart() : this.#inline(value, map);
    this.#splices.push({ start, end: endOf(old), text: isBlock ? text.trimEnd() : text });
  }

  /** Adds entries at the end of the map at a path. */
  add(path: KeyPath, entries: JsonObject): void {
    const { pair } = path.at(-1) as Step;
    const { value } = pair;
    if (isMap(value)) this.#append(value as YAMLMap, entries);
    else if (isEmpty(value)) {
      const indent = " ".repeat(this.#column(startOf(pair)) + 2);
      this.#insertLines((pair.key.range?.[1] ?? 0) + 1, this.#lined(entries, indent));
    } else throw this.byHand(path, "alias", `Add ${JSON.stringify(entries)}.`);
  }

  /** Adds items at the end of a top-level list such as `removed`. Creates the list in the document of a path. */
  addItems([{ map }]: KeyPath, section: string, items: readonly JsonObject[]): void {
    const list = pairsOf(map).find((pair) => keyOf(pair) === section);
    if (list === undefined) this.#append(map, { [section]: [...items] }, true);
    else if (isSeq(list.value) && !isFlow(list.value)) {
      const indent = " ".repeat(this.#column(list.value.range?.[0] ?? 0));
      this.#insertLines(endOf(list.value), this.#lined([...items], indent));
    } else if (isSeq(list.value)) {
      const texts = items.map((item) => this.#inline(item, map)).join(", ");
      const last = list.value.items.at(-1);
      const at = last === undefined ? (list.value.range?.[0] ?? 0) + 1 : endOf(last);
      this.#splices.push({ start: at, end: at, text: last === undefined ? texts : `, ${texts}` });
    } else throw this.byHand([{ map, pair: list }], "alias", `Add ${JSON.stringify(items)}.`);
  }

  /** Adds a section at the end of the first document. */
  addSection(section: string, entries: JsonObject): void {
    const [map] = this.#documents;
    if (map !== undefined) this.#append(map, { [section]: entries }, true);
  }

  /** Removes an entry with the comments above it. A section without entries is removed with its last entry. */
  remove(path: KeyPath): void {
    const { pair, map } = path.at(-1) as Step;
    this.#removed.set(pair, path);
    // In a block, an empty section could remove the section of its template.
    const isSection = (path.length === 2 || path.length === 4) && !keyOf(path[0].pair).startsWith("x-");
    if (isSection && pairsOf(map).every((one) => this.#removed.has(one))) this.remove(path.slice(0, -1) as [Step]);
  }

  renameKey(path: KeyPath, name: string): void {
    const { key } = (path.at(-1) as Step).pair;
    const [start = 0, end = 0] = key.range ?? [];
    const isQuoted = isScalar(key) && key.type !== "PLAIN";
    this.#splices.push({ start, end, text: isQuoted ? JSON.stringify(name) : name });
  }

  /** Replaces each match in the values outside these top-level sections. */
  replaceAll(pattern: RegExp, text: string, except: readonly string[]): void {
    for (const [at, path] of this.#values) {
      if (except.includes(keyOf(path[0].pair))) continue;
      for (const { 0: found, index } of this.textOf(path).matchAll(pattern)) {
        const start = at + index;
        this.#splices.push({ start, end: start + found.length, text: found.replace(pattern, text) });
      }
    }
  }

  /** Returns the paths of all keys. */
  get paths(): readonly KeyPath[] {
    return [...this.#keys.values()];
  }

  /** Returns the text with all edits. */
  result(): string {
    const { text } = this.source;
    const gone = [...this.#removed].filter(
      ([, path]) => !path.slice(0, -1).some(({ pair }) => this.#removed.has(pair)),
    );
    const cuts = gone.map(([pair, path]) => ({ ...this.#cut(pair, (path.at(-1) as Step).map), text: "" }));
    const splices = [...cuts, ...this.#splices].sort((a, b) => a.start - b.start);
    let out = "";
    let from = 0;
    for (const { start, end, text: added } of splices) {
      out += text.slice(from, Math.max(from, start)) + (this.#isCut(cuts, start, end) ? "" : added);
      from = Math.max(from, end);
    }
    return out + text.slice(from);
  }

  /** Returns true for an edit inside a removed entry. */
  #isCut = (cuts: readonly Splice[], start: number, end: number) =>
    cuts.some((cut) => cut.start <= start && end <= cut.end && start < end);

  #index(map: YAMLMap, above: readonly Step[]): void {
    for (const pair of pairsOf(map)) {
      const path = [...above, { map, pair }] as unknown as KeyPath;
      this.#keys.set(startOf(pair), path);
      if (isMap(pair.value)) this.#index(pair.value as YAMLMap, path);
      else if (pair.value?.range) this.#values.set(pair.value.range[0], path);
    }
  }

  #within(map: YAMLMap, keys: readonly string[]): KeyPath | undefined {
    const [key, ...rest] = keys;
    const pair = pairsOf(map).find((one) => keyOf(one) === key);
    if (pair === undefined) return undefined;
    const path: KeyPath = [{ map, pair }];
    if (rest.length === 0) return path;
    const inner = isMap(pair.value) ? this.#within(pair.value as YAMLMap, rest) : undefined;
    return inner && [...path, ...inner];
  }

  #column(offset: number): number {
    return offset - this.#lineStart(offset);
  }

  #lineStart(offset: number): number {
    return offset === 0 ? 0 : this.source.text.lastIndexOf("\n", offset - 1) + 1;
  }

  /** Returns the offset after the line that contains the last character before `end`. */
  #lineEnd(end: number): number {
    const { text } = this.source;
    const newline = text[end - 1] === "\n" ? end - 1 : text.indexOf("\n", end);
    return newline < 0 ? text.length : newline + 1;
  }

  get #eol(): string {
    return this.source.text.includes("\r\n") ? "\r\n" : "\n";
  }

  /** Prints a value on its own lines. */
  #lined(value: Json | JsonObject, indent: string): string {
    return printYaml(value)
      .replace(/(?<![^\n])(?=[^\n])/g, indent)
      .replaceAll("\n", this.#eol);
  }

  /** Prints a value in one line, in the style of a map: with quotes as in JSON, or without. */
  #inline(value: Json, map: YAMLMap): string {
    const [first] = pairsOf(map);
    if (isFlow(map) && isScalar(first?.key) && first.key.type === "QUOTE_DOUBLE") return JSON.stringify(value);
    return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim();
  }

  #insertLines(end: number, lines: string): void {
    const at = this.#lineEnd(end);
    const isOpen = at === this.source.text.length && this.source.text[at - 1] !== "\n";
    this.#splices.push({ start: at, end: at, text: isOpen ? this.#eol + lines : lines });
  }

  #append(map: YAMLMap, entries: JsonObject, isApart = false): void {
    const last = pairsOf(map).at(-1);
    if (!isFlow(map)) {
      const indent = " ".repeat(this.#column(map.range?.[0] ?? 0));
      // A new block has the style of the block above.
      const isShort = (value: Json) => isMap(last?.value) && isFlow(last.value) && typeof value === "object";
      const lines = Object.entries(entries).map(([key, value]) =>
        isShort(value)
          ? `${indent}${key}: ${this.#inline(value, map)}${this.#eol}`
          : this.#lined({ [key]: value }, indent),
      );
      this.#insertLines(endOfPair(last), (isApart ? this.#eol : "") + lines.join(""));
      return;
    }
    const texts = Object.entries(entries).map(([key, value]) =>
      this.#inline({ [key]: value }, map)
        .slice(1, -1)
        .trim(),
    );
    const at = last === undefined ? (map.range?.[0] ?? 0) + 1 : endOfPair(last);
    const start = last === undefined ? at : startOf(last);
    const before = this.source.text.slice(this.#lineStart(start), start);
    const apart = last === undefined ? "" : before.trim() === "" ? `,${this.#eol}${before}` : ", ";
    this.#splices.push({ start: at, end: at, text: apart + texts.join(apart || ", ") });
  }

  /** Returns the lines of an entry in a block map: its comments above, and its value. */
  #lines(pair: Step["pair"]): { start: number; end: number } {
    const { text } = this.source;
    let start = this.#lineStart(startOf(pair));
    const comment = new RegExp(`^ {${this.#column(startOf(pair))}}#`);
    while (start > 0 && comment.test(text.slice(this.#lineStart(start - 1), start))) start = this.#lineStart(start - 1);
    return { start, end: this.#lineEnd(endOfPair(pair)) };
  }

  #cut(pair: Step["pair"], map: YAMLMap): { start: number; end: number } {
    const { text } = this.source;
    const pairs = pairsOf(map);
    const nth = pairs.indexOf(pair);
    if (isFlow(map)) {
      const isAfter = pairs.slice(0, nth).some((one) => !this.#removed.has(one));
      const next = pairs[nth + 1];
      if (isAfter || next === undefined)
        return { start: isAfter ? endOfPair(pairs[nth - 1]) : startOf(pair), end: endOfPair(pair) };
      return { start: startOf(pair), end: startOf(next) };
    }
    const { start, end } = this.#lines(pair);
    const isBlank = (from: number, to: number) => from < to && text.slice(from, to).trim() === "";
    const isAfterBlank = nth === 0 || start === 0 || isBlank(this.#lineStart(start - 1), start);
    let last = end;
    while (isAfterBlank && last < text.length && isBlank(last, this.#lineEnd(last + 1))) last = this.#lineEnd(last + 1);
    let first = start;
    while (last === text.length && first > 0 && isBlank(this.#lineStart(first - 1), first))
      first = this.#lineStart(first - 1);
    return { start: first, end: last };
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
  if (block === undefined || !isOnLines(block)) return undefined;
  const inner = edit.inside(block, nested);
  if (inner !== undefined && !isOnLines(inner)) return undefined;
  edit.add(inner ?? block, inner === undefined ? { [nested]: entries } : entries);
  return edit.result();
}

function isOnLines(path: KeyPath): boolean {
  const { value } = (path.at(-1) as Step).pair;
  return isMap(value) && !isFlow(value) && value.items.length > 0;
}
