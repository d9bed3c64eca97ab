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
import { backendOfEntry, checkedSetting, isBackendType } from "../source/settings.ts";
import { rangeOf } from "../source/source.ts";
import { type Entry, isGiven, strings, toJson, valueSpan } from "../source/tree.ts";
import { argumentsOf, type Block, KEYS, literalText, onlyBlock, refusedKey } from "./blocks.ts";
import { attributeValue, reporting } from "./expressions.ts";
import { problem } from "./messages.ts";
import { PROVIDER } from "./module.ts";
import { compileNamed } from "./references.ts";
import type { StackContext } from "./stack-context.ts";
import { tokenVariable } from "./variables.ts";

/** Reads the `terraform` and `provider` blocks: backend and accounts. */

/** Terraform's state file name for a folder without a backend. */
const DEFAULT_STATE = "terraform.tfstate";

/**
 * Reads the `terraform` blocks: required providers and backend. Rejects an unsupported backend: without Terraform's state,
 * hostform would order everything again.
 * @param version Version of hostform, which the version constraint of the provider must allow.
 * @returns the backend, or "unclear" after an error.
 */
export function readBackend(
  blocks: readonly Block[],
  version: string,
  diags: DiagnosticCollector,
): Backend | "unclear" {
  const { known } = KEYS.terraform;
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
      diags.add(keySpan, problem("config.unsupported/cloud"));
    } else if (!known.includes(key) && !refusedKey(entry, KEYS.terraform, diags)) {
      diags.add(keySpan, problem("config.unknown_key/terraform", diags.unknown(key, known)));
    }
  }
  unique(backends, () => "`backend`", diags);
  const [backend] = backends;
  const read =
    backend === undefined ? { type: "local" as const, settings: { path: DEFAULT_STATE } } : readSection(backend, diags);
  return clear && backends.length < 2 && read !== undefined ? read : "unclear";
}

/** Minor versions of Terraform 1 in which each language was tested. */
const MINORS: Readonly<Record<Language, readonly [least: number, most: number]>> = {
  "1.11": [0, 11],
  "1.12": [12, 17],
};

/**
 * Returns the newest language among the Terraform versions that `required_version` allows. If none is allowed, reports an
 * error.
 * @param chosen Only language to consider, if the user set one.
 */
export function readLanguage(blocks: readonly Block[], diags: DiagnosticCollector, chosen?: Language): Language {
  const entries = blocks.flatMap(({ body }) => argumentsOf(body)).filter(({ key }) => key === "required_version");
  const required = entries.flatMap((entry) => {
    const text = literalText(entry, diags);
    const clauses = text === undefined ? undefined : constraintOf(entry, text, "terraform", diags);
    if (clauses?.some(({ version }) => version.prerelease !== "")) {
      return diags.add(valueSpan(entry), problem("config.structure/prerelease")) ?? [];
    }
    return clauses === undefined || text === undefined ? [] : [{ entry, clauses, text }];
  });
  const [least] = MINORS[chosen ?? "1.11"];
  const [, most] = MINORS[chosen ?? "1.12"];
  // If any version satisfies all clauses, one of these does: the first version of a minor version, a version in a clause, or
  // the version after it.
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
    diags.add(valueSpan(entry), problem("config.unsupported/language", { text, least, most, chosen }));
  }
  const isOld = left.length > 0 && left.every(({ numbers: [, minor] }) => minor < MINORS["1.12"][0]);
  return chosen ?? (isOld ? "1.11" : "1.12");
}

/** Reads the `backend` block. @returns undefined after a reported error. */
function readSection(section: Entry, diags: DiagnosticCollector): Backend | undefined {
  const { value: tree } = section;
  const inner = tree.form === "list" && tree.items.length === 1 ? tree.items[0] : tree;
  const [entry, second] = inner?.form === "map" ? argumentsOf(inner) : [];
  if (entry === undefined || second !== undefined)
    return diags.add(valueSpan(section), problem("config.structure/backend"));
  const { key } = entry;
  if (key !== "local" && !isBackendType(key))
    return diags.add(entry.keySpan, problem("config.unsupported/backend", { key }));
  if (hasTemplate(entry, diags)) return undefined;
  if (key === "local") return localBackend(entry, diags);
  return backendOfEntry(key, withoutNulls(entry, diags), diags);
}

/** Reports expressions in backend settings. Terraform does not evaluate these either. */
function hasTemplate(entry: Entry, diags: DiagnosticCollector): boolean {
  const found = [...strings(entry.value)].filter(({ text }) => isTemplate(text));
  for (const { leaf } of found) {
    diags.add(leaf.span, problem("config.expression/backend"));
  }
  return found.length > 0;
}

function localBackend(entry: Entry, diags: DiagnosticCollector): Backend | undefined {
  const block = onlyBlock(entry, diags);
  const entries = block === undefined ? [] : argumentsOf(block.body);
  const stray = entries.filter((one) => isGiven(one) && one.key !== "path");
  for (const { key, keySpan } of stray) {
    diags.add(keySpan, problem("config.unsupported/local_setting", { key }));
  }
  const path = literalText(block?.body.entries.get("path"), diags) ?? DEFAULT_STATE;
  return stray.length > 0 ? undefined : { type: "local", settings: { path }, range: rangeOf(entry.keySpan) };
}

/** Returns the settings that are not null. */
function withoutNulls(entry: Entry, diags: DiagnosticCollector): Entry {
  const block = onlyBlock(entry, diags);
  if (block === undefined) return entry;
  const given = argumentsOf(block.body).filter(isGiven);
  return { ...entry, value: { ...block.body, entries: new Map(given.map((one) => [one.key, one])) } };
}

const SOURCE = /^(?:[^/]+\/)?hostform\/hosting$/i;

/** Checks the required providers. Only `hosting` is allowed. */
function checkRequiredProviders(entry: Entry, own: string, diags: DiagnosticCollector): void {
  const block = onlyBlock(entry, diags);
  for (const one of block === undefined ? [] : argumentsOf(block.body)) {
    const required = toJson(one.value);
    const { source, version } = isObject(required) ? required : {};
    const isOurs = typeof source === "string" && SOURCE.test(source);
    const name = one.key;
    if (one.key === PROVIDER) {
      if (typeof version === "string") checkOwnVersion(one, version, own, "provider", diags);
      if (isOurs) continue;
      diags.add(valueSpan(one), problem("config.unsupported/source"));
    } else
      diags.add(
        one.keySpan,
        problem(isOurs ? "config.unsupported/provider_name" : "config.unsupported/other_provider", { name }),
      );
  }
}

/** Providers of a stack, and the name of its project. */
export interface StackProviders {
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Name of the project. Undefined: not declared. "unclear": an error was reported. */
  readonly project: string | undefined | "unclear";
}

interface Setting {
  readonly entry: Entry;
  readonly value: Value;
}

/**
 * Reads the `provider` blocks. The default provider always exists; without a block, environment variables configure it.
 * @param folder Folder in which Terraform would run. Relative paths start there.
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
    if (first === undefined || name === first.name) continue;
    unclear = true;
    diags.add(valueSpan(entry), problem("config.duplicate/project", { name, other: first.name }));
  }
  return { providers, project: unclear ? "unclear" : first?.name };
}

function isOurs({ labels: [label], keySpan }: Block, diags: DiagnosticCollector): boolean {
  if (label?.text !== PROVIDER)
    diags.add(keySpan, problem("config.unsupported/other_provider", { name: label?.text ?? "" }));
  return label?.text === PROVIDER;
}

/** Returns the alias of a provider. @returns undefined after a reported error. */
function aliasOf({ body }: Block, diags: DiagnosticCollector): string | undefined {
  const entry = body.entries.get("alias");
  if (!isGiven(entry)) return "default";
  const alias = literalText(entry, diags);
  if (alias === undefined || (isName(alias) && alias !== "default")) return alias;
  return diags.add(valueSpan(entry), problem("config.structure/alias", { alias }));
}

/** Returns the declared settings with known values. Reports errors in all others. */
function settingsOf({ body }: Block, { attributes }: Schema, context: StackContext): Map<string, Setting> {
  const { diags } = context;
  const settings = new Map<string, Setting>();
  const tokens: Entry[] = [];
  for (const entry of argumentsOf(body)) {
    const { key, keySpan } = entry;
    if (KEYS.provider.known.includes(key)) continue;
    const attribute = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
    if (attribute === undefined) {
      diags.add(keySpan, problem("config.unknown_key/provider", diags.unknown(key, Object.keys(attributes))));
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
  for (const { keySpan } of tokens.slice(1)) diags.add(keySpan, problem("config.duplicate/token"));
  return settings;
}

/** Evaluates a setting. @returns undefined if it is unknown because of an error, here or elsewhere. */
function settingOf(entry: Entry, attribute: Attribute, context: StackContext): Value | undefined {
  const { key, value: tree } = entry;
  const { diags } = context;
  const remark = { attribute: [key] };
  const compiled = compileNamed(tree, context, {}, remark);
  if (compiled === undefined) return undefined;
  const value = reporting(tree, diags, remark, () =>
    attributeValue(evaluate(compiled.expression, context.names()), attribute),
  );
  if (value === undefined || !hasUnknown(value)) return value;
  const [root] = context.rootsIn(compiled);
  if (root === undefined) return undefined;
  return diags.add(valueSpan(entry), problem("config.expression/provider", { key, text: root.text }));
}

/** Returns the name of the project. @returns undefined after a reported error. */
function projectOf({ entry, value }: Setting, diags: DiagnosticCollector): string | undefined {
  if (typeof value === "string" && isProjectName(value)) return value;
  return diags.add(valueSpan(entry), problem("config.invalid_value/project"));
}

function configured(
  settings: ReadonlyMap<string, Setting>,
  folder: string,
  diags: DiagnosticCollector,
): Omit<ProviderConfig, "alias" | "range"> {
  const right: ProviderSettings = {};
  for (const [key, { entry, value }] of settings) {
    // Only a flag of the command line allows HTTP without TLS. The client checks this.
    if (key === "insecure_http") continue;
    if (typeof value === "string" && holdsToken(key, value)) {
      diags.add(entry.keySpan, problem("config.secret/setting", { key }));
      // `token` becomes `token_env`: the environment variable that contains it.
    } else Object.assign(right, checkedSetting(providerSettings, { ...entry, key }, value, diags));
  }
  const config = configOf(right);
  const { tokenFile, tokenEnv } = config;
  // Terraform reads HOSTING_TOKEN for every provider, even with an alias.
  if (tokenFile === undefined) return { ...config, tokenEnv: tokenEnv ?? "HOSTING_TOKEN" };
  return { ...config, tokenFile: isAbsolute(tokenFile) ? tokenFile : join(folder, tokenFile) };
}
