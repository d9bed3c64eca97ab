import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { Mistakes } from "../source/mistakes.ts";
import type { Source, Span } from "../source/source.ts";
import type { Entry, Tree } from "../source/tree.ts";

/** A document that is larger than is accepted; the message continues the name of the file. */
export class Excess extends Error {
  readonly span: Span;
  constructor(message: string, span: Span) {
    super(message);
    this.span = span;
  }
}

export interface Limits {
  /** Values of a document, each alias counted as what it stands for. */
  readonly values: number;
  /** Levels of maps and lists in each other, aliases followed. */
  readonly depth: number;
}

/** A tree with what it weighs when every alias is written out. */
interface Weighed {
  readonly tree: Tree;
  readonly values: number;
  readonly depth: number;
}

/**
 * Turns the nodes of a parsed document into a {@link Tree}: aliases and merge keys (`<<`) resolved, duplicate keys and
 * values that JSON does not have reported. Aliased branches are shared, never copied, so an alias bomb costs nothing
 * before its weight is known and refused. `complete` is false when a part had to be left out.
 * @throws Excess when the document, written out, is larger or deeper than the limits.
 */
export function convert(
  root: ParsedNode | null,
  source: Source,
  limits: Limits,
  mistakes: Mistakes,
): { tree: Tree | undefined; complete: boolean } {
  if (root === null) return { tree: undefined, complete: true };
  const conversion = new Conversion(source, limits, mistakes);
  const { tree } = conversion.read(root);
  return { tree, complete: conversion.complete };
}

class Conversion {
  complete = true;
  readonly #source: Source;
  readonly #limits: Limits;
  readonly #mistakes: Mistakes;
  /** By name; `undefined` while the anchored node is still being read. A later anchor of the same name replaces it. */
  readonly #anchors = new Map<string, Weighed | undefined>();
  /** Entries that merge keys have copied so far. */
  #merged = 0;

  constructor(source: Source, limits: Limits, mistakes: Mistakes) {
    this.#source = source;
    this.#limits = limits;
    this.#mistakes = mistakes;
  }

  read(node: Node): Weighed {
    if (isAlias(node)) return this.#follow(node, node.source);
    const { anchor } = node as Scalar;
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    const weighed = isMap(node) ? this.#map(node) : isSeq(node) ? this.#list(node) : this.#scalar(node as Scalar);
    const { values, depth } = this.#limits;
    if (weighed.values > values) {
      throw new Excess(`has more than ${values} values when its aliases are written out`, this.#span(node));
    }
    if (weighed.depth > depth) throw new Excess(`is nested more than ${depth} levels deep`, this.#span(node));
    if (anchor !== undefined) this.#anchors.set(anchor, weighed);
    return weighed;
  }

  #follow(node: Node, name: string): Weighed {
    const target = this.#anchors.get(name);
    if (target !== undefined) return target;
    if (this.#anchors.has(name)) {
      return this.#refuse(
        node,
        `The alias *${name} stands inside what it repeats`,
        "Move the alias out of its anchor.",
      );
    }
    const fix = `Write &${name} at an earlier value of the same document, or put quotes around a text that begins with "*".`;
    return this.#refuse(node, `There is no anchor &${name} before this alias`, fix);
  }

  #scalar(node: Scalar): Weighed {
    const value = plainValue(node);
    if (value !== undefined) return leaf(value, this.#span(node));
    return this.#refuse(
      node,
      "This number is not one that can be sent",
      "Give a finite number, or put quotes around a text.",
    );
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
      else if (key !== undefined && this.#isFirst(key, keySpan, entries)) {
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
    const text = isScalar(node) && node.type === "PLAIN" ? node.source : tree.form === "leaf" ? tree.value : undefined;
    const key = String(text ?? "");
    if (key !== "" && key !== "__proto__") return key;
    const summary = key === "" ? "A key has to be a word or a text" : '"__proto__" is not accepted as a key';
    this.#refuse(node, summary, key === "" ? "Write `name: value`." : "Choose another name.");
    return undefined;
  }

  #isFirst(key: string, span: Span, entries: ReadonlyMap<string, Entry>): boolean {
    const first = entries.get(key);
    if (first === undefined) return true;
    const { line } = this.#source.range(first.keySpan.start, first.keySpan.end);
    this.#mistakes.add(span, "config.duplicate", `"${key.slice(0, 100)}" is given twice in the same map`, {
      detail: `The first one is in line ${line}.`,
      fix: "Remove one of the two, or join them.",
    });
    return false;
  }

  /** https://yaml.org/type/merge.html: what the map has itself stays; of several sources the earlier one wins. */
  #merge(entries: Map<string, Entry>, from: Tree, at: Node): void {
    for (const tree of from.form === "list" ? from.items : [from]) {
      if (tree.form !== "map") {
        this.#refuse(at, "A merge key (<<) takes a map, an alias of one, or a list of them", "Write `<<: *name`.");
        return;
      }
      this.#merged += tree.entries.size;
      if (this.#merged > this.#limits.values) {
        throw new Excess(`has more than ${this.#limits.values} values when its merges are written out`, this.#span(at));
      }
      for (const [key, entry] of tree.entries) if (!entries.has(key)) entries.set(key, entry);
    }
  }

  #refuse(node: Node, summary: string, fix: string): Weighed {
    this.complete = false;
    this.#mistakes.add(this.#span(node), "config.structure", summary, { fix });
    return leaf(null, this.#span(node));
  }

  #span(node: Node): Span {
    const [start, end] = node.range ?? [0, 0];
    return this.#source.span(start, end);
  }
}

function isMergeKey(node: Node): boolean {
  return isScalar(node) && node.type === "PLAIN" && node.value === "<<";
}

function leaf(value: null | boolean | number | string, span: Span): Weighed {
  return { tree: { form: "leaf", value, span }, values: 1, depth: 0 };
}

function weigh(parts: readonly Weighed[], merged: readonly Weighed[]): { values: number; depth: number } {
  let values = 1;
  let depth = 0;
  for (const part of parts) {
    values += part.values;
    depth = Math.max(depth, part.depth + 1);
  }
  for (const part of merged) {
    values += part.values;
    depth = Math.max(depth, part.depth);
  }
  return { values, depth };
}

/**
 * The value of a scalar, `undefined` for those that JSON does not have (`.inf`, `.nan`). A decimal integer that a number
 * would not give back as it is written stays the text it is: ids above 2^53, postcodes with leading zeros, phone numbers with a `+`.
 */
function plainValue({ value, source = "" }: Scalar): null | boolean | number | string | undefined {
  if (typeof value !== "number") return value === null || typeof value === "boolean" ? value : String(value);
  if (/^[-+]?\d+$/.test(source) && String(value) !== source) return source;
  return Number.isFinite(value) ? value : undefined;
}
