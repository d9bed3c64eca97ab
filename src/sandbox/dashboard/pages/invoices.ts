/** The invoices of the account. */
import { html } from "hono/html";
import { type Page, ROOT } from "../page.ts";
import { INVOICE_ACTIONS, invoiceTable } from "../parts/invoices.ts";
import { paged, pager, section } from "../parts/table.ts";
import { counted, type Html } from "../parts/text.ts";

const STATES = ["unpaid", "paid", "cancelled", "refunded"] as const;

export const invoices: Page = {
  path: "/invoices",
  nav: "/invoices",
  title: () => "Invoices",
  actions: INVOICE_ACTIONS,
  body: (visit) => {
    const state = STATES.find((word) => word === visit.query.get("state"));
    const own = visit.control.list("invoices").filter(({ customer_id }) => customer_id === visit.account.id);
    const found = own.toReversed().filter(({ status }) => state === undefined || status === state);
    const part = paged(found, visit.query);
    const heading = `${counted(found.length, "invoice")}${state === undefined ? "" : `, ${state}`}`;
    return html`${states(state)}
${section(
  heading,
  html`${invoiceTable(visit, part.items, {
    caption: `Invoices of ${visit.account.name}`,
    empty: state === undefined ? "This account has no invoices. An order raises one." : `No invoice is ${state}.`,
  })}${pager(`${ROOT}/invoices`, visit.query, part)}`,
)}`;
  },
};

function states(state: string | undefined): Html {
  const link = (word: string | undefined, label: string) =>
    html`<li><a href="${ROOT}/invoices${word === undefined ? "" : `?state=${word}`}"${word === state ? html` aria-current="true"` : ""}>${label}</a></li>`;
  return html`<nav aria-label="State of the invoices"><ul class="tabs">${link(undefined, "all")}${STATES.map((word) => link(word, word))}</ul></nav>`;
}
