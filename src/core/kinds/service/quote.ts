import type { PlanRecord } from "../../api/index.ts";
import { problem } from "../../messages/index.ts";
import type { Diagnostic, Quote, ValueObject } from "../../model/index.ts";
import { monthsOf } from "./words.ts";

/**
 * Returns the price of an order from the list of hosting plans (§2 Plan). `list`: price without discount. `billed`: price for
 * the token's account (Manage track). Null if the list lacks the price. Prepay and coupon discounts are not published. They
 * only lower the price (§4), so `most`, the maximum, is often known.
 */
export function quoteService(
  planned: ValueObject,
  plans: readonly PlanRecord[],
  isOrdered = false,
): { quote: Quote; diagnostic?: Diagnostic } {
  const currency = typeof planned.currency === "string" ? planned.currency : "unknown";
  const unpriced = (unknown: string, most: number | null = null, details?: Partial<Quote>): { quote: Quote } => ({
    quote: { currency, list: null, billed: null, most, unknown, ...details },
  });
  if (typeof planned.plan_id !== "number") return unpriced("the hosting plan is known only after apply");
  const rows = plans.filter(({ plan_id: id }) => id === planned.plan_id);
  const plan = rowFor(rows, currency, planned.term);
  if (plan === undefined) {
    const { quote } = unpriced(`plan_id ${planned.plan_id} is not in the list of hosting plans`);
    if (plans.length === 0) return { quote };
    // If a list entry has no readable number, it may be the ordered hosting plan.
    const isComplete = plans.every(({ plan_id: id }) => id !== null);
    // The host returns the first response to a repeated order, even if it no longer offers the hosting plan.
    const severity = isComplete && !isOrdered ? "error" : "warning";
    const about = { id: planned.plan_id, count: plans.length, isComplete, attribute: ["plan_id"] };
    const diagnostic = problem("plan.catalogue", { ...about, severity });
    return { quote, diagnostic };
  }
  const list = listPrice(plan, currency);
  const months = typeof planned.term === "number" ? planned.term : monthsOf(plan.billing_cycle);
  const details = { ...(plan.name !== null && { plan: plan.name }), ...(months !== undefined && { months }) };
  const others = rows.filter((row) => fit(row, currency, planned.term) === 2).map((row) => listPrice(row, currency));
  if (others.some((price) => price !== list))
    return unpriced(
      "the list has several prices for this hosting plan",
      Math.max(...others.map((price) => price ?? 0)),
      details,
    );
  const why = isUnnamed(plan) ? "the list shows no currency for the price" : `the list has no price in ${currency}`;
  const cycles = cyclesOf(plan, planned.term);
  if (cycles !== 1) {
    const most = cycles === undefined || list === null ? null : Math.ceil(list * cycles);
    return unpriced(`the list has no price for a term of ${String(planned.term)} months`, most, details);
  }
  if (list === null) return unpriced(why, null, details);
  const billed = typeof planned.coupon_code === "string" ? null : billedPrice(plan, currency, list);
  const quote: Quote = { currency, list, billed, most: billed ?? list, ...details };
  if (billed !== null) return { quote };
  const unknown =
    typeof planned.coupon_code === "string"
      ? "the effect of the coupon is known only from the invoice"
      : "the list has no discounted price in this currency";
  return { quote: { ...quote, unknown } };
}

/** Rates a list entry for an order: 2 if it has the price of the term, 1 if it has a price in the currency, else 0. */
function fit(row: PlanRecord, currency: string, term: ValueObject[string] | undefined): 0 | 1 | 2 {
  if (listPrice(row, currency) === null) return 0;
  return cyclesOf(row, term) === 1 ? 2 : 1;
}

/** Returns the best list entry for an order. Some hosts list a hosting plan once per currency or billing cycle. */
const rowFor = (rows: readonly PlanRecord[], currency: string, term: ValueObject[string] | undefined) =>
  rows.toSorted((a, b) => fit(b, currency, term) - fit(a, currency, term))[0];

/**
 * Returns the price of one billing cycle without discount, in the API's own unit. Null if the list has no price in this
 * currency. An amount without a currency (§2 Gaps) is ignored, because a limit in GEL would treat it as GEL.
 */
export function listPrice(plan: PlanRecord, currency: string): number | null {
  const own = isOwn(plan, currency) ? plan.price : null;
  return amount(own ?? plan.prices[currency]);
}

/** Returns true if the amounts of the entry are in this currency. */
const isOwn = ({ currency: own }: PlanRecord, currency: string) => own?.trim().toUpperCase() === currency;

const isUnnamed = ({ currency, price, prices }: PlanRecord) =>
  currency === null && price !== null && Object.keys(prices).length === 0;

/** Returns a price. Null for a negative number, which means "no price" and must not lower a sum. */
const amount = (price: number | null | undefined) => (price == null || price < 0 ? null : price);

/** Returns how often the listed billing cycle fits into the term. Undefined if unknown or less than 1. */
function cyclesOf({ billing_cycle }: PlanRecord, term: unknown): number | undefined {
  const months = monthsOf(billing_cycle);
  if (months === undefined) return term === 1 ? 1 : undefined;
  return typeof term === "number" && months > 0 && term >= months ? term / months : undefined;
}

function billedPrice(plan: PlanRecord, currency: string, list: number): number | null {
  const discounted = plan.manage_discount_percent !== null && plan.manage_discount_percent > 0;
  if (plan.price_after_discount !== null) return isOwn(plan, currency) ? amount(plan.price_after_discount) : null;
  return discounted ? null : list;
}
