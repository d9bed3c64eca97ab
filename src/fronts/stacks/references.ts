import type { PlacedTraversal, Traversal } from "../../core/expression/index.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import { type Diagnostic, parseAddress } from "../../core/model/index.ts";
import type { DiagnosticCollector, Remark } from "../source/diagnostics.ts";
import { unreferable } from "../source/templates.ts";
import type { SpannedName, Tree } from "../source/tree.ts";
import type { BlockDraft } from "./draft.ts";
import { type Compiled, compile, spanIn } from "./expressions.ts";
import { problem } from "./messages.ts";
import type { Module } from "./module.ts";
import { REMOTE_STATE, type RemoteOutputs } from "./remote-states.ts";

/** Checks and resolves the names in expressions and in `depends_on`. */

/** Declarations that names in expressions may refer to. */
export interface Declared {
  readonly module: Module;
  /** Resources and data sources by address without instance key. */
  readonly drafts: ReadonlyMap<string, BlockDraft>;
  /** Known outputs of remote states. */
  readonly remoteOutputs: RemoteOutputs;
  readonly diags: DiagnosticCollector;
}

/** Names that an expression may use, because its block has `count` or `for_each`. */
export interface RepetitionNames {
  readonly count?: boolean;
  readonly each?: boolean;
}

/** Compiles a value and checks its names. @returns undefined after a reported error. */
export function compileNamed(
  tree: Tree,
  declared: Declared,
  names: RepetitionNames = {},
  remark: Remark = {},
): Compiled | undefined {
  const compiled = compile(tree, declared.diags, remark);
  return compiled && checkNames(compiled, declared, names, remark) ? compiled : undefined;
}

/** Returns true if all names in a value exist. Reports unknown names. */
export function checkNames(
  compiled: Compiled,
  declared: Declared,
  names: RepetitionNames,
  remark: Remark = {},
): boolean {
  let right = true;
  for (const traversal of compiled.traversals) {
    const wrong = wrongIn(traversal, declared, names, remark);
    if (wrong === undefined) continue;
    right = false;
    const span = spanIn(compiled.tree, traversal.path, traversal.offset, traversal.text.length);
    const detail = wrong.detail ?? problem("config.reference/name", { text: traversal.text }).detail;
    declared.diags.add(span, { ...wrong, detail });
  }
  return right;
}

/** Returns the mistake about a name. Undefined if there is none. */
function wrongIn(
  traversal: PlacedTraversal,
  declared: Declared,
  names: RepetitionNames,
  { address, attribute }: Remark,
): Diagnostic | undefined {
  const place = { address, attribute };
  const { root, steps, text } = traversal;
  const [first] = steps;
  switch (root) {
    case "var":
      return wrongName("variable", first, declared.module.variables, declared.diags, place);
    case "local":
      return wrongName("local", first, declared.module.locals, declared.diags, place);
    case "each":
      if (names.each !== true) return problem("config.reference/repetition", { text, key: "for_each", ...place });
      return first === "key" || first === "value" ? undefined : problem("config.reference/each", place);
    case "count":
      if (names.count !== true) return problem("config.reference/repetition", { text, key: "count", ...place });
      return first === "index" ? undefined : problem("config.reference/count", place);
    case "path":
      if (first === "module" || first === "root") return undefined;
      return problem("config.unsupported/name", { text, ...place });
    case "terraform":
      return first === "workspace" ? undefined : problem("config.unsupported/name", { text, ...place });
    case "module":
    case "self":
    case "ephemeral":
      return problem("config.unsupported/name", { text, ...place });
    default:
      return wrongResource(traversal, declared, place);
  }
}

function wrongName(
  noun: string,
  name: string | number | undefined,
  known: ReadonlyMap<string, unknown>,
  diags: DiagnosticCollector,
  place: Remark,
): Diagnostic | undefined {
  if (typeof name !== "string") return problem("config.reference/nameless", { noun, ...place });
  if (known.has(name)) return undefined;
  return problem("config.reference/undeclared_name", { ...diags.unknown(name, [...known.keys()]), noun, ...place });
}

function wrongResource(traversal: PlacedTraversal, declared: Declared, place: Remark): Diagnostic | undefined {
  const { root, steps, text } = traversal;
  const data = root === "data";
  if (data && steps[0] === REMOTE_STATE) return wrongRemoteState(steps, declared, place);
  const node = nodeOf(traversal);
  const draft = node === undefined ? undefined : declared.drafts.get(node);
  if (node === undefined || draft === undefined) return undeclared(node ?? text, declared, place);
  const rest = steps.slice(data ? 2 : 1);
  const repeated = draft.count !== undefined ? "count" : draft.forEach !== undefined ? "for_each" : undefined;
  if (repeated === undefined) {
    if (typeof rest[0] !== "number") return wrongAttribute(rest[0], draft, text, declared, place);
    return problem("config.reference/single", { node, index: rest[0], ...place });
  }
  if (rest[0] !== undefined && repeated === "count" && typeof rest[0] !== "number")
    return problem("config.reference/counted", { node, ...place });
  return wrongAttribute(rest[1], draft, text, declared, place);
}

function wrongAttribute(
  name: string | number | undefined,
  { base, kind, schema, attributes }: BlockDraft,
  text: string,
  { diags }: Declared,
  place: Remark,
): Diagnostic | undefined {
  if (typeof name !== "string") return undefined;
  const attribute = Object.hasOwn(schema.attributes, name) ? schema.attributes[name] : undefined;
  if (attribute === undefined) {
    const of = kind === undefined ? base : `A ${kind.noun}`;
    const known = diags.unknown(name, Object.keys(schema.attributes));
    return problem("config.reference/attribute", { ...known, of, ...place });
  }
  const own = kind?.attributes.shape;
  if (own !== undefined && !Object.hasOwn(own, name)) {
    return problem("config.unsupported/front", { text, ...place });
  }
  const type = own?.[name];
  return type && unreferable(metaOf(type), text, base, attributes.has("secret_output"), place);
}

function wrongRemoteState(steps: PlacedTraversal["steps"], declared: Declared, place: Remark): Diagnostic | undefined {
  const [, name, outputs] = steps;
  const address = `data.${REMOTE_STATE}.${String(name)}`;
  if (!declared.module.data.has(address)) return undeclared(address, { ...declared, drafts: new Map() }, place);
  if (!declared.remoteOutputs.has(String(name)))
    return problem("config.reference/remote_state", { state: address, ...place });
  if (outputs === undefined || outputs === "outputs") return undefined;
  return problem("config.unsupported/remote_state", { state: address, ...place });
}

function undeclared(name: string, { module, drafts, diags }: Declared, place: Remark): Diagnostic {
  const isData = name.startsWith("data.");
  const near = diags.nearest(name, [...drafts.keys(), ...(isData ? module.data.keys() : [])]);
  return problem("config.reference/undeclared", { name, noun: isData ? "data source" : "resource", near, ...place });
}

/**
 * Checks `depends_on`.
 * @returns the existing names without instance keys. As in Terraform, each means the complete resource.
 */
export function checkDependsOn(names: readonly SpannedName[], address: string, declared: Declared): SpannedName[] {
  return names.flatMap(({ name, span }) => {
    const data = name.startsWith("data.");
    const parsed = parseAddress(data ? name.slice(5) : name);
    const base = parsed && `${data ? "data." : ""}${parsed.type}.${parsed.name}`;
    if (base === undefined || parsed?.type === "module") {
      declared.diags.add(span, problem("config.reference/depends_on", { address }));
      return [];
    }
    if (declared.drafts.has(base)) return [{ name: base, span }];
    // This run never changes another state, so the dependency has no effect.
    if (declared.module.data.has(base)) return [];
    declared.diags.add(span, undeclared(base, declared, { address }));
    return [];
  });
}

/**
 * Returns the target of a name, without instance keys: `local.sites`, `hosting_service.acme`, `data.hosting_plans.all`.
 * Undefined for names without dependencies (variables, keys, paths, outputs of other stacks).
 */
export function nodeOf({ root, steps }: Traversal): string | undefined {
  const [first, second] = steps;
  if (root === "local") return typeof first === "string" ? `local.${first}` : undefined;
  if (root === "data") {
    return typeof first !== "string" || typeof second !== "string" || first === REMOTE_STATE
      ? undefined
      : `data.${first}.${second}`;
  }
  if (NO_RESOURCES.test(root) || typeof first !== "string") return undefined;
  return `${root}.${first}`;
}

/** Pattern of names that are not resource types. */
const NO_RESOURCES = /^(?:var|local|each|count|path|terraform|self|module|data|ephemeral)$/;
