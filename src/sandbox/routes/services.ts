/** Services: order, list, view, suspend, unsuspend, password, sign-on. */
import { accessService, covers, requireUnrestricted } from "../http/endpoint.ts";
import { idParam, page, type Call, type Endpoint } from "../http/endpoint.ts";
import type { Reply, Sent } from "../shape/items.ts";
import { raiseInvoice } from "../lifecycle/billing.ts";
import { comingStatus, enqueue } from "../lifecycle/services.ts";
import { endOfTerm, firstBilling } from "../lifecycle/terms.ts";
import { invalid } from "../refusal.ts";
import { checkNoPassword, checkPassword } from "../rules/password.ts";
import { readServiceOrder } from "../rules/service-order.ts";
import type { Service } from "../store/records.ts";
import { nextSecret } from "../store/store.ts";

const sent = (record: Service): Sent => ({ kind: "service", record });

/** The service in the path, if the token may touch it. */
export function serviceOf(call: Call): Service {
  return accessService(call.world.store, call.token, idParam(call, "id", "service"));
}

/** "Creating a service generates an invoice immediately" (§3.1); it stays pending until that is paid. */
function order(call: Call): Reply {
  const { world, customer, token } = call;
  requireUnrestricted(token);
  const placed = readServiceOrder(world.store, customer, call.body);
  const service = world.store.table("services").put({
    id: world.store.next("orders", 1001),
    customer_id: customer.id,
    plan_id: placed.plan.id,
    plan: placed.plan.name,
    product_type: placed.plan.product_type,
    status: "pending",
    domain: placed.domain,
    term: placed.term,
    coupon_code: placed.coupon?.code ?? null,
    suspended_for: null,
    currency: placed.currency,
    price: placed.price,
    next_due_date: endOfTerm(world, placed.term),
    provisioning_status: "pending",
    created_at: world.clock.instant(),
  });
  const invoice = raiseInvoice(world, {
    customer_id: customer.id,
    order_id: service.id,
    currency: placed.currency,
    subtotal: placed.price,
    total: placed.total,
  });
  // Paid at once, the service has already moved on.
  const record = world.store.table("services").get(service.id) ?? service;
  firstBilling(world, record, invoice);
  return { form: "ordered", item: sent(record), invoice };
}

/** Suspend and unsuspend are "queued, not applied synchronously" (§3.2). Asking for what is, or is coming, queues nothing. */
function queue(call: Call, kind: "suspend" | "unsuspend"): Reply {
  const service = serviceOf(call);
  const wanted = kind === "suspend" ? "suspended" : "active";
  if (service.status !== "active" && service.status !== "suspended") {
    throw invalid({ status: [`A service that is ${service.status} cannot be ${kind}ed.`] });
  }
  if (kind === "unsuspend" && service.suspended_for === "unpaid") {
    throw invalid({ status: ["The service is suspended for an overdue invoice. Once that is paid, it is restored."] });
  }
  if (comingStatus(call.world, service) !== wanted) {
    enqueue(call.world, kind, service.id, call.world.settings.jobSeconds);
  }
  const message = kind === "suspend" ? "The suspension has been queued." : "The restoration has been queued.";
  return { form: "queued", message, service };
}

/** A password and a sign-on need a control panel, which exists once the service is provisioned and until it ends. */
function requirePanel(service: Service): void {
  const live = service.status === "active" || service.status === "suspended";
  if (live && service.provisioning_status === "provisioned") return;
  throw invalid({ status: ["The service has no control panel: it is not provisioned, or no longer."] });
}

function resetPassword(call: Call): Reply {
  const service = serviceOf(call);
  requirePanel(service);
  if (service.product_type === "shared" || service.product_type === "wordpress") {
    checkPassword(call.body);
    return { form: "done", status: 200, message: "The password has been changed." };
  }
  checkNoPassword(call.body);
  const password = `${nextSecret(call.world.store, call.world.settings.seed, "password").slice(0, 18)}-Aa1`;
  return { form: "password", password };
}

function signOn(call: Call): Reply {
  const service = serviceOf(call);
  requirePanel(service);
  const { store, clock, settings, url } = call.world;
  const value = nextSecret(store, settings.seed, "sign-on");
  store.table("sign_ons").put({
    id: store.next("sign_ons"),
    service_id: service.id,
    value,
    used_at: null,
    created_at: clock.instant(),
  });
  return { form: "value", status: 200, value: { url: `${url}/panel/sign-on/${value}` } };
}

export const serviceEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/services",
    ability: "view",
    answer: (call) => {
      const own = (one: Service): boolean => one.customer_id === call.customer.id && covers(call.token, one.id);
      return page(call, "services", call.world.store.table("services").filter(own), sent);
    },
  },
  {
    method: "GET",
    path: "/services/:id",
    ability: "view",
    answer: (call) => ({ form: "one", status: 200, item: sent(serviceOf(call)) }),
  },
  { method: "POST", path: "/services", ability: "technical", keyed: true, answer: order },
  { method: "POST", path: "/services/:id/suspend", ability: "technical", answer: (call) => queue(call, "suspend") },
  { method: "POST", path: "/services/:id/unsuspend", ability: "technical", answer: (call) => queue(call, "unsuspend") },
  { method: "POST", path: "/services/:id/password", ability: "technical", answer: resetPassword },
  { method: "GET", path: "/services/:id/panel-sso", ability: "technical", answer: signOn },
];
