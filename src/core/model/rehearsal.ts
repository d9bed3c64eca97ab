/** A rehearsal: the facts of an account while its time runs in the sandbox, and the report. Times are in ISO 8601, UTC. */
import type { Diagnostic } from "./errors.ts";

/**
 * Assumption about payments. `none`: every invoice is paid at once, also those that are open now. `open`: invoices that are
 * open now stay unpaid, and later ones are paid. `all`: no invoice is paid.
 */
export const UNPAID = ["none", "open", "all"] as const;
export type Unpaid = (typeof UNPAID)[number];

/** A service or a domain registration of the account. */
interface OfOrder {
  /** Id at the host. */
  readonly order: string;
  readonly domain: string | null;
}

/** An invoice. Its amount is in the host's unit. */
export interface InvoiceFact extends OfOrder {
  readonly fact: "invoice";
  readonly at: string;
  readonly currency: string;
  readonly total: number;
  /** True if the assumption pays it. */
  readonly paid: boolean;
}

/**
 * `offline`: the service is suspended. `online`: it is provisioned, or its suspension ends. `ended`: it is terminated or
 * cancelled for good.
 */
export interface SiteFact extends OfOrder {
  readonly fact: "offline" | "online" | "ended";
  readonly at: string;
  /** Reason of `offline` and `ended`. */
  readonly reason: "unpaid" | "request" | null;
}

/** A grant of a service that expires. */
export interface ExpiryFact extends OfOrder {
  readonly fact: "expired";
  readonly at: string;
  readonly email: string;
}

export type PassageFact = InvoiceFact | SiteFact | ExpiryFact;

/** A period in the sandbox. */
export interface Passage {
  /** Oldest first. */
  readonly facts: readonly PassageFact[];
  /** Number of deliveries to webhooks by event. None is sent. */
  readonly events: Readonly<Record<string, number>>;
}

/** An amount, and the number of its decimal digits. Null if unknown. */
interface Money {
  readonly provider: string;
  readonly currency: string;
  readonly amount: number | null;
  readonly scale: number | null;
}

export interface RehearsedOrder extends Money {
  readonly address: string;
  readonly site: string | null;
  readonly plan: string;
}

/** Invoices of one month, such as `2027-03`, in one currency. */
export interface MonthCash extends Money {
  readonly month: string;
  readonly invoices: number;
  /** Number of invoices with an unknown amount. The sums do not contain these. */
  readonly unknown: number;
  /** Part that stays unpaid. */
  readonly unpaid: number | null;
}

export interface Outage {
  /** Domain, or else the service. */
  readonly site: string | null;
  /** Null if the service is not declared. */
  readonly address: string | null;
  /** Days such as `2027-03-01`. `until` is null if the service stays offline. */
  readonly from: string;
  readonly until: string | null;
  readonly why: string;
}

/** A request of the apply that failed once, and an apply that did not repair the result. */
export interface FaultCase {
  readonly request: string;
  readonly fault: "lost_answer" | "crash_before" | "crash_after";
  /** `person`: a person must decide. `failed`: hostform broke a promise. */
  readonly result: "person" | "failed";
  readonly why: readonly string[];
}

export interface RehearsalReport {
  readonly format_version: "1.0";
  readonly project: string;
  readonly mode: "apply" | "destroy";
  readonly timestamp: string;
  readonly months: number;
  /** First day of the months by the host's clock, and the day after the last one. */
  readonly start: string;
  readonly end: string;
  readonly unpaid: Unpaid;
  /** True if the plan applies and converges, and no fault case failed. */
  readonly passed: boolean;
  readonly converges: boolean;
  /** Number of applies until nothing is left. */
  readonly applies: number;
  /** Work that is left after the applies. */
  readonly left: readonly { readonly address: string; readonly text: string }[];
  /** Conditions after the applies, such as a site that waits for a payment. */
  readonly waiting: readonly { readonly address: string; readonly text: string }[];
  /** Warnings of policies, such as a window in which the apply would be refused. */
  readonly warnings: readonly Diagnostic[];
  /** Differences between the plan and the plan in the sandbox. */
  readonly differences: readonly string[];
  /** Errors of the plan and the apply: guards, policies and others. */
  readonly stops: readonly Diagnostic[];
  readonly orders: readonly RehearsedOrder[];
  readonly cash: readonly MonthCash[];
  /** Number of invoices in `cash` that are open at the start. */
  readonly open_invoices: number;
  /** Orders and services whose price the API does not show. */
  readonly unpriced: readonly string[];
  readonly outages: readonly Outage[];
  /** Sites that are offline from the start to the end. */
  readonly offline: readonly string[];
  /** Grants and services that end. `site`: the site that ends. Null for a grant. */
  readonly ends: readonly { readonly on: string; readonly text: string; readonly site: string | null }[];
  /** Changes and conditions of later plans. `from`: first month. */
  readonly later: readonly { readonly from: string; readonly address: string; readonly text: string }[];
  readonly events: readonly { readonly event: string; readonly count: number }[];
  /** Requests and seconds of the applies, and of the plan before them. */
  readonly requests: number;
  readonly seconds: number;
  /** Null without `--faults`. `is_finished`: false if Ctrl-C ended the cases. */
  readonly faults: {
    readonly cases: number;
    readonly is_finished: boolean;
    readonly problems: readonly FaultCase[];
  } | null;
  readonly assumptions: readonly string[];
}
