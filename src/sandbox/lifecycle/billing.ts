/**
 * Billing calendar of a service: a notice `noticeDays` before the end of the term (default 7), an invoice at its end,
 * suspension when the invoice is overdue, termination 30 days later. An order that stays unpaid is cancelled. Also creates,
 * pays and cancels invoices (§1, §3.1).
 *
 * Must not: wait; set a timer. The agenda contains the due steps, and `settle` performs them before each read.
 */
import { DAY_MS, dateOf } from "../clock.ts";
import { emit } from "../events/emit.ts";
import { amountBilled } from "../money.ts";
import { unprocessable } from "../refusal.ts";
import type { Invoice, Service } from "../store/records.ts";
import type { World } from "../world.ts";
import { endService, enqueue, performJob, restoreNow, suspendNow } from "./services.ts";
import { beginFirstTerm, beginTerm, GIVEN_UP_DAYS, isOver, planStep } from "./terms.ts";

/** Performs all due steps in order, each at its due time. So, a year at once has the same result as a year day by day. */
export function settle(world: World): void {
  const now = world.clock.now();
  for (let due = world.agenda.take(now); due !== undefined; due = world.agenda.take(now)) {
    const { kind, id, at } = due;
    world.clock.at(at, () => {
      if (kind === "jobs") performJob(world, id);
      else takeStep(world, id);
    });
  }
}

function takeStep(world: World, id: number): void {
  const { store } = world;
  const row = store.table("billing").get(id);
  const service = store.table("services").get(id);
  if (row === undefined) return;
  const invoice = row.invoice_id === null ? undefined : store.table("invoices").get(row.invoice_id);
  if (service === undefined || isOver(service)) {
    store.table("billing").remove(id);
  } else if (row.step === "notice") {
    emit(world, "service.expiring", { kind: "service", record: service });
    planStep(world, service, "renew", Date.parse(service.next_due_date), undefined);
  } else if (row.step === "renew") renew(world, service);
  else if (invoice?.status === "paid") {
    // The control may have changed the invoice to paid.
    honour(world, service, invoice);
  } else if (row.step === "suspend" || (row.step === "cancel" && service.status !== "pending")) {
    // A service that the control activated is first suspended.
    if (service.status === "active") suspendNow(world, service, "unpaid");
    const bill = row.invoice_id === null ? undefined : { id: row.invoice_id, renewal: row.renewal };
    planStep(world, service, "terminate", Date.parse(row.due_at) + GIVEN_UP_DAYS * DAY_MS, bill);
  } else {
    if (invoice?.status === "unpaid") cancelInvoice(world, invoice);
    endService(world, service, row.step === "terminate" ? "terminated" : "cancelled");
  }
}

/** Creates the invoice of the next term: "A new invoice is raised for a service, including a renewal" (§6). */
function renew(world: World, service: Service): void {
  const { store } = world;
  const manage = store.table("customers").get(service.customer_id)?.track === "manage";
  const percent = manage ? (store.table("plans").get(service.plan_id)?.manage_discount_percent ?? 0) : 0;
  // A coupon applies only to the first term. The prepay discount applies to each term (§4).
  const total = service.renewal_total ?? amountBilled(service.price, service.term, percent, 0);
  const invoice = raiseInvoice(world, service, total);
  // If the invoice was paid at once, the next term has started.
  if (invoice.status === "paid") return;
  planStep(world, service, "suspend", Date.parse(invoice.due_date), { id: invoice.id, renewal: true });
}

const PAYMENT_DAYS = 7;

/** Subject of an invoice. `price` is the list price. */
type Order = Pick<Service, "id" | "customer_id" | "currency" | "price">;

/** Adds an invoice, with the next number of its year. `total` is the billed amount. */
export function putInvoice(
  { store }: World,
  { id: order_id, customer_id, currency, price: subtotal }: Order,
  total: number,
  at: number,
  state: Pick<Invoice, "status" | "due_date" | "paid_at">,
): Invoice {
  const charge = { customer_id, order_id, currency, subtotal, total };
  const year = new Date(at).getUTCFullYear();
  const id = store.next("invoices", 5001);
  const invoice_number = `INV-${year}-${String(store.next(`invoice_number:${year}`)).padStart(6, "0")}`;
  const created_at = new Date(at).toISOString();
  return store.table("invoices").put({ id, ...charge, invoice_number, ...state, created_at });
}

/** Creates the invoice of an order (§1). Pays it at once with `autoPay`, or if the total is 0. */
export function raiseInvoice(world: World, order: Order, total: number): Invoice {
  const now = world.clock.now();
  const due_date = dateOf(now + PAYMENT_DAYS * DAY_MS);
  const invoice = putInvoice(world, order, total, now, { status: "unpaid", due_date, paid_at: null });
  // "A new invoice is raised for a service" (§6): the invoice of a domain has no event.
  if (world.store.table("services").get(order.id) !== undefined)
    emit(world, "invoice.created", { kind: "invoice", record: invoice });
  return world.settings.autoPay || total === 0 ? payInvoice(world, invoice) : invoice;
}

/**
 * Marks an invoice as paid. Its order is provisioned (§3.1), or its service continues for a term. Ends a suspension because
 * of this invoice. Has no effect on a paid invoice. For an ended service, only the invoice changes.
 * @throws Refusal (422) for a cancelled or refunded invoice
 */
export function payInvoice(world: World, invoice: Invoice): Invoice {
  if (invoice.status === "paid") return invoice;
  if (invoice.status !== "unpaid") throw unprocessable(`An invoice that is ${invoice.status} cannot be paid.`);
  const { store } = world;
  const paid = store.table("invoices").update(invoice.id, { status: "paid", paid_at: world.clock.instant() });
  emit(world, "invoice.paid", { kind: "invoice", record: paid });
  const service = store.table("services").get(invoice.order_id);
  if (service !== undefined && !isOver(service)) honour(world, service, invoice);
  if (store.table("domains").get(invoice.order_id)?.status === "pending") begin(world, "register", invoice.order_id);
  return paid;
}

/** Applies a payment to its service: the next term starts, or provisioning starts. */
function honour(world: World, service: Service, invoice: Invoice): void {
  const step = world.store.table("billing").get(service.id);
  // If the invoice is paid when it is created, the step is still `renew`.
  const renews = step?.step === "renew" || (step?.invoice_id === invoice.id && step.renewal);
  if (renews) beginTerm(world, service);
  else if (step?.invoice_id === invoice.id) beginFirstTerm(world, service);
  if (service.suspended_for === "unpaid" && (renews || step?.invoice_id === invoice.id)) restoreNow(world, service);
  if (service.provisioning_status !== "pending") return;
  world.store.table("services").update(service.id, { provisioning_status: "provisioning" });
  begin(world, "provision", service.id);
}

/** Queues a job after a payment. With a duration of 0, performs it at once. */
function begin(world: World, kind: "provision" | "register", orderId: number): void {
  const id = enqueue(world, kind, orderId, world.settings.provisioningSeconds);
  if (world.settings.provisioningSeconds === 0) performJob(world, id);
}

/**
 * Cancels an unpaid invoice. Its service changes only when its suspension or cancellation is due.
 * @throws Refusal (422) for a paid or refunded invoice
 */
export function cancelInvoice(world: World, invoice: Invoice): Invoice {
  if (invoice.status === "cancelled") return invoice;
  if (invoice.status !== "unpaid") throw unprocessable(`An invoice that is ${invoice.status} cannot be cancelled.`);
  return world.store.table("invoices").update(invoice.id, { status: "cancelled" });
}
