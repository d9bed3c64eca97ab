import { DiagnosticCollector } from "../source/diagnostics.ts";
import type { SourceFile } from "../source/source.ts";
import { type Entry, isGiven, isNull, type MapTree, type SpannedName, stringOf, valueSpan } from "../source/tree.ts";
import { merge } from "./expand.ts";
import { problem } from "./messages.ts";
import { type DeclarationLimits, OWN_LIMITS, readYaml } from "./yaml.ts";

/**
 * File of an environment, `environments/production.yaml`. Its account, state, guards and variables override those of the
 * declaration.
 */
export interface EnvironmentSections {
  readonly providers: readonly Entry[];
  readonly guards: Entry | undefined;
  /** Replaces all channels. An empty list sends nothing. */
  readonly notify: Entry | undefined;
  readonly backend: Entry | undefined;
  /** Path of the state file, relative to the project's folder. */
  readonly state: SpannedName | undefined;
  readonly variables: readonly Entry[];
}

/** Valid keys of the file. */
const ENVIRONMENT_KEYS = ["providers", "backend", "state", "guards", "notify", "variables"] as const;

/**
 * Reads the file. Its settings are validated later, with those of the declaration.
 * @param index Index of the file among the sources.
 */
export function readEnvironment(
  file: SourceFile,
  index: number,
  limits: DeclarationLimits,
  diags: DiagnosticCollector,
): EnvironmentSections {
  const { documents } = readYaml(file, index, diags, limits);
  const [tree, second] = documents;
  if (second !== undefined) diags.add(second.span, problem("config.structure/environment_documents"));
  if (tree !== undefined && tree.form !== "map" && !isNull(tree))
    diags.add(tree.span, problem("config.structure/environment", { known: ENVIRONMENT_KEYS }));
  const entries: ReadonlyMap<string, Entry> = tree?.form === "map" ? tree.entries : new Map();
  for (const { key, keySpan } of entries.values()) {
    if (ENVIRONMENT_KEYS.some((known) => known === key) || key.startsWith("x-")) continue;
    diags.add(keySpan, problem("config.unknown_key/environment", diags.unknown(key, ENVIRONMENT_KEYS)));
  }
  const given = (key: (typeof ENVIRONMENT_KEYS)[number]) => {
    const entry = entries.get(key);
    return isGiven(entry) ? entry : undefined;
  };
  const [state, backend] = [given("state"), given("backend")];
  if (state !== undefined && backend !== undefined) diags.add(state.keySpan, problem("config.duplicate/state"));
  return {
    providers: mapOf(given("providers"), diags),
    guards: given("guards"),
    notify: given("notify"),
    backend,
    state: state && stateOf(state, diags),
    variables: mapOf(given("variables"), diags),
  };
}

/** Returns the path of the state file in an environment. Mistakes are reported elsewhere. */
export const environmentState = (file: SourceFile): string | undefined =>
  readEnvironment(file, 0, OWN_LIMITS, new DiagnosticCollector()).state?.name;

function mapOf(section: Entry | undefined, diags: DiagnosticCollector): readonly Entry[] {
  if (section === undefined) return [];
  if (section.value.form === "map") return [...section.value.entries.values()];
  return diags.add(valueSpan(section), problem("config.structure/environment_map", { key: section.key })) ?? [];
}

function stateOf(entry: Entry, diags: DiagnosticCollector): SpannedName | undefined {
  const name = stringOf(entry.value);
  if (name !== undefined && name.trim() !== "" && !name.includes("${")) return { name, span: valueSpan(entry) };
  return diags.add(valueSpan(entry), problem("config.structure/state"));
}

/** Merges an entry of an environment into an entry of the declaration: maps are merged, null removes a setting. */
export function overlaid(base: Entry | undefined, over: Entry | undefined): Entry | undefined {
  if (base === undefined || over === undefined || isNull(over.value)) return base ?? over;
  const [below, above] = [base.value, over.value];
  return below.form === "map" && above.form === "map" ? { ...over, value: merge(below, above) as MapTree } : over;
}
