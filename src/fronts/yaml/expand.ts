import { metaOf } from "../../core/kinds/attribute.ts";
import type { Kind, Kinds } from "../../core/kinds/kind.ts";
import { type DiagnosticCollector, unique } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { type Entry, isNull, type Leaf, type MapTree, stringOf, type Tree, valueSpan } from "../source/tree.ts";
import { problem } from "./messages.ts";
import { Copies, TooMuch } from "./parameters.ts";
import { Templates, without } from "./template.ts";
import type { DeclarationLimits } from "./yaml.ts";

/**
 * Expands `templates` and `defaults` before validation. In: trees. Out: trees without these sections. A block is merged in
 * this order: defaults of its kind, templates of its template, its template, the block itself. Later values override earlier
 * ones.
 */

/** Sections that the expansion removes from a document. */
export const EXPANDED: readonly string[] = ["templates", "defaults"];

/** Keys that the expansion removes from a block. */
export const TEMPLATE_KEYS = ["template", "with", "replace"] as const;

interface Expansion {
  readonly documents: readonly Tree[];
  /** False if a block had to be omitted. */
  readonly complete: boolean;
}

/**
 * Expands all documents of a declaration. `templates` and `defaults` of one document apply to all documents. Unaffected trees
 * are returned unchanged.
 * @param limits Limits for the size of the result.
 */
export function expand(
  documents: readonly Tree[],
  kinds: Kinds,
  diags: DiagnosticCollector,
  limits: DeclarationLimits,
): Expansion {
  const before = diags.errors;
  try {
    const expander = new Expander(documents, kinds, diags, limits);
    const expanded = documents.map((tree) => (tree.form === "map" ? expander.document(tree) : tree));
    expander.templates.checkAll();
    return { documents: expanded, complete: diags.errors === before };
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    diags.add(error.span, problem("config.too_large/expansion", { values: limits.values }));
    return { documents: [], complete: false };
  }
}

/**
 * Merges one map into another. Maps are merged deeply. Other values replace the base value, and null removes it. `Null`
 * removes nothing, because it may be meant as a string.
 * @param replace Keys whose maps replace the base map.
 */
export function merge(base: MapTree, over: MapTree, replace: readonly string[] = []): MapTree {
  const entries = new Map(without(base, replace).entries);
  for (const [key, entry] of over.entries) {
    const below = entries.get(key);
    if (below === undefined) entries.set(key, entry);
    else if (removes(entry.value)) entries.delete(key);
    else if (below.value.form !== "map" || entry.value.form !== "map") entries.set(key, entry);
    else entries.set(key, { ...entry, value: merge(below.value, entry.value) });
  }
  return { ...over, entries };
}

const removes = (tree: Tree) => tree.form === "leaf" && tree.value === null && tree.written === undefined;

const emptyAt = (span: Span): MapTree => ({ form: "map", entries: new Map(), span });

/** One of the maps that are merged into a block. */
interface Layer {
  readonly body: MapTree;
  readonly replace: readonly Leaf[];
}

class Expander {
  readonly templates: Templates;
  readonly #kinds: readonly Kind[];
  readonly #diags: DiagnosticCollector;
  readonly #copies: Copies;
  readonly #defaults: ReadonlyMap<string, MapTree>;

  constructor(documents: readonly Tree[], kinds: Kinds, diags: DiagnosticCollector, limits: DeclarationLimits) {
    this.#kinds = [...kinds.values()];
    this.#diags = diags;
    this.#copies = new Copies(diags, limits);
    const templates = this.#entriesOf(documents, "templates", "template");
    this.templates = new Templates(templates, this.#copies, limits.depth, diags);
    this.#defaults = this.#readDefaults(this.#entriesOf(documents, "defaults", "section"));
  }

  document(tree: MapTree): MapTree {
    const hasProvider = tree.entries.has("provider");
    return mapped(without(tree, EXPANDED), (section) => {
      const kind = this.#kinds.find((one) => one.nested === undefined && one.section === section.key);
      if (kind === undefined || section.value.form !== "map") return section;
      return { ...section, value: mapped(section.value, (block) => this.#block(block, kind, hasProvider)) };
    });
  }

  /** Returns the entries of a section in all documents. */
  #entriesOf(documents: readonly Tree[], key: string, noun: string): Entry[] {
    return documents.flatMap((tree) => {
      const section = tree.form === "map" ? tree.entries.get(key) : undefined;
      if (section === undefined || isNull(section.value)) return [];
      if (section.value.form === "map") return [...section.value.entries.values()];
      return this.#diags.add(valueSpan(section), problem("config.template/section", { key, noun })) ?? [];
    });
  }

  #readDefaults(entries: readonly Entry[]): Map<string, MapTree> {
    const sections = this.#kinds.map(({ section, nested }) => nested?.section ?? section);
    const forbidden = [...TEMPLATE_KEYS, "import"];
    const defaults = new Map<string, MapTree>();
    for (const entry of unique(entries, ({ key }) => `\`defaults\` of \`${key.slice(0, 100)}\``, this.#diags)) {
      const { key, keySpan, value } = entry;
      if (!sections.includes(key)) {
        this.#diags.add(keySpan, problem("config.template/defaults_section", this.#diags.unknown(key, sections)));
      } else if (value.form === "map") {
        for (const one of forbidden.flatMap((name) => value.entries.get(name) ?? []))
          this.#diags.add(one.keySpan, problem("config.template/defaults_key", { section: key, key: one.key }));
        defaults.set(key, without(value, forbidden));
      } else if (!isNull(value)) this.#diags.add(valueSpan(entry), problem("config.template/defaults", { key }));
    }
    return defaults;
  }

  /** @returns undefined after a reported error: without its template, a block is incomplete. */
  #block(entry: Entry, kind: Kind, hasProvider: boolean): Entry | undefined {
    const base = this.#defaults.get(kind.section);
    const body = isNull(entry.value) && base !== undefined ? emptyAt(entry.keySpan) : entry.value;
    const inner = this.#kinds.flatMap(({ nested }) =>
      nested?.in === kind.type && this.#defaults.has(nested.section) ? [nested] : [],
    );
    if (body.form !== "map") return entry;
    if (base === undefined && inner.length === 0 && !TEMPLATE_KEYS.some((key) => body.entries.has(key))) return entry;
    const layers = this.#layers(body, entry, []);
    if (layers === undefined) return undefined;
    // The provider of the document overrides the provider of the defaults.
    const below = base && this.#copies.at(hasProvider ? without(base, ["provider"]) : base, entry.keySpan);
    const folded = layers.reduce((block, layer) => this.#fold(block, layer, kind), below ?? emptyAt(body.span));
    const value = inner.reduce((block, { section, shorthand }) => this.#nested(block, section, shorthand), folded);
    return { ...entry, value };
  }

  #fold(block: MapTree, { body, replace }: Layer, kind: Kind): MapTree {
    const names = replace.map(({ value }) => String(value));
    for (const [i, name] of names.entries()) {
      if (block.entries.has(name) || body.entries.has(name)) continue;
      const known = this.#diags.unknown(name, [...block.entries.keys()]);
      this.#diags.add(replace[i]?.span ?? body.span, problem("config.template/replace_unknown", known));
    }
    // A secret has only one source, so its maps are not merged.
    const isSecret = (name: string) => {
      const type = Object.hasOwn(kind.attributes.shape, name) ? kind.attributes.shape[name] : undefined;
      return type !== undefined && metaOf(type).writeOnly === true;
    };
    return merge(block, body, [...names, ...[...body.entries.keys()].filter(isSecret)]);
  }

  /** Merges the defaults of nested kinds into the entries of a nested section. */
  #nested(block: MapTree, section: string, shorthand: string | undefined): MapTree {
    const nested = block.entries.get(section);
    const defaults = this.#defaults.get(section);
    if (defaults === undefined || nested?.value.form !== "map") return block;
    const value = mapped(nested.value, (entry) => {
      const { keySpan, value: tree } = entry;
      const isShort = shorthand !== undefined && stringOf(tree) !== undefined;
      const own = new Map(isShort ? [[shorthand, { key: shorthand, keySpan, value: tree }]] : []);
      const body = isShort || isNull(tree) ? { ...emptyAt(keySpan), entries: own } : tree;
      return body.form === "map" ? { ...entry, value: merge(this.#copies.at(defaults, keySpan), body) } : entry;
    });
    return { ...block, entries: new Map(block.entries).set(section, { ...nested, value }) };
  }

  /**
   * Returns the maps to merge into a block: those of its template, then its own.
   * @param chain Templates that lead here.
   */
  #layers(body: MapTree, block: Entry, chain: readonly string[]): Layer[] | undefined {
    const [template, given, replaced] = TEMPLATE_KEYS.map((key) => body.entries.get(key));
    const own = { body: without(body, TEMPLATE_KEYS), replace: this.#namesOf(replaced) };
    if (template === undefined) {
      if (given === undefined) return [own];
      return this.#diags.add(given.keySpan, problem("config.template/with_alone"));
    }
    const used = this.templates.use(template, given, block, chain);
    const below = used && this.#layers(used.body, block, [...chain, used.name]);
    return below && [...below, own];
  }

  #namesOf(entry: Entry | undefined): Leaf[] {
    if (entry === undefined) return [];
    const items = entry.value.form === "list" ? entry.value.items : [];
    const names = items.filter((item): item is Leaf => stringOf(item) !== undefined);
    if (entry.value.form === "list" && names.length === items.length) return names;
    return this.#diags.add(valueSpan(entry), problem("config.template/replace")) ?? [];
  }
}

/** Applies `change` to each entry. Undefined removes the entry. */
function mapped(tree: MapTree, change: (entry: Entry) => Entry | undefined): MapTree {
  const entries = [...tree.entries.values()].flatMap((entry) => change(entry) ?? []);
  return { ...tree, entries: new Map(entries.map((entry) => [entry.key, entry])) };
}
