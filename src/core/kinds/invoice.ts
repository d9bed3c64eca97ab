import * as z from "zod";
import type { InvoiceRecord } from "../api/index.ts";
import { scaleProblem } from "../messages/index.ts";
import type { Diagnostic, JsonObject } from "../model/index.ts";
import { attribute } from "./attribute.ts";
import type { ReadSettings } from "./kind.ts";

/** Attributes of paid kinds with the invoice of the order (§1). */
export const invoiceAttributes = {
  invoice_id: attribute(z.string(), {
    description: "Id of the invoice that the order raised.",
    computed: true,
    unreadable: true,
  }),
  invoice_number: attribute(z.string(), {
    description: "Number of the invoice that the order raised.",
    computed: true,
    unreadable: true,
  }),
  invoice_total: attribute(z.number(), {
    description: "Amount billed by that invoice, net of any discount, in the API's own unit.",
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

/** Returns the error if an order's invoice contradicts the provider's scale. The order remains valid and stays in the state. */
export const invoiceProblem = (
  invoice: InvoiceRecord | null,
  { moneyScale }: Pick<ReadSettings, "moneyScale">,
): Diagnostic | undefined => (invoice === null ? undefined : scaleProblem(moneyScale, "invoice", invoice));
