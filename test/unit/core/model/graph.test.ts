import { describe, expect, it } from "vitest";
import { circles, dependencyOrder } from "../../../../src/core/model/graph.ts";
import fc from "../../../support/fc.ts";

describe("order", () => {
  const graph = fc.array(fc.array(fc.nat({ max: 11 }), { maxLength: 3 }), { maxLength: 12 });

  it("puts each node after its dependencies, and otherwise keeps the given order", () => {
    fc.assert(
      fc.property(graph, (edges) => {
        // Edges lead only to lower numbers, so there is no cycle. The nodes are reversed, so the function must sort them.
        const nodes = new Map(
          edges.map((to, at) => [String(at), { at, to: to.filter((other) => other < at) }] as const).reverse(),
        );
        const ordered = dependencyOrder(nodes, ({ to }) => to.map(String)).map(({ at }) => at);
        expect(ordered.toSorted((a, b) => a - b)).toEqual(
          [...nodes.values()].map(({ at }) => at).toSorted((a, b) => a - b),
        );
        for (const { at, to } of nodes.values()) {
          for (const other of to) expect(ordered.indexOf(other)).toBeLessThan(ordered.indexOf(at));
        }
      }),
    );
    const free = new Map(["c", "a", "b"].map((name) => [name, name]));
    expect(dependencyOrder(free, () => [])).toEqual(["c", "a", "b"]);
  });

  it("ends for a cycle, and for the longest chain of a project", () => {
    const circle = new Map([
      ["a", ["b"]],
      ["b", ["a"]],
    ]);
    expect(dependencyOrder(circle, (to) => to)).toHaveLength(2);
    const chain = new Map(Array.from({ length: 20_000 }, (_, at) => [String(at), at] as const));
    expect(dependencyOrder(chain, (at) => [String(at + 1)])[0]).toBe(19_999);
  });
});

describe("cycles", () => {
  const graphs = fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 20 }).map((edges) => {
    const graph = new Map<string, string[]>(Array.from({ length: 8 }, (_, i) => [`${i}`, []]));
    for (const [from, to] of edges) graph.get(`${from}`)?.push(`${to}`);
    return graph;
  });

  it("are all reported: without the edges that close them, the graph can be sorted", () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const closing = new Set(circles(graph).map(({ nodes }) => `${nodes.at(-1)} ${nodes[0]}`));
        const left = new Map<string, string[]>(
          [...graph].map(([from, to]) => [from, to.filter((node) => !closing.has(`${from} ${node}`))] as const),
        );
        while (left.size > 0) {
          const free = [...left].find(([, to]) => to.every((node) => !left.has(node)));
          expect(free).toBeDefined();
          left.delete(free?.[0] ?? "");
        }
      }),
    );
  });

  it("of any length are found without recursion, and their names are cut in the middle", () => {
    const length = 20_000;
    const graph = new Map(Array.from({ length }, (_, i) => [`${i}`, [`${(i + 1) % length}`]] as const));
    const [circle] = circles(graph);
    expect(circle?.nodes).toHaveLength(12);
    expect(circle?.nodes.at(-1)).toBe("19999");
    expect(circle?.skipped).toBe(length - 12);
  });
});
