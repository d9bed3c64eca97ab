import { z } from "zod";
import { isObject, type JsonObject } from "../model/index.ts";
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
}

/** Ids are opaque (the specification gives integers for services and invoices only): numbers become text. */
const id = z
  .union([z.number(), z.string(), z.bigint()], "an id (a number or a text)")
  .transform(String)
  .refine((value) => value.trim() !== "", "an id that is not empty");

const scalar = (value: unknown): string | null =>
  typeof value === "string"
    ? value.trim() === ""
      ? null
      : value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : null;

/** A word or a date as it came; absent, empty and nested values are null. */
const text = z.unknown().optional().transform(scalar);

/** An amount in the API's own unit; digits in a text count. */
const amount = z.unknown().optional().transform(numeric);

function numeric(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}

const integer = z
  .unknown()
  .optional()
  .transform((value) => {
    const number = numeric(value);
    return Number.isSafeInteger(number) ? number : null;
  });

const prices = z
  .unknown()
  .optional()
  .transform((value): Record<string, number> => {
    if (!isObject(value)) return {};
    const entries = Object.entries(value).map(([currency, price]) => [currency.toUpperCase(), numeric(price)] as const);
    return Object.fromEntries(entries.filter((entry): entry is [string, number] => entry[1] !== null));
  });

const eventNames = z
  .unknown()
  .optional()
  .transform((value): string[] => {
    const list = Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : [];
    const names = list.map((item) => (isObject(item) ? scalar(item.name ?? item.event) : scalar(item))?.trim());
    return names.filter((name): name is string => name !== undefined && name !== "");
  });

export const serviceForm: Form<ServiceRecord> = {
  noun: "a service",
  one: ["service", "order"],
  many: ["services", "orders"],
  aliases: {
    id: ["service_id", "order_id"],
    plan: ["plan.name", "plan_name"],
    plan_id: ["plan.plan_id", "plan.id"],
    domain: ["domain.name", "domain_name"],
  },
  schema: z.object({
    id,
    plan: text,
    plan_id: integer,
    product_type: text,
    status: text,
    domain: text,
    billing_cycle: text,
    currency: text,
    price: amount,
    next_due_date: text,
    provisioning_status: text,
    created_at: text,
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
    paid_at: text,
    order_id: text,
  }),
};

export const planForm: Form<PlanRecord> = {
  noun: "a plan",
  one: ["plan"],
  many: ["plans"],
  // Gap: only plan_id and the Manage fields are shown.
  aliases: { id: ["plan_id"], plan_id: ["id"], name: ["plan", "title"], product_type: ["type", "product.type"] },
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
  aliases: { id: ["grant_id", "uuid"], email: ["user.email", "user_email"], permission: ["role"] },
  schema: z.object({ id, email: text, permission: text, expires_at: text, created_at: text }),
};

export const webhookForm: Form<WebhookRecord> = {
  noun: "a webhook subscription",
  one: ["webhook", "subscription"],
  many: ["webhooks", "subscriptions"],
  aliases: { id: ["webhook_id", "subscription_id", "uuid"], url: ["endpoint"] },
  schema: z.object({ id, url: text, events: eventNames, created_at: text }),
};

export const accountForm: Form<AccountRecord> = {
  noun: "a client account",
  one: ["account", "client_account", "client"],
  many: ["accounts", "client_accounts", "clients"],
  aliases: { id: ["account_id", "client_account_id", "uuid"] },
  schema: z.object({
    id,
    name: text,
    company_name: text,
    company_number: text,
    vat_number: text,
    currency: text,
    created_at: text,
  }),
};

export const migrationRequestForm: Form<MigrationRequestRecord> = {
  noun: "a migration request",
  one: ["migration_request", "migrationRequest", "migration"],
  many: ["migration_requests", "migrationRequests", "migration-requests", "migrations"],
  aliases: { id: ["migration_request_id", "uuid"], domain: ["domain.name"], order_id: ["service_id", "order.id"] },
  schema: z.object({ id, domain: text, order_id: text, status: text, created_at: text }),
};

/** Reads one record. `problem` says what is missing; nothing of the contents is in it. */
export function readRecord<T>(form: Form<T>, value: unknown): { record: T } | { problem: string } {
  if (!isObject(value)) return { problem: `${form.noun} as an object` };
  const result = form.schema.safeParse(named(form, value));
  if (!result.success) {
    const [issue] = result.error.issues;
    return { problem: `${form.noun} whose "${issue?.path.join(".") ?? ""}" is ${issue?.message ?? "as specified"}` };
  }
  return { record: { ...result.data, raw: value as JsonObject } as T };
}

/** True when the value has an id by any of the names that the form knows. */
export function hasId<T>(form: Form<T>, value: unknown): value is { readonly [key: string]: unknown } {
  return isObject(value) && scalar(named(form, value).id) !== null;
}

/** A copy in which fields that go by another name have their own. A value that is an object does not count as one. */
function named<T>(form: Form<T>, value: { readonly [key: string]: unknown }): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...value };
  for (const [field, aliases] of Object.entries(form.aliases)) {
    if (scalar(value[field]) !== null) continue;
    copy[field] = aliases.map((alias) => at(value, alias)).find((found) => scalar(found) !== null) ?? value[field];
  }
  return copy;
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce((found: unknown, part) => (isObject(found) ? found[part] : undefined), value);
}
