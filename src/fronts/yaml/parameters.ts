import type { DiagnosticCollector } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { type Entry, type Leaf, type MapTree, type Tree, textOf } from "../source/tree.ts";
import { problem } from "./messages.ts";
import type { DeclarationLimits } from "./yaml.ts";

/** Finds `${param}` in the strings of a template, and replaces it with a value. */

/** Pattern of an escaped `${`, or of a parameter: a name without a dot. Other references contain a dot. */
const PARAMETER = /\$\$\{|\$\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}/g;

/** The parameter values of one use of a template. */
interface Arguments {
  readonly given: ReadonlyMap<string, Tree>;
  /** Location where a block uses the template. */
  readonly use: Span;
}

/** Error: the declaration exceeds its limits where it uses a template. */
export class TooMuch extends Error {
  readonly span: Span;
  constructor(span: Span) {
    super("too many values");
    this.span = span;
  }
}

/** Yields the parameters in all strings of a tree, including keys, each with the location of its string. */
export function* parametersIn(tree: Tree): Generator<{ readonly name: string; readonly span: Span }> {
  if (tree.form === "leaf") {
    for (const [, name] of String(tree.value).matchAll(PARAMETER))
      if (name !== undefined) yield { name, span: tree.span };
  } else if (tree.form === "list") for (const item of tree.items) yield* parametersIn(item);
  else {
    for (const { key, keySpan, value } of tree.entries.values()) {
      yield* parametersIn({ form: "leaf", value: key, span: keySpan });
      yield* parametersIn(value);
    }
  }
}

/**
 * Copies trees to the places where they are used. The copies of a declaration together have at most `limits.values` values. A
 * long string counts as several values.
 * @throws TooMuch
 */
export class Copies {
  readonly #diags: DiagnosticCollector;
  readonly #longest: number;
  #left: number;

  constructor(diags: DiagnosticCollector, limits: DeclarationLimits) {
    this.#diags = diags;
    this.#longest = limits.bytes;
    this.#left = limits.values;
  }

  /** Returns a copy, with the location where it is used. */
  at<T extends Tree>(tree: T, usedAt: Span): T {
    return this.#copy(tree, usedAt, undefined) as T;
  }

  /** Returns the body of a template, with values in place of its parameters. */
  filled(body: MapTree, values: Arguments): MapTree {
    return this.#copy(body, values.use, values) as MapTree;
  }

  #copy(tree: Tree, usedAt: Span | undefined, values: Arguments | undefined): Tree {
    const span = { ...tree.span, usedAt };
    this.#count(tree, span);
    if (tree.form === "leaf") return values === undefined ? { ...tree, span } : this.#text({ ...tree, span }, values);
    if (tree.form === "list")
      return { ...tree, span, items: tree.items.map((item) => this.#copy(item, usedAt, values)) };
    const entries = new Map<string, Entry>();
    for (const entry of tree.entries.values()) {
      const keySpan = { ...entry.keySpan, usedAt };
      const key = values === undefined ? entry.key : this.#key(entry.key, keySpan, values);
      if (!entries.has(key)) entries.set(key, { key, keySpan, value: this.#copy(entry.value, usedAt, values) });
      else this.#diags.add(keySpan, problem("config.template/key_twice", { key }));
    }
    return { ...tree, span, entries };
  }

  #count(tree: Tree, span: Span): void {
    const length = tree.form === "leaf" && typeof tree.value === "string" ? tree.value.length : 0;
    this.#left -= 1 + Math.floor(length / 100);
    if (this.#left < 0) throw new TooMuch(span.usedAt ?? span);
  }

  #key(key: string, span: Span, values: Arguments): string {
    const text = this.#text({ form: "leaf", value: key, span }, values);
    const filled = textOf(text);
    if (filled !== undefined) return filled;
    this.#diags.add(span, problem("config.template/key", { key }));
    return key;
  }

  /** Replaces the parameters in a string. If the string is only one parameter, returns its value with its type. */
  #text(leaf: Leaf, { given }: Arguments): Tree {
    const { value: text, span } = leaf;
    if (typeof text !== "string" || !text.includes("${")) return leaf;
    let filled = "";
    let from = 0;
    for (const { 0: whole, 1: name, index } of text.matchAll(PARAMETER)) {
      const value = name === undefined ? undefined : given.get(name);
      if (value === undefined) continue;
      if (whole === text) return this.#argument(value, span);
      const part = textOf(value);
      if (part === undefined) {
        const mistake = problem("config.template/part", { name: String(name), form: value.form });
        return this.#diags.add(argumentAt(value, span), mistake) ?? leaf;
      }
      filled = this.#joined(filled, text.slice(from, index), span);
      filled = this.#joined(filled, part, span);
      from = index + whole.length;
    }
    if (from === 0) return leaf;
    const result: Leaf = { ...leaf, value: this.#joined(filled, text.slice(from), span) };
    this.#count(result, span);
    return result;
  }

  /** Joins two strings. If the seam would form a new `${`, escapes it. */
  #joined(left: string, right: string, span: Span): string {
    if (left.length + right.length > this.#longest) throw new TooMuch(span.usedAt ?? span);
    const isOpen = left.endsWith("$");
    if (isOpen && right.startsWith("${")) this.#diags.add(span, problem("config.template/dollar"));
    return isOpen && right.startsWith("{") ? `${left}$${right}` : left + right;
  }

  #argument(value: Tree, place: Span): Tree {
    return this.#copy(value, argumentAt(value, place).usedAt, undefined);
  }
}

/** Returns the location of a parameter's value, with the location of the parameter in the template. */
const argumentAt = ({ span }: Tree, { source, start, end }: Span): Span => ({
  ...span,
  usedAt: { source, start, end, usedAt: span.usedAt },
});
