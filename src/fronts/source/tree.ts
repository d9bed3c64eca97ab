import type { AttributePath, Json } from "../../core/model/index.ts";
import type { Span } from "./source.ts";

/**
 * A declaration as values with locations, independent of its notation. Aliases and merges are resolved: one branch may occur
 * several times, always with its location in the source.
 */
export type Tree = Leaf | ListTree | MapTree;

export interface Leaf {
  readonly form: "leaf";
  readonly value: null | boolean | number | string;
  /** Source text of a word or number, if it differs from the value: `1.10`, `0x10`, `True`, `Null`. */
  readonly written?: string;
  /** True if the value is unusable, which was reported. The value is then null. */
  readonly isRefused?: true;
  readonly span: Span;
}

interface ListTree {
  readonly form: "list";
  readonly items: readonly Tree[];
  readonly span: Span;
}

export interface MapTree {
  readonly form: "map";
  readonly entries: ReadonlyMap<string, Entry>;
  readonly span: Span;
}

export interface Entry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: Tree;
}

export interface SpannedName {
  readonly name: string;
  readonly span: Span;
}

/** Returns true for an empty value or null. CDKs write null for a missing value. */
export function isNull(tree: Tree): boolean {
  return tree.form === "leaf" && tree.value === null;
}

export function isGiven(entry: Entry | undefined): entry is Entry {
  return entry !== undefined && !isNull(entry.value);
}

/** Returns the value if it is a string. */
export function stringOf(tree: Tree | undefined): string | undefined {
  return tree?.form === "leaf" && typeof tree.value === "string" ? tree.value : undefined;
}

/** Returns the source text of a scalar. Undefined for null, lists and maps. */
export function textOf(tree: Tree | undefined): string | undefined {
  return tree?.form === "leaf" && tree.value !== null ? (tree.written ?? String(tree.value)) : undefined;
}

/** Returns the location of a value. If the value is empty: of its key. */
export function valueSpan(entry: Entry): Span {
  return entry.value.span.start === entry.value.span.end ? entry.keySpan : entry.value.span;
}

/** Returns true if the value or a part of it is unusable. */
export function hasRefused(tree: Tree): boolean {
  if (tree.form === "leaf") return tree.isRefused === true;
  if (tree.form === "list") return tree.items.some(hasRefused);
  return [...tree.entries.values()].some(({ value }) => hasRefused(value));
}

/** Returns the plain JSON value. */
export function toJson(tree: Tree): Json {
  if (tree.form === "leaf") return tree.value;
  if (tree.form === "list") return tree.items.map(toJson);
  return Object.fromEntries([...tree.entries].map(([key, entry]) => [key, toJson(entry.value)]));
}

/** Returns the value at a path. Undefined if there is none. */
export function treeAt(tree: Tree | undefined, path: AttributePath): Tree | undefined {
  let at = tree;
  for (const step of path) {
    if (at?.form === "map") at = at.entries.get(String(step))?.value;
    else at = at?.form === "list" ? at.items[Number(step)] : undefined;
  }
  return at;
}

/** Returns the location of the deepest existing value on a path. */
export function locate(tree: Tree, path: AttributePath): Span {
  let { span } = tree;
  let at: Tree | undefined = tree;
  for (const step of path) {
    if (at.form === "map") {
      const entry: Entry | undefined = at.entries.get(String(step));
      if (entry === undefined) return span;
      span = valueSpan(entry);
      at = entry.value;
    } else if (at.form === "list") {
      const item: Tree | undefined = at.items[Number(step)];
      if (item === undefined) return span;
      span = item.span;
      at = item;
    } else return span;
  }
  return span;
}

/** Yields all strings in a tree. A branch that occurs several times is visited several times. */
export function* strings(
  tree: Tree,
  path: AttributePath = [],
): Generator<{ text: string; leaf: Leaf; path: AttributePath }> {
  if (tree.form === "leaf") {
    if (typeof tree.value === "string") yield { text: tree.value, leaf: tree, path };
  } else if (tree.form === "list") {
    for (const [i, item] of tree.items.entries()) yield* strings(item, [...path, i]);
  } else {
    for (const [key, entry] of tree.entries) yield* strings(entry.value, [...path, key]);
  }
}
