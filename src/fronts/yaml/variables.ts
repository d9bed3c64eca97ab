import * as z from "zod";
import { referencesIn } from "../../core/expression/references.ts";
import { isCredential, type VariableValue } from "../../core/model/index.ts";
import { type DiagnosticCollector, unique } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { templateSpans } from "../source/templates.ts";
import { type Entry, isNull, type Leaf, type Tree, textOf, valueSpan } from "../source/tree.ts";
import { problem } from "./messages.ts";

/**
 * Replaces `${var.NAME}` before any other check. Variables are values that differ between environments. A value that is only
 * one reference keeps the type of the variable.
 */

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const REFERENCE = /\$\$\{|\$\{\s*var\.([A-Za-z_][A-Za-z0-9_-]*)\s*\}/g;
/** Maximum number of characters of a value, because every block may repeat it. */
const LONGEST = 1000;

const TYPES = ["string", "number", "boolean"] as const;

/** Schema of one entry of `variables`, also for editors. */
export const variableForm = z.strictObject({
  type: z
    .enum(TYPES, "expected string, number or boolean")
    .optional()
    .describe("Type of the value: string, number or boolean. Default: string."),
  default: z
    .union([z.string(), z.number(), z.boolean(), z.null()], "expected one value")
    .optional()
    .describe(
      "Value if the environment has none. With null, hostform omits the attribute. Without a default, each environment needs a value.",
    ),
  description: z.string("expected a string").optional().describe("Purpose of the variable, for people."),
});

const KEYS: readonly string[] = Object.keys(variableForm.shape);

/** Values from the file of the environment. */
interface VariableValues {
  readonly file: string;
  readonly entries: readonly Entry[];
}

/** Returns the entries of the sections `variables` of all documents. */
export function variablesIn(documents: readonly Tree[], diags: DiagnosticCollector): Entry[] {
  return documents.flatMap((tree) => {
    const section = tree.form === "map" ? tree.entries.get("variables") : undefined;
    if (section === undefined || isNull(section.value)) return [];
    if (section.value.form === "map") return [...section.value.entries.values()];
    return diags.add(valueSpan(section), problem("config.structure/variables")) ?? [];
  });
}

/** Returns true if a text contains a reference to a variable. */
export const hasVariable = (text: string): boolean =>
  [...text.matchAll(REFERENCE)].some(([, name]) => name !== undefined);

/** The variables of a declaration with their values. */
export class Variables {
  readonly #diags: DiagnosticCollector;
  /** Values by name. Undefined: a mistake was reported. */
  readonly #values = new Map<string, Leaf | undefined>();

  /**
   * Environment variables that the values of declared variables contain. Their values are public, because the author of the
   * declaration uses these in public places.
   */
  get fromEnvironment(): ReadonlySet<string> {
    const found = [...this.#values.values()].flatMap((leaf) => referencesIn(leaf?.value ?? null));
    return new Set(
      found.flatMap(({ reference }) =>
        reference.to === "env" && !isCredential(reference.name) ? [reference.name] : [],
      ),
    );
  }

  /** @param declared Entries of all sections `variables`. @param given Undefined without an environment. */
  constructor(declared: readonly Entry[], given: VariableValues | undefined, diags: DiagnosticCollector) {
    this.#diags = diags;
    const values = new Map(given?.entries.map((entry) => [entry.key, entry]));
    const names = declared.map(({ key }) => key);
    for (const entry of unique(declared, ({ key }) => `The variable "${key.slice(0, 100)}"`, diags))
      this.#values.set(entry.key, this.#valueOf(entry, values.get(entry.key), given?.file));
    for (const { key, keySpan } of values.values()) {
      if (names.includes(key)) continue;
      diags.add(keySpan, problem("config.unknown_key/variable_value", { ...diags.unknown(key, names) }));
    }
  }

  values(): VariableValue[] {
    return [...this.#values].flatMap(([name, leaf]) =>
      leaf === undefined ? [] : [{ name, value: leaf.value, sensitive: false, isChecked: false }],
    );
  }

  /** Replaces the references to variables in a document. */
  document(tree: Tree): Tree {
    if (tree.form !== "map") return tree;
    const entries = [...tree.entries].map(
      ([key, entry]) =>
        [key, key === "variables" || key === "project" ? entry : { ...entry, value: this.fill(entry.value) }] as const,
    );
    return { ...tree, entries: new Map(entries) };
  }

  /** Replaces the references to variables in a value. */
  fill(tree: Tree): Tree {
    if (tree.form === "leaf") return this.#filled(tree);
    if (tree.form === "list") return { ...tree, items: tree.items.map((item) => this.fill(item)) };
    const entries = [...tree.entries].map(
      ([key, entry]) => [key, { ...entry, value: this.fill(entry.value) }] as const,
    );
    return { ...tree, entries: new Map(entries) };
  }

  #valueOf({ key, keySpan, value: tree }: Entry, given: Entry | undefined, file: string | undefined): Leaf | undefined {
    const diags = this.#diags;
    if (!NAME.test(key)) return diags.add(keySpan, problem("config.structure/variable_name", { key }));
    if (tree.form !== "map" && !isNull(tree))
      return diags.add(tree.span, problem("config.structure/variable", { key }));
    const entries: ReadonlyMap<string, Entry> = tree.form === "map" ? tree.entries : new Map();
    for (const one of entries.values())
      if (!KEYS.includes(one.key))
        return diags.add(one.keySpan, problem("config.unknown_key/variable", diags.unknown(one.key, KEYS)));
    const typeEntry = entries.get("type");
    const type = TYPES.find((one) => one === (typeEntry === undefined ? "string" : textOf(typeEntry.value)));
    if (type === undefined)
      return diags.add(valueSpan(typeEntry as Entry), problem("config.structure/variable_type", { key, types: TYPES }));
    const chosen = given ?? entries.get("default");
    if (chosen !== undefined) return this.#typed(chosen, key, type);
    return diags.add(keySpan, problem("config.missing_attribute/variable", { key, file }));
  }

  #typed(entry: Entry, name: string, type: (typeof TYPES)[number]): Leaf | undefined {
    const { value: tree } = entry;
    const text = textOf(tree);
    const isValue = tree.form === "leaf" && (tree.value === null || type === "string" || typeof tree.value === type);
    if (isValue && (text ?? "").length <= LONGEST)
      return type === "string" && text !== undefined ? { form: "leaf", value: text, span: tree.span } : tree;
    const mistake = isValue
      ? problem("config.invalid_value/long_variable", { name, most: LONGEST })
      : problem("config.invalid_value/variable", { name, type });
    return this.#diags.add(valueSpan(entry), mistake);
  }

  #filled(leaf: Leaf): Leaf {
    const { value: text, span } = leaf;
    if (typeof text !== "string" || !text.includes("${")) return leaf;
    const spanAt = templateSpans(leaf);
    let filled = "";
    let from = 0;
    for (const { 0: whole, 1: name, index } of text.matchAll(REFERENCE)) {
      if (name === undefined) continue;
      const value = this.#values.get(name);
      if (value === undefined) return this.#refused(leaf, name, spanAt(index));
      if (whole === text) return { ...value, span: { ...value.span, usedAt: span } };
      const part = textOf(value);
      if (part === undefined) {
        this.#diags.refuse(spanAt(index), problem("config.expression/null_variable", { name }));
        return { ...leaf, value: null, isRefused: true };
      }
      filled = joined(joined(filled, text.slice(from, index)), part);
      from = index + whole.length;
    }
    return from === 0 ? leaf : { ...leaf, value: joined(filled, text.slice(from)) };
  }

  #refused(leaf: Leaf, name: string, span: Span): Leaf {
    if (!this.#values.has(name)) {
      const known = [...this.#values.keys()];
      this.#diags.add(span, problem("config.reference/variable", { ...this.#diags.unknown(name, known) }));
    }
    return { ...leaf, value: null, isRefused: true };
  }
}

/** Joins two strings. If the seam would form a new `${`, escapes it. */
const joined = (left: string, right: string) =>
  left.endsWith("$") && right.startsWith("{") ? `${left}$${right}` : left + right;
