import type { Invoice, JsonObject } from "../model/index.ts";

/**
 * The records of §2 as the client hands them out: one shape whatever the server's variant. Ids are strings (the
 * specification gives integers for services and invoices only), absent and empty fields are null, amounts are numbers
 * in the API's own unit, words are as the server wrote them. `raw` is the record as it came, for what is not named.
 */
interface ApiRecord {
  readonly id: string;
  readonly raw: JsonObject;
}

export interface ServiceRecord extends ApiRecord {
  readonly plan: string | null;
  readonly plan_id: number | null;
  readonly product_type: string | null;
  readonly status: string | null;
  readonly domain: string | null;
  /** As it came: "monthly", "3 months", "12". */
  readonly billing_cycle: string | null;
  readonly currency: string | null;
  readonly price: number | null;
  readonly next_due_date: string | null;
  readonly provisioning_status: string | null;
  readonly created_at: string | null;
}

export interface InvoiceRecord extends ApiRecord, Omit<Invoice, "id" | "number"> {
  readonly invoice_number: string | null;
  readonly subtotal: number | null;
  readonly paid_at: string | null;
  readonly order_id: string | null;
}

export interface PlanRecord extends ApiRecord {
  /** The integer that service creation takes; from `plan_id`, else `id`. */
  readonly plan_id: number | null;
  readonly name: string | null;
  readonly product_type: string | null;
  readonly currency: string | null;
  readonly price: number | null;
  /** Prices by currency where the server lists several. */
  readonly prices: Readonly<Record<string, number>>;
  readonly billing_cycle: string | null;
  readonly manage_discount_percent: number | null;
  readonly price_after_discount: number | null;
}

export interface GrantRecord extends ApiRecord {
  readonly email: string | null;
  readonly permission: string | null;
  readonly expires_at: string | null;
  readonly created_at: string | null;
}

export interface WebhookRecord extends ApiRecord {
  readonly url: string | null;
  readonly events: readonly string[];
  readonly created_at: string | null;
}

export interface AccountRecord extends ApiRecord {
  readonly name: string | null;
  readonly company_name: string | null;
  readonly company_number: string | null;
  readonly vat_number: string | null;
  readonly currency: string | null;
  readonly created_at: string | null;
}

export interface MigrationRequestRecord extends ApiRecord {
  readonly domain: string | null;
  readonly order_id: string | null;
  readonly status: string | null;
  readonly created_at: string | null;
}

export interface DomainAvailability {
  readonly domain: string;
  /** null when the answer cannot be understood. */
  readonly available: boolean | null;
  readonly raw: JsonObject;
}

/** §4: the answer of an order, wherever the server put the invoice. */
export interface ServiceOrder {
  readonly service: ServiceRecord;
  readonly invoice: InvoiceRecord | null;
}

export interface DomainOrder {
  /** null when the answer names no id. */
  readonly id: string | null;
  readonly status: string | null;
  readonly invoice: InvoiceRecord | null;
  readonly raw: JsonObject;
}

/** A webhook as its registration answers it. */
export interface Registration extends Omit<WebhookRecord, "id"> {
  readonly id: string | null;
  readonly secret: string | null;
  /** Without a secret: the names that the answer had. */
  readonly names?: string;
}

/** What each mutation answers. `null`: nothing usable (an empty or 204 answer); `secret`/`password` may be null too. */
export interface Answers {
  createService: ServiceOrder;
  suspendService: null;
  unsuspendService: null;
  resetPassword: {
    readonly password: string | null;
    /** Without a password: the names that the answer had. Absent: it was empty, a text or a part of one. */
    readonly names?: string;
  };
  createGrant: GrantRecord | null;
  revokeGrant: null;
  createWebhook: Registration | null;
  deleteWebhook: null;
  registerDomain: DomainOrder | null;
  createAccount: AccountRecord | null;
  createMigrationRequest: MigrationRequestRecord | null;
}
