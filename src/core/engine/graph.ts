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
