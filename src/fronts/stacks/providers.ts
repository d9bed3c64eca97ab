import { isAbsolute, join } from "node:path";
import { evaluate } from "../../core/expression/index.ts";
import { configOf, type ProviderSettings, providerSettings } from "../../core/kinds/provider-settings.ts";
import {
  ExpressionError,
  hasUnknown,
  isName,
  isProjectName,
  type ProviderConfig,
  type Value,
} from "../../core/model/index.ts";
import { didYouMean, reportTwice } from "../source/diagnostics.ts";
import { rangeOf } from "../source/source.ts";
import { type Entry, locate, type MapTree, valueSpan } from "../source/tree.ts";
import { attributeValue } from "./attribute-value.ts";
import { argumentsOf, type Block, textOf } from "./blocks.ts";
import { compile, reportExpression } from "./compile.ts";
import { KEYS } from "./keys.ts";
import { PROVIDER } from "./module.ts";
import { checkNames } from "./references.ts";
import { rootsOf } from "./roots.ts";
import { type Around, holdsToken, isGiven, tokenVariable, WHERE_TOKENS_GO } from "./token.ts";

/** The accounts of a stack, and the name under which its orders are placed. */
export interface Providers {
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Undefined: none is given. "unclear" after a mistake. */
  readonly project: string | undefined | "unclear";
}

/** A setting with its value. */
interface Setting {
  readonly entry: Entry;
  readonly value: Value;
}

/** Reads the `provider` blocks. The default provider is there also without a block: then the environment tells all. */
export function readProviders(blocks: readonly Block[], around: Around): Providers {
  const { diags } = around.declared;
  const ours = blocks.filter((block) => isOurs(block, around));
  const aliased = ours.map((block) => ({ block, alias: aliasOf(block, around) }));
  const providers = new Map<string, ProviderConfig>([["default", { alias: "default" }]]);
  const projects: { readonly name: string; readonly entry: Entry }[] = [];
  let unclear = false;
  for (const [alias, same] of Map.groupBy(aliased, (one) => one.alias)) {
    if (alias === undefined) continue;
    const name = alias === "default" ? "The provider without an alias" : `The provider "${alias}"`;
    const spans = same.map(({ block }) => block.keySpan);
    reportTwice(spans, name, diags);
    for (const { block } of same) {
      const settings = settingsOf(block, around);
      const { project, ...others } = Object.fromEntries(settings);
      if (project !== undefined) {
        const projectName = projectOf(project, around);
        if (projectName === undefined) unclear = true;
        else projects.push({ name: projectName, entry: project.entry });
      } else if (isGiven(block.body.entries.get("project"))) unclear = true;
      providers.set(alias, { alias, ...configured(others, block.body, around), range: rangeOf(block.keySpan) });
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

function isOurs({ labels: [label], keySpan }: Block, { declared }: Around): boolean {
  if (label?.text === PROVIDER) return true;
  const name = label?.text.slice(0, 100) ?? "";
  declared.diags.add(keySpan, "config.unsupported", `This stack configures the provider "${name}"`, {
    detail: "hostform applies stacks of hosting resources alone.",
    fix: "Apply this stack with Terraform, or keep what is of hosting in a stack of its own.",
  });
  return false;
}

/** @returns undefined after a mistake. */
function aliasOf({ body }: Block, { declared }: Around): string | undefined {
  const entry = body.entries.get("alias");
  if (!isGiven(entry)) return "default";
  const alias = textOf(entry, declared.diags);
  if (alias === undefined || (isName(alias) && alias !== "default")) return alias;
  const fix = 'Use letters, digits, `_` and `-`, beginning with a letter; not "default".';
  const span = entry === undefined ? body.span : valueSpan(entry);
  declared.diags.add(span, "config.structure", `"${alias.slice(0, 100)}" cannot be the alias of a provider`, {
    fix,
  });
  return undefined;
}

/** The settings that are given and known. What is wrong with the others is reported. */
function settingsOf({ body }: Block, around: Around): Map<string, Setting> {
  const { schema, declared } = around;
  const { diags } = declared;
  const settings = new Map<string, Setting>();
  for (const entry of argumentsOf(body)) {
    const { key, keySpan } = entry;
    if (KEYS.provider.known.includes(key)) continue;
    if (!Object.hasOwn(schema.attributes, key)) {
      const known = Object.keys(schema.attributes);
      const near = diags.nearest(key, known);
      diags.add(keySpan, "config.unknown_key", `A provider has no setting "${key.slice(0, 100)}".${didYouMean(near)}`, {
        detail: `The settings are ${known.join(", ")}.`,
      });
    } else if (key === "token") {
      const variable = tokenVariable(entry, around);
      if (variable !== undefined) settings.set("token_env", { entry, value: variable });
    } else if (isGiven(entry)) {
      const value = settingValue(entry, around);
      if (value === undefined || value === null) continue;
      if (settings.has(key)) reportTwoTokens(entry, around);
      settings.set(key, { entry, value });
    }
  }
  if (settings.has("token_env") && settings.has("token_file"))
    reportTwoTokens(settings.get("token_file")?.entry, around);
  return settings;
}

function reportTwoTokens(entry: Entry | undefined, { declared }: Around): void {
  declared.diags.add(entry?.keySpan, "config.duplicate", "Two settings both say what the API token is", {
    fix: "Give one of `token`, `token_file` and `token_env`.",
  });
}

/** @returns undefined after a mistake, or where a mistake elsewhere leaves it unknown. */
function settingValue(entry: Entry, { schema, surroundings, declared }: Around): Value | undefined {
  const { key, value: tree } = entry;
  const { diags } = declared;
  const attribute = schema.attributes[key];
  const compiled = compile(tree, diags, { attribute: [key] });
  if (attribute === undefined || compiled === undefined || !checkNames(compiled, declared, {})) return undefined;
  try {
    const value = attributeValue(evaluate(compiled.expression, surroundings.names()), attribute);
    if (!hasUnknown(value)) return value;
    const [root] = compiled.traversals.flatMap((traversal) => rootsOf(surroundings, traversal));
    if (root !== undefined) {
      const summary = `"${key}" of a provider depends on ${root.text}, which is known only when the account was asked`;
      diags.add(valueSpan(entry), "config.expression", summary, {
        fix: "Use variables, locals and literal values; a provider is needed before anything can be planned.",
      });
    }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportExpression(error, tree, diags, { attribute: [key] });
  }
  return undefined;
}

/** @returns undefined after a mistake. */
function projectOf({ entry, value }: Setting, { declared }: Around): string | undefined {
  if (typeof value === "string" && isProjectName(value)) return value;
  declared.diags.add(valueSpan(entry), "config.invalid_value", "project: not the name of a project", {
    detail:
      "It is part of the key under which services are ordered, so it is not to change once something was ordered.",
    fix: "Use 1 to 64 letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit.",
  });
  return undefined;
}

function configured(
  settings: Readonly<Record<string, Setting>>,
  body: MapTree,
  { declared, folder }: Around,
): Omit<ProviderConfig, "alias" | "range"> {
  const { diags } = declared;
  const right: ProviderSettings = {};
  for (const [key, { entry, value }] of Object.entries(settings)) {
    // Whether plain http is accepted, the command line says: the client refuses it otherwise.
    if (key === "insecure_http") continue;
    if (holdsToken(key, value)) {
      diags.add(entry.keySpan, "config.secret", `"${key}" puts an API token into the stack`, {
        fix: WHERE_TOKENS_GO,
      });
      continue;
    }
    const parsed = providerSettings.safeParse({ [key]: value });
    if (parsed.success) Object.assign(right, parsed.data);
    else {
      for (const { path, message } of parsed.error.issues) {
        const steps = path.map((step) => (typeof step === "symbol" ? String(step) : step));
        const span = steps.length > 1 ? locate(body, steps) : valueSpan(entry);
        diags.add(span, "config.invalid_value", `${steps.join(".")}: ${message}`);
      }
    }
  }
  const config = configOf(right);
  const { tokenFile, tokenEnv } = config;
  // As for Terraform: HOSTING_TOKEN is the default of every provider, not of the one without an alias alone.
  if (tokenFile === undefined) return { ...config, tokenEnv: tokenEnv ?? "HOSTING_TOKEN" };
  return { ...config, tokenFile: isAbsolute(tokenFile) ? tokenFile : join(folder, tokenFile) };
}
