/** A service passes from one account to another: offered by the one, accepted or declined by the other (§6). */
import { emit } from "../events/emit.ts";
import { Refusal } from "../refusal.ts";
import type { Customer, Service, Transfer } from "../store/records.ts";
import type { World } from "../world.ts";

/** Offers a service to another account. Nothing changes hands yet. */
export function offerTransfer(world: World, service: Service, to: Customer): Transfer {
  const { store } = world;
  if (service.customer_id === to.id) throw new Refusal(422, `Service ${service.id} belongs to ${to.name} already.`);
  if (service.status !== "active" && service.status !== "suspended") {
    throw new Refusal(422, `A service that is ${service.status} cannot be transferred.`);
  }
  const open = store.table("transfers").find((one) => one.service_id === service.id && one.status === "offered");
  if (open !== undefined) throw new Refusal(422, `Service ${service.id} is on offer already (transfer ${open.id}).`);
  return store.table("transfers").put({
    id: store.next("transfers", 601),
    service_id: service.id,
    from_customer_id: service.customer_id,
    to_customer_id: to.id,
    status: "offered",
    created_at: world.clock.instant(),
  });
}

/** The other account takes the service, and the invoices that are still to be paid; both are told (§6). */
export function acceptTransfer(world: World, transfer: Transfer): Transfer {
  const { store } = world;
  requireOpen(transfer);
  const service = store.table("services").get(transfer.service_id);
  if (service === undefined || service.customer_id !== transfer.from_customer_id) {
    throw new Refusal(422, `Service ${transfer.service_id} is no longer the offering account's.`);
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
  if (status !== "offered") throw new Refusal(422, `Transfer ${id} has been ${status} already.`);
}
