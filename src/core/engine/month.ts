// Limits of a month and of a day, over all runs.
import { problem } from "../messages/index.ts";
import { counted, type Diagnostic, type PastOrder } from "../model/index.ts";
import { type Amounts, type Limits, mayBeIn, type Order } from "./guards.ts";

/**
 * Checks orders against the limits of the month and of the day (UTC). Returns one error for each exceeded limit, with the sum so
 * far. An order among `past` with the same key and no id is an earlier attempt.
 */
export function checkMonth(
  orders: readonly Order[],
  limits: Limits,
  past: readonly PastOrder[],
  { text, unit }: Amounts,
) {
  const { budget, maxSpendMonth = {}, maxOrdersDay = Number.POSITIVE_INFINITY, allowUnknownPrices, ranges } = limits;
  const found: Diagnostic[] = [];
  if (budget === undefined) return found;
  const keys = new Set(orders.map(budget.keyOf));
  const others = past.filter(({ key, id }) => id !== null || !keys.has(key));
  const sourceOf = (some: readonly PastOrder[]) => {
    const elsewhere = some.filter(({ isElsewhere }) => isElsewhere).length;
    return elsewhere === 0
      ? budget.source
      : `${budget.source} ${counted(elsewhere, "order")} by this token in other projects.`;
  };
  const ofDay = others.filter(({ at }) => at >= budget.day);
  const today = ofDay.length;
  if (orders.length > 0 && today + orders.length > maxOrdersDay)
    found.push(
      problem("guard.month/orders", {
        orders: orders.length,
        today,
        limit: maxOrdersDay,
        source: sourceOf(ofDay),
        range: ranges?.maxOrdersDay,
      }),
    );
  for (const [currency, limit] of Object.entries(maxSpendMonth)) {
    const counting = orders.filter((order) => mayBeIn(order.currency, currency));
    const ofMonth = others.filter((one) => mayBeIn(one.currency, currency));
    const spent = ofMonth.reduce((sum, { amount }) => sum + (amount ?? 0), 0);
    const more = counting.reduce((sum, { most }) => sum + (most ?? 0), 0);
    const unknown = allowUnknownPrices ? [] : counting.flatMap(({ address, most }) => (most === null ? [address] : []));
    if (counting.length === 0 || (spent + more <= limit && unknown.length === 0)) continue;
    const sums = { spent: text(spent, currency), more: text(more, currency), limit: text(limit, currency) };
    found.push(
      problem("guard.month", { ...sums, unknown, source: sourceOf(ofMonth), unit, range: ranges?.maxSpendMonth }),
    );
  }
  return found;
}
