import * as z from "zod";
import type { InvoiceRecord } from "../api/index.ts";
import { scaleProblem } from "../messages/index.ts";
import type { Diagnostic, JsonObject } from "../model/index.ts";
import { attribute } from "./attribute.ts";
import type { ReadSettings } from "./kind.ts";

/** Attributes for the invoice of an order (§1), for paid kinds. */
export const invoiceAttributes = {
  invoice_id: attribute(z.string(), {
    description: "Id of the order's invoice.",
    computed: true,
    unreadable: true,
  }),
  invoice_number: attribute(z.string(), {
    description: "Number of the order's invoice.",
    computed: true,
    unreadable: true,
  }),
  invoice_total: attribute(z.number(), {
    description: "Total of the order's invoice after discounts, in the API's own unit.",
    computed: true,
    unreadable: true,
  }),
};

export function recordedInvoice(invoice: InvoiceRecord | null): JsonObject {
  return {
    invoice_id: invoice?.id ?? null,
    invoice_number: invoice?.invoice_number ?? null,
    invoice_total: invoice?.total ?? null,
  };
}

/** Returns the error about an invoice that contradicts `money_scale`. The order itself is valid and saved. */
export const invoiceProblem = (
  invoice: InvoiceRecord | null,
  { moneyScale }: Pick<ReadSettings, "moneyScale">,
): Diagnostic | undefined => (invoice === null ? undefined : scaleProblem(moneyScale, "invoice", invoice));
