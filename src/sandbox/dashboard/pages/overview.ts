/** First page: counts of the account's records, unpaid invoices, next due steps, and latest requests. */
import { html } from "hono/html";
import { counted, type Html, money, section } from "../html.ts";
import { own, type Page, ROOT, type Visit } from "../page.ts";
import { dueInvoices, INVOICE_ACTIONS } from "./invoices.ts";
import { rateWindows, requestTable } from "./requests.ts";
import { dueList } from "./sandbox.ts";

const LATEST = 8;
const NEXT = 5;
const TO_PAY = 8;

export const overview: Page = {
  path: "",
  nav: "/",
  title: () => "Overview",
  actions: INVOICE_ACTIONS,
  live: { tiles, due, rates: rateWindows, latest },
  body: (visit) => {
    const unpaid = own(visit, "invoices")
      .toReversed()
      .filter(({ status }) => status === "unpaid");
    const more = unpaid.length > TO_PAY && html`<a href="${ROOT}/invoices?state=unpaid">All ${unpaid.length}</a>`;
    return html`<div id="tiles" data-live>${tiles(visit)}</div>
<div class="two">
${section("To pay", dueInvoices(visit, unpaid.slice(0, TO_PAY)), more)}
${section("Next by the clock", html`<div id="due" data-live>${due(visit)}</div>`, html`<a href="${ROOT}/clock">Clock</a>`)}
</div>
${section("Rate window", html`<div id="rates" data-live>${rateWindows(visit)}</div>`)}
${section("Latest requests", html`<div id="latest" data-live>${latest(visit)}</div>`, html`<a href="${ROOT}/requests">All requests</a>`)}`;
  },
};

function tiles(visit: Visit): Html {
  const services = own(visit, "services").toReversed();
  const unpaid = own(visit, "invoices")
    .toReversed()
    .filter(({ status }) => status === "unpaid");
  const deliveries = own(visit, "deliveries");
  const failed = deliveries.filter(({ status }) => status === "abandoned" || status === "blocked").length;
  const states = Object.entries(Object.groupBy(services, ({ status }) => status));
  const tokens = own(visit, "tokens");
  return html`<ul class="tiles">
${tile("/services", "Services", services.length, states.map(([state, list]) => `${list.length} ${state}`).join(", ") || "none ordered")}
${tile("/invoices?state=unpaid", "To pay", unpaid.length, owed(unpaid))}
${tile("/webhooks", "Webhooks", own(visit, "webhooks").length, failed > 0 ? `${counted(failed, "delivery", "deliveries")} failed` : counted(deliveries.length, "delivery", "deliveries"))}
${tile("/tokens", "API tokens", tokens.length, counted(tokens.filter((token) => token.service_ids !== null).length, "restricted", "restricted"))}
${tile("/migrations", "Migrations", own(visit, "migration_requests").length, "requested")}
</ul>`;
}

/** Returns the sum of unpaid invoices by currency. */
function owed(invoices: readonly { total: number; currency: string }[]): string {
  const sums = new Map<string, number>();
  for (const { total, currency } of invoices) sums.set(currency, (sums.get(currency) ?? 0) + total);
  return [...sums].map(([currency, sum]) => money(sum, currency)).join(", ") || "all paid";
}

function tile(path: string, name: string, count: number, detail: string): Html {
  return html`<li><a href="${ROOT}${path}"><span class="tile-name">${name}</span> <span class="tile-count nums">${count}</span> <span class="hint">${detail}</span></a></li>`;
}

function due(visit: Visit): Html {
  return dueList(visit, NEXT);
}

function latest({ control }: Visit): Html {
  return requestTable(control.requests().slice(-LATEST).toReversed(), "Latest requests");
}
