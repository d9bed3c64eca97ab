/** The rules for ordering a service (§4 POST /api/v1/services body). */

import { CURRENCIES, type Coupon, type Currency, type Customer, type Plan } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { type Body, Fields } from "./fields.ts";
import { TERM_MONTHS, amountBilled } from "../money.ts";
import { isDomainName } from "./syntax.ts";

/** An order that may be placed. */
export interface ServiceOrder {
  plan: Plan;
  currency: Currency;
  domain: string | null;
  /** Months. */
  term: number;
  coupon: Coupon | undefined;
  /** Undiscounted list price of the whole term. */
  price: number;
  /** Amount billed. */
  total: number;
}

/** Whether plans of this type carry a domain: shared and WordPress hosting do, servers and desktops do not. */
export function takesDomain(plan: Plan): boolean {
  return plan.product_type === "shared" || plan.product_type === "wordpress";
}

/** Reads and prices an order. 422 with all field errors at once. */
export function readServiceOrder(store: Store, customer: Customer, body: Body): ServiceOrder {
  const fields = new Fields(body);
  const plan = readPlan(store, fields);
  const currency = fields.oneOf("currency", CURRENCIES, { required: true });
  const term = fields.integer("term", { oneOf: TERM_MONTHS }) ?? 1;
  const domain = readDomain(fields, plan);
  const listPrice = currency === undefined ? undefined : plan?.prices[currency];
  if (plan !== undefined && currency !== undefined && listPrice === undefined) {
    fields.refuse("currency", `The plan ${plan.name} is not offered in ${currency}.`);
  }
  const coupon = readCoupon(store, fields, plan, term);
  const { monthly, ...order } = fields.complete({ plan, currency, domain, term, monthly: listPrice });
  const price = monthly * term;
  const managePercent = customer.track === "manage" ? order.plan.manage_discount_percent : 0;
  return { ...order, coupon, price, total: amountBilled(price, term, managePercent, coupon?.percent ?? 0) };
}

/** "Must be an active plan on an active product." */
function readPlan(store: Store, fields: Fields): Plan | undefined {
  const id = fields.integer("plan_id", { required: true });
  if (id === undefined) return undefined;
  const plan = store.table("plans").get(id);
  const product = plan && store.table("products").get(plan.product_id);
  if (plan?.active && product?.active) return plan;
  fields.refuse("plan_id", "The selected plan id is not an active plan on an active product.");
  return undefined;
}

/** "Required for hosting plans; otherwise omitted." */
function readDomain(fields: Fields, plan: Plan | undefined): string | null {
  if (plan !== undefined && !takesDomain(plan)) {
    if (fields.given("domain")) fields.refuse("domain", "The domain field must be omitted for this plan.");
    return null;
  }
  const required = plan !== undefined;
  const domain = fields.matching("domain", isDomainName, "a valid domain name", { required });
  return domain?.toLowerCase() ?? null;
}

/** "Must be a valid coupon for this plan and cycle." */
function readCoupon(store: Store, fields: Fields, plan: Plan | undefined, term: number): Coupon | undefined {
  const code = fields.string("coupon_code");
  if (code === undefined) return undefined;
  const coupon = store.table("coupons").find((one) => one.code === code);
  if (coupon === undefined || !coupon.active) {
    fields.refuse("coupon_code", "The coupon code is not valid.");
    return undefined;
  }
  if (plan !== undefined && !(coupon.product_types.includes(plan.product_type) && coupon.terms.includes(term))) {
    fields.refuse("coupon_code", "The coupon code is not valid for this plan and billing cycle.");
    return undefined;
  }
  return coupon;
}
