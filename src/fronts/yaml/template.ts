import { checkName, type DiagnosticCollector, position, unique } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { type Entry, isNull, type MapTree, stringOf, type Tree, valueSpan } from "../source/tree.ts";
import { problem } from "./messages.ts";
import { type Copies, parametersIn } from "./parameters.ts";

/** Reads the section `templates`, and returns the body of a template for each block that uses it. */

/** Parameter of every template: name of the block that uses it. */
const BLOCK_NAME = "name";

interface Template {
  readonly name: string;
  readonly keySpan: Span;
  /** Default values by name. Null: no default. */
  readonly parameters: ReadonlyMap<string, Entry>;
  readonly body: MapTree;
  /** True if its strings contain only its own parameters. Undefined: not checked yet. */
  usable?: boolean;
}

/** Returns the map without these keys. Returns the same map if it has none of them. */
export const without = (tree: MapTree, keys: readonly string[]): MapTree =>
  keys.some((key) => tree.entries.has(key))
    ? { ...tree, entries: new Map([...tree.entries].filter(([key]) => !keys.includes(key))) }
    : tree;

export class Templates {
  readonly #diags: DiagnosticCollector;
  readonly #copies: Copies;
  readonly #deepest: number;
  readonly #templates = new Map<string, Template>();

  /** @param deepest Maximum number of nested templates. */
  constructor(entries: readonly Entry[], copies: Copies, deepest: number, diags: DiagnosticCollector) {
    this.#diags = diags;
    this.#copies = copies;
    this.#deepest = deepest;
    for (const entry of unique(entries, ({ key }) => `The template "${key.slice(0, 100)}"`, diags))
      this.#declare(entry);
  }

  #declare(entry: Entry): void {
    const { key: name, keySpan, value: body } = entry;
    if (!checkName(name, keySpan, "template", this.#diags)) return;
    if (body.form !== "map") {
      this.#diags.add(valueSpan(entry), problem("config.template/template", { name }));
      return;
    }
    const parameters = this.#parametersOf(name, body.entries.get("parameters"));
    this.#templates.set(name, { name, keySpan, parameters, body: without(body, ["parameters"]) });
  }

  #parametersOf(template: string, section: Entry | undefined): Map<string, Entry> {
    if (section === undefined || isNull(section.value)) return new Map();
    if (section.value.form !== "map") {
      this.#diags.add(valueSpan(section), problem("config.template/parameters", { template }));
      return new Map();
    }
    const accepted = [...section.value.entries].filter(([name, { keySpan }]) => {
      if (name !== BLOCK_NAME) return checkName(name, keySpan, "parameter", this.#diags);
      this.#diags.add(keySpan, problem("config.template/parameter_name", { name }));
      return false;
    });
    return new Map(accepted);
  }

  /**
   * Returns the body of a template, with values in place of its parameters.
   * @param chain Templates that lead here.
   * @returns undefined after a reported error.
   */
  use(named: Entry, given: Entry | undefined, block: Entry, chain: readonly string[]) {
    const template = this.#find(named, chain);
    if (template === undefined) return undefined;
    const use = named.value.span;
    const values = this.#arguments(template, given, use, block);
    if (!this.#isUsable(template, use) || values === undefined) return undefined;
    const before = this.#diags.errors;
    const body = this.#copies.filled(template.body, { given: values, use });
    return this.#diags.errors === before ? { name: template.name, body } : undefined;
  }

  /** Checks all templates, even unused ones. */
  checkAll(): void {
    for (const template of this.#templates.values()) this.#isUsable(template, undefined);
  }

  #find(entry: Entry, chain: readonly string[]): Template | undefined {
    const name = stringOf(entry.value);
    const span = valueSpan(entry);
    if (name === undefined || name.includes("${"))
      return this.#diags.add(span, problem("config.template/template_name"));
    const found = this.#templates.get(name);
    if (found === undefined) {
      const known = this.#diags.unknown(name, [...this.#templates.keys()]);
      return this.#diags.add(span, problem("config.template/unknown", known));
    }
    if (chain.includes(name)) {
      const circle = [...chain.slice(chain.indexOf(name)), name].join(" -> ");
      return this.#diags.add(span, problem("config.template/circle", { circle }));
    }
    if (chain.length < this.#deepest) return found;
    return this.#diags.add(span, problem("config.template/depth", { most: this.#deepest }));
  }

  /** Returns the values of all parameters. Undefined after a reported error. */
  #arguments(template: Template, given: Entry | undefined, use: Span, block: Entry): Map<string, Tree> | undefined {
    const { name, parameters, keySpan } = template;
    const known = [...parameters.keys()];
    const declared = { name, known, place: position(keySpan) };
    if (given !== undefined && given.value.form !== "map" && !isNull(given.value)) {
      return this.#diags.add(valueSpan(given), problem("config.template/with", declared));
    }
    const entries = given?.value.form === "map" ? given.value.entries : new Map<string, Entry>();
    const unknown = [...entries.values()].filter(({ key }) => !parameters.has(key));
    for (const { key, keySpan: span } of unknown) {
      const near = this.#diags.nearest(key, known);
      this.#diags.add(span, problem("config.template/unknown_argument", { ...declared, key, near }));
    }
    const values = new Map<string, Tree>([[BLOCK_NAME, { form: "leaf", value: block.key, span: block.keySpan }]]);
    for (const [key, { keySpan: at, value: byDefault }] of parameters) {
      const entry = entries.get(key);
      if (entry === undefined) {
        if (!isNull(byDefault)) values.set(key, this.#copies.at(byDefault, use));
        else this.#diags.add(use, problem("config.template/missing_argument", { name, key, place: position(at) }));
      } else if (isNull(byDefault) || hasFormOf(entry.value, byDefault)) values.set(key, entry.value);
      else {
        const place = position(byDefault.span);
        this.#diags.add(
          valueSpan(entry),
          problem("config.template/argument_form", { key, form: byDefault.form, place }),
        );
      }
    }
    return unknown.length === 0 && values.size === parameters.size + 1 ? values : undefined;
  }

  /**
   * Checks that the strings of a template contain only its own parameters. Warns about unused parameters.
   * @param use First use of the template, for messages.
   */
  #isUsable(template: Template, use: Span | undefined): boolean {
    if (template.usable !== undefined) return template.usable;
    const { name, parameters, body } = template;
    const known = [BLOCK_NAME, ...parameters.keys()];
    const used = new Map([...parametersIn(body)].map((one) => [one.name, one.span]));
    const unknown = [...used].filter(([parameter]) => !known.includes(parameter));
    for (const [parameter, span] of unknown) {
      const unknown = { name, ...this.#diags.unknown(parameter, known) };
      this.#diags.add({ ...span, usedAt: use }, problem("config.template/unknown_parameter", unknown));
    }
    for (const [parameter, { keySpan }] of parameters) {
      if (used.has(parameter) || unknown.length > 0) continue;
      this.#diags.add({ ...keySpan, usedAt: use }, problem("config.template/unused", { name, parameter }));
    }
    template.usable = unknown.length === 0;
    return template.usable;
  }
}

/** Returns true if a value has the type of the default. A string with `${` matches any type. */
const hasFormOf = (value: Tree, like: Tree): boolean =>
  value.form === like.form || (stringOf(value)?.includes("${") ?? false);
