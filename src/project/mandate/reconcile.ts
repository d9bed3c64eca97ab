/** Compares the receipts of mandates with the invoices of the account. Sends no request. */
import type { InvoiceRecord } from "../../core/api/index.ts";
import { kindAt } from "../../core/kinds/index.ts";
import { conditionFor } from "../../core/messages/index.ts";
import { type Condition, formatMoney, idOf, type Receipt, type State } from "../../core/model/index.ts";
import { dayIn, daysAfter, type MoneyScale, monthsAfter } from "../../report/index.ts";
import { firstInvoice } from "../history.ts";

/** Invoices of one account. */
interface Listed {
  readonly invoices: readonly InvoiceRecord[];
  /** Reason why not all invoices were read. */
  readonly why: string | undefined;
}

const nameOf = ({ id, number }: { readonly id: string | null; readonly number: string | null }) =>
  `invoice ${number ?? id ?? "without a number"}`;

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
  const named = new Set(
    receipts.flatMap(({ orders }) => orders.flatMap(({ provider, invoice }) => `${provider} ${invoice?.id}`)),
  );
  const seen = new Set<string>();
  return receipts.flatMap(({ mandate, began, orders }) =>
    orders.flatMap((order): Condition[] => {
      const { address, provider, currency, amount, invoice } = order;
      const { invoices, why } = lists.get(provider) ?? { invoices: [], why: "not read" };
      if (why !== undefined) return [];
      const record = resources.get(address);
      const found = record?.private.pending === undefined ? record?.attributes.id : undefined;
      const id = order.id ?? (typeof found === "string" ? found : null);
      const because = (text: string) => conditionFor("receipt", { address, mandate, why: text });
      if (id === null) return [because("the order has no id, because its response was lost")];
      const { words, type = "" } = kindAt(address) ?? {};
      const key = idOf(provider, type, id);
      if (words?.order === undefined || seen.has(key)) return [];
      seen.add(key);
      const money = (total: number | null, of: string | null) => formatMoney(total, of, scale(of ?? "", provider));
      const own = invoices.filter((one) => one.order_id === id);
      const first = invoice?.id == null ? firstInvoice(own) : invoices.find((one) => one.id === invoice.id);
      if (first === undefined) {
        // A free order may have no invoice, and a host may not link invoices to orders.
        const isUnlinked = amount === 0 || invoices.every(({ order_id }) => order_id === null);
        if (invoice === null && isUnlinked) return [];
        return [
          because(`the account does not have ${invoice === null ? "the invoice" : nameOf(invoice)} of the order`),
        ];
      }
      const conditions: Condition[] = [];
      const of = ({ id: name, invoice_number: number, total, currency: word }: InvoiceRecord) =>
        `${nameOf({ id: name, number })} (${money(total, word)})`;
      const stated = invoice?.total ?? null;
      const isSame = stated === null ? amount === null || (first.total ?? 0) <= amount : first.total === stated;
      if (!isSame || (first.currency ?? currency).trim().toUpperCase() !== currency) {
        const receipt = stated === null ? `at most ${money(amount, currency)}` : money(stated, currency);
        conditions.push(because(`the account has ${of(first)}, but the receipt has ${receipt}`));
      }
      const months = record?.attributes.id === id ? Number(record.attributes.term) : Number.NaN;
      const renewal = months > 0 ? daysAfter(monthsAfter(began.slice(0, 10), months), -1) : "";
      for (const other of own) {
        const due = dayIn(other.due_date);
        if (other === first || named.has(`${provider} ${other.id}`) || due === null || due >= renewal) continue;
        conditions.push(because(`no receipt has ${of(other)}, which is due before the first renewal`));
      }
      return conditions;
    }),
  );
}
