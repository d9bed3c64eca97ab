import { type Kind, type Kinds, namedByDomain } from "../kinds/kind.ts";
import type { Desired } from "../model/index.ts";

const cache = new WeakMap<Kinds, Kinds>();

/** The kinds as a declaration means them: what an order without a `reference` is called differs between the fronts. */
export function kindsOf({ ordersNamedBy = "address" }: Pick<Desired, "ordersNamedBy">, kinds: Kinds): Kinds {
  if (ordersNamedBy === "address") return kinds;
  const known = cache.get(kinds);
  if (known !== undefined) return known;
  const named: Kinds = new Map([...kinds].map(([type, kind]): [string, Kind] => [type, namedByDomain(kind)]));
  cache.set(kinds, named);
  return named;
}

/** The kind of an address. */
export function kindOf(address: string, kinds: Kinds): Kind | undefined {
  return kinds.get(address.slice(0, address.indexOf(".")));
}
