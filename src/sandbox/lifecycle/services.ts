/**
 * Changes services and emits the events of the changes (§6): provisioned, suspended, terminated, transferred. Also queues the
 * jobs for these changes (§1: "queued as a retrying background job").
 */
import { emit } from "../events/emit.ts";
import { type Refusal, unprocessable } from "../refusal.ts";
import type { Customer, Job, Service, Transfer } from "../store/records.ts";
import type { World } from "../world.ts";
import { isOver, planStep } from "./terms.ts";

/**
 * Marks a service as provisioned: its control panel exists (§3.1). A pending service becomes active. Has no effect on a
 * provisioned or ended service.
 */
function finishProvisioning(world: World, service: Service): Service {
  if (service.provisioning_status === "provisioned" || isOver(service)) return service;
  const record = world.store.table("services").update(service.id, {
    provisioning_status: "provisioned",
    status: service.status === "pending" ? "active" : service.status,
  });
  // The service was provisioned before its payment. It is suspended when its invoice is overdue.
  const { step, invoice_id } = world.store.table("billing").get(service.id) ?? {};
  const invoice = step === "cancel" && invoice_id ? world.store.table("invoices").get(invoice_id) : undefined;
  if (invoice !== undefined) {
    planStep(world, record, "suspend", Date.parse(invoice.due_date), { id: invoice.id, renewal: false });
  }
  emit(world, "service.provisioned", { kind: "service", record });
  return record;
}

/** Provisions a service now, with or without a queued job and a payment. */
export function provisionNow(world: World, service: Service): Service {
  if (isOver(service)) throw cannotBe("provisioned", service);
  forgetJobs(world, service, (kind) => kind === "provision");
  return finishProvisioning(world, service);
}

/** Suspends an active service for a reason. */
export function suspendNow(world: World, service: Service, why: "request" | "unpaid"): Service {
  if (service.status === "suspended") return service;
  if (service.status !== "active") throw cannotBe("suspended", service);
  const record = world.store.table("services").update(service.id, { status: "suspended", suspended_for: why });
  emit(world, "service.suspended", { kind: "service", record });
  return record;
}

/** Ends a suspension, whatever its reason. §6 has no event for it. */
export function restoreNow(world: World, service: Service): Service {
  if (service.status === "active") return service;
  if (service.status !== "suspended") throw cannotBe("unsuspended", service);
  return world.store.table("services").update(service.id, { status: "active", suspended_for: null });
}

/** Ends a service: terminates it with an event, or cancels it before its start. Its invoices stay. */
export function endService(world: World, service: Service, status: "terminated" | "cancelled"): Service {
  if (isOver(service)) throw cannotBe(status, service);
  forgetJobs(world, service, () => true);
  world.store.table("billing").remove(service.id);
  const record = world.store.table("services").update(service.id, { status, suspended_for: null });
  if (status === "terminated") emit(world, "service.terminated", { kind: "service", record });
  return record;
}

function cannotBe(what: string, { status }: Service): Refusal {
  return unprocessable(`A service that is ${status} cannot be ${what}.`);
}

function forgetJobs(world: World, service: Service, which: (kind: string) => boolean): void {
  const jobs = world.store.table("jobs");
  for (const job of jobs.filter((one) => one.order_id === service.id && which(one.kind))) jobs.remove(job.id);
}

/** Queues a job and returns its id. */
export function enqueue(world: World, kind: Job["kind"], orderId: number, seconds: number): number {
  const due = new Date(world.clock.now() + seconds * 1000).toISOString();
  const job = world.store.table("jobs").put({ id: world.store.next("jobs"), kind, order_id: orderId, due_at: due });
  world.agenda.add("jobs", job);
  return job.id;
}

/** Performs a job. It has no effect if the service no longer allows it. */
export function performJob(world: World, id: number): void {
  const { store } = world;
  const job = store.table("jobs").get(id);
  if (job === undefined) return;
  store.table("jobs").remove(id);
  if (job.kind === "register") {
    if (store.table("domains").get(job.order_id)) store.table("domains").update(job.order_id, { status: "active" });
    return;
  }
  const service = store.table("services").get(job.order_id);
  if (service === undefined) return;
  if (job.kind === "provision") finishProvisioning(world, service);
  else if (job.kind === "suspend" && service.status === "active") suspendNow(world, service, "request");
  else if (job.kind === "unsuspend" && service.status === "suspended") restoreNow(world, service);
}

/** Returns the status of the service after its queued jobs. */
export function comingStatus(world: World, service: Service): Service["status"] {
  const queued = world.store
    .table("jobs")
    .filter((job) => job.order_id === service.id && (job.kind === "suspend" || job.kind === "unsuspend"))
    .at(-1);
  if (queued === undefined) return service.status;
  return queued.kind === "suspend" ? "suspended" : "active";
}

/** Offers a service to another account, which must accept it. */
export function offerTransfer(world: World, service: Service, to: Customer): Transfer {
  const { store } = world;
  if (service.customer_id === to.id) throw unprocessable(`Service ${service.id} already belongs to ${to.name}.`);
  if (service.status !== "active" && service.status !== "suspended") throw cannotBe("transferred", service);
  const open = store.table("transfers").find((one) => one.service_id === service.id && one.status === "offered");
  if (open !== undefined) throw unprocessable(`Service ${service.id} is already on offer (transfer ${open.id}).`);
  return store.table("transfers").put({
    id: store.next("transfers", 601),
    service_id: service.id,
    from_customer_id: service.customer_id,
    to_customer_id: to.id,
    status: "offered",
    created_at: world.clock.instant(),
  });
}

/** Transfers a service and its unpaid invoices to the other account. Both accounts receive the event (§6). */
export function acceptTransfer(world: World, transfer: Transfer): Transfer {
  const { store } = world;
  requireOpen(transfer);
  const service = store.table("services").get(transfer.service_id);
  if (service === undefined || service.customer_id !== transfer.from_customer_id) {
    throw unprocessable(`Service ${transfer.service_id} no longer belongs to the offering account.`);
  }
  const owner = { customer_id: transfer.to_customer_id };
  const record = store.table("services").update(service.id, owner);
  const unpaid = store.table("invoices").filter((one) => one.order_id === service.id && one.status === "unpaid");
  for (const invoice of unpaid) store.table("invoices").update(invoice.id, owner);
  const both = [transfer.from_customer_id, transfer.to_customer_id];
  emit(world, "service.transfer_accepted", { kind: "service", record }, both);
  return store.table("transfers").update(transfer.id, { status: "accepted" });
}

export function declineTransfer(world: World, transfer: Transfer): Transfer {
  requireOpen(transfer);
  return world.store.table("transfers").update(transfer.id, { status: "declined" });
}

function requireOpen({ id, status }: Transfer): void {
  if (status !== "offered") throw unprocessable(`Transfer ${id} has already been ${status}.`);
}
