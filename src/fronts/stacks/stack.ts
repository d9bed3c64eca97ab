import type { Language } from "../../core/expression/index.ts";
import {
  type Desired,
  type DesiredData,
  type DesiredResource,
  isProjectName,
  type Json,
  type Value,
} from "../../core/model/index.ts";
import { DiagnosticCollector } from "../source/diagnostics.ts";
import type { Declaration } from "../source/index.ts";
import { isStack, rangeOf, type SourceFile } from "../source/source.ts";
import { instancesOf, readOutputs } from "./desired.ts";
import { type BlockDraft, readDraft } from "./draft.ts";
import type { Compiled } from "./expressions.ts";
import { readTree, SynthesizedSource } from "./json.ts";
import { problem } from "./messages.ts";
import { literalSecrets, type Module, readModule, type StackCatalogue } from "./module.ts";
import { compileLocals, resolveNames } from "./names.ts";
import { readImports, readMoved, readRemoved } from "./refactoring.ts";
import { checkDependsOn, checkNames, type Declared, type RepetitionNames } from "./references.ts";
import { checkRemoteStates, RemoteOutputs } from "./remote-states.ts";
import { readBackend, readLanguage, readProviders, type StackProviders } from "./settings.ts";
import { StackContext } from "./stack-context.ts";
import { type GivenVariable, readVariables, validateVariables, valuesOf } from "./variables.ts";

export interface StackOptions extends StackCatalogue {
  /** Environment variables. Only HOSTFORM_PROJECT is used. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values of variables. Of several, the last counts. */
  readonly variables: readonly GivenVariable[];
  /** Outputs of `data.terraform_remote_state.NAME`, by NAME. They may be unknown. */
  readonly siblings: ReadonlyMap<string, Value>;
  /** Types of these outputs in the notation of state files, by NAME and output. Default: inferred from the values. */
  readonly siblingTypes?: ReadonlyMap<string, Readonly<Record<string, Json>>>;
  /** Language of expressions. Default: the newest that `required_version` allows. */
  readonly language?: Language;
  /** Version of hostform, which the version constraint of the provider must allow. */
  readonly version: string;
  /** Folder in which Terraform would run. Relative paths start there. */
  readonly folder: string;
}

/**
 * Parses one stack in Terraform's JSON syntax, as the CDKs synthesize it: its `cdk.tf.json`, or the `*.tf.json` files of a
 * folder, merged as Terraform merges them. Returns the same type as the parser of YAML. Pure. Never throws because of the
 * content of a file.
 *
 * 1. Parses texts into trees with locations, and trees into blocks.
 * 2. Checks all names, then resolves locals and instances in the order of their dependencies.
 * 3. Builds instances, outputs and moves. Reports errors at their locations: line, column and construct.
 */
export function parseStack(files: readonly SourceFile[], options: StackOptions): Declaration {
  const diags = new DiagnosticCollector();
  const sources = files.map((file) => ({ ...file, quotable: isStack(file.text) }));
  const trees = sources.map((file, index) => readTree(new SynthesizedSource(file, index), diags));
  const complete = trees.flatMap((tree) => tree ?? []);
  if (complete.length < trees.length) {
    return { desired: undefined, partial: undefined, backend: "unclear", diagnostics: diags.list() };
  }
  const module = readModule(complete, options, diags);
  const secrets = literalSecrets(module, options, diags);
  const backend = readBackend(module.terraform, options.version, diags);
  const merged = merge(module, options, diags);
  const partial: Desired = {
    ...merged,
    files: files.map(({ path }) => path),
    ...(typeof backend === "object" && { backend }),
  };
  return { desired: diags.any ? undefined : partial, partial, backend, diagnostics: diags.list(), secrets };
}

function merge(module: Module, options: StackOptions, diags: DiagnosticCollector): Omit<Desired, "files"> {
  const { kinds, schemas, siblings, siblingTypes, folder } = options;
  const remoteOutputs = new RemoteOutputs(siblings, siblingTypes);
  const written: Declared = { module, drafts: readDrafts(module, options, diags), remoteOutputs, diags };
  const drafts = new Map([...written.drafts].map(([base, draft]) => [base, checkedDraft(draft, written)]));
  const declared = { ...written, drafts };
  const variables = readVariables(module.variables, options.variables, diags);
  const language = readLanguage(module.terraform, diags, options.language);
  const context = new StackContext(declared, variables, language);
  const locals = compileLocals(declared);
  checkRemoteStates(module.data, diags);
  resolveNames(locals, context);
  validateVariables(context);
  const { providers, project } = readProviders(schemas.provider, folder, context);
  const imports = readImports(context);
  const resources: DesiredResource[] = [];
  const data: DesiredData[] = [];
  // The drafts are in the order of dependencies; the result needs the order of the file.
  for (const [base, draft] of drafts) {
    if (draft.provider !== undefined && !providers.has(draft.provider.name)) {
      const { name, span } = draft.provider;
      diags.add(span, problem("provider.unknown", { ...diags.unknown(name, [...providers.keys()]), address: base }));
    }
    const expansion = context.expansions.get(base);
    if (expansion === undefined) continue;
    for (const instance of instancesOf(expansion, context)) {
      if (draft.kind === undefined) data.push(instance);
      else resources.push(asResource(instance, draft, imports.get(instance.address)));
    }
  }
  return {
    project: projectName(project, options.env, diags),
    providers,
    resources,
    data,
    outputs: readOutputs(context),
    ...(variables.size > 0 && { variables: valuesOf(variables) }),
    moved: readMoved(module.moved, kinds, diags),
    removed: readRemoved(module.removed, kinds, diags),
    preventDestroy: [...drafts.values()].flatMap(({ base, lifecycle, block }) =>
      lifecycle?.preventDestroy === true ? [{ resource: base, range: rangeOf(block.keySpan) }] : [],
    ),
    skipDestroy: [...drafts.values()].flatMap(({ base, lifecycle }) => (lifecycle?.skipDestroy ? [base] : [])),
    ordersNamedBy: "domain",
  };
}

function readDrafts({ resources, data }: Module, { kinds, schemas }: StackCatalogue, diags: DiagnosticCollector) {
  const drafts = new Map<string, BlockDraft>();
  for (const [base, block] of [...resources, ...data]) {
    const type = block.labels[0]?.text ?? "";
    const kind = base.startsWith("data.") ? undefined : kinds.get(type);
    const schema = kind === undefined ? schemas.data(type) : schemas.resource(type);
    if (schema !== undefined) drafts.set(base, readDraft(block, { base, kind, schema, diags }));
  }
  return drafts;
}

/** Checks all names in a block. @returns the draft without expressions that contain unknown names. */
function checkedDraft(draft: BlockDraft, declared: Declared): BlockDraft {
  const { base: address, count, forEach, enabled, replaceOnChange } = draft;
  const checked = <T extends { readonly compiled: Compiled | undefined }>(
    name: string,
    part: T,
    own: RepetitionNames = {},
  ): T => {
    if (part.compiled === undefined) return part;
    const right = checkNames(part.compiled, declared, own, { address, attribute: [name] });
    return right ? part : { ...part, compiled: undefined };
  };
  if (draft.kind === undefined) checkRequired(draft, declared.diags);
  const own = { count: count !== undefined, each: forEach !== undefined };
  return {
    ...draft,
    dependsOn: checkDependsOn(draft.dependsOn, address, declared),
    count: count && checked("count", count),
    forEach: forEach && checked("for_each", forEach),
    enabled: enabled && checked("enabled", enabled),
    replaceOnChange: replaceOnChange && checked("replace_on_change", replaceOnChange, own),
    attributes: new Map([...draft.attributes].map(([name, attribute]) => [name, checked(name, attribute, own)])),
  };
}

/** Reports missing attributes of a data source. The lifecycle does this for resources. */
function checkRequired({ base, schema, attributes, block }: BlockDraft, diags: DiagnosticCollector): void {
  for (const [name, { required, description }] of Object.entries(schema.attributes)) {
    if (required !== true || attributes.has(name)) continue;
    const given = { name, description, address: base, attribute: [name] };
    diags.add(block.keySpan, problem("config.missing_attribute/data", given));
  }
}

function asResource(instance: DesiredData, { lifecycle }: BlockDraft, importId: string | undefined): DesiredResource {
  const { preventDestroy: _, skipDestroy: __, ...own } = lifecycle ?? {};
  return {
    ...instance,
    ...(importId !== undefined && { importId }),
    ...(Object.keys(own).length > 0 && { lifecycle: own }),
  };
}

/** Returns the name of the project. Empty if there is none: the plan then reports an error if it needs to order. */
function projectName(project: StackProviders["project"], env: StackOptions["env"], diags: DiagnosticCollector): string {
  if (project !== undefined) return project === "unclear" ? "" : project;
  const name = env.HOSTFORM_PROJECT || "";
  if (name === "" || isProjectName(name)) return name;
  return diags.add(undefined, problem("config.invalid_value/project_variable")) ?? "";
}
