/**
 * Records of the sandbox in their internal format: integers for ids and money (minor units), ISO 8601 UTC strings for instants,
 * `YYYY-MM-DD` for dates. Only `shape/` decides which parts are sent in which format.
 */

export const PRODUCT_TYPES = ["shared", "wordpress", "vps", "virtual_desktop"] as const;
export type ProductType = (typeof PRODUCT_TYPES)[number];

/** "GEL, USD or EUR" (§2 Service, §4 POST /services). */
export const CURRENCIES = ["GEL", "USD", "EUR"] as const;
export type Currency = (typeof CURRENCIES)[number];

/** Abilities of §5. */
export const ABILITIES = ["view", "technical", "billing"] as const;
export type Ability = (typeof ABILITIES)[number];

/** Events of §6. */
export const EVENTS = [
  "service.provisioned",
  "invoice.paid",
  "service.suspended",
  "invoice.created",
  "service.expiring",
  "service.terminated",
  "service.transfer_accepted",
] as const;
export type EventName = (typeof EVENTS)[number];

/** Partner tiers, lowest first. The specification mentions only Growth "or above" (§4). The other tiers are invented. */
export const TIERS = ["starter", "growth", "scale"] as const;
export type Tier = (typeof TIERS)[number];

export type ServiceStatus = "pending" | "active" | "suspended" | "terminated" | "cancelled" | "fraud";
export type ProvisioningStatus = "pending" | "provisioning" | "provisioned" | "failed";
export type InvoiceStatus = "unpaid" | "paid" | "cancelled" | "refunded";

/** A customer account, which owns tokens (§5.2). On the Manage track, it is an agency. */
export interface Customer {
  id: number;
  name: string;
  track: "standard" | "manage";
  tier: Tier | null;
}

/** The person who issued tokens. A token never has more access than its issuing user (§5.2). */
export interface User {
  id: number;
  customer_id: number;
  name: string;
  permissions: Ability[];
}

export interface Token {
  id: number;
  customer_id: number;
  user_id: number;
  name: string;
  value: string;
  abilities: Ability[];
  /** Services in the token's scope. Null if the scope is the complete account (§5.2). */
  service_ids: number[] | null;
}

export interface Product {
  id: number;
  name: string;
  product_type: ProductType;
  active: boolean;
}

export interface Plan {
  id: number;
  product_id: number;
  name: string;
  product_type: ProductType;
  /** Currency of the price in the plan list. */
  currency: Currency;
  /** Currency -> monthly list price. The plan can be ordered in these currencies. */
  prices: Partial<Record<Currency, number>>;
  manage_discount_percent: number;
  active: boolean;
}

export interface Coupon {
  id: number;
  code: string;
  percent: number;
  product_types: ProductType[];
  terms: number[];
  active: boolean;
}

/** A record of a customer account. */
interface Owned {
  id: number;
  customer_id: number;
  created_at: string;
}

export interface Service extends Owned {
  plan_id: number;
  plan: string;
  product_type: ProductType;
  status: ServiceStatus;
  domain: string | null;
  term: number;
  coupon_code: string | null;
  /** Reason of the suspension: a request, or an overdue invoice. Null if the service is not suspended. */
  suspended_for: "request" | "unpaid" | null;
  currency: Currency;
  price: number;
  next_due_date: string;
  provisioning_status: ProvisioningStatus;
}

export interface Invoice extends Owned {
  /** Id of a service or a domain order. Their ids come from the same sequence. */
  order_id: number;
  invoice_number: string;
  status: InvoiceStatus;
  currency: Currency;
  subtotal: number;
  total: number;
  due_date: string;
  paid_at: string | null;
}

export interface Grant {
  id: number;
  service_id: number;
  email: string;
  permission: "view" | "manage";
  expires_at: string | null;
  created_at: string;
}

export interface Webhook extends Owned {
  url: string;
  events: EventName[];
  secret: string;
}

/** A client account owned by an agency (Manage track). */
export interface Account extends Owned {
  name: string;
  company_name: string | null;
  company_number: string | null;
  vat_number: string | null;
  currency: Currency | null;
}

export interface MigrationRequest extends Owned {
  domain: string;
  order_id: number | null;
  status: string;
  /** Answers to source type and scope questions. Their names are not specified, so all fields are stored. */
  answers: Record<string, unknown>;
  /** Credentials from the dashboard (§1). They are never sent. */
  credentials: Credentials | null;
}

/** Access to the old host, for a migration. */
export interface Credentials {
  host: string;
  username: string;
  password: string;
}

/** Transfer of a service from one account to another (§6 service.transfer_accepted). */
export interface Transfer {
  id: number;
  service_id: number;
  from_customer_id: number;
  to_customer_id: number;
  status: "offered" | "accepted" | "declined";
  created_at: string;
}

/** One event for one subscription (§6 Delivery). */
export interface Delivery extends Owned {
  webhook_id: number;
  event: EventName;
  url: string;
  /** Exact text that is sent and signed. It is the same in every attempt. */
  body: string;
  /**
   * Status. `abandoned`: after the last retry, or if its subscription no longer exists. `blocked`: the sandbox may not connect to
   * the address.
   */
  status: "pending" | "delivered" | "abandoned" | "blocked";
  attempts: Attempt[];
  /** Id of the original delivery if this delivery repeats it. */
  replay_of: number | null;
}

export interface Attempt {
  at: string;
  /** Status of the response. Null if no response arrived. */
  status: number | null;
  /** Reason of a failed attempt. */
  error: string | null;
}

export interface DomainOrder extends Owned {
  domain: string;
  years: number;
  currency: Currency;
  price: number;
  nameserver_mode: "default" | "custom";
  registrant_contact: Record<string, string | null>;
  status: ServiceStatus;
}

/** Time of the next attempt of a delivery. Its id is the id of the delivery. */
export interface Outgoing {
  id: number;
  due_at: string;
}

/** Next billing step of a service. Its id is the id of the service (see `lifecycle/billing.ts`). */
export interface BillingStep {
  id: number;
  step: "notice" | "renew" | "suspend" | "terminate" | "cancel";
  due_at: string;
  /** Id of the invoice whose payment cancels the step. Null without an invoice. */
  invoice_id: number | null;
  /** True for the invoice of a renewal, false for the invoice of the order. */
  renewal: boolean;
  /** Day of the month on which terms end. A shorter month uses its last day. */
  anchor_day: number;
}

/** A queued background job. Jobs run in the order of `due_at`, then id (see `lifecycle/services.ts`). */
export interface Job {
  id: number;
  kind: "suspend" | "unsuspend" | "provision" | "register";
  order_id: number;
  due_at: string;
}

/** A one-time sign-in to a service's control panel. */
export interface SignOn {
  id: number;
  service_id: number;
  value: string;
  used_at: string | null;
  created_at: string;
}

/** Response stored under an Idempotency-Key. Its id is `<customer id>:<key>`. */
export interface KeptAnswer {
  id: string;
  status: number;
  body: string;
  kept_at: string;
}

/** A named number: sequences, and the offset of the clock. */
export interface Counter {
  id: string;
  value: number;
}

/** A named text: the seed of the data. */
export interface Setting {
  id: string;
  value: string;
}

/** Every collection by name. The control API uses the same names. */
export interface Collections {
  customers: Customer;
  users: User;
  tokens: Token;
  products: Product;
  plans: Plan;
  coupons: Coupon;
  services: Service;
  invoices: Invoice;
  grants: Grant;
  webhooks: Webhook;
  accounts: Account;
  migration_requests: MigrationRequest;
  domains: DomainOrder;
  jobs: Job;
  sign_ons: SignOn;
  transfers: Transfer;
  deliveries: Delivery;
  outbox: Outgoing;
  billing: BillingStep;
  kept_answers: KeptAnswer;
  counters: Counter;
  settings: Setting;
}

export type CollectionName = keyof Collections;

/** Collections that the control may read and change. */
export const OPEN_COLLECTIONS = [
  "customers",
  "users",
  "tokens",
  "products",
  "plans",
  "coupons",
  "services",
  "invoices",
  "grants",
  "webhooks",
  "accounts",
  "migration_requests",
  "domains",
  "jobs",
  "sign_ons",
  "transfers",
  "deliveries",
] as const satisfies readonly CollectionName[];

/** All collections, including the sandbox's internal ones. */
export const COLLECTION_NAMES: readonly CollectionName[] = [
  ...OPEN_COLLECTIONS,
  "outbox",
  "billing",
  "kept_answers",
  "counters",
  "settings",
];
