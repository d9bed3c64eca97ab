/**
 * The account report: one model behind every form of `hostform status`. It is plain JSON, and `schemas/status.schema.json` comes from it.
 * Import its type only, so that a command loads zod only if it needs zod. Amounts are in the API's own unit, and `scale` of an account
 * has their decimal places. Sites are domains as Unicode.
 */
import * as z from "zod";
import type { Json } from "../../core/model/index.ts";

const json = z.json() as z.ZodType<Json>;
const text = z.string();
const textOrNull = text.nullable();
const amount = z.number().nullable();
const count = z.number().int();
const date = z.iso.date();
const instant = z.iso.datetime({ offset: true });

/** Owner and object of an entry. `address` is null if the object is not declared. */
const about = { provider: text, client: textOrNull, address: textOrNull, site: textOrNull };

/** A condition as in `plan --json`, a pending create request, or an error of the plan. */
const condition = z.looseObject({
  ...about,
  condition: text.describe("Name of a condition, `pending` or `error`"),
  summary: text,
  detail: text,
  since: instant.nullable().describe("Time when hostform first recorded the condition, which may be older"),
  fix: text.optional(),
});

const object = z.object({
  ...about,
  type: text,
  id: textOrNull,
  name: text,
  sync: z.enum(["synced", "differs", "pending", "not_read", "undeclared"]),
  conditions: z.array(text),
  status: textOrNull,
  registered_until: date.nullable().describe("Domains only. Estimated from order date, years and paid renewals"),
  secret: z.enum(["known", "unknown"]).nullable().describe("Webhooks only"),
});

const service = object.omit({ registered_until: true, secret: true }).extend({
  is_live: z.boolean(),
  plan: textOrNull,
  currency: textOrNull,
  price: amount.describe("List price of one billing cycle"),
  monthly: amount.describe("List price of one month, rounded up"),
  next_due_date: date.nullable(),
});

const invoice = z.object({
  ...about,
  id: text,
  number: textOrNull,
  status: textOrNull,
  due_date: date.nullable(),
  paid_at: textOrNull,
  service_id: textOrNull,
  is_open: z.boolean(),
  is_overdue: z.boolean(),
  currency: textOrNull,
  quoted: amount.describe("Amount that was quoted when hostform ordered, if recorded"),
  total: amount,
});

const sum = { provider: text, currency: text, total: z.number(), count };

const grant = z.object({
  ...about,
  type: text,
  service_id: textOrNull,
  email: text,
  permission: textOrNull,
  expires_at: textOrNull,
  expires_soon: z.boolean().describe("Within 14 days"),
  is_declared: z.boolean(),
  is_outside: z.boolean().describe("Outside `grantee_domains` of the policy"),
});

export const accountReport = z.object({
  format_version: z.literal("1.0"),
  project: text,
  timestamp: instant,
  accounts: z.array(z.object({ provider: text, name: text, host: text, scale: count.nullable() })),
  overview: z.object({
    declared: count,
    synced: count,
    services: count.describe("Services of the account that have not ended"),
    live: count,
    offline: count,
    offline_since: instant.nullable(),
    unpaid: z.array(z.object({ ...sum, due_date: date.nullable().describe("Earliest due date") })),
    pending: count,
  }),
  attention: z.array(condition),
  services: z.array(service),
  objects: z.array(object),
  money: z.object({
    unread: textOrNull.describe("Reason why not all invoices were read"),
    run_rate: z.array(z.object({ client: textOrNull, ...sum })),
    due: z.array(z.object({ week: date.describe("Monday"), ...sum })),
    renewals: z.array(z.object({ days: count, ...sum })),
    invoices: z.array(invoice),
  }),
  access: z.object({
    as_of: instant.nullable().describe("Oldest read of the grants that this run did not read"),
    is_complete: z.boolean().describe("True if this run read the grants of every service"),
    grants: z.array(grant),
  }),
  drift: z.array(z.object({ ...about, attribute: text, declared: json, live: json, since: instant.nullable() })),
  unread: z.array(z.object({ provider: text, what: text, why: text })),
  holds: z.array(text).describe("Names of the conditions that hold, and drift"),
  requests: z.object({
    sent: count,
    full: count.describe("Forecast with the grants of each service"),
    full_seconds: count,
  }),
});

export type AccountReport = z.infer<typeof accountReport>;
