/** Data sources of the account: invoices, client accounts, webhook subscriptions. */
import type { InvoiceRecord } from "../../../core/api/index.ts";
import { requireScale } from "../../../core/messages/index.ts";
import { type Attributes, isPaid, type JsonObject } from "../../../core/model/index.ts";
import type { DataSession, DataSource } from "../index.ts";
import {
  allOf,
  amountText,
  computed,
  exactlyOne,
  existing,
  filter,
  fits,
  listOf,
  moneyText,
  readOnly,
  shaped,
  sorted,
  sought,
  theOnly,
  withConfigured,
} from "./define.ts";

const invoice: Attributes = {
  id: computed("string", "Identifier of the invoice."),
  invoice_number: computed("string", "Number that is printed on the invoice."),
  status: computed("string", "Status, in the API's own word."),
  paid: computed("bool", "True if the invoice has a time of payment or a status for paid invoices."),
  currency: computed("string", "Currency of the amounts."),
  subtotal: computed("number", "Amount before discounts, in the API's own unit."),
  subtotal_text: amountText("subtotal", "9.99 USD"),
  total: computed("number", "Amount that is billed, net of any Manage-track discount, in the API's own unit."),
  total_text: amountText("total", "8.99 USD"),
  due_date: computed("string", "Due date (YYYY-MM-DD)."),
  paid_at: computed("string", "Time of payment (ISO 8601). Null for an unpaid invoice."),
  order_id: computed("string", "Identifier of the service."),
};

function described(record: InvoiceRecord, session: DataSession): JsonObject {
  const { subtotal, total, currency } = record;
  return shaped(invoice, {
    ...record,
    paid: isPaid(record) === true,
    subtotal_text: moneyText(subtotal, currency, session),
    total_text: moneyText(total, currency, session),
  });
}

export const hostingInvoice: DataSource = {
  name: "hosting_invoice",
  schema: readOnly("An invoice of the account. The token needs the billing ability.", {
    ...invoice,
    id: sought("string", "Identifier of the invoice. Either this or `invoice_number`."),
    invoice_number: sought("string", "Number of the invoice, as it stands on it. Either this or `id`."),
  }),
  check: (config) => exactlyOne(config, ["id", "invoice_number"]),
  async read(config, session) {
    const found = typeof config.id === "string" ? await withId(config.id, session) : await withNumber(config, session);
    requireScale(session.moneyScale, "invoice", [found]);
    return withConfigured(config, described(found, session));
  },
};

function withId(id: string, { client, stop }: DataSession): Promise<InvoiceRecord> {
  const reading = client.invoices.get(id, { signal: stop });
  return existing(reading, { noun: "invoice", id, attribute: "id", source: "hosting_invoices" });
}

async function withNumber({ invoice_number: number }: JsonObject, session: DataSession): Promise<InvoiceRecord> {
  const found = (await allInvoices(session)).filter((record) => fits(number, record.invoice_number));
  return theOnly(found, {
    what: `invoice with the number ${JSON.stringify(number)}`,
    attribute: "invoice_number",
    nameOf: ({ id }) => id,
    none: "Correct the number. The data source `hosting_invoices` lists the existing ones.",
    several: "Set the `id` of the one you mean.",
  });
}

async function allInvoices({ account }: DataSession): Promise<InvoiceRecord[]> {
  return sorted(await account.invoices.all({ isShown: true }), ({ id }) => id);
}

export const hostingInvoices: DataSource = {
  name: "hosting_invoices",
  schema: readOnly("The invoices of the account, all or some of them. The token needs the billing ability.", {
    status: filter("string", "Only invoices of this status, in the API's own word."),
    paid: filter("bool", "Only invoices that are paid (`true`), or that are not (`false`)."),
    currency: filter("string", "Only invoices in this currency."),
    order_id: filter("string", "Only invoices for this service."),
    invoices: listOf(invoice, "invoices"),
  }),
  async read(config, session) {
    const fitting = (await allInvoices(session))
      .filter(
        ({ status, currency, order_id }) =>
          fits(config.status, status) &&
          fits(config.currency, currency) &&
          (config.order_id === null || config.order_id === order_id),
      )
      .map((record) => described(record, session))
      .filter(({ paid }) => config.paid === null || config.paid === paid);
    return { ...config, invoices: fitting };
  },
};

const clientAccount: Attributes = {
  id: computed("string", "Identifier of the client account."),
  name: computed("string", "Name of the client."),
  company_name: computed("string", "Registered name of the company."),
  company_number: computed("string", "Registration number of the company."),
  vat_number: computed("string", "VAT number."),
  currency: computed("string", "Billing currency of the client."),
  created_at: computed("string", "Time of creation (ISO 8601)."),
};

export const hostingClientAccounts: DataSource = {
  name: "hosting_client_accounts",
  schema: readOnly("The client accounts of an agency (Manage track only), whether or not Terraform manages them.", {
    client_accounts: listOf(clientAccount, "client accounts"),
  }),
  async read(_config, session) {
    const all = await allOf("hosting_client_account", session);
    return { client_accounts: all.map(({ attributes }) => shaped(clientAccount, attributes)) };
  },
};

const webhook: Attributes = {
  id: computed("string", "Identifier of the subscription."),
  url: computed("string", "URL that receives the events."),
  events: computed({ set: "string" }, "Names of the events that are delivered."),
  created_at: computed("string", "Time of registration (ISO 8601)."),
};

export const hostingWebhooks: DataSource = {
  name: "hosting_webhooks",
  schema: readOnly(
    "The webhook subscriptions of the account, whether or not Terraform manages them. Their signing secrets cannot be read: the API returns each once, at registration.",
    { webhooks: listOf(webhook, "subscriptions") },
  ),
  async read(_config, session) {
    const all = await allOf("hosting_webhook", session);
    return { webhooks: all.map(({ attributes }) => shaped(webhook, attributes)) };
  },
};
