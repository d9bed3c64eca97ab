/**
 * Records in their internal format: ids and amounts (in minor units) as integers, times as ISO 8601 strings in UTC, dates as
 * `YYYY-MM-DD`. `shape/` converts them for responses.
 */

export const PRODUCT_TYPES = ["shared", "wordpress", "vps", "virtual_desktop"] as const;
export type ProductType = (typeof PRODUCT_TYPES)[number];

/** "GEL, USD or EUR" (§2 Service, §4 POST /services). */
export const CURRENCIES = ["GEL", "USD", "EUR"] as const;
export type Currency = (typeof CURRENCIES)[number];

/** Abilities (§5). */
export const ABILITIES = ["view", "technical", "billing"] as const;
export type Ability = (typeof ABILITIES)[number];

/** Events (§6). */
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

/** Partner tiers, lowest first. Only Growth is specified ("or above", §4). The others are invented. */
export const TIERS = ["starter", "growth", "scale"] as const;
export type Tier = (typeof TIERS)[number];

export type ServiceStatus = "pending" | "active" | "suspended" | "terminated" | "cancelled" | "fraud";
export type ProvisioningStatus = "pending" | "provisioning" | "provisioned" | "failed";
export type InvoiceStatus = "unpaid" | "paid" | "cancelled" | "refunded";

/** Customer account, which has tokens (§5.2). On the Manage track, it is an agency. */
export interface Customer {
  id: number;
  name: string;
  track: "standard" | "manage";
  tier: Tier | null;
}

/** User who creates tokens. A token never has more permissions than its user (§5.2). */
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
  /** Ids of the services in the token's scope. Null for all services of the account (§5.2). */
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
  /** Currency of the plan list. */
  currency: Currency;
  /** Monthly list prices by currency. The plan can be ordered only in these currencies. */
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

/** Record of a customer account. */
interface Owned {
  id: number;
  customer_id: number;
  created_at: string;
}

/** Record whose ids the specification does not define (§2 Gaps). */
interface Named {
  /** Id at the host of an imported account, if it differs from the sandbox's own. */
  host_id?: string;
}

export interface Service extends Owned {
  plan_id: number;
  plan: string;
  product_type: ProductType;
  status: ServiceStatus;
  domain: string | null;
  term: number;
  coupon_code: string | null;
  /** Reason of the suspension: a request, or an overdue invoice. Otherwise null. */
  suspended_for: "request" | "unpaid" | null;
  currency: Currency;
  price: number;
  /** Empty if an imported service has no end of a term. */
  next_due_date: string;
  provisioning_status: ProvisioningStatus;
  /** Total of a renewal, if an imported account shows it. Otherwise it is calculated. */
  renewal_total?: number;
}

export interface Invoice extends Owned {
  /** Id of a service or domain order. Both have ids of the same sequence. */
  order_id: number;
  invoice_number: string;
  status: InvoiceStatus;
  currency: Currency;
  subtotal: number;
  total: number;
  due_date: string;
  paid_at: string | null;
}

export interface Grant extends Named {
  id: number;
  service_id: number;
  email: string;
  permission: "view" | "manage";
  expires_at: string | null;
  created_at: string;
}

export interface Webhook extends Owned, Named {
  url: string;
  events: EventName[];
  secret: string;
}

/** Client account of an agency (Manage track). */
export interface Account extends Owned, Named {
  name: string;
  company_name: string | null;
  company_number: string | null;
  vat_number: string | null;
  currency: Currency | null;
}

export interface MigrationRequest extends Owned, Named {
  domain: string;
  order_id: number | null;
  status: string;
  /** Answers about source type and scope. Their names are not specified, so all fields are stored. */
  answers: Record<string, unknown>;
  /** Set in the dashboard (§1). Never sent. */
  credentials: Credentials | null;
}

/** Access to the old host of a migration. */
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

/** Event for one webhook (§6 Delivery). */
export interface Delivery extends Owned {
  webhook_id: number;
  event: EventName;
  url: string;
  /** Text that is signed and sent, the same in every attempt. */
  body: string;
  /** `abandoned`: after the last retry, or if the webhook no longer exists. `blocked`: the address is not allowed. */
  status: "pending" | "delivered" | "abandoned" | "blocked";
  attempts: Attempt[];
  /** Id of the original delivery, for a repeated one. */
  replay_of: number | null;
}

export interface Attempt {
  at: string;
  /** Status of the response. Null without a response. */
  status: number | null;
  /** Reason of a failure. */
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

/** Next attempt of a delivery. Both have the same id. */
export interface Outgoing {
  id: number;
  due_at: string;
}

/** Next billing step of a service (see `lifecycle/billing.ts`). Both have the same id. */
export interface BillingStep {
  id: number;
  step: "notice" | "renew" | "suspend" | "terminate" | "cancel";
  due_at: string;
  /** Id of the invoice whose payment cancels the step. Null without an invoice. */
  invoice_id: number | null;
  /** True for the invoice of a renewal, false for the invoice of an order. */
  renewal: boolean;
  /** Day of the month on which terms end, or the last day of a shorter month. */
  anchor_day: number;
}

/** Queued job. Jobs are performed by `due_at`, then by id (see `lifecycle/services.ts`). */
export interface Job {
  id: number;
  kind: "suspend" | "unsuspend" | "provision" | "register";
  order_id: number;
  due_at: string;
}

/** Sign-in URL of a control panel, for one use. */
export interface SignOn {
  id: number;
  service_id: number;
  value: string;
  used_at: string | null;
  created_at: string;
}

/** Response to a request with an Idempotency-Key. Its id is `<customer id>:<key>`. */
export interface KeptAnswer {
  id: string;
  status: number;
  body: string;
  kept_at: string;
}

/** Named number: a sequence, or a value of the clock. */
export interface Counter {
  id: string;
  value: number;
}

/** Named text: the seed. */
export interface Setting {
  id: string;
  value: string;
}

type OfHost<T extends Named> = Omit<T, "id" | "host_id" | "customer_id" | "secret" | "credentials"> & { id: string };

type ImportedService = Omit<Service, "customer_id"> & {
  /** Day of the month on which terms end. The day of `created_at` by default. */
  anchor_day?: number;
  /** False if no renewal is known. */
  renews?: boolean;
  /** Job that the host has queued. */
  queued?: "suspend" | "unsuspend";
};

/** Account of a host, as its API shows it. Amounts are in the host's unit. */
export interface ImportedAccount {
  /** Time of the reading (ISO 8601, UTC), at which the clock of the sandbox starts. */
  at: string;
  track: Customer["track"];
  tier: Tier | null;
  /** Abilities of the token. */
  abilities: readonly Ability[];
  /** Scope of the token, as in {@link Token}. */
  service_ids: readonly number[] | null;
  plans: readonly Omit<Plan, "product_id">[];
  /** Codes that an order accepts. Their discount is unknown, and counts as 0. */
  coupons: readonly string[];
  services: readonly ImportedService[];
  invoices: readonly Omit<Invoice, "customer_id">[];
  /** `id`: the id at the host, which the sandbox shows and accepts. */
  grants: readonly OfHost<Grant>[];
  webhooks: readonly OfHost<Webhook>[];
  accounts: readonly OfHost<Account>[];
  migration_requests: readonly OfHost<MigrationRequest>[];
  domains: readonly Omit<DomainOrder, "customer_id">[];
}

/** Records by collection. The control uses the same names. */
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

/** Collections for the control. */
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

/** All collections, including internal ones. */
export const COLLECTION_NAMES: readonly CollectionName[] = [
  ...OPEN_COLLECTIONS,
  "outbox",
  "billing",
  "kept_answers",
  "counters",
  "settings",
];
