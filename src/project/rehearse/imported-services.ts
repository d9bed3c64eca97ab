/** Converts services to services of the sandbox. Pure. */
import type { Remote } from "../../core/kinds/kind.ts";
import { DAY_MS, type Phase, sameFolded } from "../../core/model/index.ts";
import type { ImportedAccount, Service } from "../../sandbox/index.ts";
import { type ImportedPlan, productOf } from "./imported-plans.ts";
import {
  type Doubt,
  dayOf,
  type ImportedInvoice,
  instantOf,
  type Material,
  monthsAfter,
  numberOf,
  scaled,
  textOf,
} from "./material.ts";

interface ServiceMaterial extends Material {
  readonly sold: readonly ImportedPlan[];
  /** Invoices of the service, oldest first. */
  readonly bills: readonly ImportedInvoice[];
  readonly unit: number;
  readonly doubt: Doubt;
}

const STATUSES: Readonly<Record<Exclude<Phase, "unknown" | "gone">, Service["status"]>> = {
  pending: "pending",
  live: "active",
  suspended: "suspended",
};

/** Days from the due date of an invoice to the end of its service, in the sandbox. */
const GIVEN_UP_DAYS = 30;

export function serviceOf(
  { id, attributes: one, phase }: Remote,
  { recorded, sold, bills, unit, doubt, invoices, now }: ServiceMaterial,
): ImportedAccount["services"][number] {
  const own = recorded.get("hosting_service")?.get(id);
  const word = textOf(one.status);
  const isOver = phase === "gone" || phase === "unknown";
  const ended = /cancel/i.test(word ?? "") ? "cancelled" : "terminated";
  // An unknown word stays, so that a plan in the sandbox reads the same word.
  const status = isOver ? (phase === "gone" ? ended : ((word ?? "unknown") as "fraud")) : STATUSES[phase];
  const plan = planOf(one, own?.attributes.plan_id, sold);
  const term = Number(one.term ?? own?.attributes.term ?? 0);
  const due = dayOf(one.next_due_date);
  const isPriced = typeof one.price === "number" && one.price >= 0 && textOf(one.currency) !== null;
  const price = scaled(isPriced ? Number(one.price) : 0, unit);
  const newest = bills.at(-1);
  const isPaid = newest?.status === "paid";
  const isKnown = isPriced && term > 0 && due !== "";
  if (phase === "unknown") doubt("Services with an unknown status have no renewals: {}.", id);
  else if (!isOver && !isKnown) doubt("Services without a readable price, term or due date have no renewals: {}.", id);
  const isStuck = phase === "pending" && newest === undefined;
  if (isStuck && invoices !== null) doubt("Pending services without an invoice stay pending: {}.", id);

  const overdue = bills.find((bill) => bill.status === "unpaid" && Date.parse(bill.due_date) <= now);
  if (overdue !== undefined && !isOver && Date.parse(overdue.due_date) + GIVEN_UP_DAYS * DAY_MS <= now)
    doubt("Services with an invoice that is overdue for 30 days end 30 days from now: {}.", id);
  const isDeclared = own?.private.suspended?.declared === true;
  const isUnpaid = phase === "suspended" && overdue !== undefined && !isDeclared;
  if (isUnpaid) doubt("Suspended services with an overdue invoice come back when it is paid: {}.", id);

  const billed = bills.filter(
    (bill) => bill.status !== "cancelled" && bill.currency === one.currency && bill.subtotal === price,
  );
  const isSold = plan?.active ?? false;
  if (!isSold && !isOver)
    doubt(
      "The hosting plan is no longer listed, so a renewal costs as much as the last invoice, or the list price without one: {}.",
      id,
    );
  const last = billed.length > 1 || !isSold ? billed.at(-1) : undefined;
  const { job } = own?.private ?? {};
  const isQueued =
    (phase === "live" && job?.toward === "suspended") || (phase === "suspended" && job?.toward === "live");
  return {
    id: numberOf("service", id),
    plan_id: plan?.id ?? 0,
    plan: textOf(one.plan) ?? plan?.name ?? "",
    product_type: productOf(textOf(one.product_type) ?? plan?.product_type ?? null),
    status,
    domain: textOf(one.domain),
    term: term > 0 ? term : 1,
    coupon_code: null,
    suspended_for: phase === "suspended" ? (isUnpaid ? "unpaid" : "request") : null,
    currency: (textOf(one.currency) ?? "") as Service["currency"],
    price,
    next_due_date: due,
    provisioning_status: phase === "pending" ? (isPaid ? "provisioning" : "pending") : "provisioned",
    created_at: instantOf(one.created_at) ?? new Date(now).toISOString(),
    renews: isKnown && !isStuck,
    ...(isKnown && !isOver && { anchor_day: anchorOf(id, one.created_at, due, term, bills, doubt) }),
    ...(last !== undefined && { renewal_total: last.total }),
    ...(isQueued && { queued: job?.toward === "live" ? ("unsuspend" as const) : ("suspend" as const) }),
  };
}

/** Returns the plan by its number, or by its name. Namesakes differ by the recorded number or the price. */
function planOf(one: Remote["attributes"], recorded: unknown, sold: readonly ImportedPlan[]): ImportedPlan | undefined {
  const numbered = sold.find(({ id }) => id === one.plan_id);
  if (numbered !== undefined) return numbered;
  const named = sold.filter(({ name }) => sameFolded(name, textOf(one.plan) ?? ""));
  const costs = ({ prices }: ImportedPlan) =>
    (prices[one.currency as Service["currency"]] ?? Number.NaN) * Number(one.term) === one.price;
  return named.find(({ id }) => id === recorded) ?? named.find(costs) ?? named[0];
}

/**
 * Returns the day of the month on which terms end. A late payment starts a term on its own day, and the next terms end on the day
 * of the order again.
 */
function anchorOf(
  id: string,
  created: unknown,
  due: string,
  term: number,
  own: readonly ImportedInvoice[],
  doubt: Doubt,
): number {
  const day = Number(due.slice(8));
  const ordered = new Date(instantOf(created) ?? Number.NaN).getUTCDate();
  const lastDay = new Date(Date.UTC(Number(due.slice(0, 4)), Number(due.slice(5, 7)), 0)).getUTCDate();
  if (Math.min(ordered, lastDay) === day) return ordered;
  const isLate = own.some(({ paid_at }) => paid_at !== null && dayAfter(paid_at, term) === due);
  if (isLate && !Number.isNaN(ordered)) return ordered;
  doubt("The due date fits neither the order nor a payment, so terms end on its day of the month: {}.", id);
  return day;
}

const dayAfter = (at: string, term: number): string =>
  new Date(monthsAfter(Date.parse(at), term)).toISOString().slice(0, 10);
