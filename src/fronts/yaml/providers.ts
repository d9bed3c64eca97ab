import { dirname, isAbsolute, join } from "node:path";
import type { z } from "zod";
import { resolveReferences } from "../../core/expression/references.ts";
import { configOf, type ProviderSettings, providerSettings } from "../../core/kinds/provider-settings.ts";
import { isName, looksLikeToken, type ProviderConfig } from "../../core/model/index.ts";
import { didYouMean, type Mistakes } from "../source/mistakes.ts";
import { namesSecret, reportSecret } from "../source/secret-keys.ts";
import { rangeOf, type Span } from "../source/source.ts";
import { type Environment, readTemplate } from "../source/templates.ts";
import { type Entry, locate, type MapTree, strings, type Tree, toJson, valueSpan } from "../source/tree.ts";

const SETTINGS: readonly string[] = Object.keys(providerSettings.shape);

/**
 * Reads one entry of `providers`. Settings may take values from the environment (`${env.NAME}`); those are evaluated
 * here, since a provider is needed before anything can be planned. Mistakes in single settings leave those out.
 */
export function readProvider(entry: Entry, env: Environment, mistakes: Mistakes): ProviderConfig | undefined {
  const { key: alias, value: tree } = entry;
  if (!isName(alias)) {
    const fix = "Use letters, digits, `_` and `-`, beginning with a letter.";
    mistakes.add(entry.keySpan, "config.structure", `"${alias}" cannot be the name of a provider`, { fix });
    return undefined;
  }
  const range = rangeOf(entry.keySpan);
  if (tree.form === "leaf" && tree.value === null) return { alias, range };
  if (tree.form !== "map") {
    const fix = `Write \`${alias}: {base_url: https://…, token_env: NAME}\`, or \`${alias}: {}\`.`;
    mistakes.add(valueSpan(entry), "config.structure", `The provider "${alias}" must be a map of settings`, { fix });
    return undefined;
  }
  return { alias, ...readSettings(tree, env, mistakes), range };
}

function readSettings(tree: MapTree, env: Environment, mistakes: Mistakes): Omit<ProviderConfig, "alias"> {
  const settings: ProviderSettings = {};
  for (const entry of tree.entries.values()) {
    if (!SETTINGS.includes(entry.key)) reportUnknown(entry, mistakes);
    else if (!hasToken(entry, mistakes)) {
      const value = evaluated(entry.value, env, mistakes);
      const parsed = providerSettings.safeParse({ [entry.key]: value });
      if (value === undefined || parsed.success) Object.assign(settings, value !== undefined && parsed.data);
      else for (const issue of parsed.error.issues) reportValue(entry, issue, tree, mistakes);
    }
  }
  const config = configOf(settings);
  const { tokenFile } = config;
  return tokenFile === undefined ? config : { ...config, tokenFile: besideDeclaration(tokenFile, tree.span) };
}

/** A path in a declaration is relative to the file that it stands in. */
function besideDeclaration(path: string, { source }: Span): string {
  return isAbsolute(path) ? path : join(dirname(source.path), path);
}

function reportUnknown(entry: Entry, mistakes: Mistakes): void {
  if (namesSecret(entry.key)) {
    reportSecret(entry, mistakes);
    return;
  }
  const near = mistakes.nearest(entry.key, SETTINGS);
  mistakes.add(entry.keySpan, "config.unknown_key", `A provider has no setting "${entry.key}".${didYouMean(near)}`, {
    detail: `The settings are ${SETTINGS.join(", ")}.`,
  });
}

/** A token in the place of its variable's name, or inside the address. */
function hasToken(entry: Entry, mistakes: Mistakes): boolean {
  for (const { text } of strings(entry.value)) {
    const found =
      entry.key === "base_url" ? /^[^/]*\/\/[^/]*@/.test(text) : looksLikeToken(text, entry.key === "token_env");
    if (found) {
      reportSecret(entry, mistakes);
      return true;
    }
  }
  return false;
}

function reportValue(entry: Entry, issue: z.core.$ZodIssue, tree: MapTree, mistakes: Mistakes): void {
  const path = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
  const at: Span = path.length > 1 ? locate(tree, path) : valueSpan(entry);
  const what = path.join(".");
  mistakes.add(at, "config.invalid_value", `${what}: ${issue.message}`);
}

function evaluated(tree: Tree, env: Environment, mistakes: Mistakes): unknown {
  if (tree.form !== "leaf" || typeof tree.value !== "string") return toJson(tree);
  const references = readTemplate(tree, env, mistakes);
  if (references === undefined) return undefined;
  const [wrong] = references;
  if (wrong === undefined) return resolveReferences(tree.value, { env, resource: () => undefined });
  const fix = "Only `${env.NAME}` can be used here.";
  mistakes.add(wrong.span, "config.reference", "A provider cannot refer to a resource", { fix });
  return undefined;
}
