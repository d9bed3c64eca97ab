// Costs of orders as text, and their sums.
import {
  type Change,
  type Effect,
  effectsOf,
  formatMoney,
  type MoneyTotal,
  moneyTotals,
  type OrderMoney,
  type Plan,
} from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import { type MoneyScale, plural, sharedScale, UNSCALED } from "./numbers.ts";

export interface OrderTexts {
  readonly plan: string;
  readonly cycle: string;
  readonly price: string;
  readonly discount: string;
  readonly now: string;
  readonly monthly: string;
  /** Reason for an unknown amount. */
  readonly unknown?: string;
}

/** Prefixes upper bounds with "at most". */
export const upTo = (text: string, bound: boolean) => (bound ? `at most ${text}` : text);

export function orderTexts(money: OrderMoney, provider: string, moneyScale: MoneyScale | undefined): OrderTexts {
  const { currency, months, price, discount, now, monthly, bound, unknown } = money;
  const text = (amount: number | null) => formatMoney(amount, currency, moneyScale?.(currency, provider));
  return {
    plan: money.plan,
    cycle: months === null ? "–" : plural(months, "month"),
    price: text(price),
    discount: discount === 0 ? "none" : text(discount),
    now: now === null ? `unknown (${currency})` : upTo(text(now), bound),
    monthly: upTo(text(monthly), bound && monthly !== null),
    ...(unknown !== undefined && { unknown }),
  };
}

/** Returns for example `Shared S for 12 months: 20.00 USD, discount 2.00 USD; billed now 18.00 USD, then 1.50 USD a month`. Not escaped. */
export function orderSentence(money: OrderMoney, provider: string, moneyScale: MoneyScale | undefined): string {
  const { plan, cycle, price, discount, now, monthly, unknown } = orderTexts(money, provider, moneyScale);
  const what = [...(plan === "–" ? [] : [plan]), ...(cycle === "–" ? [] : [`for ${cycle}`])].join(" ");
  const listed = money.price === null ? [] : [money.discount ? `${price} less ${discount} discount` : price];
  const billed = money.now === null ? "price unknown" : `billed now ${now}`;
  const later = money.monthly === null ? [] : [`then ${monthly} a month`];
  const why = unknown === undefined ? "" : ` (${unknown})`;
  const text = `${[...listed, billed, ...later].join(", ")}${why}`;
  return what === "" ? text : `${what}: ${text}`;
}

/** Returns the common scale of all providers with orders in a currency. */
export function scaleOf(
  changes: readonly Change[],
  currency: string,
  moneyScale: MoneyScale | undefined,
): number | undefined {
  const aliases = changes.flatMap(({ quote, provider }) => (quote?.currency === currency ? [provider] : []));
  return sharedScale(moneyScale, currency, aliases);
}

/** Joins parts: `a, b and c`. */
export const listed = (parts: readonly string[]) =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;

/** Returns the amounts billed now as text: `4.50 USD and an unknown sum`. Empty without orders. */
export function billedNow(totals: readonly MoneyTotal[], scale: (currency: string) => number | undefined): string {
  const sums = totals.flatMap(({ currency, now, bound }) =>
    now === null ? [] : [upTo(formatMoney(now, currency, scale(currency)), bound)],
  );
  if (totals.some(({ unknown }) => unknown > 0)) sums.push(sums.length > 0 ? "an unknown sum" : "an unknown price");
  return listed(sums);
}

/** Counts effects with the common noun of their changes, or with the general noun. */
export function counted(
  changes: readonly Change[],
  effects: readonly Pick<Effect, "address">[],
  general: string,
): string {
  const { noun, plural: many } = sharedWords(changes, effects) ?? { noun: general };
  return plural(effects.length, noun, many);
}

/** Returns the words of the effects' changes, or undefined for several kinds. */
export function sharedWords(changes: readonly Change[], effects: readonly Pick<Effect, "address">[]) {
  const addresses = new Set(effects.map(({ address }) => address));
  const types = new Map(changes.flatMap(({ address, type, words }) => (addresses.has(address) ? [[type, words]] : [])));
  return types.size === 1 ? [...types.values()][0] : undefined;
}

/** Returns the costs of a plan's orders: lines for each currency, or `Orders: none.` */
export function moneyLines({ changes }: Pick<Plan, "changes">, scale?: MoneyScale): string[] {
  const orders = effectsOf({ changes }).filter(({ money }) => money !== undefined);
  if (orders.length === 0) return ["Orders: none."];
  const totals = moneyTotals(orders);
  const lines = totals.flatMap(({ currency }) => currencyLines(changes, orders, currency, scale));
  const isUnscaled = ({ currency, now }: MoneyTotal) => now !== null && scaleOf(changes, currency, scale) === undefined;
  const marked = lines.map((line, i) => `${i === 0 ? "Orders: " : "        "}${line}`);
  return totals.some(isUnscaled) ? [...marked, UNSCALED] : marked;
}

/** Returns the lines of one currency: exact amounts, upper bounds, and unknown prices. */
function currencyLines(
  changes: readonly Change[],
  all: readonly Effect[],
  currency: string,
  moneyScale: MoneyScale | undefined,
): string[] {
  const scale = scaleOf(changes, currency, moneyScale);
  const orders = all.filter(({ money }) => money?.currency === currency);
  const part = (fits: (money: OrderMoney) => boolean) => orders.filter(({ money }) => money && fits(money));
  const exact = part(({ now, bound }) => now !== null && !bound);
  const bounded = part(({ bound }) => bound);
  const open = part(({ now }) => now === null);
  const text = (amount: number | null) => formatMoney(amount, currency, scale);
  const sum = (of: readonly Effect[], amount: (money: OrderMoney) => number | null) =>
    of.reduce((total, { money }) => total + ((money && amount(money)) ?? 0), 0);
  const later = (of: readonly Effect[]) => {
    const [{ monthly, bound } = { monthly: null, bound: false }] = moneyTotals(of);
    return monthly === null ? "" : `, then ${upTo(text(monthly), bound)} a month`;
  };
  const count = (of: readonly Effect[]) => counted(changes, of, "order");
  const [list, billed] = [sum(exact, ({ price }) => price), sum(exact, ({ now }) => now)];
  const lines: string[] = [];
  if (exact.length > 0) {
    const discount = billed < list ? " after discount" : "";
    lines.push(`${count(exact)}, list price ${text(list)}, billed ${text(billed)}${discount}${later(exact)}`);
  }
  if (bounded.length > 0) {
    const listed = bounded.some(({ money }) => money?.price === null)
      ? ""
      : `list price ${text(sum(bounded, ({ price }) => price))}, `;
    const most = text(sum(bounded, ({ now }) => now));
    lines.push(`${count(bounded)}, ${listed}billed at most ${most}${later(bounded)}: ${whyOf(bounded)}`);
  }
  if (open.length > 0) lines.push(`${count(open)}, price unknown (${escapeLine(currency)}): ${whyOf(open)}`);
  return lines;
}

function whyOf(orders: readonly Effect[]): string {
  const reasons = [...new Set(orders.flatMap(({ money }) => money?.unknown ?? []))];
  const [only] = reasons;
  return escapeLine(reasons.length === 1 && only !== undefined ? only : "the API's list does not show it");
}
