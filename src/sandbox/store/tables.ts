import type { BillingStep, Counter, Job, KeptAnswer, Outgoing, Setting, SignOn } from "./bookkeeping.ts";
import type {
  Account,
  Coupon,
  Customer,
  Delivery,
  DomainOrder,
  Grant,
  Invoice,
  MigrationRequest,
  Plan,
  Product,
  Service,
  Token,
  Transfer,
  User,
  Webhook,
} from "./records.ts";

/** Every collection, by name. The control API speaks of them by these names too. */
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

/** The collections with a meaning of their own, which the control may touch. */
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

/** All of them; those added here are the sandbox's bookkeeping. */
export const COLLECTION_NAMES: readonly CollectionName[] = [
  ...OPEN_COLLECTIONS,
  "outbox",
  "billing",
  "kept_answers",
  "counters",
  "settings",
];
