/**
 * The account report: one model behind every form of `hostform status`. It is plain JSON.
 * Amounts are in the API's own unit, and `scale` of an account has their decimal places. Sites are domains as Unicode. Dates are
 * `2026-12-07`, times are ISO 8601.
 */
import type { Invoice, Json } from "../../core/model/index.ts";
import type { ServiceState } from "./states.ts";

/** Owner and object of an entry. */
type About = {
  provider: string;
  client: string | null;
  /** Null if the object is not declared. */
  address: string | null;
  site: string | null;
};

type Sum = {
  provider: string;
  currency: string;
  total: number;
  count: number;
};

/** A condition as in `plan --json`, a pending create request, or an error of the plan. */
type Point = About & {
  /** Name of a condition, `pending` or `error`. */
  condition: string;
  summary: string;
  detail: string;
  /** Time when hostform first recorded the condition, which may be older. */
  since: string | null;
  fix?: string | undefined;
  invoice?: Invoice;
  others?: readonly Invoice[];
  [more: string]: unknown;
};

type Listed = About & {
  type: string;
  id: string | null;
  name: string;
  sync: "synced" | "differs" | "pending" | "not_read" | "undeclared";
  conditions: string[];
  status: string | null;
};

type ServiceRow = Listed & {
  state: ServiceState;
  plan: string | null;
  currency: string | null;
  /** List price of one billing cycle. */
  price: number | null;
  /** List price of one month, rounded up. */
  monthly: number | null;
  next_due_date: string | null;
};

type ObjectRow = Listed & {
  /** Last day of a domain's registration, estimated from order date, years and paid renewals. Null for other kinds. */
  registered_until: string | null;
  /** `known` if hostform knows the secret of a webhook. Null for other kinds. */
  secret: "known" | "unknown" | null;
};

/** A service that renews within 90 days. Amounts are list prices of its renewals within these days. */
type RenewalRow = About & {
  service_id: string | null;
  /** Day of the first renewal. */
  due_date: string;
  currency: string | null;
  next_30_days: number | null;
  next_60_days: number | null;
  next_90_days: number | null;
};

type InvoiceRow = About & {
  id: string;
  number: string | null;
  /** Status in the word of the host. */
  status: string | null;
  due_date: string | null;
  paid_at: string | null;
  service_id: string | null;
  is_open: boolean;
  is_overdue: boolean;
  currency: string | null;
  /** Maximum amount by the listed price, from the history. Only for the first invoice of an order. */
  quoted: number | null;
  total: number | null;
  is_above_quote: boolean;
};

type GrantRow = About & {
  type: string;
  service_id: string | null;
  email: string;
  permission: string | null;
  expires_at: string | null;
  /** True if the grant expires within 14 days. */
  expires_soon: boolean;
  is_declared: boolean;
  /** True if the address is outside `grantee_domains` of the policy. */
  is_outside: boolean;
};

export interface AccountReport {
  format_version: "1.0";
  project: string;
  timestamp: string;
  accounts: { provider: string; name: string; host: string; scale: number | null }[];
  overview: {
    declared: number;
    synced: number;
    /** Number of services of the account that have not ended. */
    services: number;
    /** Number of services in each state. The sum is the length of `services` of the report. */
    states: Record<ServiceState, number>;
    /** Earliest time when hostform first recorded an offline service, which may be offline for longer. */
    offline_since: string | null;
    /** Unpaid sums. `due_date` is the earliest due date. */
    unpaid: (Sum & { due_date: string | null })[];
    pending: number;
  };
  attention: Point[];
  services: ServiceRow[];
  objects: ObjectRow[];
  money: {
    /** Reason why not all invoices were read. */
    unread: string | null;
    /** Sums of list prices for an average month. */
    run_rate: (Sum & { client: string | null; is_suspended: boolean })[];
    /** Sums of open invoices by the week of their due day. `week`: its Monday. */
    due: (Sum & { week: string })[];
    renewals: RenewalRow[];
    invoices: InvoiceRow[];
  };
  access: {
    /** Time of the oldest read, if this run did not read all grants. */
    as_of: string | null;
    /** True if this run read the grants of every service. */
    is_complete: boolean;
    grants: GrantRow[];
  };
  drift: (About & { attribute: string; declared: Json; live: Json; since: string | null })[];
  /** Last entries of the history. Empty for a part of the account. */
  changes: { at: string; who: string | null; command: string; effects: string[] }[];
  unread: { provider: string; what: string; why: string }[];
  /** Names of the met conditions of `--fail-on`. */
  holds: string[];
  /** Number of sent requests. `full`: forecast for a report that reads the grants of each service. */
  requests: { sent: number; full: number; full_seconds: number };
}
