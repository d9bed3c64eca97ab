import type { Kind, Remote } from "../kinds/kind.ts";

type Listing = Promise<ReadonlyMap<string, Remote>>;

export interface Shown {
  /** True if a response that is not a list counts as an empty list. The client then also warns. */
  readonly isShown?: boolean;
}

/** The newest reading of a list without a parent. */
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
  /** Number of pages of each list, by {@link listName}. */
  readonly lists: ReadonlyMap<string, number>;
  /** Names of complete lists. A create request does not read these again. */
  readonly whole: ReadonlySet<string>;
  /** Names of complete lists that are at most 15 seconds old. An order does not read these again. */
  readonly fresh: ReadonlySet<string>;
  readonly plans: number;
  readonly arePlansFresh: boolean;
}

/**
 * Returns the number of requests that read `count` objects again: one GET each, or all pages of the list, if that is less.
 */
export const readAgainCost = (kind: Kind, count: number, pages = 1): number =>
  kind.get === undefined ? pages : Math.min(count, pages);

/** Returns the name of a list within an account. */
export const listName = ({ type }: Pick<Kind, "type">, parent: string | undefined) => `${type} ${parent}`;
