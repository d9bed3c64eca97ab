import * as z from "zod";
import type { Json } from "../../src/core/model/index.ts";
import type { AccountReport } from "../../src/report/status/model.ts";
import { SERVICE_STATES } from "../../src/report/status/states.ts";

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
  state: z
    .enum(SERVICE_STATES)
    .describe("`suspended`: as declared. From `gone` on: a declared service that the account does not list"),
  plan: textOrNull,
  currency: textOrNull,
  price: amount.describe("List price of one billing cycle"),
  monthly: amount.describe("List price of one month, rounded up"),
  next_due_date: date.nullable(),
});

const renewal = z.object({
  ...about,
  service_id: textOrNull,
  due_date: date.describe("First renewal within 90 days"),
  currency: textOrNull,
  next_30_days: amount.describe("List price of the renewals of the next 30 days"),
  next_60_days: amount,
  next_90_days: amount,
});

const invoice = z.object({
  ...about,
  id: text,
  number: textOrNull,
  status: textOrNull.describe("Word of the host"),
  due_date: date.nullable(),
  paid_at: textOrNull,
  service_id: textOrNull,
  is_open: z.boolean(),
  is_overdue: z.boolean(),
  currency: textOrNull,
  quoted: amount.describe("First invoice of an order only. Upper bound by the listed price, from the history"),
  total: amount,
  is_above_quote: z.boolean(),
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

const accountReport = z.object({
  format_version: z.literal("1.0"),
  project: text,
  timestamp: instant,
  accounts: z.array(z.object({ provider: text, name: text, host: text, scale: count.nullable() })),
  overview: z.object({
    declared: count,
    synced: count,
    services: count.describe("Services of the account that have not ended"),
    states: z
      .record(z.enum(SERVICE_STATES), count)
      .describe("Number of services in each state. The sum is the number of entries of `services`"),
    offline_since: instant
      .nullable()
      .describe("Earliest time when hostform first recorded an offline service, which may be offline for longer"),
    unpaid: z.array(z.object({ ...sum, due_date: date.nullable().describe("Earliest due date") })),
    pending: count,
  }),
  attention: z.array(condition),
  services: z.array(service),
  objects: z.array(object),
  money: z.object({
    unread: textOrNull.describe("Reason why not all invoices were read"),
    run_rate: z
      .array(z.object({ client: textOrNull, is_suspended: z.boolean(), ...sum }))
      .describe("List prices of an average month"),
    due: z.array(z.object({ week: date.describe("Monday"), ...sum })),
    renewals: z.array(renewal),
    invoices: z.array(invoice),
  }),
  access: z.object({
    as_of: instant.nullable().describe("Oldest read of the grants that this run did not read"),
    is_complete: z.boolean().describe("True if this run read the grants of every service"),
    grants: z.array(grant),
  }),
  drift: z.array(z.object({ ...about, attribute: text, declared: json, live: json, since: instant.nullable() })),
  changes: z
    .array(z.object({ at: instant, who: textOrNull, command: text, effects: z.array(text) }))
    .describe("Last entries of the history. Empty for a part of the account"),
  unread: z.array(z.object({ provider: text, what: text, why: text })),
  holds: z.array(text).describe("Names for `--fail-on` that hold"),
  requests: z.object({
    sent: count,
    full: count.describe("Forecast with the grants of each service"),
    full_seconds: count,
  }),
}) satisfies z.ZodType<AccountReport>;

/** `schemas/status.schema.json`: the JSON Schema of `status --json`. */
export function statusSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(accountReport);
  const head = {
    $schema,
    title: "hostform status",
    $comment: "Generated by `npm run generate` from scripts/generate/status-schema.ts. Do not edit.",
  };
  return `${JSON.stringify({ ...head, ...schema }, null, 2)}\n`;
}
