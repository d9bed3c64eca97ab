import type { Kind, Remote } from "../kinds/kind.ts";

type Listing = Promise<ReadonlyMap<string, Remote>>;

export interface Shown {
  /** True if a response that is not a list counts as an empty list. The client then warns. */
  readonly isShown?: boolean;
}

/** The newest reading of a collection without a parent. */
export interface Rows {
  readonly objects: ReadonlyMap<string, Remote>;
  /** True if the reading is complete. */
  readonly isWhole: boolean;
}

export interface Recheck {
  readonly earlier: Listing | undefined;
  readonly again: Listing;
  readonly both: Listing;
}

/** Requests needed to read an account again. */
export interface ListCosts {
  /** Pages of each listed collection, by {@link listName}. */
  readonly lists: ReadonlyMap<string, number>;
  /** Names of the complete lists. A create request does not read these lists again. */
  readonly whole: ReadonlySet<string>;
  /** Names of the complete lists younger than 15 seconds. An order does not read these lists again. */
  readonly fresh: ReadonlySet<string>;
  readonly plans: number;
  readonly arePlansFresh: boolean;
}

/** Returns the number of requests needed to read `count` objects again: one GET each, or all pages of the collection. */
export const readAgainCost = (kind: Kind, count: number, pages = 1): number =>
  kind.get === undefined ? pages : Math.min(count, pages);

/** Returns the name of a collection of an account. */
export const listName = ({ type }: Pick<Kind, "type">, parent: string | undefined) => `${type} ${parent}`;
