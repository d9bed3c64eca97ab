import { isAbsolute, join } from "node:path";
import { evaluate, isTemplate, type Language } from "../../core/expression/index.ts";
import { configOf, type ProviderSettings, providerSettings } from "../../core/kinds/provider-settings.ts";
import {
  type Attribute,
  type Backend,
  hasUnknown,
  holdsToken,
  isName,
  isObject,
  isProjectName,
  type ProviderConfig,
  type Schema,
  type Value,
} from "../../core/model/index.ts";
import { checkOwnVersion, constraintOf, following, fulfils, type Version } from "../source/constraints.ts";
import { type DiagnosticCollector, unique } from "../source/diagnostics.ts";
import { backendOfEntry, checkedSetting, projectNameRemark } from "../source/settings.ts";
import { rangeOf } from "../source/source.ts";
import { type Entry, isGiven, strings, toJson, valueSpan } from "../source/tree.ts";
import { argumentsOf, BACKENDS, type Block, KEYS, literalText, onlyBlock, refusedKey } from "./blocks.ts";
import { attributeValue, compile, reporting } from "./expressions.ts";
import { OTHER_PROVIDER, PROVIDER } from "./module.ts";
import { checkNames } from "./references.ts";
import type { StackContext } from "./stack-context.ts";
import { tokenVariable, WHERE_TOKENS_GO } from "./variables.ts";

/** Reads the `terraform` and `provider` blocks of a stack: the backend of its state, and its accounts. */

/** Terraform's name of the state of a folder without a backend. */
const DEFAULT_STATE = "terraform.tfstate";

/**
 * Reads the `terraform` blocks: the required providers and the backend. A backend that hostform does not support is refused:
 * with a state at another place than Terraform's, everything would be ordered again.
 * @param version this version of hostform, which the provider's version constraint must allow
 * @returns the backend; "unclear" after an error in it.
 */
export function readBackend(
  blocks: readonly Block[],
  version: string,
  diags: DiagnosticCollector,
): Backend | "unclear" {
  const { known, refused } = KEYS.terraform;
  const entries = blocks.flatMap(({ body }) => argumentsOf(body));
  const backends: Entry[] = [];
  let clear = true;
  for (const entry of entries) {
    const { key, keySpan } = entry;
    if (key === "backend") {
      if (isGiven(entry)) backends.push(entry);
    } else if (key === "required_providers") checkRequiredProviders(entry, version, diags);
    else if (key === "cloud") {
      clear = false;
      const summary = "hostform cannot store its state in HCP Terraform (`cloud`)";
      diags.add(keySpan, "config.unsupported", summary, { fix: refused.cloud });
    } else if (!known.includes(key) && !refusedKey(entry, KEYS.terraform, diags)) {
      diags.addUnknown(keySpan, `\`terraform\` has no "${key.slice(0, 100)}"`, key, known);
    }
  }
  unique(backends, () => "`backend`", diags);
  const [backend] = backends;
  const read =
    backend === undefined ? { type: "local" as const, settings: { path: DEFAULT_STATE } } : readSection(backend, diags);
  return clear && backends.length < 2 && read !== undefined ? read : "unclear";
}

/** Minor versions of Terraform 1 that each language is tested against. */
const MINORS: Readonly<Record<Language, readonly [least: number, most: number]>> = {
  "1.11": [0, 11],
  "1.12": [12, 17],
};

/**
 * The newest language among the versions of Terraform that `required_version` allows. None is an error.
 * @param chosen the only language that counts, if the command names one
 */
export function readLanguage(blocks: readonly Block[], diags: DiagnosticCollector, chosen?: Language): Language {
  const entries = blocks.flatMap(({ body }) => argumentsOf(body)).filter(({ key }) => key === "required_version");
  const required = entries.flatMap((entry) => {
    const text = literalText(entry, diags);
    const clauses = text === undefined ? undefined : constraintOf(entry, text, "`required_version`", diags);
    if (clauses?.some(({ version }) => version.prerelease !== "")) {
      const fix = "Remove the pre-release. Terraform refuses it.";
      return diags.add(valueSpan(entry), "config.structure", "`required_version` names a pre-release", { fix }) ?? [];
    }
    return clauses === undefined ? [] : [{ entry, clauses, text }];
  });
  const [least] = MINORS[chosen ?? "1.11"];
  const [, most] = MINORS[chosen ?? "1.12"];
  // If a version fulfils all clauses, so does the first of a minor version, one that they name, or the next after it.
  const firsts = Array.from(
    { length: most - least + 1 },
    (_, i): Version => ({ numbers: [1, least + i, 0], prerelease: "" }),
  );
  const named = required.flatMap(({ clauses }) => clauses.flatMap(({ version }) => [version, following(version)]));
  let left = [...firsts, ...named].filter(
    ({ numbers: [major, minor] }) => major === 1 && minor >= least && minor <= most,
  );
  for (const { entry, clauses, text } of required) {
    const before = left;
    left = before.filter((version) => clauses.every((clause) => fulfils(version, clause)));
    if (left.length > 0 || before.length === 0) continue;
    const summary = `\`required_version\` (${text}) allows no version of Terraform whose language hostform evaluates`;
    diags.add(valueSpan(entry), "config.unsupported", summary, {
      detail: `hostform evaluates expressions as Terraform 1.${least} to 1.${most} does${chosen === undefined ? "" : ` with --language ${chosen}`}.`,
      fix: "Change the constraint, or apply this stack with Terraform.",
    });
  }
  const isOld = left.length > 0 && left.every(({ numbers: [, minor] }) => minor < MINORS["1.12"][0]);
  return chosen ?? (isOld ? "1.11" : "1.12");
}

/** @returns undefined after a reported error. */
function readSection(section: Entry, diags: DiagnosticCollector): Backend | undefined {
  const { value: tree } = section;
  const inner = tree.form === "list" && tree.items.length === 1 ? tree.items[0] : tree;
  const [entry, second] = inner?.form === "map" ? argumentsOf(inner) : [];
  if (entry === undefined || second !== undefined) {
    const fix = 'Write `"backend": {"local": {"path": "terraform.tfstate"}}`.';
    return diags.add(valueSpan(section), "config.structure", "`backend` must name a type", { fix });
  }
  if (entry.key !== "local" && entry.key !== "http" && entry.key !== "pg") {
    const summary = `hostform cannot store its state in the backend "${entry.key.slice(0, 100)}"`;
    return diags.add(entry.keySpan, "config.unsupported", summary, { fix: BACKENDS });
  }
  if (hasTemplate(entry, diags)) return undefined;
  if (entry.key === "local") return localBackend(entry, diags);
  return backendOfEntry(entry.key, withoutNulls(entry, diags), diags);
}

/** Reports expressions in the settings of a backend; Terraform does not evaluate them either. */
function hasTemplate(entry: Entry, diags: DiagnosticCollector): boolean {
  const found = [...strings(entry.value)].filter(({ text }) => isTemplate(text));
  for (const { leaf } of found) {
    const fix = "Write the value itself.";
    diags.add(leaf.span, "config.expression", "The settings of a backend cannot be expressions", { fix });
  }
  return found.length > 0;
}

function localBackend(entry: Entry, diags: DiagnosticCollector): Backend | undefined {
  const block = onlyBlock(entry, diags);
  const entries = block === undefined ? [] : argumentsOf(block.body);
  const stray = entries.filter((one) => isGiven(one) && one.key !== "path");
  for (const { key, keySpan } of stray) {
    const summary = `The setting "${key.slice(0, 100)}" of the backend local is not supported here`;
    diags.add(keySpan, "config.unsupported", summary, { detail: "The only setting is path.", fix: "Remove it." });
  }
  const path = literalText(block?.body.entries.get("path"), diags) ?? DEFAULT_STATE;
  return stray.length > 0 ? undefined : { type: "local", settings: { path }, range: rangeOf(entry.keySpan) };
}

/** The settings without those that are null. */
function withoutNulls(entry: Entry, diags: DiagnosticCollector): Entry {
  const block = onlyBlock(entry, diags);
  if (block === undefined) return entry;
  const given = argumentsOf(block.body).filter(isGiven);
  return { ...entry, value: { ...block.body, entries: new Map(given.map((one) => [one.key, one])) } };
}

const OF_PROVIDER = {
  what: "The version of the provider hosting",
  wrong: (text: string, own: string) => `The stack requires version ${text} of the provider hosting; this is ${own}`,
};

const SOURCE = /^(?:[^/]+\/)?hostform\/hosting$/i;

/** Checks the required providers of a stack: only hosting, under that name. */
function checkRequiredProviders(entry: Entry, own: string, diags: DiagnosticCollector): void {
  const block = onlyBlock(entry, diags);
  for (const one of block === undefined ? [] : argumentsOf(block.body)) {
    const required = toJson(one.value);
    const { source, version } = isObject(required) ? required : {};
    const isOurs = typeof source === "string" && SOURCE.test(source);
    const name = one.key.slice(0, 100);
    if (one.key === PROVIDER) {
      if (typeof version === "string") checkOwnVersion(one, version, own, OF_PROVIDER, diags);
      if (isOurs) continue;
      diags.add(valueSpan(one), "config.unsupported", "The provider hosting of this stack has another source", {
        detail: "hostform replaces only the provider hostform/hosting.",
        fix: 'Write `"source": "hostform/hosting"`, or apply this stack with Terraform.',
      });
    } else if (isOurs) {
      const fix = "Name it `hosting`, like its resources.";
      diags.add(one.keySpan, "config.unsupported", `The hosting provider has the name "${name}" here`, { fix });
    } else diags.add(one.keySpan, "config.unsupported", `This stack requires the provider "${name}"`, OTHER_PROVIDER);
  }
}

/** The accounts of a stack, and the name of its project. */
export interface StackProviders {
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Undefined: none is declared. "unclear" after an error. */
  readonly project: string | undefined | "unclear";
}

/** An evaluated setting. */
interface Setting {
  readonly entry: Entry;
  readonly value: Value;
}

/**
 * Reads the `provider` blocks. The default provider exists without a block, too; then the environment configures it.
 * @param folder where Terraform would run; relative paths begin there
 */
export function readProviders(schema: Schema, folder: string, context: StackContext): StackProviders {
  const { diags, module } = context;
  const ours = module.providers.filter((block) => isOurs(block, diags));
  const providers = new Map<string, ProviderConfig>([["default", { alias: "default" }]]);
  const projects: { readonly name: string; readonly entry: Entry }[] = [];
  let unclear = false;
  for (const [alias, same] of Map.groupBy(ours, (block) => aliasOf(block, diags))) {
    if (alias === undefined) continue;
    const name = alias === "default" ? "The provider without an alias" : `The provider "${alias}"`;
    unique(same, () => name, diags);
    for (const block of same) {
      const settings = settingsOf(block, schema, context);
      const project = settings.get("project");
      settings.delete("project");
      const projectName = project && projectOf(project, diags);
      if (project !== undefined && projectName !== undefined)
        projects.push({ name: projectName, entry: project.entry });
      else if (isGiven(block.body.entries.get("project"))) unclear = true;
      providers.set(alias, { alias, ...configured(settings, folder, diags), range: rangeOf(block.keySpan) });
    }
  }
  const [first, ...more] = projects;
  for (const { name, entry } of more) {
    if (name === first?.name) continue;
    unclear = true;
    diags.add(valueSpan(entry), "config.duplicate", `The project is named "${name}" here and differently elsewhere`, {
      detail: `It is named "${first?.name}" in another provider block.`,
      fix: "Use one name: a stack is one project. For another account use another stack.",
    });
  }
  return { providers, project: unclear ? "unclear" : first?.name };
}

function isOurs({ labels: [label], keySpan }: Block, diags: DiagnosticCollector): boolean {
  if (label?.text === PROVIDER) return true;
  const name = label?.text.slice(0, 100) ?? "";
  diags.add(keySpan, "config.unsupported", `This stack configures the provider "${name}"`, OTHER_PROVIDER);
  return false;
}

/** @returns undefined after a reported error. */
function aliasOf({ body }: Block, diags: DiagnosticCollector): string | undefined {
  const entry = body.entries.get("alias");
  if (!isGiven(entry)) return "default";
  const alias = literalText(entry, diags);
  if (alias === undefined || (isName(alias) && alias !== "default")) return alias;
  const fix = 'Use letters, digits, `_` and `-`, beginning with a letter. "default" is reserved.';
  const summary = `"${alias.slice(0, 100)}" cannot be the alias of a provider`;
  return diags.add(valueSpan(entry), "config.structure", summary, { fix });
}

/** The declared settings with known values. Errors in the others are reported. */
function settingsOf({ body }: Block, { attributes }: Schema, context: StackContext): Map<string, Setting> {
  const { diags } = context;
  const settings = new Map<string, Setting>();
  const tokens: Entry[] = [];
  for (const entry of argumentsOf(body)) {
    const { key, keySpan } = entry;
    if (KEYS.provider.known.includes(key)) continue;
    const attribute = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
    if (attribute === undefined) {
      const known = Object.keys(attributes);
      const detail = `The settings are ${known.join(", ")}.`;
      diags.addUnknown(keySpan, `A provider has no setting "${key.slice(0, 100)}"`, key, known, { detail });
    } else if (key === "token") {
      const variable = tokenVariable(entry, context);
      if (variable === undefined) continue;
      tokens.push(entry);
      settings.set("token_env", { entry, value: variable });
    } else if (isGiven(entry)) {
      const value = settingOf(entry, attribute, context);
      if (value === undefined || value === null) continue;
      if (key === "token_env" || key === "token_file") tokens.push(entry);
      settings.set(key, { entry, value });
    }
  }
  for (const { keySpan } of tokens.slice(1)) {
    const fix = "Use one of `token`, `token_file` and `token_env`.";
    diags.add(keySpan, "config.duplicate", "Two settings both configure the API token", { fix });
  }
  return settings;
}

/** @returns undefined after an error here, or where an error elsewhere leaves it unknown. */
function settingOf(entry: Entry, attribute: Attribute, context: StackContext): Value | undefined {
  const { key, value: tree } = entry;
  const { diags } = context;
  const remark = { attribute: [key] };
  const compiled = compile(tree, diags, remark);
  if (compiled === undefined || !checkNames(compiled, context, {})) return undefined;
  const value = reporting(tree, diags, remark, () =>
    attributeValue(evaluate(compiled.expression, context.names()), attribute),
  );
  if (value === undefined || !hasUnknown(value)) return value;
  const [root] = context.rootsIn(compiled);
  if (root === undefined) return undefined;
  const summary = `"${key}" of a provider depends on ${root.text}, which is known only after the account was read`;
  const fix = "Use variables, locals and literals; a provider is needed before anything can be planned.";
  return diags.add(valueSpan(entry), "config.expression", summary, { fix });
}

/** @returns undefined after a reported error. */
function projectOf({ entry, value }: Setting, diags: DiagnosticCollector): string | undefined {
  if (typeof value === "string" && isProjectName(value)) return value;
  return diags.add(valueSpan(entry), "config.invalid_value", "project: not a valid project name", projectNameRemark());
}

function configured(
  settings: ReadonlyMap<string, Setting>,
  folder: string,
  diags: DiagnosticCollector,
): Omit<ProviderConfig, "alias" | "range"> {
  const right: ProviderSettings = {};
  for (const [key, { entry, value }] of settings) {
    // A flag of the command line allows plain http; otherwise the client refuses it.
    if (key === "insecure_http") continue;
    if (typeof value === "string" && holdsToken(key, value)) {
      const summary = `"${key}" puts an API token into the stack`;
      diags.add(entry.keySpan, "config.secret", summary, { fix: WHERE_TOKENS_GO });
      // The environment variable behind `token` becomes `token_env`.
    } else Object.assign(right, checkedSetting(providerSettings, { ...entry, key }, value, diags));
  }
  const config = configOf(right);
  const { tokenFile, tokenEnv } = config;
  // As for Terraform, HOSTING_TOKEN is the default of every provider, not only of the one without an alias.
  if (tokenFile === undefined) return { ...config, tokenEnv: tokenEnv ?? "HOSTING_TOKEN" };
  return { ...config, tokenFile: isAbsolute(tokenFile) ? tokenFile : join(folder, tokenFile) };
}
