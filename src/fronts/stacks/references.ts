import type { PlacedTraversal, Traversal } from "../../core/expression/index.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import { parseAddress } from "../../core/model/index.ts";
import { type DiagnosticCollector, type Remark, suggestionOf } from "../source/diagnostics.ts";
import { unreferable } from "../source/templates.ts";
import type { SpannedName } from "../source/tree.ts";
import type { BlockDraft } from "./draft.ts";
import { type Compiled, spanIn } from "./expressions.ts";
import type { Module } from "./module.ts";
import { REMOTE_STATE, type RemoteOutputs } from "./remote-states.ts";

/** Checks and resolves the names in expressions and in `depends_on`. */

/** The declarations of a stack, as the checks of names need them. */
export interface Declared {
  readonly module: Module;
  /** Resources and data sources, by their address without a key. */
  readonly drafts: ReadonlyMap<string, BlockDraft>;
  /** The known outputs of remote states. */
  readonly remoteOutputs: RemoteOutputs;
  readonly diags: DiagnosticCollector;
}

/** `count` and `each` are available to an expression. */
export interface RepetitionNames {
  readonly count?: boolean;
  readonly each?: boolean;
}

/** Returns true if every name in a value exists. Others are reported at their places. */
export function checkNames(
  compiled: Compiled,
  declared: Declared,
  names: RepetitionNames,
  remark: Remark = {},
): boolean {
  let right = true;
  for (const traversal of compiled.traversals) {
    const wrong = wrongIn(traversal, declared, names);
    if (wrong === undefined) continue;
    right = false;
    const span = spanIn(compiled.tree, traversal.path, traversal.offset, traversal.text.length);
    const { summary, unsupported, ...more } = wrong;
    const expression =
      more.detail === undefined ? { detail: `The expression refers to ${traversal.text.slice(0, 200)}.` } : {};
    declared.diags.add(span, unsupported ? "config.unsupported" : "config.reference", summary, {
      ...remark,
      ...more,
      ...expression,
    });
  }
  return right;
}

interface Wrong extends Remark {
  readonly summary: string;
  /** Terraform supports it, hostform does not. */
  readonly unsupported?: true;
}

const WITH_TERRAFORM = "Write the value itself, or apply the stack with Terraform.";

function wrongIn(traversal: PlacedTraversal, declared: Declared, names: RepetitionNames): Wrong | undefined {
  const { root, steps, text } = traversal;
  const [first] = steps;
  switch (root) {
    case "var":
      return wrongName("variable", first, declared.module.variables, declared.diags);
    case "local":
      return wrongName("local", first, declared.module.locals, declared.diags);
    case "each":
      if (names.each !== true) return { summary: `${text} is only valid with \`for_each\`` };
      return first === "key" || first === "value" ? undefined : { summary: "`each` has only `key` and `value`" };
    case "count":
      if (names.count !== true) return { summary: `${text} is only valid with \`count\`` };
      return first === "index" ? undefined : { summary: "`count` has only `index`" };
    case "path":
      if (first === "module" || first === "root") return undefined;
      return unsupported(`${text} depends on the working directory and is not supported`);
    case "terraform":
      return first === "workspace" ? undefined : unsupported(`${text} is not supported`);
    case "module":
    case "self":
    case "ephemeral":
      return unsupported(`\`${root}\` is not supported in a stack`);
    default:
      return wrongResource(traversal, declared);
  }
}

const unsupported = (summary: string): Wrong => ({ summary, fix: WITH_TERRAFORM, unsupported: true });

function wrongName(
  noun: string,
  name: string | number | undefined,
  known: ReadonlyMap<string, unknown>,
  diags: DiagnosticCollector,
): Wrong | undefined {
  if (typeof name !== "string") return { summary: `The name of a ${noun} is missing` };
  if (known.has(name)) return undefined;
  const near = diags.nearest(name, [...known.keys()]);
  return { summary: `No ${noun} "${name.slice(0, 100)}" is declared.${suggestionOf(near)}` };
}

function wrongResource(traversal: PlacedTraversal, declared: Declared): Wrong | undefined {
  const { root, steps, text } = traversal;
  const data = root === "data";
  if (data && steps[0] === REMOTE_STATE) return wrongRemoteState(steps, declared);
  const node = nodeOf(traversal);
  const draft = node === undefined ? undefined : declared.drafts.get(node);
  if (node === undefined || draft === undefined) return undeclared(node ?? text, declared);
  const rest = steps.slice(data ? 2 : 1);
  const repeated = draft.count !== undefined ? "count" : draft.forEach !== undefined ? "for_each" : undefined;
  if (repeated === undefined) {
    if (typeof rest[0] !== "number") return wrongAttribute(rest[0], draft, text, declared);
    return { summary: `${node} has no \`count\` or \`for_each\`, and so no instance [${rest[0]}]` };
  }
  if (rest[0] !== undefined && repeated === "count" && typeof rest[0] !== "number") {
    return { summary: `${node} has \`count\`; name one of its instances, such as ${node}[0]` };
  }
  return wrongAttribute(rest[1], draft, text, declared);
}

function wrongAttribute(
  name: string | number | undefined,
  { base, kind, schema, attributes }: BlockDraft,
  text: string,
  { diags }: Declared,
): Wrong | undefined {
  if (typeof name !== "string") return undefined;
  const attribute = Object.hasOwn(schema.attributes, name) ? schema.attributes[name] : undefined;
  if (attribute === undefined) {
    const known = Object.keys(schema.attributes);
    return {
      summary: `${kind === undefined ? base : `A ${kind.noun}`} has no attribute "${name.slice(0, 100)}".${suggestionOf(diags.nearest(name, known))}`,
      detail: `It has ${known.join(", ")}.`,
    };
  }
  const own = kind?.attributes.shape;
  if (own !== undefined && !Object.hasOwn(own, name)) {
    return { summary: `${text} configures Terraform's provider, and is not available here`, unsupported: true };
  }
  const type = own?.[name];
  return type && unreferable(metaOf(type), text, base, attributes.has("secret_output"));
}

function wrongRemoteState(steps: PlacedTraversal["steps"], declared: Declared): Wrong | undefined {
  const [, name, outputs] = steps;
  const address = `data.${REMOTE_STATE}.${String(name)}`;
  if (!declared.module.data.has(address)) return undeclared(address, { ...declared, drafts: new Map() });
  if (!declared.remoteOutputs.has(String(name))) {
    return {
      summary: `The outputs of ${address} are not known`,
      detail: "hostform reads the outputs of other stacks from their states.",
      fix: "Apply that stack first, in the same project.",
    };
  }
  if (outputs === undefined || outputs === "outputs") return undefined;
  return unsupported(`${address} supports only \`outputs\``);
}

function undeclared(name: string, { module, drafts, diags }: Declared): Wrong {
  const near = diags.nearest(name, [...drafts.keys(), ...(name.startsWith("data.") ? module.data.keys() : [])]);
  const noun = name.startsWith("data.") ? "data source" : "resource";
  return { summary: `No ${noun} ${name.slice(0, 300)} is declared.${suggestionOf(near)}` };
}

/**
 * Checks the names in `depends_on`. @returns the existing ones, without the keys of instances: as in Terraform, each means the
 * whole resource.
 */
export function checkDependsOn(names: readonly SpannedName[], address: string, declared: Declared): SpannedName[] {
  return names.flatMap(({ name, span }) => {
    const data = name.startsWith("data.");
    const parsed = parseAddress(data ? name.slice(5) : name);
    const base = parsed && `${data ? "data." : ""}${parsed.type}.${parsed.name}`;
    if (base === undefined || parsed?.type === "module") {
      declared.diags.add(span, "config.reference", "This is not the address of a resource", {
        address,
        fix: "Write an address such as hosting_service.acme, without `${}` and without an attribute.",
      });
      return [];
    }
    if (declared.drafts.has(base)) return [{ name: base, span }];
    // This run does not change another state.
    if (declared.module.data.has(base)) return [];
    declared.diags.add(span, "config.reference", undeclared(base, declared).summary, { address });
    return [];
  });
}

/**
 * What a name refers to, without keys: `local.sites`, `hosting_service.acme`, `data.hosting_plans.all`. Undefined for names
 * without dependencies (variables, keys, paths, outputs of other stacks).
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

/** Roots of names that are no resource types. */
const NO_RESOURCES = /^(?:var|local|each|count|path|terraform|self|module|data|ephemeral)$/;
