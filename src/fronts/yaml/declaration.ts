import { expressionsOf, type SourceOf } from "../../core/expression/references.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import type { Kinds } from "../../core/kinds/kind.ts";
import {
  type Desired,
  type DesiredResource,
  type Diagnostic,
  type Guards,
  type Json,
  type ProviderConfig,
  parseAddress,
  resourceOf,
  type SecretSource,
  UNKNOWN,
} from "../../core/model/index.ts";
import { checkOwnVersion } from "../source/constraints.ts";
import { DiagnosticCollector, position, unique } from "../source/diagnostics.ts";
import type { Declaration } from "../source/index.ts";
import { typedValue } from "../source/scalars.ts";
import { mergeBackend } from "../source/settings.ts";
import { isDeclaration, rangeOf, Source, type SourceFile } from "../source/source.ts";
import type { ReadContext } from "../source/templates.ts";
import {
  type Entry,
  hasRefused,
  isGiven,
  locate,
  type MapTree,
  stringOf,
  strings,
  type Tree,
  valueSpan,
} from "../source/tree.ts";
import { type Fragment, readDocument } from "./document.ts";
import { type EnvironmentSections, overlaid, readEnvironment } from "./environment.ts";
import { expand } from "./expand.ts";
import { problem } from "./messages.ts";
import { readChannels } from "./notify.ts";
import { readOutputs } from "./outputs.ts";
import { readRefactoring } from "./refactoring.ts";
import { checkReferences, type ReferenceContext } from "./references.ts";
import type { ResourceDraft } from "./resource.ts";
import { readGuards, readProvider, readSecretSource } from "./settings.ts";
import { hasVariable, Variables, variablesIn } from "./variables.ts";
import { type DeclarationLimits, readYaml, STRICT_LIMITS } from "./yaml.ts";

/** Parses a declaration: merges the documents of all files. */

export interface DeclarationOptions {
  readonly kinds: Kinds;
  /** Environment variables for `${env.NAME}`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns true if the declaration must not read the environment variable. Default: all variables are allowed. */
  readonly refusesVariable?: ((name: string) => boolean) | undefined;
  /**
   * Returns true if the value of the environment variable is public. Default: none is. A trusted declaration may make further
   * variables public.
   */
  readonly isOpenVariable?: ((name: string) => boolean) | undefined;
  /** Size limits of the files. Default: {@link STRICT_LIMITS}. */
  readonly limits?: DeclarationLimits;
  /** True if some files could not be read. They may declare resources that seem undeclared. */
  readonly incomplete?: boolean;
  /** File of the environment. Its settings override those of the declaration. */
  readonly environment?: SourceFile | undefined;
  /** Further file with `templates` and `defaults` only, such as the shared file of a fleet. */
  readonly templates?: SourceFile | undefined;
  /** This version of hostform, for `required_version`. By default, the version is not checked. */
  readonly version?: string;
}

/** Parses a declaration from the texts of its YAML files. Pure. Never throws for the content of a file. */
export function parseDeclaration(given: readonly SourceFile[], options: DeclarationOptions): Declaration {
  const { kinds, env, refusesVariable, limits = STRICT_LIMITS, incomplete = false, version } = options;
  const diags = new DiagnosticCollector();
  const { templates } = options;
  const files = [...given, ...(templates ? [templates] : [])].map((file) => {
    return { ...file, quotable: isDeclaration(file.text, kinds) };
  });
  const reads = files.map((file, index) => readYaml(file, index, diags, limits));
  if (templates !== undefined) refuseOtherSections(reads.at(-1)?.documents ?? [], diags);
  const trees = reads.flatMap(({ documents }) => documents);
  const outdated = version === undefined ? [] : unmetVersions(trees, version);
  if (outdated.length > 0) return { desired: undefined, partial: undefined, backend: "unclear", diagnostics: outdated };
  const environment = options.environment && readEnvironment(options.environment, files.length, limits, diags);
  const expansion = expand(trees, kinds, diags, limits);
  const variables = variablesOf(trees, files, options, environment, diags);
  const documents =
    variables === undefined ? expansion.documents : expansion.documents.map((tree) => variables.document(tree));
  const fragments = documents.map((tree) => readDocument(tree, kinds, diags));
  const complete = !incomplete && expansion.complete && reads.every((read) => read.complete);
  const reader = {
    read: (name: string) => (Object.hasOwn(env, name) ? env[name] : undefined),
    refuses: refusesVariable,
  };
  const context = { env: reader, complete, diags };
  const sections = fragments.flatMap((fragment) => fragment.backends);
  if (environment !== undefined) checkShared(environment, expansion.documents, diags);
  const backend = mergeBackend(backendsOf(sections, environment), complete, context);
  const declaredOpen = refusesVariable === undefined ? variables?.fromEnvironment : undefined;
  // A variable without a value has another error.
  const isHidden = (name: string) =>
    reader.read(name) !== undefined &&
    refusesVariable?.(name) !== true &&
    options.isOpenVariable?.(name) !== true &&
    declaredOpen?.has(name) !== true;
  const merged = merge(fragments, files, limits.resources, kinds, { ...context, environment, isHidden });
  const values = variables?.values() ?? [];
  const valued = values.length > 0 && { variables: values };
  const partial = merged && { ...merged, ...valued, ...(typeof backend === "object" && { backend }) };
  // Mistakes in these settings were already reported with the environment.
  const own = environment && ownSettings(fragments, sections, { ...context, diags: new DiagnosticCollector() });
  return { desired: diags.any ? undefined : partial, partial, backend, diagnostics: diags.list(), ...(own && { own }) };
}

/** Reports sections of a shared file that would change each project: resources, providers, limits. */
function refuseOtherSections(documents: readonly Tree[], diags: DiagnosticCollector): void {
  const known = ["templates", "defaults"];
  for (const { key, keySpan } of documents.flatMap((tree) => (tree.form === "map" ? [...tree.entries.values()] : [])))
    if (!known.includes(key) && !key.startsWith("x-"))
      diags.add(keySpan, problem("config.unknown_key/shared", diags.unknown(key, known)));
}

/**
 * Returns the errors of `required_version`. They replace all other errors, because the declaration may use syntax of a later
 * version.
 */
function unmetVersions(trees: readonly Tree[], version: string): readonly Diagnostic[] {
  const diags = new DiagnosticCollector();
  for (const tree of trees) {
    const entry = tree.form === "map" ? tree.entries.get("required_version") : undefined;
    if (!isGiven(entry)) continue;
    const text = stringOf(entry.value);
    if (text !== undefined) checkOwnVersion(entry, text, version, "hostform", diags);
    else {
      diags.add(valueSpan(entry), problem("config.structure/required_version"));
    }
  }
  return diags.list();
}

/** Returns the variables. Undefined if there is nothing to replace. */
function variablesOf(
  trees: readonly Tree[],
  files: readonly SourceFile[],
  { environment: file }: DeclarationOptions,
  environment: EnvironmentSections | undefined,
  diags: DiagnosticCollector,
): Variables | undefined {
  const declared = variablesIn(trees, diags);
  const given = environment && file && { file: file.path, entries: environment.variables };
  const isUsed = declared.length > 0 || (given?.entries.length ?? 0) > 0 || files.some(({ text }) => hasVariable(text));
  return isUsed ? new Variables(declared, given, diags) : undefined;
}

/** Reports a backend that all environments would share: several accounts would use one state. */
function checkShared(
  { backend, state }: EnvironmentSections,
  documents: readonly Tree[],
  diags: DiagnosticCollector,
): void {
  if (backend !== undefined || state !== undefined) return;
  for (const tree of documents) {
    const section = tree.form === "map" ? tree.entries.get("backend") : undefined;
    if (section === undefined || [...strings(section.value)].some(({ text }) => hasVariable(text))) continue;
    diags.add(section.keySpan, problem("config.structure/shared_backend"));
  }
}

const backendsOf = (sections: readonly Entry[], environment: EnvironmentSections | undefined): readonly Entry[] => {
  if (environment?.backend !== undefined) return [environment.backend];
  return environment?.state === undefined ? sections : [];
};

/** Returns providers and backend without the environment. */
function ownSettings(
  fragments: readonly Fragment[],
  backends: readonly Entry[],
  context: ReadContext & { readonly complete: boolean },
): Pick<Desired, "providers"> & { readonly backend: Declaration["backend"] } {
  return { providers: mergeProviders(fragments, context), backend: mergeBackend(backends, context.complete, context) };
}

/** Returns the function that finds sensitive references: variables that are not public, and secret attributes. */
function sourcesIn(kinds: Kinds, isHidden: (name: string) => boolean): SourceOf {
  return (reference) => {
    if (reference.to === "env") return isHidden(reference.name) ? { from: [`env.${reference.name}`] } : undefined;
    const { address, path } = reference;
    const kind = kinds.get(parseAddress(address)?.type ?? "");
    const [name] = path;
    const { shape = {} } = kind?.attributes ?? {};
    const type = typeof name === "string" && Object.hasOwn(shape, name) ? shape[name] : undefined;
    const { sensitive = false, writeOnly = false } = type === undefined ? {} : metaOf(type);
    // References to write-only attributes are reported elsewhere.
    return sensitive && !writeOnly ? { from: [`${address}.${name}`] } : undefined;
  };
}

interface MergeContext extends Omit<ReferenceContext, "drafts" | "instances"> {
  /** Returns true if the value of the environment variable is sensitive. */
  isHidden(name: string): boolean;
  readonly environment?: EnvironmentSections | undefined;
}

/** Merges the documents, and checks rules that concern several documents. */
function merge(
  fragments: readonly Fragment[],
  files: readonly SourceFile[],
  mostResources: number,
  kinds: Kinds,
  context: MergeContext,
): Desired | undefined {
  const { complete, diags } = context;
  const project = mergeProject(fragments, files, context);
  const providers = mergeProviders(fragments, context);
  const tokens = new Set([...providers.values()].map(({ tokenEnv }) => tokenEnv));
  const sourceOf = sourcesIn(kinds, (name) => tokens.has(name) || context.isHidden(name));
  const guards = mergeGuards(fragments, context);
  const channels = context.environment?.notify ?? fragments.flatMap((fragment) => fragment.channels);
  const notify = [channels].flat().flatMap((section) => readChannels(section, diags));
  const drafts = mergeDrafts(fragments, mostResources, diags);
  if (drafts === undefined) return undefined;
  const instances = Map.groupBy(drafts.keys(), resourceOf);
  const references: ReferenceContext = { ...context, drafts, instances };
  const dependsOn = checkReferences(references);
  for (const { provider } of drafts.values()) {
    if (!complete || provider === undefined || providers.has(provider.name)) continue;
    const { name, span } = provider;
    diags.add(span, problem("provider.unknown", { ...diags.unknown(name, [...providers.keys()]) }));
  }
  const readable = [...drafts.values()].filter((draft) => draft.readable);
  const sections = fragments.flatMap(({ refactoring }) => refactoring);
  const { moved, removed, importIds } = readRefactoring(sections, { ...references, kinds });
  const resources = readable.map((draft) => {
    const importId = draft.importId ?? importIds.get(draft.address);
    return desiredResource({ ...draft, importId }, dependsOn.get(draft.address) ?? [], sourceOf, context);
  });
  const outputs = fragments.flatMap((fragment) => (fragment.outputs === undefined ? [] : [fragment.outputs]));
  return {
    project: project ?? "",
    providers,
    resources,
    ...(outputs.length > 0 && {
      outputs: readOutputs(outputs.flat(), { ...references, providers, resources, sourceOf }),
    }),
    ...(guards && { guards }),
    ...(notify.length > 0 && { notify }),
    ...(moved.length > 0 && { moved }),
    ...(removed.length > 0 && { removed }),
    files: files.map((file) => file.path),
  };
}

/** Pattern of the line with the project's name, for texts with mistakes elsewhere. */
const NAME = /^project:[ \t]*(["']?)([A-Za-z0-9][\w.-]*)\1[ \t]*(?:#.*)?$/m;

function mergeProject(
  fragments: readonly Fragment[],
  files: readonly SourceFile[],
  { complete, diags }: MergeContext,
): string | undefined {
  const named = fragments.flatMap(({ project }) => project ?? []);
  const [first] = named;
  const [file] = files;
  if (first === undefined) {
    // Reports contain the project's name even if a file cannot be parsed.
    if (!complete || file === undefined) return files.flatMap(({ text }) => NAME.exec(text)?.[2] ?? [])[0];
    return diags.add(new Source(file).span(0, 0), problem("config.missing_attribute/project"));
  }
  if (named.some(({ name }) => name !== first.name)) {
    for (const { name, span } of named) {
      const other = named.find((candidate) => candidate.name !== name);
      if (other === undefined) continue;
      const place = position(other.span);
      diags.add(span, problem("config.duplicate/project", { name, other: other.name, place }));
    }
  }
  return first.name;
}

function mergeProviders(
  fragments: readonly Fragment[],
  context: ReadContext & Pick<MergeContext, "environment">,
): Map<string, ProviderConfig> {
  const providers = new Map<string, ProviderConfig>([["default", { alias: "default" }]]);
  const entries = fragments.flatMap((fragment) => fragment.providers);
  unique(entries, ({ key }) => `The provider "${key}"`, context.diags);
  const over = new Map(context.environment?.providers.map((entry) => [entry.key, entry]));
  const merged = entries.map((entry) => overlaid(entry, over.get(entry.key)) ?? entry);
  const added = [...over.values()].filter(({ key }) => !entries.some((entry) => entry.key === key));
  for (const entry of [...merged, ...added]) {
    const provider = readProvider(entry, context);
    if (provider !== undefined) providers.set(provider.alias, provider);
  }
  return providers;
}

/** Returns the guards of the project. Two sections are an error: one could hide the limits of the other. */
function mergeGuards(
  fragments: readonly Fragment[],
  { diags, environment }: Pick<MergeContext, "diags" | "environment">,
): Guards | undefined {
  const sections = fragments.flatMap((fragment) => fragment.guards);
  unique(sections, () => "The section `guards`", diags);
  const section = overlaid(sections[0], environment?.guards);
  return section && readGuards(section, diags);
}

function mergeDrafts(
  fragments: readonly Fragment[],
  most: number,
  diags: DiagnosticCollector,
): Map<string, ResourceDraft> | undefined {
  const drafts = fragments.flatMap((fragment) => fragment.drafts);
  const excess = drafts[most];
  if (excess !== undefined) {
    return diags.add(excess.keySpan, problem("config.too_large/resources", { length: drafts.length, most }));
  }
  return new Map(unique(drafts, ({ address }) => address, diags).map((draft) => [draft.address, draft]));
}

function desiredResource(
  { address, kind, keySpan, attributes, sources: places, provider, importId, client }: ResourceDraft,
  dependsOn: readonly string[],
  sourceOf: SourceOf,
  context: ReadContext,
): DesiredResource {
  const sources = new Map<string, SecretSource>();
  for (const [name, entry] of places) {
    const source = readSecretSource(entry, address, context);
    if (source !== undefined) sources.set(name, source);
  }
  const refused = new Set([...attributes].flatMap(([name, { value }]) => (hasRefused(value) ? [name] : [])));
  const config: Record<string, Json> = {};
  for (const [name, { keySpan: at, value }] of attributes) {
    const place = { path: [name], diags: context.diags, address, keySpan: at };
    config[name] = typedValue(value, kind.attributes.shape[name], place);
  }
  const expressions = expressionsOf(config, sourceOf);
  const entries = places.size === 0 ? attributes : new Map([...attributes, ...places]);
  const tree: MapTree = { form: "map", entries, span: keySpan };
  return {
    address,
    type: kind.type,
    provider: provider?.name ?? "default",
    config,
    ...expressions,
    // Values with reported mistakes are not missing.
    ...(refused.size > 0 && {
      isConstant: false,
      evaluate: (name, scope) => (refused.has(name) ? UNKNOWN : expressions.evaluate(name, scope)),
    }),
    dependsOn,
    ...(sources.size > 0 && { sources }),
    ...(importId !== undefined && { importId }),
    ...(client !== undefined && { client }),
    locate: (path) => rangeOf(locate(tree, path)),
  };
}
