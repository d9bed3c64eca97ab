/** Services (§4): plans, order, list, view, suspend, unsuspend, password, sign-in, and grants. */
import {
  type Call,
  covers,
  type Endpoints,
  idParam,
  ownRecords,
  page,
  recordInPath,
  requireUnrestricted,
  technical,
  view,
  withEnded,
} from "../http/endpoint.ts";
import { raiseInvoice } from "../lifecycle/billing.ts";
import { comingStatus, enqueue } from "../lifecycle/services.ts";
import { endOfTerm, firstBilling } from "../lifecycle/terms.ts";
import { amountBilled, TERM_MONTHS } from "../money.ts";
import { notFound, wrongField } from "../refusal.ts";
import { created, type Reply, shown } from "../shape/items.ts";
import { type Coupon, CURRENCIES, type Customer, type Grant, type Plan, type Service } from "../store/records.ts";
import { nextSecret, type Store } from "../store/store.ts";
import type { World } from "../world.ts";
import { type Body, Fields, isEmail, keptEmail } from "./fields.ts";

export const serviceEndpoints = {
  // "List orderable plans" (§1): active plans of active products.
  listPlans: view((call) => {
    const { store } = call.world;
    const isOnSale = ({ product_id }: Plan): boolean => store.table("products").get(product_id)?.active === true;
    return page(
      call,
      "plan",
      store.table("plans").filter((plan) => plan.active && isOnSale(plan)),
      50,
    );
  }),
  listServices: view((call) => {
    const visible = ownRecords(call, "services").filter(({ id }) => covers(call.token, id));
    return page(call, "service", visible);
  }),
  getService: view((call) => shown({ kind: "service", record: recordInPath(call, "services") })),
  orderService: { ...technical(order), keyed: true },
  suspendService: technical((call) => queue(call, "suspend")),
  unsuspendService: technical((call) => queue(call, "unsuspend")),
  resetPassword: technical(resetPassword),
  signOnToPanel: technical(signOn),
  listGrants: technical((call) => {
    const { id } = recordInPath(call, "services");
    const shared = withEnded(call, "grants", "grant").filter((one) => one.service_id === id);
    return page(call, "grant", shared);
  }),
  grantService: technical((call) =>
    created({ kind: "grant", record: addGrant(call.world, recordInPath(call, "services").id, call.body) }),
  ),
  revokeGrant: technical(revokeGrant),
} satisfies Endpoints;

/**
 * Orders a service. "Creating a service generates an invoice immediately" (§3.1). The service is pending until the payment.
 */
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
  const invoice = raiseInvoice(world, service, placed.total);
  // If the invoice was paid at once, the service has changed.
  const record = world.store.table("services").get(service.id) ?? service;
  firstBilling(world, record, invoice);
  return { form: "ordered", item: { kind: "service", record }, invoice };
}

/**
 * Queues a suspension or its end: "queued, not applied synchronously" (§3.2). Queues nothing if the service has the status,
 * or will have it after its queued jobs.
 */
function queue(call: Call, kind: "suspend" | "unsuspend"): Reply {
  const service = recordInPath(call, "services");
  const wanted = kind === "suspend" ? "suspended" : "active";
  if (service.status !== "active" && service.status !== "suspended") {
    throw wrongField("status", `A service that is ${service.status} cannot be ${kind}ed.`);
  }
  if (kind === "unsuspend" && service.suspended_for === "unpaid") {
    throw wrongField("status", "The service is suspended for an overdue invoice. Once that is paid, it is restored.");
  }
  if (comingStatus(call.world, service) !== wanted) {
    enqueue(call.world, kind, service.id, call.world.settings.jobSeconds);
  }
  const message = kind === "suspend" ? "The suspension has been queued." : "The restoration has been queued.";
  return { form: "queued", message, service };
}

/** Requires a control panel, for a password or a sign-in. It exists from provisioning to the end of the service. */
function requirePanel(service: Service): void {
  const live = service.status === "active" || service.status === "suspended";
  if (live && service.provisioning_status === "provisioned") return;
  throw wrongField("status", "The service has no control panel: it is not provisioned, or no longer.");
}

function resetPassword(call: Call): Reply {
  const service = recordInPath(call, "services");
  requirePanel(service);
  const given = isHosting(service);
  checkPassword(call.body, given);
  if (given) return { form: "done", message: "The password has been changed." };
  const password = `${nextSecret(call.world.store, call.world.settings.seed, "password").slice(0, 18)}-Aa1`;
  return { form: "password", password };
}

function signOn(call: Call): Reply {
  const service = recordInPath(call, "services");
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
  return { form: "sign_on", url: `${url}/panel/sign-on/${value}` };
}

interface ServiceOrder {
  plan: Plan;
  currency: Service["currency"];
  domain: string | null;
  /** In months. */
  term: number;
  coupon: Coupon | undefined;
  /** List price of the complete term. */
  price: number;
  /** Billed amount. */
  total: number;
}

/**
 * Returns true for shared and WordPress hosting, which have a domain and a given panel password. Servers and desktops have
 * neither.
 */
export function isHosting({ product_type }: Plan | Service): boolean {
  return product_type === "shared" || product_type === "wordpress";
}

/** Reads an order and calculates its price. @throws Refusal 422 with all field errors */
function readServiceOrder(store: Store, customer: Customer, body: Body): ServiceOrder {
  const fields = new Fields(body);
  const plan = readPlan(store, fields);
  const currency = fields.oneOf("currency", CURRENCIES, { required: true });
  const term = fields.integer("term", { oneOf: TERM_MONTHS }) ?? 1;
  const domain = readDomain(fields, plan);
  const listPrice = currency === undefined ? undefined : plan?.prices[currency];
  if (plan !== undefined && currency !== undefined && listPrice === undefined) {
    fields.refuse("currency", `The plan ${plan.name} is not offered in ${currency}.`);
  }
  const coupon = readCoupon(store, fields, plan, term);
  const { monthly, ...order } = fields.complete({ plan, currency, domain, term, monthly: listPrice });
  const price = monthly * term;
  const managePercent = customer.track === "manage" ? order.plan.manage_discount_percent : 0;
  return { ...order, coupon, price, total: amountBilled(price, term, managePercent, coupon?.percent ?? 0) };
}

/** Reads the plan: "Must be an active plan on an active product." */
function readPlan(store: Store, fields: Fields): Plan | undefined {
  const id = fields.integer("plan_id", { required: true });
  if (id === undefined) return undefined;
  const plan = store.table("plans").get(id);
  const product = plan && store.table("products").get(plan.product_id);
  if (plan?.active && product?.active) return plan;
  return fields.refuse("plan_id", "The selected plan id is not an active plan on an active product.");
}

/** Reads the domain: "Required for hosting plans; otherwise omitted." */
function readDomain(fields: Fields, plan: Plan | undefined): string | null {
  if (plan?.product_type === "vps" || plan?.product_type === "virtual_desktop") {
    if (fields.given("domain")) fields.refuse("domain", "The domain field must be omitted for this plan.");
    return null;
  }
  const required = plan !== undefined && isHosting(plan);
  return fields.domain("domain", { required }) ?? null;
}

/** Reads the coupon: "Must be a valid coupon for this plan and cycle." */
function readCoupon(store: Store, fields: Fields, plan: Plan | undefined, term: number): Coupon | undefined {
  const code = fields.string("coupon_code");
  if (code === undefined) return undefined;
  const coupon = store.table("coupons").find((one) => one.code === code);
  if (!coupon?.active) return fields.refuse("coupon_code", "The coupon code is not valid.");
  if (plan === undefined || (coupon.product_types.includes(plan.product_type) && coupon.terms.includes(term))) {
    return coupon;
  }
  return fields.refuse("coupon_code", "The coupon code is not valid for this plan and billing cycle.");
}

const SHORTEST_PASSWORD = 8;

/**
 * Checks a given password: "string, minimum 8 characters" (§4, §8). It is neither trimmed nor stored. "Root VPS or Virtual
 * Desktop: no body" (§4): a password for these products is rejected, not ignored.
 */
function checkPassword(body: Body, given: boolean): void {
  const fields = new Fields(body);
  const password = fields.raw("password");
  const refuse = (problem: string): void => fields.refuse("password", `The password field ${problem}`);
  if (!given) {
    if (fields.given("password")) refuse("must be omitted: a password is generated for this kind of service.");
  } else if (password === undefined || password === null || password === "") refuse("is required.");
  else if (typeof password !== "string") refuse("must be a string.");
  else if ([...password].length < SHORTEST_PASSWORD) refuse(`must be at least ${SHORTEST_PASSWORD} characters.`);
  fields.complete({});
}

/**
 * Shares a service with a user (§4). A service has one grant per e-mail address, in any case. An expired grant is replaced.
 * It is not specified whether expires_at is required. Without it, the grant does not expire.
 */
export function addGrant({ store, clock }: World, service_id: number, body: Body): Grant {
  const grants = store.table("grants");
  const fields = new Fields(body);
  const email = fields.matching("email", isEmail, "a valid email address", { required: true });
  const permission = fields.oneOf("permission", ["view", "manage"] as const, { required: true });
  const expires_at = fields.futureInstant("expires_at", clock.now()) ?? null;
  const address = email === undefined ? "" : keptEmail(email);
  const held = grants.find((one) => one.service_id === service_id && keptEmail(one.email) === address);
  if (held !== undefined && !(held.expires_at !== null && Date.parse(held.expires_at) <= clock.now())) {
    fields.refuse("email", "The email already has a grant on this service.");
  }
  const wanted = fields.complete({ email, permission, expires_at });
  if (held !== undefined) grants.remove(held.id);
  const id = store.next("grants", 301);
  return grants.put({ id, service_id, ...wanted, created_at: clock.instant() });
}

function revokeGrant(call: Call): Reply {
  const service = recordInPath(call, "services");
  const id = idParam(call, "grantId", "grant");
  const grants = call.world.store.table("grants");
  if (grants.get(id)?.service_id !== service.id) throw notFound("grant", id);
  grants.remove(id);
  return { form: "done", message: "The grant has been revoked." };
}
