import { expressionsOf } from "../../core/expression/references.ts";
import type { Kinds } from "../../core/kinds/kind.ts";
import type { Desired, DesiredResource, Guards, ProviderConfig, SecretSource } from "../../core/model/index.ts";
import { mergeBackend } from "../source/backend.ts";
import type { Declaration, Named } from "../source/declaration.ts";
import { place, reportTwice } from "../source/duplicates.ts";
import { didYouMean, Mistakes } from "../source/mistakes.ts";
import { isDeclaration } from "../source/recognize.ts";
import { rangeOf, Source, type SourceFile } from "../source/source.ts";
import type { Environment } from "../source/templates.ts";
import { locate, type MapTree, toJson } from "../source/tree.ts";
import type { Draft } from "./block.ts";
import { type Fragment, readDocument } from "./document.ts";
import { readGuards } from "./guards.ts";
import { readOutputs } from "./outputs.ts";
import { readProvider } from "./providers.ts";
import { checkReferences } from "./references.ts";
import { readSecretSource } from "./secret-source.ts";
import { readYaml } from "./yaml.ts";

/** More resources than one project can reasonably have: at 60 requests a minute, applying them takes most of a day. */
const MOST_RESOURCES = 20_000;

export interface DeclarationOptions {
  readonly kinds: Kinds;
  /** The environment that `${env.NAME}` refers to. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a variable is kept from it, as an untrusted declaration gets only some. Default: none is. */
  readonly refusesVariable?: ((name: string) => boolean) | undefined;
  /** True when there are further files that could not be read: what seems undeclared may stand there. */
  readonly incomplete?: boolean;
}

/** Reads a declaration from the texts of its YAML files. Pure; never throws for what stands in them. */
export function parseDeclaration(
  given: readonly SourceFile[],
  { kinds, env, refusesVariable, incomplete = false }: DeclarationOptions,
): Declaration {
  const mistakes = new Mistakes();
  const files = given.map((file) => ({ ...file, quotable: isDeclaration(file.text, kinds) }));
  const reads = files.map((file, index) => readYaml(file, index, mistakes));
  const fragments = reads.flatMap(({ documents }) => documents.map((tree) => readDocument(tree, kinds, mistakes)));
  const complete = !incomplete && reads.every((read) => read.complete);
  const environment: Environment = Object.assign((name: string) => (Object.hasOwn(env, name) ? env[name] : undefined), {
    refuses: refusesVariable,
  });
  const sections = fragments.flatMap((fragment) => fragment.backends);
  const backend = mergeBackend(sections, environment, complete, mistakes);
  const merged = merge(fragments, files, { kinds, env: environment, complete, mistakes });
  const partial = merged && { ...merged, ...(typeof backend === "object" && { backend }) };
  const diagnostics = mistakes.list();
  return { desired: mistakes.any ? undefined : partial, partial, backend, diagnostics };
}

interface MergeContext {
  readonly kinds: Kinds;
  readonly env: Environment;
  readonly complete: boolean;
  readonly mistakes: Mistakes;
}

/** Puts the documents together, whatever notation they came from, and checks what concerns more than one of them. */
function merge(
  fragments: readonly Fragment[],
  files: readonly SourceFile[],
  context: MergeContext,
): Desired | undefined {
  const { kinds, env, complete, mistakes } = context;
  const project = mergeProject(fragments, files, complete, mistakes);
  const providers = mergeProviders(fragments, env, mistakes);
  const guards = mergeGuards(fragments, mistakes);
  const drafts = mergeDrafts(fragments, mistakes);
  if (drafts === undefined) return undefined;
  const dependsOn = checkReferences({ drafts, kinds, env, complete }, mistakes);
  for (const { provider } of drafts.values()) {
    if (provider !== undefined && !providers.has(provider.name))
      reportProvider(provider, providers, complete, mistakes);
  }
  const readable = [...drafts.values()].filter((draft) => draft.readable);
  const resources = readable.map((draft) =>
    desiredResource(draft, dependsOn.get(draft.address) ?? [], sourcesOf(draft, env, mistakes)),
  );
  const outputs = fragments.flatMap((fragment) => (fragment.outputs === undefined ? [] : [fragment.outputs]));
  return {
    project: project ?? "",
    providers,
    resources,
    ...(outputs.length > 0 && {
      outputs: readOutputs(outputs.flat(), { drafts, kinds, env, complete, providers, resources }, mistakes),
    }),
    ...(guards && { guards }),
    files: files.map((file) => file.path),
  };
}

function mergeProject(
  fragments: readonly Fragment[],
  files: readonly SourceFile[],
  complete: boolean,
  mistakes: Mistakes,
): string | undefined {
  const named = fragments.flatMap(({ project }) => project ?? []);
  const [first] = named;
  const [file] = files;
  if (first === undefined) {
    if (!complete || file === undefined) return undefined;
    mistakes.add(new Source(file).span(0, 0), "config.missing_attribute", "The declaration has no `project`", {
      fix: "Write `project: NAME` at the top of one file. The name is part of the key under which services are ordered.",
    });
    return undefined;
  }
  if (named.some(({ name }) => name !== first.name)) {
    for (const { name, span } of named) {
      const other = named.find((candidate) => candidate.name !== name);
      mistakes.add(span, "config.duplicate", `The project is called "${name}" here and otherwise elsewhere`, {
        ...(other && { detail: `It is called "${other.name}" in ${place(other.span)}.` }),
        fix: "Give one name only; the files of a folder are one project.",
      });
    }
  }
  return first.name;
}

function mergeProviders(
  fragments: readonly Fragment[],
  env: Environment,
  mistakes: Mistakes,
): Map<string, ProviderConfig> {
  const providers = new Map<string, ProviderConfig>([["default", { alias: "default" }]]);
  const byAlias = Map.groupBy(
    fragments.flatMap((fragment) => fragment.providers),
    (entry) => entry.key,
  );
  for (const entries of byAlias.values()) {
    reportTwice(
      entries,
      (entry) => entry.keySpan,
      (entry) => `The provider "${entry.key}"`,
      mistakes,
    );
    for (const entry of entries) {
      const provider = readProvider(entry, env, mistakes);
      if (provider !== undefined) providers.set(provider.alias, provider);
    }
  }
  return providers;
}

/** The limits of the project; two sections would make it unclear which of them holds. */
function mergeGuards(fragments: readonly Fragment[], mistakes: Mistakes): Guards | undefined {
  const sections = fragments.flatMap((fragment) => fragment.guards);
  reportTwice(
    sections,
    (section) => section.keySpan,
    () => "The section `guards`",
    mistakes,
  );
  const [first] = sections.map((section) => readGuards(section, mistakes));
  return first;
}

function mergeDrafts(fragments: readonly Fragment[], mistakes: Mistakes): Map<string, Draft> | undefined {
  const drafts = fragments.flatMap((fragment) => fragment.drafts);
  const excess = drafts[MOST_RESOURCES];
  if (excess !== undefined) {
    const summary = `The declaration has ${drafts.length} resources; at most ${MOST_RESOURCES} are accepted`;
    mistakes.add(excess.keySpan, "config.too_large", summary, {
      fix: "Split it into several projects, each in its own folder.",
    });
    return undefined;
  }
  const byAddress = Map.groupBy(drafts, (draft) => draft.address);
  for (const same of byAddress.values()) {
    reportTwice(
      same,
      (draft) => draft.keySpan,
      (draft) => draft.address,
      mistakes,
    );
  }
  return new Map([...byAddress].flatMap(([address, [first]]) => (first === undefined ? [] : [[address, first]])));
}

function reportProvider(
  provider: Named,
  providers: ReadonlyMap<string, unknown>,
  complete: boolean,
  mistakes: Mistakes,
): void {
  if (!complete) return;
  const near = mistakes.nearest(provider.name, [...providers.keys()]);
  const summary = `No provider "${provider.name.slice(0, 100)}" is declared.${didYouMean(near)}`;
  mistakes.add(provider.span, "provider.unknown", summary, {
    fix: "Declare it under `providers`, or correct the name.",
  });
}

function sourcesOf(
  { address, sources }: Draft,
  env: Environment,
  mistakes: Mistakes,
): ReadonlyMap<string, SecretSource> {
  const read = [...sources].map(([name, entry]) => [name, readSecretSource(entry, address, env, mistakes)] as const);
  return new Map(read.filter((pair): pair is [string, SecretSource] => pair[1] !== undefined));
}

function desiredResource(
  { address, kind, keySpan, attributes, sources: places, provider, importId }: Draft,
  dependsOn: readonly string[],
  sources: ReadonlyMap<string, SecretSource>,
): DesiredResource {
  const config = Object.fromEntries([...attributes].map(([name, entry]) => [name, toJson(entry.value)]));
  const tree: MapTree = { form: "map", entries: new Map([...attributes, ...places]), span: keySpan };
  return {
    address,
    type: kind.type,
    provider: provider?.name ?? "default",
    config,
    ...expressionsOf(config),
    dependsOn,
    ...(sources.size > 0 && { sources }),
    ...(importId !== undefined && { importId }),
    locate: (path) => rangeOf(locate(tree, path)),
  };
}
