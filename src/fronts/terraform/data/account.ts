/** Data sources of the account: invoices, client accounts, webhook subscriptions. */
import type { InvoiceRecord } from "../../../core/api/index.ts";
import { requireScale } from "../../../core/messages/index.ts";
import {
  type Attributes,
  equal,
  isNameLike,
  isOpen,
  isPaid,
  type JsonObject,
  sameUrl,
} from "../../../core/model/index.ts";
import type { DataSession, DataSource } from "../index.ts";
import { amountText, moneyText } from "../schema/of-kind.ts";
import {
  allOf,
  attributesOf,
  computed,
  domainFilter,
  exactlyOne,
  existing,
  fits,
  listing,
  PATTERN,
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
  unpaid: computed("bool", "True if the invoice must still be paid: it is neither paid nor cancelled."),
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
    unpaid: isOpen(record),
    subtotal_text: moneyText(subtotal, currency, session.moneyScale),
    total_text: moneyText(total, currency, session.moneyScale),
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

export const hostingInvoices = listing("invoices", {
  description: "The invoices of the account, all or some of them. The token needs the billing ability.",
  item: invoice,
  filters: {
    status: [fits, "Only invoices of this status, in the API's own word."],
    paid: [equal, "Only invoices that are paid (`true`), or that are not (`false`).", "bool"],
    unpaid: [equal, "Only invoices that must still be paid (`true`), or that must not (`false`).", "bool"],
    currency: [fits, "Only invoices in this currency."],
    order_id: [equal, "Only invoices for this service."],
    domain: domainFilter("invoices for services of", " Reads the list of services."),
  },
  async all(config, session) {
    const records = await allInvoices(session);
    const services = config.domain === null ? [] : await allOf("hosting_service", session);
    const domains = new Map(services.map(({ id, attributes }) => [id, attributes.domain ?? null]));
    return records.map((record) => ({
      ...described(record, session),
      domain: domains.get(record.order_id ?? "") ?? null,
    }));
  },
});

const clientAccount: Attributes = {
  id: computed("string", "Identifier of the client account."),
  name: computed("string", "Name of the client."),
  company_name: computed("string", "Registered name of the company."),
  company_number: computed("string", "Registration number of the company."),
  vat_number: computed("string", "VAT number."),
  currency: computed("string", "Billing currency of the client."),
  created_at: computed("string", "Time of creation (ISO 8601)."),
};

export const hostingClientAccounts = listing("client_accounts", {
  description:
    "The client accounts of an agency (Manage track only), all or some of them, whether or not Terraform manages them.",
  item: clientAccount,
  filters: {
    name: [isNameLike, `Only clients of this name: ${PATTERN}.`],
    company_number: [fits, "Only the company with this registration number."],
    vat_number: [fits, "Only the company with this VAT number."],
    currency: [fits, "Only clients with this billing currency."],
  },
  all: attributesOf("hosting_client_account"),
});

const webhook: Attributes = {
  id: computed("string", "Identifier of the subscription."),
  url: computed("string", "URL that receives the events."),
  events: computed({ set: "string" }, "Names of the events that are delivered."),
  created_at: computed("string", "Time of registration (ISO 8601)."),
};

export const hostingWebhooks = listing("webhooks", {
  description:
    "The webhook subscriptions of the account, all or some of them, whether or not Terraform manages them. Their signing secrets cannot be read: the API returns each once, at registration.",
  item: webhook,
  filters: {
    url: [sameUrl, "Only subscriptions of this URL."],
    events: [
      (wanted, events) => Array.isArray(wanted) && Array.isArray(events) && wanted.every((one) => events.includes(one)),
      "Only subscriptions that deliver all of these events.",
      { set: "string" },
    ],
  },
  all: attributesOf("hosting_webhook"),
});
