import type { Kinds } from "../kinds/kind.ts";
import {
  type Allowance,
  type Change,
  type Code,
  type Diagnostic,
  type Guards,
  located,
  type Plan,
  type ProviderConfig,
  type Remedy,
} from "../model/index.ts";
import { amountsOf, type Limits, type Order, ordersOf, some, spendLimits } from "./orders.ts";

export interface GuardContext {
  readonly kinds: Kinds;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** How many resources are recorded, whatever the targets of the run are. */
  readonly recorded: number;
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
  ];
}

/** What leaves the account or the state because somebody says so; not what is gone already, nor half a replacement. */
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
  return [broken("guard.orders", summary, some(orders.map(({ address }) => address)), remedies, ranges?.maxOrders)];
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
    return [broken("guard.spend", summary, detail, remedies, limits.ranges?.maxSpend)];
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
  const refuse = (summary: string, range?: keyof NonNullable<Guards["ranges"]>) =>
    broken("guard.removals", summary, `${some(removed)}\n${LEFT_OUT}`, ALLOW_REMOVALS, range && ranges?.[range]);
  const found: Diagnostic[] = [];
  if (maxRemovals !== undefined && number > maxRemovals)
    found.push(
      refuse(`The plan removes ${count(number, "resource")}; max_removals allows ${maxRemovals}`, "maxRemovals"),
    );
  if (maxRemovalsPercent !== undefined && exceeds(number, recorded, maxRemovalsPercent))
    found.push(
      refuse(`The plan removes ${share}; max_removals_percent allows ${maxRemovalsPercent}%`, "maxRemovalsPercent"),
    );
  // `destroy` says itself that everything is to go; only what is declared stands against it.
  if (found.length > 0 || mode === "destroy") return found;
  if (declared === 0 && maxRemovalsPercent !== 100)
    return [refuse(`Nothing at all is declared, and the plan removes ${share}`)];
  const silent = maxRemovals === undefined && maxRemovalsPercent === undefined;
  if (silent && limits.unattended)
    return [
      refuse(`The plan removes ${count(number, "resource")}, and nobody looks at it before; that has to be allowed`),
    ];
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

function broken(
  code: Code,
  summary: string,
  detail: string,
  remedies: readonly Remedy[],
  range: Diagnostic["range"],
): Diagnostic {
  return located({ severity: "error", code, summary, detail, remedies }, range);
}
