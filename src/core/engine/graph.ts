import { type DesiredResource, resourceOf } from "../model/index.ts";

/**
 * Addresses that a declared resource refers to, in expressions or by `depends_on`, directly or by way of data sources; a
 * resource name means all its instances. @param addresses an {@link addressIndex}.
 */
export function dependenciesOf(
  resource: Pick<DesiredResource, "address" | "references" | "dependsOn">,
  addresses: ReadonlyMap<string, readonly string[]>,
): string[] {
  const referred = resource.references.flatMap(({ reference }) =>
    reference.to === "resource" ? [reference.address] : [],
  );
  const found = [...referred, ...resource.dependsOn].flatMap((name) => addresses.get(name) ?? []);
  return [...new Set(found)].filter((address) => address !== resource.address).sort();
}

/**
 * Index from every address, and from every resource name to the addresses of its instances.
 * @param through of data sources, the resources that each hangs on.
 */
export function addressIndex(
  addresses: Iterable<string>,
  through: ReadonlyMap<string, readonly string[]> = new Map(),
): Map<string, string[]> {
  const index = new Map<string, string[]>();
  for (const address of addresses) {
    for (const name of new Set([address, resourceOf(address)])) {
      const known = index.get(name);
      if (known === undefined) index.set(name, [address]);
      else known.push(address);
    }
  }
  const data = [...through].map(([name, names]) => [name, names.flatMap((one) => index.get(one) ?? [])] as const);
  for (const [name, own] of data) index.set(name, own);
  return index;
}

/**
 * Orders nodes so that each comes after those it depends on; otherwise the given order is kept. Edges to unknown nodes
 * are ignored. Nodes of a circle come last, in the given order (the declaration refuses circles before).
 */
export function inOrder<T>(nodes: ReadonlyMap<string, T>, dependencies: (node: T) => readonly string[]): T[] {
  const ordered: T[] = [];
  const mark = new Map<string, "open" | "done">();
  const visit = (address: string) => {
    const node = nodes.get(address);
    if (node === undefined || mark.has(address)) return;
    // Deep chains must not exhaust the stack: walk with an explicit one.
    const stack: { address: string; node: T; next: readonly string[] }[] = [
      { address, node, next: dependencies(node) },
    ];
    mark.set(address, "open");
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (top === undefined) break;
      const [dependency, ...rest] = top.next;
      if (dependency === undefined) {
        mark.set(top.address, "done");
        ordered.push(top.node);
        stack.pop();
        continue;
      }
      top.next = rest;
      const found = nodes.get(dependency);
      if (found !== undefined && !mark.has(dependency)) {
        mark.set(dependency, "open");
        stack.push({ address: dependency, node: found, next: dependencies(found) });
      }
    }
  };
  for (const address of nodes.keys()) visit(address);
  return ordered;
}
