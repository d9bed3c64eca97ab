/** Records of the model server. Written only from the specification (§2); imports nothing from src. */

export interface Plan {
  readonly plan_id: number;
  readonly name: string;
  readonly product_type: "shared" | "vps";
  readonly price: number;
}

export const PLANS: readonly Plan[] = [
  { plan_id: 11, name: "Shared Start", product_type: "shared", price: 500 },
  { plan_id: 12, name: "Shared Grow", product_type: "shared", price: 900 },
  { plan_id: 41, name: "Root S", product_type: "vps", price: 1500 },
  { plan_id: 42, name: "Root M", product_type: "vps", price: 2500 },
];

export interface Service {
  readonly id: number;
  /** Idempotency-Key of the order. Null if the service was created in the console. */
  readonly key: string | null;
  readonly plan: Plan;
  readonly currency: string;
  readonly domain: string | null;
  readonly term: number;
  /** True if another user ordered or created the service. No declaration refers to it. */
  readonly foreign: boolean;
  readonly createdAt: number;
  /** Time from which the account shows the service. An order in progress has no visible service. */
  readonly visibleAt: number;
  readonly paidAt: number;
  readonly provisionedAt: number;
  suspended: boolean;
  terminated: boolean;
  /** Queued suspensions and restorations (§3: not synchronous), oldest first. */
  jobs: { readonly at: number; readonly suspend: boolean }[];
  password: string | null;
}

export interface Grant {
  readonly id: number;
  readonly createdAt: number;
  readonly service: number;
  readonly email: string;
  permission: string;
  readonly foreign: boolean;
}

export interface Webhook {
  readonly id: number;
  readonly createdAt: number;
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
  readonly foreign: boolean;
}

export interface Account {
  readonly id: number;
  readonly createdAt: number;
  readonly name: string;
  readonly currency: string;
  readonly foreign: boolean;
}

export interface Migration {
  readonly id: number;
  readonly createdAt: number;
  readonly domain: string;
  readonly order: number | null;
  readonly foreign: boolean;
}

export interface Registration {
  readonly id: number;
  readonly domain: string;
}

export type Phase = "pending" | "active" | "suspended" | "terminated";

export function phaseOf(service: Service, now: number): Phase {
  if (service.terminated) return "terminated";
  if (now < service.paidAt) return "pending";
  return service.suspended ? "suspended" : "active";
}

const iso = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, "+00:00");

/** Returns a service (§2). */
export function serviceJson(service: Service, now: number): object {
  const { id, plan, currency, domain, term, createdAt, paidAt, provisionedAt } = service;
  return {
    id,
    plan: plan.name,
    product_type: plan.product_type,
    status: phaseOf(service, now),
    domain,
    billing_cycle: term === 12 ? "annually" : "monthly",
    currency,
    price: plan.price,
    next_due_date: "2026-12-21",
    provisioning_status: now < paidAt ? "pending" : now < provisionedAt ? "provisioning" : "provisioned",
    created_at: iso(createdAt),
  };
}

/** Returns an invoice (§2). */
export const invoiceJson = (id: number, order: number, price: number, now: number): object => ({
  id: 5000 + id,
  invoice_number: `INV-2026-${5000 + id}`,
  status: "unpaid",
  currency: "USD",
  subtotal: price,
  total: price,
  due_date: iso(now + 7 * 86_400_000).slice(0, 10),
  paid_at: null,
  order_id: order,
});

export const grantJson = ({ id, email, permission, createdAt }: Grant): object => ({
  id,
  email,
  permission,
  expires_at: null,
  created_at: iso(createdAt),
});
/** Returns a webhook without its signing secret, which only the registration returns (§4). */
export const webhookJson = ({ id, url, events, createdAt }: Webhook): object => ({
  id,
  url,
  events,
  created_at: iso(createdAt),
});
export const accountJson = ({ id, name, currency, createdAt }: Account): object => ({
  id,
  name,
  currency,
  created_at: iso(createdAt),
});
export const migrationJson = ({ id, domain, order, createdAt }: Migration): object => ({
  id,
  domain,
  order_id: order,
  status: "draft",
  created_at: iso(createdAt),
});
