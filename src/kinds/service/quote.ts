import type { PlanRecord } from "../../api/index.ts";
import type { Diagnostic, Quote, ValueObject } from "../../model/index.ts";
import { monthsOf } from "./words.ts";

/**
 * The price of ordering a service, from the list of plans (§2 Plan). List price is the undiscounted price; billed is
 * what this token's account pays (Manage track). Null where the list does not say: prepay and coupon discounts are
 * applied by the server and are not published, so nothing is computed here that an invoice could contradict.
 */
export function quoteService(
  planned: ValueObject,
  plans: readonly PlanRecord[],
): { quote: Quote; warning?: Diagnostic } {
  const currency = typeof planned.currency === "string" ? planned.currency : "unknown";
  const nothing = (why: string): Quote => ({ currency, list: null, billed: null, unknown: why });
  if (typeof planned.plan_id !== "number") return { quote: nothing("the plan is known only after apply") };
  const plan = plans.find((candidate) => candidate.plan_id === planned.plan_id);
  if (plan === undefined) {
    const quote = nothing(`plan ${planned.plan_id} is not in the list of plans`);
    if (plans.length === 0) return { quote };
    return {
      quote,
      warning: {
        severity: "warning",
        code: "plan.catalogue",
        summary: `plan_id ${planned.plan_id} is not among the ${plans.length} plans that this account can order`,
        fix: "See `hostform plans`. The order will be refused if the plan is not active.",
        attribute: ["plan_id"],
      },
    };
  }
  const months = monthsOf(plan.billing_cycle);
  if (
    typeof planned.term !== "number" ||
    (months !== undefined && months !== planned.term) ||
    (months === undefined && planned.term !== 1)
  ) {
    return { quote: nothing(`the list has no price for a term of ${String(planned.term)} months`) };
  }
  const list =
    plan.currency === currency || plan.currency === null
      ? (plan.price ?? plan.prices[currency])
      : plan.prices[currency];
  if (list === undefined || list === null) return { quote: nothing(`the list has no price in ${currency}`) };
  const billed = billedPrice(plan, currency, list);
  if (typeof planned.coupon_code === "string") {
    return {
      quote: { currency, list, billed: null, unknown: "the effect of the coupon is known only from the invoice" },
    };
  }
  return {
    quote: {
      currency,
      list,
      billed,
      ...(billed === null && { unknown: "the list has no discounted price in this currency" }),
    },
  };
}

function billedPrice(plan: PlanRecord, currency: string, list: number): number | null {
  const discounted = plan.manage_discount_percent !== null && plan.manage_discount_percent > 0;
  if (plan.price_after_discount !== null && (plan.currency === currency || plan.currency === null))
    return plan.price_after_discount;
  return discounted ? null : list;
}
