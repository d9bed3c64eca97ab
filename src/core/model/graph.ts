/**
 * Traversal of dependency graphs: resources, names of a stack, stacks, data sources. Without recursion, because a declaration
 * may contain very long chains.
 */

/** A directed graph: each node with its ordered dependencies. */
type Graph = ReadonlyMap<string, Iterable<string>>;

/** A cycle: its nodes in order. The last node depends on the first. `skipped`: number of nodes omitted in the middle. */
export interface Circle {
  readonly nodes: readonly string[];
  readonly skipped: number;
}

/** Maximum number of nodes of a cycle to print. */
const SHOWN = 12;

/**
 * Visits nodes and all their dependencies.
 * @param next Returns the ordered dependencies of a node. Undefined if the graph lacks the node; it is then skipped.
 * @returns `order`: each node after its dependencies, otherwise in the given order. The order within a cycle is arbitrary.
 * `circles`: one cycle for each edge that leads back to the current path.
 */
export function walk(
  starts: Iterable<string>,
  next: (node: string) => Iterable<string> | undefined,
): { readonly order: string[]; readonly circles: Circle[] } {
  const order: string[] = [];
  const circles: Circle[] = [];
  const done = new Set<string>();
  const way: { readonly node: string; readonly needs: Iterator<string> }[] = [];
  const depth = new Map<string, number>();
  const enter = (node: string) => {
    const needs = done.has(node) ? undefined : next(node);
    if (needs === undefined) return;
    depth.set(node, way.length);
    way.push({ node, needs: needs[Symbol.iterator]() });
  };
  for (const start of starts) {
    enter(start);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const step = top.needs.next();
      const from = step.done ? undefined : depth.get(step.value);
      if (from !== undefined) circles.push(circle(way, from));
      else if (!step.done) enter(step.value);
      else {
        way.pop();
        depth.delete(top.node);
        done.add(top.node);
        order.push(top.node);
      }
    }
  }
  return { order, circles };
}

function circle(way: readonly { readonly node: string }[], from: number): Circle {
  const length = way.length - from;
  const shown = length <= SHOWN ? way.slice(from) : [...way.slice(from, from + SHOWN - 1), ...way.slice(-1)];
  return { nodes: shown.map(({ node }) => node), skipped: length - shown.length };
}

/** Returns the cycles of a graph. Edges to missing nodes are ignored. */
export const circles = (graph: Graph): Circle[] => walk(graph.keys(), (node) => graph.get(node)).circles;

/** Returns the nodes, each after its dependencies, otherwise in the given order. Edges to missing nodes are ignored. */
export function dependencyOrder<T>(nodes: ReadonlyMap<string, T>, dependencies: (node: T) => Iterable<string>): T[] {
  const next = (name: string) => {
    const node = nodes.get(name);
    return node === undefined ? undefined : dependencies(node);
  };
  return walk(nodes.keys(), next).order.flatMap((name) => nodes.get(name) ?? []);
}
