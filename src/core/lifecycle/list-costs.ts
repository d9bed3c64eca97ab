import type { Kind, Remote } from "../kinds/kind.ts";

type Listing = Promise<ReadonlyMap<string, Remote>>;

export interface Shown {
  /** An answer that is no list is shown as an empty list, and the client warns of it. */
  readonly isShown?: boolean;
}

/** A collection without a parent as a run has read it last. */
export interface Rows {
  readonly objects: ReadonlyMap<string, Remote>;
  /** Nothing is missing in it. */
  readonly isWhole: boolean;
}

export interface Recheck {
  readonly earlier: Listing | undefined;
  readonly again: Listing;
  readonly both: Listing;
}

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
