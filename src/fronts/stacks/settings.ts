import { isAbsolute, join } from "node:path";
import { evaluate } from "../../core/expression/index.ts";
import { configOf, type ProviderSettings } from "../../core/kinds/provider-settings.ts";
import {
  type Attribute,
  type Backend,
  hasUnknown,
  isName,
  isObject,
  isProjectName,
  type ProviderConfig,
  type Schema,
  type Value,
} from "../../core/model/index.ts";
import { type DiagnosticCollector, unique } from "../source/diagnostics.ts";
import { addProviderSetting, backendOfEntry, holdsToken, projectNameRemark } from "../source/settings.ts";
import { rangeOf } from "../source/source.ts";
import { type Entry, isGiven, type MapTree, strings, toJson, valueSpan } from "../source/tree.ts";
import { argumentsOf, BACKENDS, type Block, KEYS, literalText, onlyBlock } from "./blocks.ts";
import { attributeValue, compile, reporting } from "./expressions.ts";
import { PROVIDER } from "./module.ts";
import { checkNames } from "./references.ts";
import type { StackContext } from "./stack-context.ts";

/**
 * What the `terraform` and `provider` blocks of a stack configure: where its state is kept, and the accounts that its resources
 * are of.
 */

/** As Terraform calls the state of a folder without a backend. */
const DEFAULT_STATE = "terraform.tfstate";

/**
 * Reads the `terraform` blocks: which providers there are, and where the state is kept. A backend that hostform does not have
 * is refused: the state would be at another place than Terraform's, and everything would be ordered again.
 * @returns the backend; "unclear" after a mistake in it.
 */
export function readBackend(blocks: readonly Block[], diags: DiagnosticCollector): Backend | "unclear" {
  const { known, refused } = KEYS.terraform;
  const entries = blocks.flatMap(({ body }) => argumentsOf(body));
  const backends: Entry[] = [];
  let clear = true;
  for (const entry of entries) {
    const { key, keySpan } = entry;
    if (key === "backend") {
      if (isGiven(entry)) backends.push(entry);
    } else if (key === "required_providers") checkRequiredProviders(entry, diags);
    else if (key === "cloud") {
      clear = false;
      diags.add(keySpan, "config.unsupported", "hostform cannot keep its state in HCP Terraform (`cloud`)", {
        fix: refused.cloud,
      });
    } else if (key === "experiments") {
      diags.add(keySpan, "config.unsupported", "`experiments` are not supported in a stack", {
        fix: refused.experiments,
      });
    } else if (!known.includes(key)) {
      diags.addUnknown(keySpan, `\`terraform\` has no "${key.slice(0, 100)}"`, key, known);
    }
  }
  unique(backends, () => "`backend`", diags);
  const [backend] = backends;
  const read =
    backend === undefined ? { type: "local" as const, settings: { path: DEFAULT_STATE } } : readSection(backend, diags);
  return clear && backends.length < 2 && read !== undefined ? read : "unclear";
}

/** @returns undefined after a mistake. */
function readSection(section: Entry, diags: DiagnosticCollector): Backend | undefined {
  const { value: tree } = section;
  const inner = tree.form === "list" && tree.items.length === 1 ? tree.items[0] : tree;
  const [entry, second] = inner?.form === "map" ? argumentsOf(inner) : [];
  if (entry === undefined || second !== undefined) {
    diags.add(valueSpan(section), "config.structure", "`backend` must say which one it is", {
      fix: 'Write `"backend": {"local": {"path": "terraform.tfstate"}}`.',
    });
    return undefined;
  }
  if (entry.key !== "local" && entry.key !== "http" && entry.key !== "pg") {
    const summary = `hostform cannot keep its state in the backend "${entry.key.slice(0, 100)}"`;
    diags.add(entry.keySpan, "config.unsupported", summary, { fix: BACKENDS });
    return undefined;
  }
  if (hasTemplate(entry, diags)) return undefined;
  if (entry.key === "local") return localBackend(entry, diags);
  return backendOfEntry(entry.key, withoutNulls(entry, diags), diags);
}

/** Terraform evaluates nothing there either. */
function hasTemplate(entry: Entry, diags: DiagnosticCollector): boolean {
  const found = [...strings(entry.value)].filter(({ text }) => /[$%]\{/.test(text));
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
    const summary = `The backend local has no setting "${key.slice(0, 100)}" that is supported here`;
    diags.add(keySpan, "config.unsupported", summary, { detail: "The setting is path.", fix: "Remove it." });
  }
  const path = literalText(block?.body.entries.get("path"), diags) ?? DEFAULT_STATE;
  return stray.length > 0 ? undefined : { type: "local", settings: { path }, range: rangeOf(entry.keySpan) };
}

/** A setting that is null is not given. */
function withoutNulls(entry: Entry, diags: DiagnosticCollector): Entry {
  const block = onlyBlock(entry, diags);
  if (block === undefined) return entry;
  const given = argumentsOf(block.body).filter(isGiven);
  return { ...entry, value: { ...block.body, entries: new Map(given.map((one) => [one.key, one])) } };
}

const SOURCE = /^(?:[^/]+\/)?hostform\/hosting$/i;

/** Checks which providers a stack requires: hosting, under its own name, and no other. */
function checkRequiredProviders(entry: Entry, diags: DiagnosticCollector): void {
  const block = onlyBlock(entry, diags);
  for (const one of block === undefined ? [] : argumentsOf(block.body)) {
    const required = toJson(one.value);
    const source = isObject(required) ? (required as { readonly source?: unknown }).source : undefined;
    if (one.key === PROVIDER) {
      if (typeof source === "string" && SOURCE.test(source)) continue;
      diags.add(valueSpan(one), "config.unsupported", "The provider hosting of this stack is another one", {
        detail: "hostform stands in for the provider hostform/hosting alone.",
        fix: 'Write `"source": "hostform/hosting"`, or apply this stack with Terraform.',
      });
    } else if (typeof source === "string" && SOURCE.test(source)) {
      diags.add(one.keySpan, "config.unsupported", `The provider is called "${one.key.slice(0, 100)}" here`, {
        fix: "Call it `hosting`, as its resources are called.",
      });
    } else {
      diags.add(one.keySpan, "config.unsupported", `This stack needs the provider "${one.key.slice(0, 100)}"`, {
        detail: "hostform applies stacks of hosting resources alone.",
        fix: "Apply this stack with Terraform, or keep what is of hosting in a stack of its own.",
      });
    }
  }
}

/** The accounts of a stack, and the name under which its orders are placed. */
export interface StackProviders {
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Undefined: none is given. "unclear" after a mistake. */
  readonly project: string | undefined | "unclear";
}

/** A setting with its value. */
interface Setting {
  readonly entry: Entry;
  readonly value: Value;
}

/**
 * Reads the `provider` blocks. The default provider is there also without a block: then the environment says all.
 * @param folder where a relative path begins: the folder in which Terraform would run
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
      providers.set(alias, {
        alias,
        ...configured(settings, block.body, folder, diags),
        range: rangeOf(block.keySpan),
      });
    }
  }
  const [first, ...more] = projects;
  for (const { name, entry } of more) {
    if (name === first?.name) continue;
    unclear = true;
    diags.add(valueSpan(entry), "config.duplicate", `The project is called "${name}" here and otherwise elsewhere`, {
      detail: `It is called "${first?.name}" in another provider block.`,
      fix: "Give one name only: a stack is one project. For another account divide the stack.",
    });
  }
  return { providers, project: unclear ? "unclear" : first?.name };
}

function isOurs({ labels: [label], keySpan }: Block, diags: DiagnosticCollector): boolean {
  if (label?.text === PROVIDER) return true;
  const name = label?.text.slice(0, 100) ?? "";
  diags.add(keySpan, "config.unsupported", `This stack configures the provider "${name}"`, {
    detail: "hostform applies stacks of hosting resources alone.",
    fix: "Apply this stack with Terraform, or keep what is of hosting in a stack of its own.",
  });
  return false;
}

/** @returns undefined after a mistake. */
function aliasOf({ body }: Block, diags: DiagnosticCollector): string | undefined {
  const entry = body.entries.get("alias");
  if (!isGiven(entry)) return "default";
  const alias = literalText(entry, diags);
  if (alias === undefined || (isName(alias) && alias !== "default")) return alias;
  const fix = 'Use letters, digits, `_` and `-`, beginning with a letter; not "default".';
  const summary = `"${alias.slice(0, 100)}" cannot be the alias of a provider`;
  diags.add(valueSpan(entry), "config.structure", summary, { fix });
  return undefined;
}

/** The settings that are given and known. What is wrong with the others is reported. */
function settingsOf({ body }: Block, { attributes }: Schema, context: StackContext): Map<string, Setting> {
  const { diags } = context;
  const settings = new Map<string, Setting>();
  const reportTwoTokens = (entry: Entry) =>
    diags.add(entry.keySpan, "config.duplicate", "Two settings both say what the API token is", {
      fix: "Give one of `token`, `token_file` and `token_env`.",
    });
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
      if (variable !== undefined) settings.set("token_env", { entry, value: variable });
    } else if (isGiven(entry)) {
      const value = settingOf(entry, attribute, context);
      if (value === undefined || value === null) continue;
      if (settings.has(key)) reportTwoTokens(entry);
      settings.set(key, { entry, value });
    }
  }
  const file = settings.get("token_file");
  if (file !== undefined && settings.has("token_env")) reportTwoTokens(file.entry);
  return settings;
}

/** @returns undefined after a mistake, or where a mistake elsewhere leaves it unknown. */
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
  if (root !== undefined) {
    const summary = `"${key}" of a provider depends on ${root.text}, which is known only when the account was asked`;
    diags.add(valueSpan(entry), "config.expression", summary, {
      fix: "Use variables, locals and literal values; a provider is needed before anything can be planned.",
    });
  }
  return undefined;
}

/** @returns undefined after a mistake. */
function projectOf({ entry, value }: Setting, diags: DiagnosticCollector): string | undefined {
  if (typeof value === "string" && isProjectName(value)) return value;
  diags.add(valueSpan(entry), "config.invalid_value", "project: not the name of a project", projectNameRemark());
  return undefined;
}

function configured(
  settings: ReadonlyMap<string, Setting>,
  body: MapTree,
  folder: string,
  diags: DiagnosticCollector,
): Omit<ProviderConfig, "alias" | "range"> {
  const right: ProviderSettings = {};
  for (const [key, { entry, value }] of settings) {
    // Whether plain http is accepted, the command line says: the client refuses it otherwise.
    if (key === "insecure_http") continue;
    if (typeof value === "string" && holdsToken(key, value)) {
      diags.add(entry.keySpan, "config.secret", `"${key}" puts an API token into the stack`, {
        fix: WHERE_TOKENS_GO,
      });
      continue;
    }
    // A variable of the environment that `token` stands for is a `token_env`.
    addProviderSetting(right, { ...entry, key }, value, body, diags);
  }
  const config = configOf(right);
  const { tokenFile, tokenEnv } = config;
  // As for Terraform: HOSTING_TOKEN is the default of every provider, not of the one without an alias alone.
  if (tokenFile === undefined) return { ...config, tokenEnv: tokenEnv ?? "HOSTING_TOKEN" };
  return { ...config, tokenFile: isAbsolute(tokenFile) ? tokenFile : join(folder, tokenFile) };
}

const WHERE_TOKENS_GO =
  'Leave `token` out and set HOSTING_TOKEN; or name a variable of the environment (`"token_env": "BETA_TOKEN"`) or a file of mode 0600 (`token_file`).';

/**
 * The variable of the environment that holds the token of a provider. A token itself never becomes a part of what is
 * declared: `token` can only be a variable of the stack whose value comes from the environment.
 * @returns undefined where there is none, or after a mistake.
 */
function tokenVariable(entry: Entry, context: StackContext): string | undefined {
  if (!isGiven(entry)) return undefined;
  const { diags, variables } = context;
  const discreet = { detail: "The expression is not repeated here." };
  const compiled = compile(entry.value, diags, discreet);
  if (compiled === undefined || !checkNames(compiled, context, {}, discreet)) return undefined;
  const [only, ...others] = compiled.traversals;
  if (only === undefined) {
    diags.add(entry.keySpan, "config.secret", '"token" puts an API token into the stack', {
      fix: `${WHERE_TOKENS_GO} Revoke the token that stood here if the file was shared.`,
    });
    return undefined;
  }
  const variable = only.root === "var" ? variables.get(String(only.steps[0])) : undefined;
  const lone = others.length === 0 && compiled.json === `\${${only.text}}` && only.steps.length === 1;
  if (variable === undefined || !lone) {
    diags.add(entry.keySpan, "config.unsupported", "`token` can only be a variable of the stack, as it is", {
      fix: `Write \`"token": "\${var.NAME}"\` and set TF_VAR_NAME. ${WHERE_TOKENS_GO}`,
    });
    return undefined;
  }
  if (variable.value.content === null) return undefined;
  if (variable.from?.startsWith("TF_VAR_")) return variable.from;
  // Its value is missing, which is reported.
  if (typeof variable.value.content === "symbol") return undefined;
  const where = variable.from === undefined ? "the default of the variable, in the stack itself" : variable.from;
  diags.add(entry.keySpan, "config.secret", `The API token comes from ${where}`, {
    detail:
      "hostform takes it from the environment or from a file alone, so that it stands in no list of processes and no file of the stack.",
    fix: `Set TF_VAR_${variable.name} in its place. ${WHERE_TOKENS_GO}`,
  });
  return undefined;
}
