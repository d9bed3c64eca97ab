import { isSecret, type Typed } from "../../core/expression/index.ts";
import { walk } from "../../core/model/graph.ts";
import { UNKNOWN } from "../../core/model/index.ts";
import { checkName, reportCircles } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { type Entry, valueSpan } from "../source/tree.ts";
import type { BlockDraft } from "./draft.ts";
import { type Compiled, evaluated, MISSING, plainValue, spanIn } from "./expressions.ts";
import { problem } from "./messages.ts";
import { compileNamed, type Declared, nodeOf } from "./references.ts";
import type { Expansion, Local, Root, StackContext } from "./stack-context.ts";

/** Resolves locals, and instances of `count` and `for_each`. */

/** Maximum number of instances. At 60 requests per minute, one request for each takes 5.6 hours. */
const MOST_INSTANCES = 20_000;

/** Compiled locals by name. Undefined after a reported error. */
type CompiledLocals = ReadonlyMap<string, Compiled | undefined>;

/** Compiles the locals and checks their names. */
export function compileLocals(declared: Declared): CompiledLocals {
  const { module, diags } = declared;
  return new Map(
    [...module.locals].map(([name, entry]) => {
      checkName(name, entry.keySpan, "local", diags);
      return [name, compileNamed(entry.value, declared)] as const;
    }),
  );
}

/**
 * Resolves locals and instances in the order of their dependencies. Reports cycles; their members stay unknown. As in
 * Terraform, dependencies exist between complete resources: an instance that refers to another instance of its resource is a
 * cycle.
 */
export function resolveNames(locals: CompiledLocals, context: StackContext): void {
  const needs = needsOf(locals, context);
  const { order, circles } = walk(needs.keys(), (node) => needs.get(node)?.keys());
  reportCircles(circles, needs, context.diags);
  for (const node of order) {
    const name = node.startsWith("local.") ? node.slice("local.".length) : undefined;
    if (name !== undefined) context.locals.set(name, readLocal(locals.get(name), context));
    const draft = name === undefined ? context.drafts.get(node) : undefined;
    if (draft !== undefined) context.expansions.set(node, expand(draft, context));
  }
  checkNumber(context);
}

function needsOf(locals: CompiledLocals, { drafts }: StackContext): Map<string, Map<string, Span>> {
  const needs = new Map<string, Map<string, Span>>();
  const collect = (node: string, values: readonly (Compiled | undefined)[]) => {
    const own = new Map<string, Span>();
    needs.set(node, own);
    for (const compiled of values) {
      for (const traversal of compiled?.traversals ?? []) {
        const to = nodeOf(traversal);
        if (compiled === undefined || to === undefined || own.has(to)) continue;
        own.set(to, spanIn(compiled.tree, traversal.path, traversal.offset, traversal.text.length));
      }
    }
    return own;
  };
  for (const [name, compiled] of locals) collect(`local.${name}`, [compiled]);
  for (const [base, { count, forEach, enabled, attributes, dependsOn }] of drafts) {
    const values = [count, forEach, enabled, ...attributes.values()].map((part) => part?.compiled);
    const own = collect(base, values);
    for (const { name, span } of dependsOn) if (!own.has(name)) own.set(name, span);
  }
  return needs;
}

/** Returns true if the name is unresolved because of a reported cycle. */
function isOpen(node: string | undefined, { locals, expansions, drafts, module }: StackContext): boolean {
  if (node === undefined) return false;
  if (node.startsWith("local.")) return module.locals.has(node.slice(6)) && !locals.has(node.slice(6));
  return drafts.has(node) && !expansions.has(node);
}

/** Maximum number of attributes that a local depends on. With more, the dependencies are complete resources. */
const MOST_ROOTS = 1000;

function readLocal(compiled: Compiled | undefined, context: StackContext): Local {
  const broken = { compiled: undefined, roots: [], ephemeral: false, value: MISSING };
  if (compiled === undefined || compiled.traversals.some((traversal) => isOpen(nodeOf(traversal), context)))
    return broken;
  const roots = distinct(context.rootsIn(compiled));
  const ephemeral = context.ephemeralIn(compiled) !== undefined;
  const value = evaluated(compiled, context.names(), context.diags);
  return value === undefined ? { ...broken, roots, ephemeral } : { compiled, roots, ephemeral, value };
}

function distinct(roots: readonly Root[]): Root[] {
  const found = new Map(roots.map((root) => [JSON.stringify([root.address, root.path]), root]));
  if (found.size <= MOST_ROOTS) return [...found.values()];
  return [...new Map(roots.map((root) => [root.address, { ...root, path: [] }])).values()];
}

/** Checks the number of instances in a stack. */
function checkNumber({ expansions, diags }: StackContext): void {
  let number = 0;
  for (const { draft, keys } of expansions.values()) {
    number += keys.size;
    if (number <= MOST_INSTANCES) continue;
    const entry = (draft.count ?? draft.forEach)?.entry;
    const span = entry === undefined ? draft.block.keySpan : valueSpan(entry);
    diags.add(span, problem("config.too_large/stack", { most: MOST_INSTANCES }));
    return;
  }
}

/** The `count` or `for_each` of a block during evaluation. */
interface Repeated {
  readonly entry: Entry;
  readonly draft: BlockDraft;
  /** Dependencies of the value. */
  readonly roots: readonly Root[];
  readonly context: StackContext;
}

/**
 * Returns the instances of a resource or data source. `count`, `for_each` and `enabled` must be known before the account is read,
 * because the number of orders must not depend on earlier orders.
 */
function expand(draft: BlockDraft, context: StackContext): Expansion {
  const { count, forEach, enabled, base } = draft;
  const { diags } = context;
  const repetition = count ?? forEach ?? enabled;
  if (repetition === undefined) return { draft, form: "single", keys: new Set([undefined]), roots: [], unclear: false };
  const { compiled, entry } = repetition;
  const form = enabled === repetition ? "single" : count === undefined ? "each" : "count";
  const roots = compiled === undefined ? [] : context.rootsIn(compiled);
  const unclear: Expansion = { draft, form, keys: new Set(), roots, unclear: true };
  if (compiled === undefined || compiled.traversals.some((traversal) => isOpen(nodeOf(traversal), context)))
    return unclear;
  const repeated = { entry, draft, roots, context };
  const ephemeral = context.ephemeralIn(compiled);
  if (ephemeral !== undefined) {
    refuse(repeated, "ephemeral_repetition", ephemeral.text);
    return unclear;
  }
  const typed = evaluated(compiled, context.names(), diags, { address: base, attribute: [entry.key] });
  // The value is unknown because of another error, which was reported.
  if (typed === undefined || (diags.any && typed.content === UNKNOWN && isBroken(compiled, roots, context)))
    return unclear;
  if (form === "count") {
    const keys = countOf(typed, repeated);
    return keys === undefined ? unclear : { draft, form, keys: new Set(keys), roots, unclear: false };
  }
  if (form === "single") {
    const isOn = typed.content === UNKNOWN ? refuseUnknown(repeated) : plainValue(typed, "bool");
    if (typeof isOn === "boolean")
      return { draft, form, keys: new Set(isOn ? [undefined] : []), roots, unclear: false };
    if (isOn !== undefined) refuse(repeated, "enabled");
    return unclear;
  }
  const elements = elementsOf(typed, repeated);
  if (elements === undefined) return unclear;
  const over = overOf(compiled, context);
  const keys = new Set(elements.keys());
  return { draft, form, keys, elements, ...(over !== undefined && { over }), roots, unclear: false };
}

/**
 * Returns true if the value depends on an invalid local, or on a resource with unknown instances. Their errors were reported.
 */
function isBroken({ traversals }: Compiled, roots: readonly Root[], { locals, expansions }: StackContext): boolean {
  const broken = traversals.some(({ root, steps: [name] }) => root === "local" && !locals.get(String(name))?.compiled);
  return broken || roots.some(({ address }) => expansions.get(address)?.unclear === true);
}

type Mistake =
  | "ephemeral_repetition"
  | "count"
  | "enabled"
  | "for_each"
  | "for_each_secret"
  | "unknown"
  | "unknown_output";

function refuse({ entry, draft, context }: Repeated, mistake: Mistake, text = ""): undefined {
  const given = { key: entry.key, text, address: draft.base, attribute: [entry.key] };
  context.diags.add(valueSpan(entry), problem(`config.expression/${mistake}`, given));
}

/** Reports that `count` or `for_each` is unknown, unless another error is the cause. */
function refuseUnknown(repeated: Repeated): undefined {
  const [root] = repeated.roots;
  if (root !== undefined) return refuse(repeated, "unknown", root.text);
  return repeated.context.diags.any ? undefined : refuse(repeated, "unknown_output");
}

function countOf(typed: Typed, repeated: Repeated): number[] | undefined {
  if (typed.content === UNKNOWN) return refuseUnknown(repeated);
  const value = plainValue(typed);
  const count = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0) {
    return refuse(repeated, "count");
  }
  if (count > MOST_INSTANCES) return refuseNumber(repeated);
  return Array.from({ length: count }, (_, index) => index);
}

function refuseNumber({ entry, draft: { base }, context }: Repeated): undefined {
  context.diags.add(valueSpan(entry), problem("config.too_large/instances", { address: base, most: MOST_INSTANCES }));
}

function elementsOf(typed: Typed, repeated: Repeated): ReadonlyMap<string, Typed> | undefined {
  const { type, content } = typed;
  if (content === UNKNOWN) return refuseUnknown(repeated);
  const isSet = typeof type === "object" && "set" in type;
  if (typed.secret || (isSet && isSecret(typed))) return refuse(repeated, "for_each_secret");
  const items = isSet && Array.isArray(content) ? (content as readonly Typed[]) : undefined;
  if (items?.some((item) => item.content === UNKNOWN)) return refuseUnknown(repeated);
  const elements = items?.every((item) => typeof item.content === "string")
    ? new Map(items.map((item) => [String(item.content), item]))
    : content;
  if (!(elements instanceof Map)) {
    return refuse(repeated, "for_each");
  }
  return elements.size > MOST_INSTANCES ? refuseNumber(repeated) : elements;
}

/**
 * Returns the resource that `for_each` iterates over, if its value is only this resource. Each instance then depends only on
 * the instance with the same key.
 */
function overOf({ json, traversals }: Compiled, { drafts }: StackContext): string | undefined {
  const [only, ...others] = traversals;
  if (only === undefined || others.length > 0 || typeof json !== "string") return undefined;
  if (/^\$\{\s*([^\s]+)\s*\}$/.exec(json)?.[1] !== only.text) return undefined;
  const node = nodeOf(only);
  const whole = only.steps.length === (only.root === "data" ? 2 : 1);
  return node !== undefined && whole && drafts.get(node)?.forEach !== undefined ? node : undefined;
}
