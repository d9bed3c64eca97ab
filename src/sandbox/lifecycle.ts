/**
 * What happens to orders over time (§3): payment, provisioning, suspension, restoration. Nothing here runs on a timer:
 * queued jobs carry the instant at which they are due, and `settle` catches up with the clock before anything is read.
 */
import { addMonths, DAY_MS, dateOf } from "./clock.ts";
import type { Currency, Invoice, Job, Service } from "./records.ts";
import type { World } from "./world.ts";

/** Applies every job that is due, in the order in which they fell due. */
export function settle(world: World): void {
  const jobs = world.store.table("jobs");
  if (jobs.size === 0) return;
  const now = world.clock.now();
  const due = jobs.filter((job) => Date.parse(job.due_at) <= now);
  due.sort((a, b) => Date.parse(a.due_at) - Date.parse(b.due_at) || a.id - b.id);
  for (const job of due) {
    jobs.remove(job.id);
    perform(world, job);
  }
}

function perform(world: World, job: Job): void {
  if (job.kind === "register") {
    if (world.store.table("domains").get(job.order_id)) {
      world.store.table("domains").update(job.order_id, { status: "active" });
    }
    return;
  }
  const service = world.store.table("services").get(job.order_id);
  if (service === undefined) return;
  if (job.kind === "provision") finishProvisioning(world, service);
  // The service may have been changed from outside while the job was waiting: then there is nothing left to do.
  else if (job.kind === "suspend" && service.status === "active") setStatus(world, service, "suspended");
  else if (job.kind === "unsuspend" && service.status === "suspended") setStatus(world, service, "active");
}

function setStatus(world: World, service: Service, status: Service["status"]): void {
  world.store.table("services").update(service.id, { status });
}

function finishProvisioning(world: World, service: Service): void {
  world.store.table("services").update(service.id, {
    provisioning_status: "provisioned",
    status: service.status === "pending" ? "active" : service.status,
  });
}

/** Puts a job into the queue. */
export function enqueue(world: World, kind: Job["kind"], orderId: number, seconds: number): void {
  const due = new Date(world.clock.now() + seconds * 1000).toISOString();
  world.store.table("jobs").put({ id: world.store.next("jobs"), kind, order_id: orderId, due_at: due });
}

/** The status that the service will have once its queue is empty: a request for what is already coming queues nothing more. */
export function comingStatus(world: World, service: Service): Service["status"] {
  const queued = world.store
    .table("jobs")
    .filter((job) => job.order_id === service.id && (job.kind === "suspend" || job.kind === "unsuspend"))
    .at(-1);
  if (queued === undefined) return service.status;
  return queued.kind === "suspend" ? "suspended" : "active";
}

/** What an invoice is raised for. */
export interface Charge {
  customer_id: number;
  order_id: number;
  currency: Currency;
  /** Undiscounted list price. */
  subtotal: number;
  /** Amount actually billed. */
  total: number;
}

const PAYMENT_DAYS = 7;

/** Raises the invoice of an order at once (§1), and pays it when the sandbox pays by itself or there is nothing to pay. */
export function raiseInvoice(world: World, charge: Charge): Invoice {
  const now = world.clock.now();
  const year = new Date(now).getUTCFullYear();
  const sequence = world.store.next(`invoice_number:${year}`);
  const invoice = world.store.table("invoices").put({
    id: world.store.next("invoices", 5001),
    ...charge,
    invoice_number: `INV-${year}-${String(sequence).padStart(6, "0")}`,
    status: "unpaid",
    due_date: dateOf(now + PAYMENT_DAYS * DAY_MS),
    paid_at: null,
    created_at: world.clock.instant(),
  });
  return world.settings.autoPay || charge.total === 0 ? payInvoice(world, invoice) : invoice;
}

/** Marks an invoice as paid; the order behind it starts to be provisioned (§3.1). Paying twice changes nothing. */
export function payInvoice(world: World, invoice: Invoice): Invoice {
  if (invoice.status === "paid") return invoice;
  const paid = world.store.table("invoices").update(invoice.id, { status: "paid", paid_at: world.clock.instant() });
  const service = world.store.table("services").get(invoice.order_id);
  if (service?.provisioning_status === "pending") {
    world.store.table("services").update(service.id, { provisioning_status: "provisioning" });
    enqueue(world, "provision", service.id, world.settings.provisioningSeconds);
  } else if (world.store.table("domains").get(invoice.order_id)?.status === "pending") {
    enqueue(world, "register", invoice.order_id, world.settings.provisioningSeconds);
  }
  settle(world);
  return paid;
}

/** Provisions a service now, whatever its queue or its invoice says. */
export function provisionNow(world: World, service: Service): Service {
  for (const job of world.store
    .table("jobs")
    .filter((one) => one.order_id === service.id && one.kind === "provision")) {
    world.store.table("jobs").remove(job.id);
  }
  finishProvisioning(world, service);
  return world.store.table("services").get(service.id) ?? service;
}

/** `YYYY-MM-DD` of the end of a term that starts now. */
export function endOfTerm(world: World, term: number): string {
  return dateOf(addMonths(world.clock.now(), term));
}
