// Limits on orders of a month and of a day, over all runs.
import { problem } from "../messages/index.ts";
import type { Diagnostic, PastOrder } from "../model/index.ts";
import { type Amounts, type Limits, mayBeIn, type Order } from "./guards.ts";

/**
 * Checks orders against the limits of the month and of the day (UTC). Returns one error for each exceeded limit, with the sum
 * so far. An entry of `past` without an id is an attempt; if its key equals the order's key, the order replaces it.
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
  const { source } = budget;
  const today = others.filter(({ at }) => at >= budget.day).length;
  if (orders.length > 0 && today + orders.length > maxOrdersDay)
    found.push(
      problem("guard.month/orders", {
        orders: orders.length,
        today,
        limit: maxOrdersDay,
        source,
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
    found.push(problem("guard.month", { ...sums, unknown, source, unit, range: ranges?.maxSpendMonth }));
  }
  return found;
}
