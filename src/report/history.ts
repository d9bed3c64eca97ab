// The history of a state, and sums of orders and invoices.
import { formatMoney, type HistoryEntry, isOpen, mergedOrders, ordersIn } from "../core/model/index.ts";
import { escapeLine } from "./escape.ts";
import type { Listings } from "./listings.ts";
import { type MoneyScale, plural } from "./numbers.ts";
import { flowText } from "./text-style.ts";

type Amount = { readonly currency: string | null; readonly amount: number | null };

/** Sums amounts by currency: `9.00 USD, 5.00 EUR`. */
function sums(amounts: readonly Amount[], scale: (currency: string) => number | undefined): string {
  const by = Map.groupBy(amounts, ({ currency }) => currency);
  const texts = [...by].map(([currency, of]) =>
    formatMoney(
      of.reduce((sum, { amount }) => sum + (amount ?? 0), 0),
      currency,
      scale(currency ?? ""),
    ),
  );
  return texts.length === 0 ? "none" : escapeLine(texts.join(", "));
}

/** Formats entries as text, oldest first, with the sum of their orders. */
export function renderHistory(entries: readonly HistoryEntry[], scale: MoneyScale): string {
  if (entries.length === 0) return "The history has no entries.\n";
  const lines = entries.flatMap(({ at, command, commit, details, orders, requests, errors }) => {
    const from = commit === null ? "" : `, commit ${commit.slice(0, 12)}`;
    return [
      `${at}  ${command} by ${details === null ? "(removed)" : details.who}${from}, ${plural(requests, "request")}`,
      ...(details?.effects ?? []).map(({ text }) => `  ${text}`),
      ...orders.map(({ key, id, provider, currency, quote, invoice }) => {
        const price = `listed price ${formatMoney(quote, currency, scale(currency, provider))}`;
        const total = invoice && formatMoney(invoice.total, invoice.currency, scale(currency, provider));
        const billed = invoice === null ? "" : `, invoice ${invoice.number ?? invoice.id}: ${total}`;
        const domain = details?.effects.find((one) => one.order === key)?.domain;
        return `  Order ${id ?? "with an unknown result"}${domain ? ` of ${domain}` : ""}: ${price}${billed}`;
      }),
      ...(errors.length === 0 ? [] : [`  Errors: ${errors.join(", ")}`]),
    ];
  });
  const orders = mergedOrders(ordersIn(entries));
  const [provider = "default"] = entries.flatMap((entry) => entry.orders.map((order) => order.provider));
  const total = sums(orders, (currency) => scale(currency, provider));
  return `${[...lines, "", `${plural(orders.length, "order")}: ${total}`].map(escapeLine).join("\n")}\n`;
}

/** Formats the sums below a listing of invoices. */
export function invoiceSums(rows: readonly Listings["invoices"][], scale: number | undefined, width?: number): string {
  const of = (some: readonly Listings["invoices"][]) =>
    sums(
      some.map(({ currency, total: amount }) => ({ currency, amount })),
      () => scale,
    );
  return flowText(`\n${plural(rows.length, "invoice")}: ${of(rows)}. Unpaid: ${of(rows.filter(isOpen))}.\n`, width);
}
