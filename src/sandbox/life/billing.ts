/**
 * What the calendar does to a service: notice 7 days before the term ends (`noticeDays`), an invoice when it does,
 * suspension when that is overdue, termination 30 days after that; an order that is never paid is cancelled then.
 */
import { DAY_MS } from "../clock.ts";
import { emit } from "../events/emit.ts";
import { amountBilled } from "../money.ts";
import type { Service } from "../store/records.ts";
import type { World } from "../world.ts";
import { cancelInvoice, honour, raiseInvoice } from "./invoices.ts";
import { endService, suspendNow } from "./services.ts";
import { GIVEN_UP_DAYS, isOver, planStep } from "./terms.ts";

/** Takes the step that has fallen due for this service. */
export function takeStep(world: World, id: number): void {
  const { store } = world;
  const row = store.table("billing").get(id);
  const service = store.table("services").get(id);
  if (row === undefined) return;
  const invoice = row.invoice_id === null ? undefined : store.table("invoices").get(row.invoice_id);
  if (service === undefined || isOver(service)) {
    store.table("billing").remove(id);
  } else if (row.step === "notice") {
    emit(world, "service.expiring", { kind: "service", record: service }, [service.customer_id]);
    planStep(world, service, "renew", Date.parse(service.next_due_date), undefined);
  } else if (row.step === "renew") renew(world, service);
  else if (invoice?.status === "paid") {
    // Paid in a record that was changed from outside: as good as paid.
    honour(world, service, invoice);
  } else if (row.step === "suspend" || (row.step === "cancel" && service.status !== "pending")) {
    // Whatever is live has something to lose first, however it came to be live.
    if (service.status === "active") suspendNow(world, service, "unpaid");
    const bill = row.invoice_id === null ? undefined : { id: row.invoice_id, renewal: row.renewal };
    planStep(world, service, "terminate", Date.parse(row.due_at) + GIVEN_UP_DAYS * DAY_MS, bill);
  } else {
    if (invoice?.status === "unpaid") cancelInvoice(world, invoice);
    endService(world, service, row.step === "terminate" ? "terminated" : "cancelled");
  }
}

/** "A new invoice is raised for a service, including a renewal" (§6): for the term that begins. */
function renew(world: World, service: Service): void {
  const { store } = world;
  const manage = store.table("customers").get(service.customer_id)?.track === "manage";
  const percent = manage ? (store.table("plans").get(service.plan_id)?.manage_discount_percent ?? 0) : 0;
  const invoice = raiseInvoice(world, {
    customer_id: service.customer_id,
    order_id: service.id,
    currency: service.currency,
    subtotal: service.price,
    // A coupon is for the order; the prepay discount belongs to the term (§4).
    total: amountBilled(service.price, service.term, percent, 0),
  });
  // Paid at once, the next term has begun already.
  if (invoice.status === "paid") return;
  planStep(world, service, "suspend", Date.parse(invoice.due_date), { id: invoice.id, renewal: true });
}
