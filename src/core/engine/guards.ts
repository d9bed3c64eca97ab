// Limits on what a plan orders, spends and removes, and what must be in order before its first request.

import type { Kinds } from "../kinds/kind.ts";
import type { Account, Observation } from "../lifecycle/index.ts";
import { problem } from "../messages/index.ts";
import {
  type Allowance,
  type Change,
  CURRENCIES,
  type Diagnostic,
  errorOf,
  formatAmount,
  type Guards,
  type Plan,
  type ProviderConfig,
  type Remedy,
  type ResourceState,
  some,
} from "../model/index.ts";

export interface GuardContext {
  readonly kinds: Kinds;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** How many resources are recorded, whatever the targets of the run are. */
  readonly recorded: number;
  /** Recorded resources of the run, and what the account shows of them. */
  readonly records?: ReadonlyMap<string, ResourceState>;
  readonly observations?: ReadonlyMap<string, Observation>;
  /** How many resources are declared, whatever the targets of the run are. */
  readonly declared: number;
}

/** Without a declared limit: more than this share of at least so many resources is not removed unasked. */
const DEFAULT_PERCENT = 30;
const DEFAULT_FROM = 10;

/**
 * Holds a whole plan against the limits of the run: one error for each limit that it breaks, with the numbers and the
 * flag that overrides it. Orders, what they may cost at most, removals.
 */
export function checkGuards(
  { changes, mode }: Pick<Plan, "changes" | "mode">,
  limits: Limits,
  context: GuardContext,
): Diagnostic[] {
  const orders = ordersOf(changes, context.kinds);
  const removed = changes.filter(isRemoval).map(({ address }) => address);
  return [
    ...orderGuard(orders, limits),
    ...spendGuards(orders, limits, context.providers),
    ...(limits.allowRemovals ? [] : removalGuards(removed, mode, limits, context)),
    ...(limits.allowMissing ? [] : missingGuard(changes, context)),
  ];
}

/** Up to so many resources may be missing unasked, unless the plan creates something in an account that shows none of them. */
const MOST_MISSING = 2;

/**
 * Recorded resources of which the account shows nothing. A row that has ended is there. What is in a missing object is counted
 * neither as recorded nor as missing.
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
    // A GET by id has no lag: it shows a new object at once.
    return own.some(isShown) ? [] : own.filter((one) => looks.get(one) === "missing" || kindOf(one)?.get !== undefined);
  });
  const isEmpty = all.length === recorded && empty.length > 0;
  if (!isMost && !isEmpty) return [];
  const named = isMost ? missing : empty;
  const share = `${named.length} of ${count(total, "recorded resource")} (${percentOf(named.length, total)}%)`;
  return [problem("guard.missing", { missing: named.map(({ address }) => address), share })];
}

/** @returns `unlisted`: no list shows it, and it was created a moment ago. */
function lookOf(
  { attributes: { id } }: ResourceState,
  seen: Observation | undefined,
): "shown" | "missing" | "unlisted" {
  if (typeof id !== "string" || seen === undefined) return "shown";
  if (seen.status === "gone") return seen.isListed === undefined ? "missing" : "shown";
  // No list shows the object, and the API refuses it: it may never have been of this account.
  if (seen.unread?.cause === "handed_over") return "missing";
  return seen.status === "present" && seen.unlisted !== undefined ? "unlisted" : "shown";
}

/** What leaves the account or the state on purpose; not what is gone already, nor half a replacement. */
function isRemoval(change: Change): boolean {
  return change.removal !== undefined && change.reasons.every((reason) => reason.why !== "gone");
}

function orderGuard(orders: readonly Order[], { maxOrders, ranges }: Limits): Diagnostic[] {
  if (maxOrders === undefined || orders.length <= maxOrders) return [];
  const remedies: Remedy[] = [
    "Check the orders.",
    { do: "allow", limits: [{ limit: "orders", amount: orders.length }] },
  ];
  const summary = `The plan makes ${count(orders.length, "order")}; max_orders allows ${maxOrders}`;
  const detail = some(orders.map(({ address }) => address));
  return [errorOf("guard.orders", summary, { detail, remedies, range: ranges?.maxOrders })];
}

function spendGuards(
  orders: readonly Order[],
  limits: Limits,
  providers: ReadonlyMap<string, ProviderConfig>,
): Diagnostic[] {
  const { text: amount, unit } = amountsOf(orders, providers);
  return Object.entries(limits.maxSpend ?? {}).flatMap(([currency, limit]) => {
    const counted = orders.filter((order) => spendLimits(order, limits).some(([of]) => of === currency));
    const unknown = counted.filter(({ most }) => most === null);
    const total = counted.reduce((sum, { most }) => sum + (most ?? 0), 0);
    const over = total > limit;
    const hidden = unknown.length > 0 && !limits.allowUnknownPrices;
    if (!over && !hidden) return [];
    const summary = over
      ? `The orders of the plan may cost ${amount(total, currency)}; max_spend allows ${amount(limit, currency)}`
      : `max_spend of ${amount(limit, currency)} cannot be kept: ${count(unknown.length, "order")} of unknown amount`;
    const known = counted.flatMap(({ address, most }) => (most === null ? [] : [`${address} ${most}`]));
    const detail = [
      ...(known.length > 0 ? [`At most: ${some(known)}.`] : []),
      ...(unknown.length > 0
        ? [`Unknown: ${some(unknown.map((order) => `${order.address} (${order.unknown})`))}.`]
        : []),
      unit,
    ].join("\n");
    const allowed: Allowance[] = [
      ...(over ? [{ limit: "spend", currency, amount: total } as const] : []),
      ...(hidden ? [{ limit: "unknown_prices" } as const] : []),
    ];
    const remedies: Remedy[] = ["Check the orders.", { do: "allow", limits: allowed }];
    return [errorOf("guard.spend", summary, { detail, remedies, range: limits.ranges?.maxSpend })];
  });
}

function removalGuards(
  removed: readonly string[],
  mode: Plan["mode"],
  limits: Limits,
  { recorded, declared }: GuardContext,
): Diagnostic[] {
  const { maxRemovals, maxRemovalsPercent, ranges } = limits;
  const number = removed.length;
  if (number === 0) return [];
  const share = `${number} of ${count(recorded, "recorded resource")} (${percentOf(number, recorded)}%)`;
  const detail = `${some(removed)}\n${LEFT_OUT}`;
  const refuse = (summary: string, range?: Diagnostic["range"]) =>
    errorOf("guard.removals", summary, { detail, remedies: ALLOW_REMOVALS, range });
  const found: Diagnostic[] = [];
  if (maxRemovals !== undefined && number > maxRemovals) {
    const summary = `The plan removes ${count(number, "resource")}; max_removals allows ${maxRemovals}`;
    found.push(refuse(summary, ranges?.maxRemovals));
  }
  if (maxRemovalsPercent !== undefined && exceeds(number, recorded, maxRemovalsPercent)) {
    const summary = `The plan removes ${share}; max_removals_percent allows ${maxRemovalsPercent}%`;
    found.push(refuse(summary, ranges?.maxRemovalsPercent));
  }
  // `destroy` says itself that everything is to go; only what is declared stands against it.
  if (found.length > 0 || mode === "destroy") return found;
  if (declared === 0 && maxRemovalsPercent !== 100)
    return [refuse(`No resource is declared, and the plan removes ${share}`)];
  const silent = maxRemovals === undefined && maxRemovalsPercent === undefined;
  if (silent && limits.unattended)
    return [refuse(`The plan removes ${count(number, "resource")} and is applied unattended; that has to be allowed`)];
  if (silent && recorded >= DEFAULT_FROM && exceeds(number, recorded, DEFAULT_PERCENT))
    return [refuse(`The plan removes ${share}; more than ${DEFAULT_PERCENT}% has to be allowed`)];
  return [];
}

const LEFT_OUT = "Was a file left out, or does a pattern match too little?";
const ALLOW_REMOVALS: readonly Remedy[] = [{ do: "allow", limits: [{ limit: "removals" }] }];

const exceeds = (number: number, recorded: number, percent: number) => number * 100 > percent * recorded;

/** Rounded up to a tenth, so that what is more than a limit never reads as the limit itself. */
const percentOf = (number: number, recorded: number) =>
  recorded === 0 ? 100 : Math.ceil((number * 1000) / recorded) / 10;

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** The limits that hold for one run: the declared ones, with what the command line says instead. */
export interface Limits extends Guards {
  /** Removals are meant, however many. */
  readonly allowRemovals?: boolean;
  /** Recorded resources are missing on purpose, however many. */
  readonly allowMissing?: boolean;
  /** Orders whose amount cannot be known beforehand are let through. */
  readonly allowUnknownPrices?: boolean;
  /** No one reviews the plan before it is applied. */
  readonly unattended?: boolean;
}

/** What costs money: a service or a domain that is ordered, also again, or once more after a lost answer. */
export interface Order {
  readonly address: string;
  readonly type: string;
  readonly provider: string;
  readonly currency: string;
  /** What its invoice cannot exceed; null when that is not known. */
  readonly most: number | null;
  /** Why an amount is not known. */
  readonly unknown: string;
}

/** The orders among changes: every create of a paid kind. What is adopted is not ordered. */
export function ordersOf(changes: readonly Change[], kinds: Kinds): Order[] {
  return changes.flatMap((change) => {
    const kind = kinds.get(change.type);
    const creates = change.actions.some((action) => action === "create");
    if (!creates || kind === undefined || kind.creation === "listable") return [];
    const { currency = "unknown", most = null, unknown = "the API lists no price" } = change.quote ?? {};
    // An amount in a currency that is not known yet bounds nothing.
    const known = isCurrency(currency);
    const why = known ? unknown : "its currency is known only after apply";
    const { address, type, provider } = change;
    return [{ address, type, provider, currency, most: known ? most : null, unknown: why }];
  });
}

/**
 * Whether orders go one after the other, since they may spend only so much: an invoice can be above the listed price (§2: subtotal
 * and total) or in another currency, and the next order is to know of it.
 */
export const ordersInTurn = ({ maxSpend = {} }: Limits): boolean => Object.keys(maxSpend).length > 0;

const isCurrency = (word: string) => CURRENCIES.some((currency) => currency === word);

/** The limits that an order counts against: that of its currency; all of them while its currency is not known. */
export function spendLimits({ currency }: Pick<Order, "currency">, { maxSpend = {} }: Limits): [string, number][] {
  return Object.entries(maxSpend).filter(([of]) => mayBeIn(currency, of));
}

/** Whether an amount is in a currency, or may be: null and other words than those of §2 name none. */
export const mayBeIn = (word: string | null, currency: string) =>
  word === currency || word === null || !isCurrency(word);

/** How amounts are written where they are compared with a limit. */
export interface Amounts {
  /** `450 USD`, as a limit is written; `450 USD (4.50)` where the scale is known. */
  text(amount: number, currency: string): string;
  /** Which unit that is: with cents it matters. */
  readonly unit: string;
}

/** Amounts in the API's own unit (§2: its scale is not specified), and scaled beside it when all orders share a scale. */
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

/** Returns the reasons why the creates of a plan cannot be recorded on this machine. */
export async function storeRefusals(
  changes: readonly Pick<Change, "actions" | "provider">[],
  accountOf: (alias: string) => Pick<Account, "store">,
): Promise<readonly Diagnostic[]> {
  const creating = changes.filter(({ actions }) => actions.includes("create"));
  const stores = [...new Set(creating.map(({ provider }) => provider))].map((alias) => accountOf(alias).store);
  return (await Promise.all(stores.map((store) => store?.refusals() ?? []))).flat();
}
