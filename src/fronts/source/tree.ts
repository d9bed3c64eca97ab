import type { AttributePath, Json } from "../../core/model/index.ts";
import type { Span } from "./source.ts";

/**
 * A declaration as values that know their places, whatever notation they were read from. Aliases and merges are
 * already resolved: the same branch may hang in several places, and its span is where it is written.
 */
export type Tree = Leaf | ListTree | MapTree;

export interface Leaf {
  readonly form: "leaf";
  readonly value: null | boolean | number | string;
  readonly span: Span;
}

export interface ListTree {
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

/** A name with the place where it is written. */
export interface SpannedName {
  readonly name: string;
  readonly span: Span;
}

/** Whether nothing is written, or a null: how the libraries for stacks say that something is not given. */
export function isNull(tree: Tree): boolean {
  return tree.form === "leaf" && tree.value === null;
}

/** Whether something is written there. */
export function isGiven(entry: Entry | undefined): entry is Entry {
  return entry !== undefined && !isNull(entry.value);
}

/** The text that a value is; undefined for any other. */
export function stringOf(tree: Tree | undefined): string | undefined {
  return tree?.form === "leaf" && typeof tree.value === "string" ? tree.value : undefined;
}

/** The place to point at for an entry's value; its key when the value is not written. */
export function valueSpan(entry: Entry): Span {
  return entry.value.span.start === entry.value.span.end ? entry.keySpan : entry.value.span;
}

/** The plain value. */
export function toJson(tree: Tree): Json {
  if (tree.form === "leaf") return tree.value;
  if (tree.form === "list") return tree.items.map(toJson);
  return Object.fromEntries([...tree.entries].map(([key, entry]) => [key, toJson(entry.value)]));
}

/** The place of the deepest existing part of a path; `start` when not even its first step exists. */
export function locate(tree: Tree, path: AttributePath, start: Span = tree.span): Span {
  let span = start;
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

/** All strings in a tree. A branch that hangs in several places comes each time. */
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
