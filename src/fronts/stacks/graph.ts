import type { Traversal } from "../../core/expression/index.ts";
import { walk } from "../../core/model/graph.ts";
import type { DiagnosticCollector } from "../source/diagnostics.ts";
import type { Span } from "../source/source.ts";
import { REMOTE_STATE } from "./module.ts";

/** What the values of a local, a resource or a data source hang on: names of others, each with the place that says so. */
export type Needs = ReadonlyMap<string, ReadonlyMap<string, Span>>;

/**
 * What a name of the surroundings leads to, without keys: `local.sites`, `hosting_service.acme`, `data.hosting_plans.all`.
 * Undefined for what hangs on nothing (variables, keys, paths, the outputs of other stacks).
 */
export function nodeOf({ root, steps }: Traversal): string | undefined {
  const [first, second] = steps;
  if (root === "local") return typeof first === "string" ? `local.${first}` : undefined;
  if (root === "data") {
    return typeof first !== "string" || typeof second !== "string" || first === REMOTE_STATE
      ? undefined
      : `data.${first}.${second}`;
  }
  if (SURROUNDINGS.has(root) || typeof first !== "string") return undefined;
  return `${root}.${first}`;
}

/** Names that are no resource types. */
const SURROUNDINGS: ReadonlySet<string> = new Set([
  "var",
  "local",
  "each",
  "count",
  "path",
  "terraform",
  "self",
  "module",
  "data",
  "ephemeral",
]);

/**
 * Reports circles and puts the nodes in an order in which each comes after what it hangs on; of a circle, in any. Like
 * Terraform it asks for resources as a whole: that one instance refers to another of its own is a circle.
 */
export function inOrder(needs: Needs, diags: DiagnosticCollector): string[] {
  const { order, circles } = walk(needs.keys(), (node) => needs.get(node)?.keys());
  for (const { nodes, skipped } of circles) {
    const [first = ""] = nodes;
    const last = nodes.at(-1) ?? first;
    const between = skipped > 0 ? [`(${skipped} more)`] : [];
    const names = [...nodes.slice(0, -1), ...between, ...(nodes.length > 1 ? [last] : []), first];
    const way = nodes.length === 1 ? `${first} refers to itself` : `References form a circle: ${names.join(" -> ")}`;
    diags.add(needs.get(last)?.get(first), "config.circle", way, {
      ...(!last.startsWith("local.") && { address: last }),
      fix: "Remove one of the references, or write a literal value in its place.",
    });
  }
  return order;
}
