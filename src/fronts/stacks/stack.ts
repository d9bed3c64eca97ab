import { type Desired, type DesiredData, type DesiredResource, isProjectName } from "../../core/model/index.ts";
import { DiagnosticCollector, didYouMean } from "../source/diagnostics.ts";
import type { Declaration } from "../source/index.ts";
import { isStack, rangeOf, type SourceFile } from "../source/source.ts";
import type { Compiled } from "./compile.ts";
import { type Draft, readDraft } from "./draft.ts";
import { readImports } from "./imports.ts";
import { instancesOf } from "./instance.ts";
import { readTree } from "./json.ts";
import { type Module, readModule } from "./module.ts";
import { readMoved, readRemoved } from "./moves.ts";
import { compileLocals, makeNames } from "./names.ts";
import type { StackOptions } from "./options.ts";
import { readOutputs } from "./outputs.ts";
import { type Providers, readProviders } from "./providers.ts";
import { checkDependsOn, checkNames, type Declared, type Place } from "./references.ts";
import { checkRemoteStates } from "./remote-states.ts";
import { refuseReplaceOnChange } from "./replace-on-change.ts";
import { literalSecrets } from "./secrets.ts";
import { readSettings } from "./settings.ts";
import { StackSource } from "./source.ts";
import { Surroundings } from "./surroundings.ts";
import { validateVariables } from "./validations.ts";
import { readVariables } from "./variables.ts";

/**
 * Reads ONE stack in Terraform's JSON syntax, as the CDKs synthesize it: its `cdk.tf.json`, or the `*.tf.json` files of a
 * folder, merged as Terraform merges them. Gives what a declaration in YAML gives. Pure; never throws for what stands there.
 *
 * 1. Texts to trees that know their places; trees to blocks.
 * 2. Every name checked; then locals and instances made known, each after what it hangs on.
 * 3. Instances, outputs and moves, with every mistake at its place: line and column, and the construct that wrote it.
 */
export function parseStack(files: readonly SourceFile[], options: StackOptions): Declaration {
  const diags = new DiagnosticCollector();
  const sources = files.map((file) => ({ ...file, quotable: isStack(file.text) }));
  const trees = sources.map((file, index) => readTree(new StackSource(file, index), diags));
  const complete = trees.flatMap((tree) => tree ?? []);
  if (complete.length < trees.length) {
    return { desired: undefined, partial: undefined, backend: "unclear", diagnostics: diags.list() };
  }
  const module = readModule(complete, options, diags);
  const secrets = literalSecrets(module, options, diags);
  const backend = readSettings(module.terraform, diags);
  const merged = merge(module, options, diags);
  const partial: Desired = {
    ...merged,
    files: files.map(({ path }) => path),
    ...(typeof backend === "object" && { backend }),
  };
  const diagnostics = diags.list();
  return { desired: diags.any ? undefined : partial, partial, backend, diagnostics, secrets };
}

function merge(module: Module, options: StackOptions, diags: DiagnosticCollector): Omit<Desired, "files"> {
  const { kinds, schemas, siblings, folder } = options;
  const written: Declared = {
    module,
    drafts: readDrafts(module, options, diags),
    siblings: new Set(siblings.keys()),
    diags,
  };
  const drafts = soundDrafts(written);
  const declared = { ...written, drafts };
  const surroundings = new Surroundings(readVariables(module.variables, options.variables, diags), {
    outputs: siblings,
    types: options.siblingTypes ?? new Map(),
  });
  const locals = compileLocals(module.locals, diags);
  const right = new Map(
    [...locals].map(([name, compiled]) => [
      name,
      compiled !== undefined && checkNames(compiled, declared, {}) ? compiled : undefined,
    ]),
  );
  checkRemoteStates(module, diags);
  makeNames(right, surroundings, declared);
  validateVariables(surroundings, declared);
  const { providers, project } = readProviders(module.providers, {
    schema: schemas.provider,
    surroundings,
    declared,
    folder,
  });
  const common = { surroundings, declared };
  const imports = readImports(module.imports, common);
  const resources: DesiredResource[] = [];
  const data: DesiredData[] = [];
  for (const expansion of surroundings.expansions.values()) {
    const { draft } = expansion;
    checkProvider(draft, providers, diags);
    refuseReplaceOnChange(draft, common);
    for (const instance of instancesOf(expansion, common)) {
      if (draft.kind === undefined) data.push(instance);
      else resources.push(asResource(instance, draft, imports.get(instance.address)));
    }
  }
  const outputs = readOutputs(module.outputs, surroundings, declared);
  return {
    project: projectName(project, options, declared),
    providers,
    resources: inFileOrder(resources, drafts),
    data,
    outputs,
    moved: readMoved(module.moved, kinds, diags),
    removed: readRemoved(module.removed, kinds, diags),
    preventDestroy: [...drafts.values()].flatMap(({ base, lifecycle, block }) =>
      lifecycle?.preventDestroy === true ? [{ resource: base, range: rangeOf(block.keySpan) }] : [],
    ),
    ordersNamedBy: "domain",
  };
}

function readDrafts({ resources, data }: Module, { kinds, schemas }: StackOptions, diags: DiagnosticCollector) {
  const drafts = new Map<string, Draft>();
  for (const [base, block] of [...resources, ...data]) {
    const type = block.labels[0]?.text ?? "";
    const kind = base.startsWith("data.") ? undefined : kinds.get(type);
    const schema = kind === undefined ? schemas.data(type) : schemas.resource(type);
    if (schema !== undefined) drafts.set(base, readDraft(base, block, schema, kind, diags));
  }
  return drafts;
}

/** Checks every name in the blocks of resources and data sources. @returns them without the expressions whose names mean nothing. */
function soundDrafts(declared: Declared): ReadonlyMap<string, Draft> {
  return new Map([...declared.drafts].map(([base, draft]) => [base, soundDraft(draft, declared)]));
}

function soundDraft(draft: Draft, declared: Declared): Draft {
  const { base: address, count, forEach, replaceOnChange } = draft;
  const sound = <T extends { readonly compiled: Compiled | undefined }>(name: string, part: T, place: Place): T => {
    if (part.compiled === undefined) return part;
    return checkNames(part.compiled, declared, place, { address, attribute: [name] })
      ? part
      : { ...part, compiled: undefined };
  };
  if (draft.kind === undefined) checkRequired(draft, declared.diags);
  const place = { count: count !== undefined, each: forEach !== undefined };
  return {
    ...draft,
    dependsOn: checkDependsOn(draft.dependsOn, address, declared),
    count: count && sound("count", count, {}),
    forEach: forEach && sound("for_each", forEach, {}),
    replaceOnChange: replaceOnChange && sound("replace_on_change", replaceOnChange, place),
    attributes: new Map([...draft.attributes].map(([name, attribute]) => [name, sound(name, attribute, place)])),
  };
}

/** Of a resource the lifecycle says it. */
function checkRequired({ base, schema, attributes, block }: Draft, diags: DiagnosticCollector): void {
  for (const [name, { required, description }] of Object.entries(schema.attributes)) {
    if (required !== true || attributes.has(name)) continue;
    diags.add(block.keySpan, "config.missing_attribute", `${base} needs ${name}`, {
      address: base,
      attribute: [name],
      detail: description,
      fix: `Add \`${name}\`.`,
    });
  }
}

function checkProvider({ base, provider }: Draft, known: Providers["providers"], diags: DiagnosticCollector): void {
  if (provider === undefined || known.has(provider.name)) return;
  const near = diags.nearest(provider.name, [...known.keys()]);
  const summary = `No provider of hosting with the alias "${provider.name.slice(0, 100)}" is declared.${didYouMean(near)}`;
  diags.add(provider.span, "provider.unknown", summary, {
    address: base,
    fix: "Declare it under `provider`, or correct the name.",
  });
}

function asResource(instance: DesiredData, { lifecycle }: Draft, importId: string | undefined): DesiredResource {
  const { preventDestroy: _, ...own } = lifecycle ?? {};
  return {
    ...instance,
    ...(importId !== undefined && { importId }),
    ...(Object.keys(own).length > 0 && { lifecycle: own }),
  };
}

/** Names hang on each other; people read the resources as they stand in the file. */
function inFileOrder(resources: readonly DesiredResource[], drafts: ReadonlyMap<string, Draft>): DesiredResource[] {
  const place = new Map([...drafts.keys()].map((base, i) => [base, i]));
  const placeOf = ({ address }: DesiredResource) => place.get(address.replace(/\[.*$/s, "")) ?? 0;
  return resources.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Empty where none is named: then nothing can be ordered, which the plan says where something is to be. */
function projectName(project: Providers["project"], { env }: StackOptions, { diags }: Declared): string {
  if (project === "unclear") return "";
  if (project !== undefined) return project;
  const name = env.HOSTFORM_PROJECT || undefined;
  if (name !== undefined && isProjectName(name)) return name;
  if (name !== undefined) {
    const summary = "The environment variable HOSTFORM_PROJECT does not hold the name of a project";
    diags.add(undefined, "config.invalid_value", summary, {
      fix: "Use 1 to 64 letters, digits, `.`, `_` and `-`, beginning and ending with a letter or digit.",
    });
    return "";
  }
  return "";
}
