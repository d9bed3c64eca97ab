/** A directed graph: for each node the nodes it depends on, in their order. */
export type Graph = ReadonlyMap<string, Iterable<string>>;

/** A circle: its nodes in order (the last depends on the first). `skipped` counts nodes left out of a long one's middle. */
export interface Circle {
  readonly nodes: readonly string[];
  readonly skipped: number;
}

/** More nodes of one circle than anybody reads. */
const SHOWN = 12;

/**
 * Finds circles so that each is told once and that a graph without those told has none: one for each edge that leads
 * back to a node on the way to it. Walks with a stack of its own, since a chain may be as long as a declaration.
 */
export function circles(graph: Graph): Circle[] {
  const found: Circle[] = [];
  const done = new Set<string>();
  const way: { readonly node: string; readonly next: Iterator<string> }[] = [];
  const place = new Map<string, number>();
  const enter = (node: string) => {
    place.set(node, way.length);
    way.push({ node, next: (graph.get(node) ?? [])[Symbol.iterator]() });
  };
  for (const start of graph.keys()) {
    if (done.has(start)) continue;
    enter(start);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const step = top.next.next();
      if (step.done) {
        way.pop();
        place.delete(top.node);
        done.add(top.node);
      } else if (place.has(step.value)) {
        found.push(circle(way, place.get(step.value) ?? 0));
      } else if (!done.has(step.value) && graph.has(step.value)) enter(step.value);
    }
  }
  return found;
}

function circle(way: readonly { readonly node: string }[], from: number): Circle {
  const length = way.length - from;
  if (length <= SHOWN) return { nodes: way.slice(from).map(({ node }) => node), skipped: 0 };
  const ends = [...way.slice(from, from + SHOWN - 1), ...way.slice(-1)];
  return { nodes: ends.map(({ node }) => node), skipped: length - SHOWN };
}
