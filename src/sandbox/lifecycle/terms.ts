/**
 * Billing calendar of a service. A service has one next step. §6 mentions a renewal, a notice window and termination without
 * their days. The sandbox defines the days (see `billing.ts`).
 */
import { addMonths, DAY_MS, dateOf } from "../clock.ts";
import type { BillingStep, Invoice, Service } from "../store/records.ts";
import type { World } from "../world.ts";

/** Days from the due date of an unpaid invoice to the end of the service. */
export const GIVEN_UP_DAYS = 30;

/** Returns the end of a term from now, as `YYYY-MM-DD`. */
export function endOfTerm(world: World, term: number): string {
  return dateOf(addMonths(world.clock.now(), term));
}

/** Returns true if the service has ended. */
export function isOver({ status }: Service): boolean {
  return status !== "pending" && status !== "active" && status !== "suspended";
}

/**
 * Sets the next step of a service, instead of its current one. A past step is due now. `bill`: the invoice whose payment
 * would avoid the step.
 */
export function planStep(
  world: World,
  { id, created_at }: Service,
  step: BillingStep["step"],
  at: number,
  bill: { id: number; renewal: boolean } | undefined,
): void {
  const billing = world.store.table("billing");
  const anchor_day = billing.get(id)?.anchor_day ?? new Date(created_at).getUTCDate();
  const waiting = { invoice_id: bill?.id ?? null, renewal: bill?.renewal ?? false };
  const due_at = new Date(Math.max(at, world.clock.now())).toISOString();
  world.agenda.add("billing", billing.put({ id, step, due_at, ...waiting, anchor_day }));
}

/** Starts the calendar of an order. Until its invoice is paid, the next step is its cancellation. */
export function firstBilling(world: World, service: Service, invoice: Invoice): void {
  const at = Date.parse(invoice.due_date) + GIVEN_UP_DAYS * DAY_MS;
  if (invoice.status === "paid") rescheduleBilling(world, service);
  else planStep(world, service, "cancel", at, { id: invoice.id, renewal: false });
}

/** Sets the next step of a service with a paid term: the notice, or the renewal if the notice is in the past. */
export function rescheduleBilling(world: World, service: Service): void {
  if (isOver(service) || service.next_due_date === "") {
    world.store.table("billing").remove(service.id);
    return;
  }
  const notice = noticeOf(world, service);
  // A notice is sent only once.
  if (notice > world.clock.now()) planStep(world, service, "notice", notice, undefined);
  else planStep(world, service, "renew", Date.parse(service.next_due_date), undefined);
}

/** Updates the calendar of a service that the control changed, except while an invoice is unpaid. */
export function followChange(world: World, before: Service, service: Service): void {
  // A suspension without a reason counts as requested.
  const suspended_for = service.status === "suspended" ? (service.suspended_for ?? "request") : null;
  if (service.suspended_for !== suspended_for) world.store.table("services").update(service.id, { suspended_for });
  if (before.next_due_date === service.next_due_date && isOver(before) === isOver(service)) return;
  const waits = world.store.table("billing").get(service.id)?.invoice_id ?? null;
  if (isOver(service) || waits === null) rescheduleBilling(world, service);
}

/** Starts a paid renewal at the end of the last term, or now if the new term would already have ended. */
export function beginTerm(world: World, service: Service): Service {
  const anchor = world.store.table("billing").get(service.id)?.anchor_day;
  const ends = addMonths(Date.parse(service.next_due_date), service.term, anchor);
  return goOnUntil(world, service, ends <= world.clock.now() ? endOfTerm(world, service.term) : dateOf(ends));
}

/** Starts the first term of a paid order at its creation, or now if the term would already have ended. */
export function beginFirstTerm(world: World, service: Service): Service {
  const late = Date.parse(service.next_due_date) <= world.clock.now();
  return goOnUntil(world, service, late ? endOfTerm(world, service.term) : service.next_due_date);
}

/** Sets the end of a paid term. The notice is due before it, or now if its time has passed. */
function goOnUntil(world: World, service: Service, next_due_date: string): Service {
  const record = world.store.table("services").update(service.id, { next_due_date });
  planStep(world, record, "notice", noticeOf(world, record), undefined);
  return record;
}

function noticeOf({ settings }: World, { next_due_date }: Service): number {
  return Date.parse(next_due_date) - settings.noticeDays * DAY_MS;
}
