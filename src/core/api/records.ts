import type { Invoice } from "../model/index.ts";
import {
  type ApiRecord,
  amount,
  type Decoder,
  domain,
  eventNames,
  instant,
  integer,
  part,
  prices,
  WEBSITE,
  word,
} from "./decoder.ts";

/**
 * The records of §2 and their decoders: one form for all variants of servers. Ids are strings (the specification has integers for
 * services and invoices only), absent and empty fields are null, amounts are numbers in the API's own unit, words are as the server
 * wrote them. `raw` is the record as received, with all other fields.
 */

export interface ServiceRecord extends ApiRecord {
  readonly plan: string | null;
  readonly plan_id: number | null;
  readonly product_type: string | null;
  readonly status: string | null;
  readonly domain: string | null;
  /** The API's own form: "monthly", "3 months", "12". */
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
  /** The integer for service creation: `plan_id`, otherwise `id`. */
  readonly plan_id: number | null;
  readonly name: string | null;
  readonly product_type: string | null;
  readonly currency: string | null;
  readonly price: number | null;
  /** Prices by currency, if the server lists several. */
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

export interface RecordTypes {
  readonly service: ServiceRecord;
  readonly invoice: InvoiceRecord;
  readonly plan: PlanRecord;
  readonly grant: GrantRecord;
  readonly webhook: WebhookRecord;
  readonly account: AccountRecord;
  readonly migration_request: MigrationRequestRecord;
}

export type RecordName = keyof RecordTypes;

/** Aliases of `domain`. */
const DOMAIN_NAMES = [
  ...["domain.name", "domain.domain", "domain.fqdn", "domain_name", "domainName", "primary_domain", "fqdn", "hostname"],
  ...["target_domain", "site", "website", "name"],
];

/** Decoder of each record. @internal */
export const decoders: { readonly [N in RecordName]: Decoder<RecordTypes[N]> } = {
  service: {
    noun: "a service",
    one: ["service", "order"],
    many: ["services", "orders"],
    aliases: {
      id: ["service_id", "order_id"],
      plan: ["plan.name", "plan_name"],
      plan_id: ["plan.plan_id", "plan.id"],
      domain: DOMAIN_NAMES,
    },
    fields: {
      plan: word,
      plan_id: integer,
      product_type: word,
      status: word,
      domain,
      billing_cycle: word,
      currency: word,
      price: amount,
      next_due_date: instant,
      provisioning_status: word,
      created_at: instant,
    },
  },
  invoice: {
    noun: "an invoice",
    one: ["invoice"],
    many: ["invoices"],
    aliases: {
      id: ["invoice_id"],
      invoice_number: ["number"],
      order_id: ["service_id", "order.id", "service.id"],
    },
    fields: {
      invoice_number: word,
      status: word,
      currency: word,
      subtotal: amount,
      total: amount,
      due_date: instant,
      paid_at: instant,
      order_id: word,
    },
  },
  plan: {
    noun: "a plan",
    one: ["plan"],
    many: ["plans"],
    // Gap: only plan_id and the Manage fields are specified.
    aliases: {
      id: ["plan_id"],
      plan_id: ["id"],
      name: ["plan", "title", "label", "plan_name", "display_name"],
      product_type: ["type", "product.type", "product", "category"],
      price: ["amount", "list_price", "monthly_price", "cost"],
      billing_cycle: ["cycle", "period", "interval"],
    },
    rowKey: ["currency", "billing_cycle"],
    fields: {
      plan_id: integer,
      name: word,
      product_type: word,
      currency: word,
      price: amount,
      prices,
      billing_cycle: word,
      manage_discount_percent: amount,
      price_after_discount: amount,
    },
  },
  grant: {
    noun: "a grant",
    one: ["grant"],
    many: ["grants"],
    aliases: {
      id: ["grant_id", "uuid"],
      email: [
        ...["user.email", "user_email", "email_address", "grantee.email", "member.email", "invitee.email"],
        ...["invitee_email", "recipient"],
      ],
      permission: ["role", "access", "access_level", "level"],
      expires_at: ["expires", "expiry", "expiration", "expiration_date", "expires_on", "valid_until", "ends_at"],
    },
    likely: {
      email: {
        name: part(
          ...["e?mail", "grantee", "member", "invitee", "invited", "recipient", "user", "login"],
          ...["shared_with", "collaborator"],
        ),
        value: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
      },
    },
    fields: { email: word, permission: word, expires_at: instant, created_at: instant },
  },
  webhook: {
    noun: "a webhook subscription",
    one: ["webhook", "subscription"],
    many: ["webhooks", "subscriptions"],
    aliases: { id: ["webhook_id", "subscription_id", "uuid"], url: ["endpoint"] },
    likely: {
      url: {
        name: part("url", "uri", "endpoint", "target", "callback", "destination", "address"),
        value: /^https?:\/\//i,
      },
    },
    fields: { url: word, events: eventNames, created_at: instant },
  },
  account: {
    noun: "a client account",
    one: ["account", "client_account", "client"],
    many: ["accounts", "client_accounts", "clients"],
    aliases: {
      id: ["account_id", "client_account_id", "uuid"],
      name: ["display_name", "client_name", "title", "label"],
      company_name: ["company.name", "company"],
      company_number: ["company.number", "company.registration_number"],
      vat_number: ["company.vat_number", "company.vat", "vat", "vat_id"],
      currency: ["default_currency"],
    },
    fields: {
      name: word,
      company_name: word,
      company_number: word,
      vat_number: word,
      currency: word,
      created_at: instant,
    },
  },
  migration_request: {
    noun: "a migration request",
    one: ["migration_request", "migrationRequest", "migration"],
    many: ["migration_requests", "migrationRequests", "migration-requests", "migrations"],
    aliases: {
      id: ["migration_request_id", "uuid"],
      domain: DOMAIN_NAMES,
      order_id: ["service_id", "order.id", "service.id", "order", "service"],
    },
    likely: { domain: { name: part("domain", "website", "site"), value: WEBSITE } },
    fields: { domain, order_id: word, status: word, created_at: instant },
  },
};
