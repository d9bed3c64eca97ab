/** Compares the receipts of mandates with the invoices of the account. Sends no request. */
import type { InvoiceRecord } from "../../core/api/index.ts";
import { conditionFor } from "../../core/messages/index.ts";
import { type Condition, formatMoney, type Receipt, type State } from "../../core/model/index.ts";
import { dayIn, daysAfter, invoiceName, type MoneyScale, monthsAfter } from "../../report/index.ts";
import { firstInvoice } from "../history.ts";
import { excessesIn, type MandateRecord } from "./ledger.ts";

/** Invoices of one account. */
interface Listed {
  readonly invoices: readonly InvoiceRecord[];
  /** Reason why not all invoices were read. */
  readonly why: string | undefined;
}

/**
 * Returns a condition for each order that differs from its receipt. Skips accounts whose invoices were not all read.
 * @param receipts receipts of this project.
 */
export function unreconciled(
  receipts: readonly Receipt[],
  lists: ReadonlyMap<string, Listed>,
  { resources }: Pick<State, "resources">,
  scale: MoneyScale,
): readonly Condition[] {
  const all = receipts.flatMap(({ mandate, began, orders }) => orders.map((order) => ({ ...order, mandate, began })));
  const named = new Set(all.map(({ provider, invoice }) => `${provider} ${invoice?.id}`));
  const seen = new Set<string>();
  return all.flatMap((order) => {
    const { address, provider, mandate, began, currency, amount, invoice } = order;
    const { invoices, why } = lists.get(provider) ?? { invoices: [], why: "not read" };
    if (why !== undefined) return [];
    const record = resources.get(address);
    const id = order.id ?? (record?.private.pending === undefined ? record?.attributes.id : null);
    const because = (text: string) => conditionFor("receipt", { address, mandate, why: text });
    if (typeof id !== "string") return because("the order has no id, because its response was lost");
    const key = `${provider} ${address} ${id}`;
    if (seen.has(key)) return [];
    seen.add(key);
    const own = invoices.filter((one) => one.order_id === id);
    const first = invoice?.id == null ? firstInvoice(own) : invoices.find((one) => one.id === invoice.id);
    if (first === undefined) {
      // A free order may have no invoice, and a host may not link invoices to orders.
      const isUnlinked = amount === 0 || invoices.every(({ order_id }) => order_id === null);
      if (invoice === null && isUnlinked) return [];
      return because(
        `the account does not have ${invoice === null ? "the invoice" : invoiceName(invoice)} of the order`,
      );
    }
    const money = (total: number | null, of: string | null) => formatMoney(total, of, scale(of ?? "", provider));
    const shown = ({ id: name, invoice_number: number, total, currency: of }: InvoiceRecord) =>
      `${invoiceName({ id: name, number })} (${money(total, of)})`;
    const stated = invoice?.total ?? null;
    const isSame = stated === null ? amount === null || (first.total ?? 0) <= amount : first.total === stated;
    const isInCurrency = (first.currency ?? currency).trim().toUpperCase() === currency;
    const receipt = stated === null ? `at most ${money(amount, currency)}` : money(stated, currency);
    const months = record?.attributes.id === id ? Number(record.attributes.term) : Number.NaN;
    const renewal = months > 0 ? daysAfter(monthsAfter(began.slice(0, 10), months), -1) : "";
    const others = own.filter(
      (one) => one !== first && !named.has(`${provider} ${one.id}`) && (dayIn(one.due_date) ?? renewal) < renewal,
    );
    return [
      ...(isSame && isInCurrency ? [] : [`the account has ${shown(first)}, but the receipt has ${receipt}`]),
      ...others.map((one) => `no receipt has ${shown(one)}, which is due before the first renewal`),
    ].map(because);
  });
}

/** Returns a condition for each invoice above its mandate. */
export const overcharged = ({ id, mandate, orders }: MandateRecord, scale: MoneyScale): readonly Condition[] =>
  (mandate === null ? [] : excessesIn(mandate, orders.values())).map(({ order, currency, limit }) => {
    const { address, provider, spend } = order;
    const money = (amount = 0) => formatMoney(amount, currency, scale(currency, provider));
    const why = `its invoice of ${money(spend[currency])} exceeds the mandate, which allows ${money(limit)}`;
    return conditionFor("receipt", { address, mandate: id, why });
  });
