// Invoices and their payment.
import { readMoment } from "./moment.ts";

/** The invoice of an order (§2). Amounts are in the API's own unit. */
export interface Invoice {
  readonly id: string | null;
  readonly number: string | null;
  readonly currency: string | null;
  readonly total: number | null;
  readonly status: string | null;
  readonly due_date: string | null;
  /** True if the invoice is known to be paid. */
  readonly paid?: boolean;
}

const UNPAID =
  /\b(?:unpaid|not|non|no|open|due|overdue|pending|awaiting|waiting|outstanding|issued|sent|draft|new|part|partial|partially|cancel|canceled|cancelled|void|voided|refund|refunded|reversed|disputed|uncollectible|failed|declined)\b/;

/**
 * Returns true if an invoice is paid. Undefined if unknown. A known status word takes precedence over the payment time,
 * because some hosts fill the time with a zero date (§2 does not define the words).
 */
export function isPaid({ paid_at, status }: { readonly paid_at: string | null; readonly status: string | null }) {
  const words = (status ?? "")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/[^\p{L}]+/gu, " ")
    .toLowerCase();
  if (UNPAID.test(words)) return false;
  if (/\b(?:paid|settled)\b/.test(words)) return true;
  const { form } = readMoment(paid_at);
  return form === "unknown" ? undefined : form !== "none";
}

/** Returns true if an invoice must still be paid: its status is neither paid nor cancelled (§2 does not define the words). */
export const isOpen = (invoice: Parameters<typeof isPaid>[0]): boolean =>
  isPaid(invoice) === false && !/cancel|void|refund|revers|draft|uncollect|written/i.test(invoice.status ?? "");

/** Returns true if the total of an invoice certainly exceeds the maximum of its order's quote. */
export const isAboveQuote = (
  { currency, total }: Pick<Invoice, "currency" | "total">,
  quote: { readonly currency: string | null; readonly most: number | null },
): boolean => total !== null && quote.most !== null && currency === quote.currency && total > quote.most;

interface Listed extends Omit<Invoice, "number" | "paid"> {
  readonly invoice_number: string | null;
  readonly paid_at: string | null;
}

export const invoiceOf = (record: Listed): Invoice => {
  const { id, invoice_number: number, currency, total, status, due_date } = record;
  return { id, number, currency, total, status, due_date, paid: isPaid(record) === true };
};
