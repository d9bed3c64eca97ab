import type { Change, CostLine, RequestEstimate } from "../model/index.ts";

/** §8: requests a minute per token. */
const PER_MINUTE = 60;

/** The money of a plan, a line per currency, in the order in which currencies first appear. */
export function costOf(changes: readonly Change[]): CostLine[] {
  const lines = new Map<string, CostLine>();
  for (const { quote } of changes) {
    if (quote === undefined) continue;
    const { currency, list, billed } = quote;
    const line = lines.get(currency) ?? { currency, orders: 0, list: null, billed: null, unknown: 0 };
    lines.set(currency, {
      currency,
      orders: line.orders + 1,
      list: list === null ? line.list : (line.list ?? 0) + list,
      billed: billed === null ? line.billed : (line.billed ?? 0) + billed,
      unknown: line.unknown + (billed === null ? 1 : 0),
    });
  }
  return [...lines.values()];
}

/**
 * What applying takes. Polls: about eight listings while queued jobs run, whatever their number. The time is the floor
 * that the budget sets: the first 60 requests cost latency only, each further 60 a minute.
 * @param lists how many listings are read once more before anything is sent.
 */
export function estimateRequests(
  changes: readonly Change[],
  readRequests: number,
  perMinute = PER_MINUTE,
  lists = 0,
): RequestEstimate {
  const writes = changes.reduce((sum, change) => sum + change.requests, 0);
  const queued = changes.some(
    ({ before, after, removal }) =>
      removal === "suspend" || (before !== null && before.suspended !== after?.suspended && after !== null),
  );
  const apply = writes + lists + (queued ? 8 : 0);
  const waits = apply === 0 ? 0 : Math.max(0, Math.ceil((readRequests + apply) / perMinute) - 1);
  return {
    read: readRequests,
    apply,
    seconds: Math.round(waits * 60 + Math.min(apply, perMinute) * 0.2 + (queued ? 5 : 0)),
  };
}
