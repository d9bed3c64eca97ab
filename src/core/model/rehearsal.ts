/** Facts of a rehearsal: the events in an account while its time runs in the sandbox. Times are in ISO 8601, UTC. */

/**
 * Assumption about payments. `none`: every invoice is paid at once, also those that are open now. `open`: invoices that are
 * open now stay unpaid, and later ones are paid. `all`: no invoice is paid.
 */
export type Unpaid = "none" | "open" | "all";

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
  readonly invoice: string;
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
  readonly from: string;
  readonly to: string;
  /** Oldest first. */
  readonly facts: readonly PassageFact[];
  /** Invoices that were open at the beginning. */
  readonly open: readonly InvoiceFact[];
  /** Number of deliveries to webhooks by event. None is sent. */
  readonly events: Readonly<Record<string, number>>;
}
