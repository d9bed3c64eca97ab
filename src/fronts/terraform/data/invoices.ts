import type { InvoiceRecord } from "../../../core/api/index.ts";
import { reportedInvoice } from "../../../core/kinds/invoice.ts";
import type { JsonObject } from "../../../core/model/index.ts";
import type { Attributes } from "../../../core/model/schema.ts";
import type { DataSession } from "../contract.ts";
import {
  amountText,
  type CheckedDataSource,
  filter,
  listOf,
  moneyText,
  shaped,
  sorted,
  sought,
  told,
  withConfigured,
} from "./define.ts";
import { exactlyOne, existing, fits, theOnly } from "./lookup.ts";

const invoice: Attributes = {
  id: told("string", "Identifier of the invoice."),
  invoice_number: told("string", "Number of the invoice, as it stands on it."),
  status: told("string", "Status, in the API's own word."),
  paid: told("bool", "Whether it is paid: it has a time of payment, or its status says so."),
  currency: told("string", "Currency of the amounts."),
  subtotal: told("number", "Amount before discounts, in the API's own unit."),
  subtotal_text: amountText("subtotal", "9.99 USD"),
  total: told("number", "Amount that is billed, net of any Manage-track discount, in the API's own unit."),
  total_text: amountText("total", "8.99 USD"),
  due_date: told("string", "When it is due (YYYY-MM-DD)."),
  paid_at: told("string", "When it was paid (ISO 8601); null until then."),
  order_id: told("string", "The service that it is for."),
};

function described(record: InvoiceRecord, session: DataSession): JsonObject {
  const { subtotal, total, currency } = record;
  return shaped(invoice, {
    ...record,
    paid: reportedInvoice(record)?.paid ?? null,
    subtotal_text: moneyText(subtotal, currency, session),
    total_text: moneyText(total, currency, session),
  });
}

export const hostingInvoice: CheckedDataSource = {
  name: "hosting_invoice",
  schema: {
    version: 0,
    description: "An invoice of the account. The token needs the billing ability.",
    attributes: {
      ...invoice,
      id: sought("string", "Identifier of the invoice. Either this or `invoice_number`."),
      invoice_number: sought("string", "Number of the invoice, as it stands on it. Either this or `id`."),
    },
  },
  check: (config) => exactlyOne(config, ["id", "invoice_number"]),
  async read(config, session) {
    const found = typeof config.id === "string" ? await withId(config.id, session) : await withNumber(config, session);
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
    none: 'Correct the number; `data "hosting_invoices"` tells the invoices that there are.',
    several: "Give the `id` of the one that is meant.",
  });
}

async function allInvoices({ account }: DataSession): Promise<InvoiceRecord[]> {
  return sorted(await account.invoices(), ({ id }) => id);
}

export const hostingInvoices: CheckedDataSource = {
  name: "hosting_invoices",
  schema: {
    version: 0,
    description: "The invoices of the account, all or some of them. The token needs the billing ability.",
    attributes: {
      status: filter("string", "Only invoices of this status, in the API's own word."),
      paid: filter("bool", "Only invoices that are paid (`true`), or that are not (`false`)."),
      currency: filter("string", "Only invoices in this currency."),
      order_id: filter("string", "Only invoices for this service."),
      invoices: listOf(invoice, "invoices"),
    },
  },
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
