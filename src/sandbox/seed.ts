/** Creates the initial data of a sandbox from its seed and its clock. */
import { addMonths, DAY_MS, dateOf } from "./clock.ts";
import { putInvoice } from "./lifecycle/billing.ts";
import { rescheduleBilling } from "./lifecycle/terms.ts";
import { amountBilled } from "./money.ts";
import { notFound, requireKnown, unprocessable } from "./refusal.ts";
import { isHosting } from "./routes/services.ts";
import { ABILITIES, type Ability, type Customer, type Plan, type Service } from "./store/records.ts";
import { derive, type Store } from "./store/store.ts";
import type { World } from "./world.ts";

const SEED = "seed";

/** Default customer accounts of the control. */
const AGENCY_ID = 1;
const CUSTOMER_ID = 2;

const PRODUCTS: readonly (readonly [id: number, name: string, product_type: Plan["product_type"]])[] = [
  [1, "Shared hosting", "shared"],
  [2, "WordPress hosting", "wordpress"],
  [3, "Root VPS", "vps"],
  [4, "Virtual Desktop", "virtual_desktop"],
  [5, "Storage VPS", "vps"],
];

/**
 * Monthly list prices in minor units, by currency. A plan is offered only in currencies with a price. The discount is for
 * agencies, in percent.
 */
type Catalogued = readonly [
  id: number,
  product: number,
  name: string,
  Plan["currency"],
  Plan["prices"],
  discount: number,
];

const CATALOGUE: readonly Catalogued[] = [
  [11, 1, "Shared Start", "USD", { GEL: 1300, USD: 500, EUR: 450 }, 10],
  [12, 1, "Shared Plus", "USD", { GEL: 2400, USD: 900, EUR: 820 }, 15],
  [13, 1, "Shared Pro", "GEL", { GEL: 4300, USD: 1600 }, 20],
  [14, 1, "Shared Legacy", "USD", { USD: 300 }, 0],
  [21, 2, "WordPress One", "USD", { GEL: 2100, USD: 800, EUR: 720 }, 10],
  [22, 2, "WordPress Business", "EUR", { GEL: 5200, USD: 1950, EUR: 1800 }, 20],
  [31, 3, "VPS 1", "USD", { GEL: 3200, USD: 1200, EUR: 1100 }, 5],
  [32, 3, "VPS 2", "USD", { GEL: 6400, USD: 2400, EUR: 2200 }, 7],
  [33, 3, "VPS 4", "EUR", { USD: 4700, EUR: 4400 }, 10],
  [41, 4, "Desktop Office", "GEL", { GEL: 6500, USD: 2500, EUR: 2300 }, 0],
  [42, 4, "Desktop Studio", "USD", { GEL: 13_200, USD: 4900, EUR: 4500 }, 5],
  // An active plan of an inactive product cannot be ordered (§4 plan_id).
  [51, 5, "Storage VPS", "USD", { USD: 2000 }, 0],
];

/** Plan and product that can no longer be ordered. */
const WITHDRAWN_PLAN = 14;
const WITHDRAWN_PRODUCT = 5;

/** Returns the seed of a store. Undefined for an empty store. */
export function seedOf(store: Store): string | undefined {
  return store.table("settings").get(SEED)?.value;
}

/** Marks a store as filled. */
export function markFilled({ store, settings }: World): void {
  store.table("settings").put({ id: SEED, value: settings.seed });
}

/** Fills an empty store. Must run inside a transaction. */
export function plant(world: World): void {
  const { store, settings } = world;
  markFilled(world);
  if (settings.frozenAt !== undefined) world.clock.freeze(settings.frozenAt);
  for (const [id, name, product_type] of PRODUCTS) {
    store.table("products").put({ id, name, product_type, active: id !== WITHDRAWN_PRODUCT });
  }
  for (const [id, product_id, name, currency, prices, manage_discount_percent] of CATALOGUE) {
    const product_type = store.table("products").get(product_id)?.product_type ?? "shared";
    const sold = { currency, prices, product_id, product_type, manage_discount_percent };
    store.table("plans").put({ id, name, ...sold, active: id !== WITHDRAWN_PLAN });
  }
  plantCoupons(store);
  const agency = store.table("customers").put({ id: AGENCY_ID, name: "agency", track: "manage", tier: "growth" });
  const customer = store.table("customers").put({ id: CUSTOMER_ID, name: "customer", track: "standard", tier: null });
  plantToken(world, 1, agency, "agency", ABILITIES);
  plantToken(world, 2, customer, "customer", ABILITIES);
  plantToken(world, 3, agency, "viewer", ["view"]);
  const ago = (months: number): number => addMonths(world.clock.now(), -months) + DAY_MS;
  plantOrder(world, customer, planOf(store, 12), "customer-one.example", ago(3));
  plantOrder(world, customer, planOf(store, 31), null, ago(1));
}

function plantCoupons(store: Store): void {
  const coupons = store.table("coupons");
  coupons.put({ id: 1, code: "WELCOME10", percent: 10, product_types: ["shared"], terms: [1], active: true });
  const everything: Plan["product_type"][] = ["shared", "wordpress", "vps", "virtual_desktop"];
  coupons.put({ id: 2, code: "YEAR20", percent: 20, product_types: everything, terms: [12, 24, 36], active: true });
  coupons.put({ id: 3, code: "BYGONE50", percent: 50, product_types: everything, terms: [1], active: false });
}

export function plantToken(
  world: World,
  id: number,
  customer: Customer,
  name: string,
  abilities: readonly Ability[],
  scope: readonly number[] | null = null,
): void {
  const { store, settings } = world;
  store.table("users").put({ id, customer_id: customer.id, name, permissions: [...abilities] });
  store.table("tokens").put({
    id,
    customer_id: customer.id,
    user_id: id,
    name,
    value: `sandbox-${name}-token-${derive(settings.seed, `token:${name}`).slice(0, 6)}`,
    abilities: [...abilities],
    service_ids: scope && [...scope],
  });
  for (const sequence of ["users", "tokens"]) store.table("counters").put({ id: sequence, value: id });
}

function planOf(store: Store, id: number): Plan {
  const plan = store.table("plans").get(id);
  if (plan === undefined) throw notFound("plan", id);
  return plan;
}

/** Adds an active service with a paid invoice, as if ordered at that time. Returns its id. */
function plantOrder(world: World, customer: Customer, plan: Plan, domain: string | null, ordered: number): number {
  const { store, clock } = world;
  const price = plan.prices[plan.currency] ?? 0;
  const at = new Date(ordered).toISOString();
  let due = addMonths(ordered, 1);
  for (let month = 2; due <= clock.now(); month += 1) due = addMonths(ordered, month);
  const service = store.table("services").put({
    id: store.next("orders", 1001),
    customer_id: customer.id,
    plan_id: plan.id,
    plan: plan.name,
    product_type: plan.product_type,
    status: "active",
    domain,
    term: 1,
    coupon_code: null,
    suspended_for: null,
    currency: plan.currency,
    price,
    next_due_date: dateOf(due),
    provisioning_status: "provisioned",
    created_at: at,
  });
  const percent = customer.track === "manage" ? plan.manage_discount_percent : 0;
  const paid = { status: "paid", due_date: at.slice(0, 10), paid_at: at } as const;
  putInvoice(world, service, amountBilled(price, 1, percent, 0), ordered, paid);
  rescheduleBilling(world, service);
  return service.id;
}

/** Customer account of a new record, by name or id. By default, the agency. */
export interface ForAccount {
  account?: string | number;
}

export function customerBy(world: World, account: string | number = AGENCY_ID): Customer {
  const found = world.store.table("customers").find((one) => one.id === account || one.name === account);
  if (found === undefined) throw notFound("customer account", account);
  return found;
}

/** Services that the control adds at once. */
export interface ServiceSeed extends ForAccount {
  /** Number of services. 1 by default, at most 100,000. */
  count?: number;
  /** Id of the plan. 11 by default, the cheapest shared plan. */
  plan_id?: number;
  /** Prefix of the domains, such as `<prefix>-00001.example`. "site" by default. Not used for plans without a domain. */
  domain_prefix?: string;
  /** Status of the services. "active" by default. */
  status?: Service["status"];
}

const SEED_FIELDS = ["account", "count", "plan_id", "domain_prefix", "status"];
const LARGEST_SEED = 100_000;

export function seedServices(world: World, seed: ServiceSeed): Service[] {
  requireKnown("A seed of services", seed, SEED_FIELDS);
  const { count = 1, plan_id = 11, domain_prefix = "site", status = "active" } = seed;
  if (!Number.isInteger(count) || count < 1 || count > LARGEST_SEED) {
    throw unprocessable(`count must be a whole number from 1 to ${LARGEST_SEED}.`);
  }
  const customer = customerBy(world, seed.account);
  const { store, clock } = world;
  const plan = planOf(store, plan_id);
  const made: Service[] = [];
  for (let at = 0; at < count; at += 1) {
    const number = String(store.next(`domain_prefix:${domain_prefix}`)).padStart(5, "0");
    const domain = isHosting(plan) ? `${domain_prefix}-${number}.example` : null;
    const id = plantOrder(world, customer, plan, domain, clock.now());
    made.push(structuredClone(store.table("services").update(id, { status })));
  }
  return made;
}
