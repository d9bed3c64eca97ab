/** Converts services to services of the sandbox. Pure. */
import type { Remote } from "../../core/kinds/kind.ts";
import { planOf } from "../../core/kinds/service/steps.ts";
import { DAY_MS, type ResourceState } from "../../core/model/index.ts";
import { monthsAfter } from "../../report/index.ts";
import type { ImportedAccount, Service } from "../../sandbox/index.ts";
import { type ImportedPlan, productOf } from "./imported-plans.ts";
import {
  type Conversion,
  dayOf,
  type ImportedInvoice,
  instantOf,
  numberOf,
  scaled,
  textOf,
  UNKNOWN_PRICE,
} from "./material.ts";

interface ServiceMaterial extends Conversion {
  readonly recorded: ResourceState | undefined;
  readonly sold: readonly ImportedPlan[];
  /** Invoices of the service, oldest first. */
  readonly bills: readonly ImportedInvoice[];
}

const STATUSES = { pending: "pending", live: "active", suspended: "suspended", gone: "terminated" } as const;

/** Days from the due date of an invoice to the end of its service, in the sandbox. */
const GIVEN_UP_DAYS = 30;

/** Returns true if the API shows the price of a service. */
export const hasPrice = ({ price, currency }: Remote["attributes"]): boolean =>
  typeof price === "number" && price >= 0 && textOf(currency) !== null;

export function serviceOf(
  { id, attributes: one, phase }: Remote,
  { recorded, plans, sold, bills, unit, doubt, invoices, now }: ServiceMaterial,
): ImportedAccount["services"][number] {
  const { plan_id, term = 0 } = { ...recorded?.attributes, ...one };
  const planned = planOf(one, plans).id ?? plan_id;
  const plan = sold.find((each) => each.id === planned);
  const isOver = phase === "gone" || phase === "unknown";
  const due = dayOf(one.next_due_date);
  const isPriced = hasPrice(one);
  const price = scaled(isPriced ? Number(one.price) : 0, unit);
  const isKnown = Number(term) > 0 && due !== "";
  if (phase === "unknown" || (!isOver && !isKnown))
    doubt("Services with an unknown status, or without a readable term or due date, have no renewals: {}.", id);
  const newest = bills.at(-1);
  const isStuck = phase === "pending" && newest === undefined;
  if (isStuck && invoices !== null) doubt("Pending services without an invoice stay pending: {}.", id);

  const isFirst = bills.every(({ status }) => status !== "paid");
  const isOwed = newest?.status === "unpaid" || (newest?.status === "cancelled" && (isFirst || Date.parse(due) <= now));
  // A host may provision a service before its payment, even after the due date.
  const grace = isFirst && phase !== "pending" ? 0 : GIVEN_UP_DAYS * DAY_MS;
  if (isOwed && !isOver && Date.parse(newest.due_date) + grace <= now)
    doubt("Overdue services end 30 days after the due date, or 30 days from now if that day has passed: {}.", id);
  const isOverdue = bills.some(({ status, due_date }) => status === "unpaid" && Date.parse(due_date) <= now);
  const { job, suspended } = recorded?.private ?? {};
  const isUnpaid = phase === "suspended" && isOverdue && suspended?.declared !== true;
  if (isUnpaid) doubt("Suspended services with an overdue invoice come back when it is paid: {}.", id);

  if (plan === undefined && !isOver)
    doubt(
      "The hosting plan is no longer listed, so a renewal costs as much as the last invoice, or the list price without one: {}.",
      id,
    );
  const billed = bills.filter(
    (bill) => bill.status !== "cancelled" && bill.currency === one.currency && bill.subtotal === price,
  );
  const last = billed.length > 1 || plan === undefined ? billed.at(-1) : undefined;
  const renewal = isPriced ? last?.total : UNKNOWN_PRICE;
  const isAnchored = !isKnown || fitsCalendar(instantOf(one.created_at), due, Number(term), bills);
  if (!isOver && !isAnchored)
    doubt("The due date fits neither the order nor a payment, so terms end on its day of the month: {}.", id);
  return {
    id: numberOf("service", id),
    plan_id: plan?.id ?? 0,
    plan: textOf(one.plan) ?? plan?.name ?? "",
    product_type: productOf(textOf(one.product_type) ?? plan?.product_type ?? null),
    // An unknown word stays, so that a plan in the sandbox reads the same word.
    status: phase === "unknown" ? ((textOf(one.status) ?? phase) as "fraud") : STATUSES[phase],
    domain: textOf(one.domain),
    term: Number(term) || 1,
    coupon_code: null,
    suspended_for: phase === "suspended" ? (isUnpaid ? "unpaid" : "request") : null,
    currency: (textOf(one.currency) ?? "") as Service["currency"],
    price,
    next_due_date: due,
    provisioning_status: phase === "pending" ? (newest?.status === "paid" ? "provisioning" : "pending") : "provisioned",
    created_at: instantOf(one.created_at) ?? new Date(now).toISOString(),
    renews: isKnown && !isStuck,
    ...(!isAnchored && { anchor_day: Number(due.slice(8)) }),
    ...(renewal !== undefined && { renewal_total: renewal }),
    ...(phase === "live" && job?.toward === "suspended" && { queued: "suspend" as const }),
    ...(phase === "suspended" && job?.toward === "live" && { queued: "unsuspend" as const }),
  };
}

/**
 * Returns true if terms end on the day of the order. A late payment starts a term on its own day, and the next terms end on the
 * day of the order again.
 */
function fitsCalendar(ordered: string | null, due: string, term: number, bills: readonly ImportedInvoice[]): boolean {
  if (ordered === null) return false;
  const inJanuary = `${due.slice(0, 4)}-01-${ordered.slice(8, 10)}`;
  return (
    monthsAfter(inJanuary, Number(due.slice(5, 7)) - 1) === due ||
    bills.some(({ paid_at }) => paid_at !== null && monthsAfter(paid_at.slice(0, 10), term) === due)
  );
}
