// Limits on orders, cost and removals of a plan, and checks before its first request.

import type { Kinds } from "../kinds/kind.ts";
import type { Account, Observation } from "../lifecycle/index.ts";
import { problem } from "../messages/index.ts";
import {
  type Change,
  counted,
  type Diagnostic,
  formatAmount,
  type Guards,
  isCurrency,
  type PastOrder,
  type Plan,
  type ProviderConfig,
  type ResourceState,
} from "../model/index.ts";

export interface GuardContext {
  readonly kinds: Kinds;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Number of resources in the complete state, independent of targets. */
  readonly recorded: number;
  /** State entries that this run includes, and their observations. */
  readonly records?: ReadonlyMap<string, ResourceState>;
  readonly observations?: ReadonlyMap<string, Observation>;
  /** Number of resources in the complete declaration, independent of targets. */
  readonly declared: number;
  /** Returns true if a `removed` item only removes this address from the state. */
  readonly isForgotten?: (address: string) => boolean;
}

/** Default limit if none is declared: removing more than 30 % of at least 10 resources needs a flag. */
const DEFAULT_PERCENT = 30;
const DEFAULT_FROM = 10;

/**
 * Checks a plan against the limits of the run: orders, maximum cost and removals. Returns one error per exceeded limit, with
 * the amounts and the remedy.
 */
export function checkGuards(
  { changes, mode }: Pick<Plan, "changes" | "mode">,
  limits: Limits,
  context: GuardContext,
): Diagnostic[] {
  const orders = ordersOf(changes, context.kinds);
  const removed = changes.filter((one) => isRemoval(one) && !isExplicit(one, context)).map(({ address }) => address);
  return [
    ...orderGuard(orders, limits),
    ...spendGuards(orders, limits, context.providers),
    ...(limits.allowRemovals ? [] : removalGuards(removed, mode, limits, context)),
    ...(limits.allowMissing ? [] : missingGuard(changes, context)),
  ];
}

/**
 * Number of missing resources that a run accepts without a flag. Stricter if the plan creates an object in an account: then
 * at least one recorded resource of this account must be visible.
 */
const MOST_MISSING = 2;

/**
 * Returns an error if too many resources of the state are missing in the account. An object that a list shows as ended is not
 * missing. Children of a missing object do not count.
 */
function missingGuard(
  changes: readonly Change[],
  { recorded, records = new Map(), observations = new Map(), kinds }: GuardContext,
): Diagnostic[] {
  const all = [...records.values()];
  const kindOf = ({ address }: ResourceState) => kinds.get(address.slice(0, address.indexOf(".")));
  const looks = new Map(all.map((one) => [one, lookOf(one, observations.get(one.address))]));
  const isShown = (one: ResourceState) => looks.get(one) === "shown";
  const unseen = new Set(all.filter((one) => !isShown(one)).map(({ attributes }) => attributes.id));
  const around = all.filter((one) => !unseen.has(one.attributes[kindOf(one)?.parent ?? ""] ?? null));
  const missing = around.filter((one) => looks.get(one) === "missing");
  const total = recorded - (all.length - around.length);
  const isMost = missing.length > MOST_MISSING && exceeds(missing.length, total, DEFAULT_PERCENT);
  const isNew = ({ address, actions }: Change) => actions.includes("create") && !records.has(address);
  const empty = [...new Set(changes.filter(isNew).map(({ provider }) => provider))].flatMap((provider) => {
    const own = around.filter((one) => one.provider === provider);
    // A GET by id has no list lag. If it fails for a new object, the object is missing.
    return own.some(isShown) ? [] : own.filter((one) => looks.get(one) === "missing" || kindOf(one)?.get !== undefined);
  });
  const isEmpty = all.length === recorded && empty.length > 0;
  if (!isMost && !isEmpty) return [];
  const named = isMost ? missing : empty;
  const share = shareOf(named.length, total);
  return [problem("guard.missing", { missing: named.map(({ address }) => address), share })];
}

/** Classifies one state entry. `unlisted`: the object is new, and no list shows it yet. */
function lookOf(
  { attributes: { id } }: ResourceState,
  seen: Observation | undefined,
): "shown" | "missing" | "unlisted" {
  if (typeof id !== "string" || seen === undefined) return "shown";
  if (seen.status === "gone") return seen.isListed === undefined ? "missing" : "shown";
  // The API refuses to read the object, and no list shows it. It may belong to another account.
  if (seen.unread?.cause === "handed_over") return "missing";
  return seen.status === "present" && seen.unlisted !== undefined ? "unlisted" : "shown";
}

/** Returns true if the change removes an object on purpose. False if the object no longer exists. */
function isRemoval(change: Change): boolean {
  return change.removal !== undefined && change.reasons.every((reason) => reason.why !== "gone");
}

/** Returns true if a `removed` item with `destroy: false` names the resource. The removal is then intended. */
const isExplicit = ({ address, removal }: Change, { isForgotten }: GuardContext) =>
  removal === "forget" && isForgotten?.(address) === true;

function orderGuard(orders: readonly Order[], { maxOrders: limit, ranges }: Limits): Diagnostic[] {
  if (limit === undefined || orders.length <= limit) return [];
  const addresses = orders.map(({ address }) => address);
  return [problem("guard.orders", { orders: addresses, limit, range: ranges?.maxOrders })];
}

function spendGuards(
  orders: readonly Order[],
  limits: Limits,
  providers: ReadonlyMap<string, ProviderConfig>,
): Diagnostic[] {
  const { text, unit } = amountsOf(orders, providers);
  return Object.entries(limits.maxSpend ?? {}).flatMap(([currency, limit]) => {
    const counting = orders.filter((order) => mayBeIn(order.currency, currency));
    const unknown = counting.filter(({ most }) => most === null);
    const amount = counting.reduce((sum, { most }) => sum + (most ?? 0), 0);
    const isOver = amount > limit;
    const isHidden = unknown.length > 0 && !limits.allowUnknownPrices;
    if (!isOver && !isHidden) return [];
    const about = { currency, amount, total: text(amount, currency), limit: text(limit, currency), unit };
    const known = counting.flatMap(({ address, most }) => (most === null ? [] : [`${address} ${most}`]));
    const named = unknown.map((order) => `${order.address} (${order.unknown})`);
    const found = { ...about, isOver, isHidden, known, unknown: named, range: limits.ranges?.maxSpend };
    return [problem("guard.spend", found)];
  });
}

function removalGuards(
  removed: readonly string[],
  mode: Plan["mode"],
  { maxRemovals, maxRemovalsPercent, ranges, unattended }: Limits,
  { recorded, declared }: GuardContext,
): Diagnostic[] {
  if (removed.length === 0) return [];
  const about = { removed, share: shareOf(removed.length, recorded) };
  const found: Diagnostic[] = [];
  if (maxRemovals !== undefined && removed.length > maxRemovals)
    found.push(problem("guard.removals", { ...about, limit: maxRemovals, range: ranges?.maxRemovals }));
  if (maxRemovalsPercent !== undefined && exceeds(removed.length, recorded, maxRemovalsPercent)) {
    const limit = { by: "max_removals_percent", limit: maxRemovalsPercent, range: ranges?.maxRemovalsPercent };
    found.push(problem("guard.removals/percent", { ...about, ...limit }));
  }
  // A destroy is a removal on purpose. Only a declared limit applies.
  if (found.length > 0 || mode === "destroy") return found;
  if (declared === 0 && maxRemovalsPercent !== 100) return [problem("guard.removals/all", about)];
  if (maxRemovals !== undefined || maxRemovalsPercent !== undefined) return [];
  if (unattended) return [problem("guard.removals/unattended", about)];
  return recorded >= DEFAULT_FROM && exceeds(removed.length, recorded, DEFAULT_PERCENT)
    ? [problem("guard.removals/percent", { ...about, by: "the default limit", limit: DEFAULT_PERCENT })]
    : [];
}

const exceeds = (number: number, recorded: number, percent: number) => number * 100 > percent * recorded;

/**
 * Returns `2 of 4 resources in the state (50%)`. Rounds the percentage up to a tenth: a value above a limit never looks equal
 * to the limit.
 */
const shareOf = (number: number, recorded: number) =>
  `${number} of ${counted(recorded, "resource")} in the state (${recorded === 0 ? 100 : Math.ceil((number * 1000) / recorded) / 10}%)`;

/** Limits of one run: declared limits, overridden by command-line options. */
export interface Limits extends Guards {
  /** True if any number of removals is allowed. */
  readonly allowRemovals?: boolean;
  /** True if any number of missing resources is allowed. */
  readonly allowMissing?: boolean;
  /** True if orders of unknown cost are allowed. */
  readonly allowUnknownPrices?: boolean;
  /** True if nobody reviews the plan before it is applied. */
  readonly unattended?: boolean;
  /** Orders of this month. Undefined without a limit of the month or the day. */
  readonly budget?: MonthBudget;
  /** Counts the orders toward a mandate. */
  readonly mandate?: OrderLedger;
}

/** Counts orders over all runs. */
interface OrderLedger {
  /** Reserves an order, or throws to prevent the order. @returns the function that ends the reservation, as `MonthBudget.reserve` does. */
  reserve(this: void, order: Order): Promise<(end: Ordered | undefined) => Promise<void>>;
}

/** Orders of this month over all runs. */
export interface MonthBudget {
  /** Orders of the history and of the account. */
  readonly past: readonly PastOrder[];
  /** Sentence about the origin of `past`. */
  readonly source: string;
  /** Beginning of the day (UTC), in milliseconds since the epoch. */
  readonly day: number;
  /** Returns a key for an order. All attempts at the order have the same key. */
  keyOf(this: void, order: Pick<Order, "address" | "generation">): string;
  /**
   * Reserves an order. Meanwhile no other process on this machine with the same token can reserve.
   * @param check receives the orders of this month with all reservations, and throws to prevent the order.
   * @returns the function that ends the reservation: it replaces the reserved amount with the response's amount, or removes
   * the reservation.
   */
  reserve(order: Order, check: (past: readonly PastOrder[]) => void): Promise<(end: Ordered | undefined) => void>;
}

/** The order as the response describes it. Missing values are null. */
export type Ordered = Pick<PastOrder, "id" | "amount" | "currency">;

/** A paid create request: a first order, a new order of a deleted service, or an order sent again after a lost response. */
export interface Order {
  readonly address: string;
  readonly type: string;
  readonly provider: string;
  readonly currency: string;
  readonly generation: number;
  /** Maximum amount of the invoice. Null if unknown. */
  readonly most: number | null;
  /** Reason why the maximum amount is unknown. */
  readonly unknown: string;
}

/** Returns the orders among the changes: all creations of a paid kind. Adopted objects are not orders. */
export function ordersOf(changes: readonly Change[], kinds: Kinds): Order[] {
  return changes.flatMap((change) => {
    const kind = kinds.get(change.type);
    const creates = change.actions.some((action) => action === "create");
    if (!creates || kind === undefined || kind.creation === "listable") return [];
    const { currency = "unknown", most = null, unknown = "the API lists no price" } = change.quote ?? {};
    // An amount in an unknown currency is no maximum.
    const known = isCurrency(currency);
    const why = known ? unknown : "its currency is known only after apply";
    const { address, type, provider, private: { generation = 1 } = {} } = change;
    return [{ address, type, provider, generation, currency, most: known ? most : null, unknown: why }];
  });
}

/**
 * Returns true if a limit requires that orders run one by one. An invoice may exceed the listed price (§2: subtotal and
 * total) or use another currency. The next order must count this invoice.
 */
export const ordersOneByOne = ({ maxSpend = {}, budget, mandate }: Limits): boolean =>
  budget !== undefined || mandate !== undefined || Object.keys(maxSpend).length > 0;

/** Returns true if `word` may mean this currency. Null and words outside of §2 may mean any currency. */
export const mayBeIn = (word: string | null, currency: string) =>
  word === currency || word === null || !isCurrency(word);

/** Format of amounts that are compared with a limit. */
export interface Amounts {
  /** Returns text like `450 USD`, or `450 USD (4.50)` if the scale is known. */
  text(amount: number, currency: string): string;
  /** Sentence about the unit of the amounts, because they may be cents. */
  readonly unit: string;
}

/**
 * Returns the format of amounts. If all orders use the same `money_scale`, each amount also has its scaled value. Otherwise
 * amounts are in the API's own unit, because §2 does not define it.
 */
export function amountsOf(orders: readonly Order[], providers: ReadonlyMap<string, ProviderConfig>): Amounts {
  const scales = new Set(orders.map(({ provider }) => providers.get(provider)?.moneyScale));
  const [scale] = scales.size === 1 ? scales : [];
  if (scale === undefined)
    return { text: (amount, currency) => `${amount} ${currency}`, unit: "Amounts are in the API's own unit." };
  return {
    text: (amount, currency) => `${amount} ${currency} (${formatAmount(amount, scale)})`,
    unit: "Amounts are in the API's own unit, in brackets by money_scale.",
  };
}

/** Returns the reasons why this machine cannot save the creations of a plan. */
export async function storeRefusals(
  changes: readonly Pick<Change, "actions" | "provider">[],
  accountOf: (alias: string) => Pick<Account, "store">,
): Promise<readonly Diagnostic[]> {
  const creating = changes.filter(({ actions }) => actions.includes("create"));
  const stores = [...new Set(creating.map(({ provider }) => provider))].map((alias) => accountOf(alias).store);
  return (await Promise.all(stores.map((store) => store?.refusals() ?? []))).flat();
}
