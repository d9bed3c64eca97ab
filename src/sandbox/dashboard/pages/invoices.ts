/** Page of the account's invoices, and its tables and buttons for other pages. */
import { html } from "hono/html";
import type { Invoice } from "../../store/records.ts";
import { type ActParts, act, search, searched } from "../forms.ts";
import { badge, counted, fromNow, type Html, type List, long, money, section, shown, table, when } from "../html.ts";
import { type Action, callAction, find, own, type Page, ROOT, serviceLink, type Visit } from "../page.ts";

/** Actions of every page that lists invoices. */
export const INVOICE_ACTIONS = {
  pay: callAction("payInvoice", ({ invoice_number, total, currency }) => {
    return `${invoice_number} is paid: ${money(total, currency)}.`;
  }),
  cancelInvoice: callAction("cancelInvoice", ({ invoice_number }) => `${invoice_number} is cancelled.`),
} as const satisfies Record<string, Action>;

const STATES = ["unpaid", "paid", "cancelled", "refunded"] as const;

export const invoices: Page = {
  path: "/invoices",
  title: () => "Invoices",
  actions: INVOICE_ACTIONS,
  body: (visit) => {
    const state = STATES.find((word) => word === visit.query.get("state"));
    const all = own(visit, "invoices").toReversed();
    const text = searched(visit.query);
    const found = all
      .filter(({ status }) => state === undefined || status === state)
      .filter((invoice) => text === "" || nameOf(visit, invoice).toLowerCase().includes(text));
    const list = { path: `${ROOT}/invoices`, query: visit.query };
    const heading = `${counted(found.length, "invoice")}${state === undefined ? "" : `, ${state}`}`;
    const caption = `Invoices of ${visit.account.name}`;
    const empty = all.length === 0 ? "This account has no invoices. An order raises one." : "No invoice matches.";
    return html`${states(state)}${search(`${ROOT}/invoices`, visit.query, "Number, service or domain", state && html`<input type="hidden" name="state" value="${state}">`)}
${section(heading, invoiceTable(visit, found, { caption, empty, list }))}`;
  },
};

function states(state: string | undefined): Html {
  const link = (word: string | undefined, label: string) =>
    html`<li><a href="${ROOT}/invoices${word === undefined ? "" : `?state=${word}`}"${word === state && html` aria-current="true"`}>${label}</a></li>`;
  return html`<nav aria-label="State of the invoices"><ul class="tabs">${link(undefined, "all")}${STATES.map((word) => link(word, word))}</ul></nav>`;
}

/** Returns the text that a search compares. */
function nameOf({ control }: Visit, { invoice_number, order_id }: Invoice): string {
  const order = find(control, "services", order_id) ?? find(control, "domains", order_id);
  return `${invoice_number} ${order_id} ${order?.domain ?? ""}`;
}

/** @param invoices in display order. `brief` omits values that the page shows elsewhere. */
export function invoiceTable(
  visit: Visit,
  invoices: readonly Invoice[],
  { brief = false, ...parts }: { caption: string; empty: string; brief?: boolean; list?: List },
): Html {
  return table({
    ...parts,
    columns: { Number: "", State: "wide", "To pay": "end", "Due or paid": "wide", Actions: "end unseen" },
    items: invoices,
    row: (invoice) => {
      const state = badge(stateOf(invoice, visit.now));
      const { status, paid_at, due_date } = invoice;
      return [
        html`<span class="nums">${shown(invoice.invoice_number)}</span><div class="under hint">${brief ? "" : orderOf(visit, invoice)}</div><div class="narrow">${state}</div>`,
        state,
        html`<span class="nums">${amounts(invoice)}</span>`,
        when(status === "paid" ? paid_at : due_date),
        buttons(visit, invoice),
      ];
    },
  });
}

/** Returns a table of unpaid invoices for the overview. */
export function dueInvoices(visit: Visit, invoices: readonly Invoice[]): Html {
  return table({
    caption: "Invoices to pay",
    columns: { Number: "", "To pay": "end", Actions: "end unseen" },
    items: invoices,
    row: (invoice) => [
      html`<span class="nums">${shown(invoice.invoice_number)}</span><div class="under hint">${orderOf(visit, invoice)}</div>`,
      html`<span class="nums">${money(invoice.total, invoice.currency)}</span><div class="under hint">due ${fromNow(invoice.due_date, visit.now)}</div>`,
      act(visit, payment(invoice)),
    ],
    empty: "No invoice is due.",
  });
}

/** Returns the status of an invoice. An unpaid invoice after its due date is "overdue", which is not a status of the API. */
function stateOf({ status, due_date }: Invoice, now: string): string {
  return status === "unpaid" && due_date < now.slice(0, 10) ? "overdue" : status;
}

function amounts({ total, subtotal, currency }: Invoice): Html {
  if (total === subtotal) return html`${money(total, currency)}`;
  const list = html`<s class="hint wide"><span class="unseen">List price </span>${money(subtotal, currency)}</s>`;
  return html`${list} ${money(total, currency)}`;
}

/** Returns a link to the service, or the domain order. Both have ids of the same sequence. */
function orderOf({ control }: Visit, { order_id }: Invoice): Html {
  if (find(control, "services", order_id) !== undefined) return serviceLink({ control }, order_id);
  const order = find(control, "domains", order_id);
  return html`Domain order ${order_id} ${order === undefined ? "" : long(order.domain)}`;
}

function payment({ id, invoice_number }: Invoice): ActParts {
  return { do: "pay", id, label: "Pay", about: `invoice ${invoice_number}`, tone: "primary" };
}

function buttons(visit: Visit, invoice: Invoice): Html {
  const { id, status, invoice_number } = invoice;
  if (status !== "unpaid") return html``;
  return html`<div class="row wrap">${act(visit, payment(invoice))}
${act(visit, { do: "cancelInvoice", id, label: "Cancel", about: `invoice ${invoice_number}`, confirm: "Its service counts as unpaid, and is suspended or cancelled when that falls due." })}</div>`;
}
