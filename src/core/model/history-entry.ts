// Entries of a state's history, and the orders of a month.
import type { Invoice } from "./payment.ts";

/** An order of a run. Amounts are in the API's own unit. */
export interface HistoryOrder {
  /** Name of the order, the same for all attempts: a digest of state, address and generation. */
  readonly key: string;
  /** Id of the service or domain. Invoices contain it as order id (§2). Null while the result is unknown. */
  readonly id: string | null;
  readonly provider: string;
  readonly type: string;
  readonly currency: string;
  /** Maximum amount of the invoice by the listed price. Null if unknown. */
  readonly quote: number | null;
  readonly invoice: Pick<Invoice, "id" | "number" | "total" | "currency"> | null;
}

/** One effect of a run. `order`: the key of its order. */
interface HistoryEffect extends Readonly<Record<"address" | "text", string>> {
  readonly domain?: string | undefined;
  readonly order?: string | undefined;
}

/** The part of an entry that `history prune` removes, because it may contain names and addresses of people. */
export interface HistoryDetails {
  /** Random text that makes it impossible to guess removed details from their digest. */
  readonly salt: string;
  readonly who: string | null;
  /** URL of the CI run. */
  readonly run: string | null;
  readonly effects: readonly HistoryEffect[];
}

/** One apply, resolve or correction. */
export interface HistoryEntry {
  /** End of the run (ISO 8601). */
  readonly at: string;
  readonly command: string;
  readonly commit: string | null;
  /** Digest of the plan. Null without a plan. */
  readonly plan: string | null;
  readonly orders: readonly HistoryOrder[];
  readonly requests: number;
  /** Codes of errors. */
  readonly errors: readonly string[];
  /** Null after `history prune`. */
  readonly details: HistoryDetails | null;
}

/** Content of a history. */
export interface HistoryReading {
  readonly name: string;
  /** Entries, oldest first. */
  readonly entries: readonly HistoryEntry[];
  /** Number of the first line with a wrong digest. Undefined if all digests are correct. */
  readonly broken?: number;
}

/** An order that counts toward a limit of the month or the day. */
export interface PastOrder {
  /** {@link HistoryOrder.key}, or the object's id. */
  readonly key: string;
  /** Identity by {@link idOf}. Null while the result of the order is unknown. */
  readonly id: string | null;
  /** Time in milliseconds since the epoch. */
  readonly at: number;
  readonly currency: string | null;
  /** Amount in the API's own unit. Null if unknown. */
  readonly amount: number | null;
}

/** Returns the identity of an ordered object, the same in all sources. */
export const idOf = (provider: string, type: string, id: string) => `${provider} ${type} ${id}`;

/** Returns the orders in history entries. The amount is the invoice, or else the quote. */
export const ordersIn = (entries: readonly HistoryEntry[]): PastOrder[] =>
  entries.flatMap(({ at, orders }) =>
    orders.map(({ key, id, provider, type, currency, quote, invoice }) => ({
      key,
      id: id && idOf(provider, type, id),
      at: Date.parse(at),
      currency: invoice?.currency ?? currency,
      amount: invoice?.total ?? quote,
    })),
  );

/**
 * Merges the orders of several sources. An order in several sources counts once, with its largest amount. Orders are equal if
 * their ids are equal, because two orders of one address may have the same key. An attempt without an id counts as the next
 * order with its key.
 */
export function mergedOrders(orders: readonly PastOrder[]): PastOrder[] {
  const known = orders.filter(({ id }) => id !== null).toSorted((a, b) => a.at - b.at);
  const idIn = ({ key, at }: PastOrder) => known.find((one) => one.key === key && one.at >= at)?.id ?? null;
  const merged = new Map<string, PastOrder>();
  for (const one of orders) {
    const id = one.id ?? idIn(one);
    const name = id ?? one.key;
    const { amount = 0, at = 0, ...rest } = merged.get(name) ?? {};
    const most = { at: Math.max(at, one.at), amount: Math.max(amount ?? 0, one.amount ?? 0) };
    merged.set(name, { ...one, ...rest, id, ...most });
  }
  return [...merged.values()];
}
