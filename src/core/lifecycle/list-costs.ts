import type { Kind } from "../kinds/kind.ts";

/** Requests that reading an account again takes. */
export interface ListCosts {
  /** Pages of each listed collection, by {@link listName}. */
  readonly lists: ReadonlyMap<string, number>;
  /** The whole ones: a create needs no second reading of them. */
  readonly whole: ReadonlySet<string>;
  /** The whole ones that were read a moment ago: an order needs no second reading of them. */
  readonly fresh: ReadonlySet<string>;
  readonly plans: number;
  readonly arePlansFresh: boolean;
}

/** Returns the requests that reading so many objects again takes: each by GET, or the pages of the collection. */
export const readAgainCost = (kind: Kind, count: number, pages = 1): number =>
  kind.get === undefined ? pages : Math.min(count, pages);

/** Names a collection of an account. */
export const listName = ({ type }: Pick<Kind, "type">, parent: string | undefined) => `${type} ${parent}`;
