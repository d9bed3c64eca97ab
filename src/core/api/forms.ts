import { z } from "zod";
import { isObject, type JsonObject } from "../model/index.ts";
import {
  amount,
  domain,
  eventNames,
  id,
  instant,
  integer,
  momentOf,
  prices,
  scalar,
  text,
  word,
} from "./field-values.ts";
import type {
  AccountRecord,
  GrantRecord,
  InvoiceRecord,
  MigrationRequestRecord,
  PlanRecord,
  ServiceRecord,
  WebhookRecord,
} from "./records.ts";

/** How one kind of record (§2) is recognised in an answer and read loosely. */
export interface Form<T> {
  /** "a service": for messages. */
  readonly noun: string;
  /** Names of a property that holds one such record. */
  readonly one: readonly string[];
  /** Names of a property that holds a list of them. */
  readonly many: readonly string[];
  /** Other names that a field goes by, dotted where it is nested; the field's own name comes first. */
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  readonly schema: z.ZodType<Omit<T, "raw">>;
  /** Fields that may go by any name of such a form; see {@link likely}. */
  readonly likely?: Readonly<Record<string, Likely>>;
  /** Fields besides the id in which two rows of a list differ: some hosts list a plan once for each of its prices. */
  readonly tellsApart?: readonly (keyof T & string)[];
}

/** An address has no more characters. The patterns of longer texts take the square of the length. */
const LONGEST = 2_048;

/** By what a field is recognised whose names nobody can list. */
interface Likely {
  /** A part of its name, or of its path. */
  readonly name: RegExp;
  readonly value: RegExp;
}

type Fields = { readonly [key: string]: unknown };

/** The same with names in snake_case and without leading underscores, where nothing has that name already. */
export function snakeNames(value: Fields): Fields {
  const other = Object.entries(value).flatMap(([name, held]) => {
    const snake = name
      .replace(/([a-z\d])([A-Z])/g, "$1_$2")
      .replaceAll("-", "_")
      .replace(/^_+/, "")
      .toLowerCase();
    return snake === name || Object.hasOwn(value, snake) ? [] : [[snake, held] as const];
  });
  return other.length === 0 ? value : { ...value, ...Object.fromEntries(other) };
}

/** A host name with a dot, in whatever alphabet. */
const DOMAIN = /^(?=.{4,253}$)(?:[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}\.?$/u;
/** What a value under another name must look like, where such names are used for other things too. */
const FITS: Readonly<Record<string, RegExp>> = {
  domain: new RegExp(`${DOMAIN.source}|^https?://`, "iu"),
  order_id: /^\d+$/,
};
/** Where the domain stands, if not under its own name. */
const DOMAIN_NAMES = [
  ...["domain.name", "domain.domain", "domain.fqdn", "domain_name", "domainName", "primary_domain", "fqdn", "hostname"],
  ...["target_domain", "site", "website", "name"],
];

/** A part of a path, whole: `user` of `user.mail` and `user_mail`, not of `username`. */
const part = (...words: readonly string[]) => new RegExp(`(?:^|[._])(?:${words.join("|")})(?:$|[._])`);
/** Who made a record is nobody that it is about; an address of the record itself is no address in it. */
const ANOTHERS = part(
  "by",
  "owner",
  "creator",
  "grantor",
  "granter",
  "inviter",
  "sender",
  "from",
  "self",
  "links?",
  "href",
);

/** Who a grant is for. */
const EMAIL: Likely = {
  name: part(
    "e?mail",
    "grantee",
    "member",
    "invitee",
    "invited",
    "recipient",
    "user",
    "login",
    "shared_with",
    "collaborator",
  ),
  value: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
};
/** Where events are sent. */
const TARGET: Likely = {
  name: part("url", "uri", "endpoint", "target", "callback", "destination", "address"),
  value: /^https?:\/\//i,
};
/** Which website is moved. */
const WEBSITE: Likely = { name: part("domain", "website", "site"), value: FITS.domain as RegExp };

export const serviceForm: Form<ServiceRecord> = {
  noun: "a service",
  one: ["service", "order"],
  many: ["services", "orders"],
  aliases: {
    id: ["service_id", "order_id"],
    plan: ["plan.name", "plan_name"],
    plan_id: ["plan.plan_id", "plan.id"],
    domain: DOMAIN_NAMES,
  },
  schema: z.object({
    id,
    plan: text,
    plan_id: integer,
    product_type: text,
    status: text,
    domain,
    billing_cycle: text,
    currency: text,
    price: amount,
    next_due_date: text,
    provisioning_status: text,
    created_at: instant,
  }),
};

export const invoiceForm: Form<InvoiceRecord> = {
  noun: "an invoice",
  one: ["invoice"],
  many: ["invoices"],
  aliases: {
    id: ["invoice_id"],
    invoice_number: ["number"],
    order_id: ["service_id", "order.id", "service.id"],
  },
  schema: z.object({
    id,
    invoice_number: text,
    status: text,
    currency: text,
    subtotal: amount,
    total: amount,
    due_date: text,
    paid_at: instant,
    order_id: text,
  }),
};

export const planForm: Form<PlanRecord> = {
  noun: "a plan",
  one: ["plan"],
  many: ["plans"],
  // Gap: only plan_id and the Manage fields are shown.
  aliases: {
    id: ["plan_id"],
    plan_id: ["id"],
    name: ["plan", "title", "label", "plan_name", "display_name"],
    product_type: ["type", "product.type", "product", "category"],
    price: ["amount", "list_price", "monthly_price", "cost"],
    billing_cycle: ["cycle", "period", "interval"],
  },
  tellsApart: ["currency", "billing_cycle"],
  schema: z.object({
    id,
    plan_id: integer,
    name: text,
    product_type: text,
    currency: text,
    price: amount,
    prices,
    billing_cycle: text,
    manage_discount_percent: amount,
    price_after_discount: amount,
  }),
};

export const grantForm: Form<GrantRecord> = {
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
  likely: { email: EMAIL },
  schema: z.object({ id, email: text, permission: text, expires_at: instant, created_at: instant }),
};

export const webhookForm: Form<WebhookRecord> = {
  noun: "a webhook subscription",
  one: ["webhook", "subscription"],
  many: ["webhooks", "subscriptions"],
  aliases: { id: ["webhook_id", "subscription_id", "uuid"], url: ["endpoint"] },
  likely: { url: TARGET },
  schema: z.object({ id, url: text, events: eventNames, created_at: instant }),
};

export const accountForm: Form<AccountRecord> = {
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
  schema: z.object({
    id,
    name: text,
    company_name: text,
    company_number: text,
    vat_number: text,
    currency: text,
    created_at: instant,
  }),
};

export const migrationRequestForm: Form<MigrationRequestRecord> = {
  noun: "a migration request",
  one: ["migration_request", "migrationRequest", "migration"],
  many: ["migration_requests", "migrationRequests", "migration-requests", "migrations"],
  aliases: {
    id: ["migration_request_id", "uuid"],
    domain: DOMAIN_NAMES,
    order_id: ["service_id", "order.id", "service.id", "order", "service"],
  },
  likely: { domain: WEBSITE },
  schema: z.object({ id, domain, order_id: text, status: text, created_at: instant }),
};

/** Reads one record. `problem` says what is missing; nothing of the contents is in it. */
export function readRecord<T>(form: Form<T>, value: unknown): { record: T } | { problem: string } {
  if (!isObject(value)) return { problem: `${form.noun} as an object` };
  const item = unwrapped(form, value);
  const result = form.schema.safeParse(named(form, item));
  if (!result.success) {
    const [issue] = result.error.issues;
    return { problem: `${form.noun} whose "${issue?.path.join(".") ?? ""}" is ${issue?.message ?? "as specified"}` };
  }
  return { record: { ...result.data, raw: item as JsonObject } as T };
}

/** What any record may be wrapped in, besides its name. */
export const WRAPPERS = ["data", "result", "item", "record", "resource", "payload", "response"];

/** A record, which may be wrapped on its own: under `data` or under its name. */
function unwrapped<T>(form: Form<T>, value: Fields): Fields {
  if (hasId(form, value)) return value;
  const inner = [...WRAPPERS, ...form.one].map((name) => value[name]).find((held) => hasId(form, held));
  return isObject(inner) ? inner : value;
}

/** True when the value has an id by any of the names that the form knows. */
export function hasId<T>(form: Form<T>, value: unknown): value is { readonly [key: string]: unknown } {
  return isObject(value) && scalar(named(form, value).id) !== null;
}

/**
 * A copy in which fields that go by another name have their own. A value that is an object does not count as one. A
 * domain goes by another name only where its own is absent, and only what looks like one is taken for it.
 */
function named<T>(form: Form<T>, said: Fields): Record<string, unknown> {
  const fields = ["attributes", "fields", "properties"].map((name) => said[name]).find(isObject) ?? {};
  const value = snakeNames({ ...fields, ...said });
  const copy: Record<string, unknown> = { ...value };
  for (const [field, aliases] of Object.entries(form.aliases)) {
    const own = value[field];
    if (scalar(own) !== null || (field === "domain" && own !== undefined && !isObject(own))) continue;
    const fits = (found: unknown) => word(momentOf(found)) !== null && (FITS[field]?.test(word(found) ?? "") ?? true);
    copy[field] = aliases.map((alias) => at(value, alias)).find(fits) ?? likely(value, form.likely?.[field]) ?? own;
  }
  return copy;
}

/**
 * The one value of a record that looks like a field under a name that may mean it; undefined where none does, or several
 * differ: what a record is about is not guessed.
 */
function likely(value: Fields, sought: Likely | undefined): string | undefined {
  if (sought === undefined) return undefined;
  const held = Object.entries(value).flatMap(([name, inner]): (readonly [string, unknown])[] =>
    isObject(inner) ? Object.entries(inner).map(([own, one]) => [`${name}.${own}`, one]) : [[name, inner]],
  );
  const found = held.flatMap(([name, one]) => {
    const said = sought.name.test(name) && !ANOTHERS.test(name) ? word(one) : null;
    return said !== null && said.length <= LONGEST && sought.value.test(said) ? [said] : [];
  });
  const [only, ...others] = new Set(found);
  return others.length === 0 ? only : undefined;
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce((found: unknown, part) => (isObject(found) ? found[part] : undefined), value);
}
