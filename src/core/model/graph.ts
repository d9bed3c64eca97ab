/**
 * The one walk through a graph of dependencies: resources by their references, names of a stack, stacks, data sources. It is not
 * recursive, since a chain may be as long as a declaration.
 */

/** A directed graph: for each node the nodes it depends on, in their order. */
type Graph = ReadonlyMap<string, Iterable<string>>;

/** A circle: its nodes in order (the last depends on the first). `skipped` counts nodes left out of a long one's middle. */
export interface Circle {
  readonly nodes: readonly string[];
  readonly skipped: number;
}

/** A longer circle is shortened. */
const SHOWN = 12;

/**
 * Walks from some nodes to all that they depend on.
 * @param next what a node depends on, in its order; undefined for a node that is not of the graph, which is left out.
 * @returns `order`: each node after those it depends on, otherwise as given; of a circle in any order. `circles`: one for each
 *   edge back to a node on the way to it; without these edges the graph has none.
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

/** The circles of a graph; edges to nodes that it does not have are ignored. */
export const circles = (graph: Graph): Circle[] => walk(graph.keys(), (node) => graph.get(node)).circles;

/** The nodes, each after those it depends on; otherwise the given order is kept. Edges to unknown nodes are ignored. */
export function dependencyOrder<T>(nodes: ReadonlyMap<string, T>, dependencies: (node: T) => Iterable<string>): T[] {
  const next = (name: string) => {
    const node = nodes.get(name);
    return node === undefined ? undefined : dependencies(node);
  };
  return walk(nodes.keys(), next).order.flatMap((name) => nodes.get(name) ?? []);
}
