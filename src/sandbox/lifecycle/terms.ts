/**
 * The calendar of a service: each has one next step. The specification names a renewal, a notice window and termination (§6)
 * without their days, so the sandbox chooses them (see `billing.ts`).
 */
import { addMonths, DAY_MS, dateOf } from "../clock.ts";
import type { BillingStep, Invoice, Service } from "../store/records.ts";
import type { World } from "../world.ts";

/** From the day on which an invoice is overdue to the end of the service. */
export const GIVEN_UP_DAYS = 30;

/** `YYYY-MM-DD` of the end of a term that starts now. */
export function endOfTerm(world: World, term: number): string {
  return dateOf(addMonths(world.clock.now(), term));
}

/** Returns true if a service has ended: it is neither pending nor active nor suspended. */
export function isOver({ status }: Service): boolean {
  return status !== "pending" && status !== "active" && status !== "suspended";
}

/**
 * Sets the next step of a service, in place of any other; a step in the past falls due now. `bill`: the invoice whose
 * payment it waits for.
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

/** Begins the calendar of a new order: until its first invoice is paid, the next step is its cancellation. */
export function firstBilling(world: World, service: Service, invoice: Invoice): void {
  const at = Date.parse(invoice.due_date) + GIVEN_UP_DAYS * DAY_MS;
  if (invoice.status === "paid") rescheduleBilling(world, service);
  else planStep(world, service, "cancel", at, { id: invoice.id, renewal: false });
}

/** Sets the next step of a service whose term is paid: the notice, or the renewal if the notice has passed. */
export function rescheduleBilling(world: World, service: Service): void {
  if (isOver(service)) {
    world.store.table("billing").remove(service.id);
    return;
  }
  const notice = noticeOf(world, service);
  // A notice window is entered once.
  if (notice > world.clock.now()) planStep(world, service, "notice", notice, undefined);
  else planStep(world, service, "renew", Date.parse(service.next_due_date), undefined);
}

/** Adapts the calendar of a service that the control changed, unless it waits for an unpaid invoice. */
export function followChange(world: World, before: Service, service: Service): void {
  // A suspension without a reason counts as requested.
  const suspended_for = service.status === "suspended" ? (service.suspended_for ?? "request") : null;
  if (service.suspended_for !== suspended_for) world.store.table("services").update(service.id, { suspended_for });
  if (before.next_due_date === service.next_due_date && isOver(before) === isOver(service)) return;
  const waits = world.store.table("billing").get(service.id)?.invoice_id ?? null;
  if (isOver(service) || waits === null) rescheduleBilling(world, service);
}

/** A renewal has been paid: its term begins where the last one ended, or now if it would already be over. */
export function beginTerm(world: World, service: Service): Service {
  const anchor = world.store.table("billing").get(service.id)?.anchor_day;
  const ends = addMonths(Date.parse(service.next_due_date), service.term, anchor);
  return goOnUntil(world, service, ends <= world.clock.now() ? endOfTerm(world, service.term) : dateOf(ends));
}

/** The order has been paid. If its term would already be over, it begins now. */
export function beginFirstTerm(world: World, service: Service): Service {
  const late = Date.parse(service.next_due_date) <= world.clock.now();
  return goOnUntil(world, service, late ? endOfTerm(world, service.term) : service.next_due_date);
}

/** A term is paid until that day. Its notice is given in time, or at once where the window has already begun. */
function goOnUntil(world: World, service: Service, next_due_date: string): Service {
  const record = world.store.table("services").update(service.id, { next_due_date });
  planStep(world, record, "notice", noticeOf(world, record), undefined);
  return record;
}

function noticeOf({ settings }: World, { next_due_date }: Service): number {
  return Date.parse(next_due_date) - settings.noticeDays * DAY_MS;
}
