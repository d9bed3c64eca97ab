import { hasReferences } from "../../core/expression/references.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import { walk } from "../../core/model/graph.ts";
import { parseAddress, type Reference } from "../../core/model/index.ts";
import { type Remark, reportCircles } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { type ReadContext, type TemplateReference, templateReferences, unreferable } from "../source/templates.ts";
import { type SpannedName, strings, type Tree } from "../source/tree.ts";
import { problem } from "./messages.ts";
import type { ResourceDraft } from "./resource.ts";

/** Checks references between resources: their targets exist, and the references form no cycle. */

export interface ReferenceContext extends ReadContext {
  readonly drafts: ReadonlyMap<string, ResourceDraft>;
  /** Addresses of the instances, by address without instance key. */
  readonly instances: ReadonlyMap<string, readonly string[]>;
  /** False if a part of the declaration could not be read. It may declare resources that seem undeclared. */
  readonly complete: boolean;
}

/**
 * Checks all references and `depends_on`: their syntax and targets, and that there is no cycle.
 * @returns the addresses in `depends_on` of each resource.
 */
export function checkReferences(context: ReferenceContext): ReadonlyMap<string, readonly string[]> {
  const { drafts, diags } = context;
  /** Only resources with references. Most have none. */
  const needs = new Map<string, Map<string, Span>>();
  const dependsOn = new Map<string, readonly string[]>();
  for (const [address, draft] of drafts) {
    const own = new Map<string, Span>();
    for (const entry of draft.attributes.values()) {
      if (isWithout(entry.value)) continue;
      for (const { leaf, path } of strings(entry.value, [entry.key])) {
        const remark = { address, attribute: path };
        for (const { reference, span } of templateReferences(leaf, context, remark) ?? []) {
          if (!own.has(reference.address)) own.set(reference.address, span);
          checkReference(reference, span, context, remark);
        }
      }
    }
    if (draft.dependsOn.length === 0) {
      if (own.size > 0) needs.set(address, own);
      continue;
    }
    const named = draft.dependsOn.flatMap((name) =>
      resolveDependsOn(name, address, context).map((to) => ({ to, span: name.span })),
    );
    for (const { to, span } of named) if (!own.has(to)) own.set(to, span);
    needs.set(address, own);
    dependsOn.set(address, [...new Set(named.map(({ to }) => to))]);
  }
  const { circles } = walk(needs.keys(), (node) => needs.get(node)?.keys());
  reportCircles(circles, needs, diags);
  return dependsOn;
}

/** Returns true for a scalar without a reference. */
const isWithout = (tree: Tree) =>
  tree.form === "leaf" && !(typeof tree.value === "string" && hasReferences(tree.value));

/**
 * Checks the references in a value outside of resources.
 * @returns the references to resources, even undeclared ones. Empty if the value cannot be parsed.
 */
export function checkValue(value: Tree, context: ReferenceContext): readonly TemplateReference[] {
  const found = [...strings(value)].flatMap(({ leaf }) => templateReferences(leaf, context) ?? []);
  for (const { reference, span } of found) checkReference(reference, span, context, {});
  return found;
}

function checkReference(
  { address, path: [name], text }: Reference & { to: "resource" },
  span: Span,
  context: ReferenceContext,
  remark: Remark,
): void {
  const target = context.drafts.get(address);
  if (target === undefined) {
    reportUndeclared(address, span, context, remark);
    return;
  }
  const { kind, attributes } = target;
  const { shape } = kind.attributes;
  const type = typeof name === "string" && Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (type === undefined) {
    const known = Object.keys(shape);
    context.diags.add(
      span,
      problem("config.reference/attribute", {
        ...context.diags.unknown(String(name), known),
        noun: kind.noun,
        ...remark,
      }),
    );
    return;
  }
  const wrong = unreferable(metaOf(type), text, address, attributes.has("secret_output"), remark);
  if (wrong !== undefined) context.diags.add(span, wrong);
}

/** Returns the addresses that an item of `depends_on` means: one resource, or all its instances. */
function resolveDependsOn({ name, span }: SpannedName, address: string, context: ReferenceContext): readonly string[] {
  if (hasReferences(name) || parseAddress(name) === undefined) {
    context.diags.add(span, problem("config.reference/depends_on", { address }));
    return [];
  }
  if (context.drafts.has(name)) return [name];
  const all = context.instances.get(name);
  if (all === undefined) reportUndeclared(name, span, context, { address });
  return all ?? [];
}

/**
 * Reports an undeclared address, and suggests the most similar one.
 * @param isTarget True for the target of `moved` or `import`.
 */
export function reportUndeclared(
  target: string,
  span: Span,
  context: ReferenceContext,
  remark: Remark,
  isTarget = false,
): void {
  const { complete, diags, drafts, instances } = context;
  if (!complete) return;
  const [instance] = instances.get(target) ?? [];
  const near = instance ?? diags.nearest(target, [...drafts.keys()]);
  const name = instance === undefined ? "config.reference/undeclared" : "config.reference/instances";
  diags.add(span, problem(name, { target, near, isTarget, ...remark }));
}
