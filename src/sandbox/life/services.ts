/** What becomes of a service, each change with its event (§6). */
import { emit } from "../events/emit.ts";
import { Refusal } from "../refusal.ts";
import type { Service } from "../store/records.ts";
import type { World } from "../world.ts";
import { isOver, planStep } from "./terms.ts";

/** The control panel is there (§3.1); a service that was pending is active. Said once, and not of one that is over. */
export function finishProvisioning(world: World, service: Service): Service {
  if (service.provisioning_status === "provisioned" || isOver(service)) return service;
  const record = world.store.table("services").update(service.id, {
    provisioning_status: "provisioned",
    status: service.status === "pending" ? "active" : service.status,
  });
  // Provisioned before it was paid, it has something to lose: it is suspended when the invoice is overdue.
  const { step, invoice_id } = world.store.table("billing").get(service.id) ?? {};
  const invoice = step === "cancel" && invoice_id ? world.store.table("invoices").get(invoice_id) : undefined;
  if (invoice !== undefined) {
    planStep(world, record, "suspend", Date.parse(invoice.due_date), { id: invoice.id, renewal: false });
  }
  tell(world, "service.provisioned", record);
  return record;
}

/** Provisions a service now, whatever its queue or its invoice says. */
export function provisionNow(world: World, service: Service): Service {
  requireNotEnded(service, "provisioned");
  forgetJobs(world, service, (kind) => kind === "provision");
  return finishProvisioning(world, service);
}

/** Suspends an active service, and says why. */
export function suspendNow(world: World, service: Service, why: "request" | "unpaid"): Service {
  if (service.status === "suspended") return service;
  if (service.status !== "active") throw new Refusal(422, `A service that is ${service.status} cannot be suspended.`);
  const record = world.store.table("services").update(service.id, { status: "suspended", suspended_for: why });
  tell(world, "service.suspended", record);
  return record;
}

/** Ends a suspension, whatever it was for. §6 has no event for it. */
export function restoreNow(world: World, service: Service): Service {
  if (service.status === "active") return service;
  if (service.status !== "suspended") {
    throw new Refusal(422, `A service that is ${service.status} cannot be unsuspended.`);
  }
  return world.store.table("services").update(service.id, { status: "active", suspended_for: null });
}

/** Terminates a service now. Its invoices stay. */
export function terminateNow(world: World, service: Service): Service {
  return endService(world, service, "terminated");
}

/** The end of a service: terminated, which is an event, or cancelled before it began. */
export function endService(world: World, service: Service, status: "terminated" | "cancelled"): Service {
  requireNotEnded(service, status);
  forgetJobs(world, service, () => true);
  world.store.table("billing").remove(service.id);
  const record = world.store.table("services").update(service.id, { status, suspended_for: null });
  if (status === "terminated") tell(world, "service.terminated", record);
  return record;
}

function requireNotEnded(service: Service, what: string): void {
  if (!isOver(service)) return;
  throw new Refusal(422, `A service that is ${service.status} cannot be ${what}.`);
}

function forgetJobs(world: World, service: Service, which: (kind: string) => boolean): void {
  const jobs = world.store.table("jobs");
  for (const job of jobs.filter((one) => one.order_id === service.id && which(one.kind))) jobs.remove(job.id);
}

function tell(world: World, event: Parameters<typeof emit>[1], record: Service): void {
  emit(world, event, { kind: "service", record }, [record.customer_id]);
}
