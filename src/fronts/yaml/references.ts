import { hasReferences } from "../../core/expression/references.ts";
import { metaOf } from "../../core/kinds/attribute.ts";
import type { Kinds } from "../../core/kinds/kind.ts";
import { circles } from "../../core/model/graph.ts";
import { parseAddress, type Reference, resourceOf } from "../../core/model/index.ts";
import type { Named } from "../source/declaration.ts";
import { didYouMean, type Mistakes, type Remark } from "../source/mistakes.ts";
import type { Span } from "../source/source.ts";
import { type Environment, type PlacedReference, readTemplate } from "../source/templates.ts";
import { strings, type Tree } from "../source/tree.ts";
import type { Draft } from "./block.ts";

/** What the checks of references may look at. */
export interface Known {
  readonly drafts: ReadonlyMap<string, Draft>;
  readonly kinds: Kinds;
  readonly env: Environment;
  /** False when some of the declaration could not be read: what seems undeclared may stand there. */
  readonly complete: boolean;
}

/** For each resource the resources it needs, with the place that says so. */
type Needs = Map<string, Map<string, Span>>;

/**
 * Checks every template and every `depends_on`: whether it can be read, whether what it names exists, and whether
 * the references form circles.
 * @returns for each resource the addresses that its `depends_on` stands for.
 */
export function checkReferences(known: Known, mistakes: Mistakes): ReadonlyMap<string, readonly string[]> {
  const needs: Needs = new Map();
  const dependsOn = new Map<string, readonly string[]>();
  const instances = Map.groupBy(known.drafts.keys(), resourceOf);
  for (const [address, draft] of known.drafts) {
    const own = new Map<string, Span>();
    needs.set(address, own);
    for (const entry of draft.attributes.values()) {
      for (const { leaf, path } of strings(entry.value, [entry.key])) {
        const remark = { address, attribute: path };
        for (const { reference, span } of readTemplate(leaf, known.env, mistakes, remark) ?? []) {
          if (!own.has(reference.address)) own.set(reference.address, span);
          checkReference(reference, span, known, instances, mistakes, remark);
        }
      }
    }
    const named = draft.dependsOn.flatMap((name) =>
      resolveDependsOn(name, address, known, instances, mistakes).map((to) => ({ to, name })),
    );
    for (const { to, name } of named) if (!own.has(to)) own.set(to, name.span);
    dependsOn.set(address, [...new Set(named.map(({ to }) => to))]);
  }
  reportCircles(needs, mistakes);
  return dependsOn;
}

/**
 * Checks the references of a value that belongs to no resource.
 * @returns those to resources, also to undeclared ones; none of a template that cannot be read.
 */
export function checkValue(value: Tree, known: Known, mistakes: Mistakes): readonly PlacedReference[] {
  const instances = Map.groupBy(known.drafts.keys(), resourceOf);
  const found = [...strings(value)].flatMap(({ leaf }) => readTemplate(leaf, known.env, mistakes) ?? []);
  for (const { reference, span } of found) checkReference(reference, span, known, instances, mistakes, {});
  return found;
}

function checkReference(
  { address, path, text }: Reference & { to: "resource" },
  span: Span,
  known: Known,
  instances: ReadonlyMap<string, readonly string[]>,
  mistakes: Mistakes,
  remark: Remark,
): void {
  const target = known.drafts.get(address);
  if (target === undefined) {
    reportUndeclared(address, span, known, instances, mistakes, remark);
    return;
  }
  const { shape } = target.kind.attributes;
  const [attribute] = path;
  const type = typeof attribute === "string" && Object.hasOwn(shape, attribute) ? shape[attribute] : undefined;
  if (type === undefined) {
    const near = mistakes.nearest(String(attribute), Object.keys(shape));
    const summary = `A ${target.kind.noun} has no attribute "${String(attribute).slice(0, 100)}".${didYouMean(near)}`;
    mistakes.add(span, "config.reference", summary, { detail: `It has ${Object.keys(shape).join(", ")}.`, ...remark });
  } else if (metaOf(type).fingerprint !== undefined && target.attributes.has("secret_output")) {
    mistakes.add(span, "config.reference", `${text} is not kept: its secret_output takes it out of the state`, {
      detail: `Once it is written, hostform knows a fingerprint of it alone (${metaOf(type).fingerprint}).`,
      fix: `Remove the reference, or the secret_output of ${address}.`,
      ...remark,
    });
  } else if (metaOf(type).writeOnly) {
    mistakes.add(
      span,
      "config.reference",
      `${text} is write-only: it is sent, never kept, and cannot be referred to`,
      remark,
    );
  }
}

/** The addresses that an item of `depends_on` stands for: one resource, or all instances of it. */
function resolveDependsOn(
  { name, span }: Named,
  address: string,
  known: Known,
  instances: ReadonlyMap<string, readonly string[]>,
  mistakes: Mistakes,
): readonly string[] {
  if (hasReferences(name) || parseAddress(name) === undefined) {
    mistakes.add(span, "config.reference", "This is not the address of a resource", {
      address,
      fix: "Write an address such as hosting_service.acme, without `${}` and without an attribute.",
    });
    return [];
  }
  if (known.drafts.has(name)) return [name];
  const all = instances.get(name);
  if (all !== undefined) return all;
  reportUndeclared(name, span, known, instances, mistakes, { address });
  return [];
}

function reportUndeclared(
  address: string,
  span: Span,
  known: Known,
  instances: ReadonlyMap<string, readonly string[]>,
  mistakes: Mistakes,
  remark: Remark,
): void {
  if (!known.complete) return;
  const several = instances.get(address);
  const near = several?.[0] ?? mistakes.nearest(address, [...known.drafts.keys()]);
  const summary =
    several === undefined
      ? `No resource ${address.slice(0, 300)} is declared`
      : `${address} has several instances; one has to be named`;
  mistakes.add(span, "config.reference", `${summary}.${didYouMean(near)}`, remark);
}

function reportCircles(needs: Needs, mistakes: Mistakes): void {
  const graph = new Map([...needs].map(([address, own]) => [address, [...own.keys()]] as const));
  for (const { nodes, skipped } of circles(graph)) {
    const [first = ""] = nodes;
    const last = nodes.at(-1) ?? first;
    const between = skipped > 0 ? [`(${skipped} more)`] : [];
    const names = [...nodes.slice(0, -1), ...between, ...(nodes.length > 1 ? [last] : []), first];
    const way = nodes.length === 1 ? `${first} refers to itself` : `References form a circle: ${names.join(" -> ")}`;
    mistakes.add(needs.get(last)?.get(first), "config.circle", way, {
      address: last,
      fix: "Remove one of the references, or write a literal value in its place.",
    });
  }
}
