import { checkName, type DiagnosticCollector, position, suggestionOf, unique } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { type Entry, isNull, type MapTree, stringOf, type Tree, valueSpan } from "../source/tree.ts";
import { type Copies, formOf, parametersIn, refuse } from "./parameters.ts";

/** The section `templates`: what is declared there, and the body of a template at a block that uses it. */

/** The parameter that every template has: the name of the block that uses it. */
const BLOCK_NAME = "name";

interface Template {
  readonly name: string;
  readonly keySpan: Span;
  /** By name; the value is the default, null where there is none. */
  readonly parameters: ReadonlyMap<string, Entry>;
  readonly body: MapTree;
  /** Its texts use its own parameters alone; undefined before the check. */
  usable?: boolean;
}

/** The map without some of its keys; the same one where it has none of them. */
export const without = (tree: MapTree, keys: readonly string[]): MapTree =>
  keys.some((key) => tree.entries.has(key))
    ? { ...tree, entries: new Map([...tree.entries].filter(([key]) => !keys.includes(key))) }
    : tree;

export class Templates {
  readonly #diags: DiagnosticCollector;
  readonly #copies: Copies;
  readonly #deepest: number;
  readonly #templates = new Map<string, Template>();

  /** @param deepest how many templates may use each other in turn. */
  constructor(entries: readonly Entry[], copies: Copies, deepest: number, diags: DiagnosticCollector) {
    this.#diags = diags;
    this.#copies = copies;
    this.#deepest = deepest;
    for (const entry of unique(entries, ({ key }) => `The template "${key.slice(0, 100)}"`, diags))
      this.#declare(entry);
  }

  #declare(entry: Entry): void {
    const { key: name, keySpan, value: body } = entry;
    if (!checkName(name, keySpan, "the name of a template", this.#diags)) return;
    if (body.form !== "map") {
      const fix = `Write \`parameters:\` and attributes indented below \`${name}:\`.`;
      refuse(this.#diags, valueSpan(entry), `The template "${name}" must be a map of attributes`, fix);
      return;
    }
    const parameters = this.#parametersOf(name, body.entries.get("parameters"));
    this.#templates.set(name, { name, keySpan, parameters, body: without(body, ["parameters"]) });
  }

  #parametersOf(template: string, section: Entry | undefined): Map<string, Entry> {
    if (section === undefined || isNull(section.value)) return new Map();
    if (section.value.form !== "map") {
      const summary = `\`parameters\` of the template "${template}" must be a map`;
      const fix = "Write `domain:` for one that each use gives, and `plan: 11` for one with a default.";
      refuse(this.#diags, valueSpan(section), summary, fix);
      return new Map();
    }
    const accepted = [...section.value.entries].filter(([name, { keySpan }]) => {
      if (name !== BLOCK_NAME) return checkName(name, keySpan, "the name of a parameter", this.#diags);
      const fix = "Choose another name: `${name}` is the name of the block that uses the template.";
      refuse(this.#diags, keySpan, `"${name}" cannot be the name of a parameter`, fix);
      return false;
    });
    return new Map(accepted);
  }

  /**
   * The body of the template that a block names, with the values of its parameters. @param chain the templates that lead here.
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

  /** Checks also the templates that no block uses. */
  checkAll(): void {
    for (const template of this.#templates.values()) this.#isUsable(template, undefined);
  }

  #find(entry: Entry, chain: readonly string[]): Template | undefined {
    const name = stringOf(entry.value);
    const span = valueSpan(entry);
    if (name === undefined || name.includes("${")) {
      const fix = "Write `template: NAME`, a name under `templates`.";
      return refuse(this.#diags, span, "`template` must be the name of a template", fix);
    }
    const found = this.#templates.get(name);
    if (found === undefined) {
      const near = this.#diags.nearest(name, [...this.#templates.keys()]);
      const summary = `No template "${name.slice(0, 100)}" is declared.${suggestionOf(near)}`;
      return refuse(this.#diags, span, summary, "Declare it under `templates`, or correct the name.");
    }
    if (chain.includes(name)) {
      const circle = [...chain.slice(chain.indexOf(name)), name].join(" -> ");
      return refuse(this.#diags, span, `Templates form a circle: ${circle}`, "Remove one of the `template:` lines.");
    }
    if (chain.length < this.#deepest) return found;
    const summary = `Templates use each other more than ${this.#deepest} levels deep`;
    return refuse(this.#diags, span, summary, "Merge some of them.");
  }

  /** The value of each parameter; undefined after a reported error. */
  #arguments(template: Template, given: Entry | undefined, use: Span, block: Entry): Map<string, Tree> | undefined {
    const { name, parameters, keySpan } = template;
    const known = [...parameters.keys()];
    const declared = `The template "${name}" (${position(keySpan)}) has ${known.join(", ") || "no parameters"}.`;
    if (given !== undefined && given.value.form !== "map" && !isNull(given.value)) {
      const fix = "Write `with: {PARAMETER: VALUE}`.";
      return refuse(this.#diags, valueSpan(given), "`with` must be a map of parameters", fix, declared);
    }
    const entries = given?.value.form === "map" ? given.value.entries : new Map<string, Entry>();
    const unknown = [...entries.values()].filter(({ key }) => !parameters.has(key));
    for (const entry of unknown) {
      const near = suggestionOf(this.#diags.nearest(entry.key, known));
      const summary = `The template "${name}" has no parameter "${entry.key.slice(0, 100)}".${near}`;
      const fix = "Correct the name, or declare it under `parameters` of the template.";
      refuse(this.#diags, entry.keySpan, summary, fix, declared);
    }
    const values = new Map<string, Tree>([[BLOCK_NAME, { form: "leaf", value: block.key, span: block.keySpan }]]);
    for (const [key, { keySpan: at, value: byDefault }] of parameters) {
      const entry = entries.get(key);
      if (entry === undefined) {
        if (!isNull(byDefault)) values.set(key, this.#copies.at(byDefault, use));
        else {
          const place = `It is declared in ${position(at)}, without a default.`;
          const summary = `The template "${name}" needs the parameter "${key}"`;
          refuse(this.#diags, use, summary, `Add \`with: {${key}: …}\`.`, place);
        }
      } else if (isNull(byDefault) || hasFormOf(entry.value, byDefault)) values.set(key, entry.value);
      else {
        const place = `It has a default in ${position(byDefault.span)}, and takes its form.`;
        const summary = `The parameter "${key}" must be ${formOf(byDefault)}`;
        refuse(this.#diags, valueSpan(entry), summary, `Write ${formOf(byDefault)}, or correct the default.`, place);
      }
    }
    return unknown.length === 0 && values.size === parameters.size + 1 ? values : undefined;
  }

  /** Checks that the texts of a template use only its parameters; an unused parameter is a warning. @param use the first one, for messages. */
  #isUsable(template: Template, use: Span | undefined): boolean {
    if (template.usable !== undefined) return template.usable;
    const { name, parameters, body } = template;
    const known = [BLOCK_NAME, ...parameters.keys()];
    const used = new Map([...parametersIn(body)].map((one) => [one.name, one.span]));
    const unknown = [...used].filter(([parameter]) => !known.includes(parameter));
    for (const [parameter, span] of unknown) {
      const near = suggestionOf(this.#diags.nearest(parameter, known));
      const summary = `The template "${name}" has no parameter "${parameter.slice(0, 100)}".${near}`;
      const fix = "Declare it under `parameters` of the template; a literal `${` is written `$${`.";
      refuse(this.#diags, { ...span, usedAt: use }, summary, fix);
    }
    for (const [parameter, { keySpan }] of parameters) {
      if (used.has(parameter) || unknown.length > 0) continue;
      const summary = `The template "${name}" does not use its parameter "${parameter}"`;
      const fix = `Write \`\${${parameter}}\` where it belongs, or remove it.`;
      this.#diags.warn({ ...keySpan, usedAt: use }, "config.template", summary, { fix });
    }
    template.usable = unknown.length === 0;
    return template.usable;
  }
}

/** Returns true if a value has the form of a default; an expression can have any. */
const hasFormOf = (value: Tree, like: Tree): boolean =>
  value.form === like.form || (stringOf(value)?.includes("${") ?? false);
