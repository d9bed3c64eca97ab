/** The migration requests of the account. They are made by API, and finished here (§1). */
import { html } from "hono/html";
import { type Page, ROOT } from "../page.ts";
import { badge } from "../parts/badge.ts";
import { paged, pager, section, table } from "../parts/table.ts";
import { counted, maybe, shown, when } from "../parts/text.ts";

export const migrations: Page = {
  path: "/migrations",
  nav: "/migrations",
  title: () => "Migrations",
  body: (visit) => {
    const all = visit.control.list("migration_requests");
    const own = all.filter(({ customer_id }) => customer_id === visit.account.id).toReversed();
    const part = paged(own, visit.query);
    return html`<p class="lead">A migration is requested by API. Its credentials and the final submission are given here alone.</p>
${section(
  counted(own.length, "request"),
  html`${table({
    caption: `Migration requests of ${visit.account.name}`,
    unseen: true,
    columns: [
      { title: "Id" },
      { title: "Domain" },
      { title: "State" },
      { title: "Credentials", wide: true },
      { title: "For", wide: true },
      { title: "Requested", wide: true },
    ],
    rows: part.items.map(({ id, domain, status, credentials, order_id, created_at }) => [
      html`<a class="nums" href="${ROOT}/migrations/${id}">${id}</a>`,
      shown(domain),
      badge(status),
      credentials === null ? maybe(null) : "set",
      order_id === null ? maybe(null) : html`<a href="${ROOT}/services/${order_id}">Service ${order_id}</a>`,
      when(created_at),
    ]),
    empty: html`No migration was requested. <code>POST /api/v1/migration-requests</code> does.`,
  })}${pager(`${ROOT}/migrations`, visit.query, part)}`,
)}`;
  },
};
