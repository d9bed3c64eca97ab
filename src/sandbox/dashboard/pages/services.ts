/** The services of the account. */
import { html } from "hono/html";
import type { Plan, Service } from "../../store/records.ts";
import { type Action, type Page, ROOT, type Visit } from "../page.ts";
import { unfold } from "../parts/act.ts";
import { badge } from "../parts/badge.ts";
import { selectField, textField } from "../parts/fields.ts";
import { PAGE_SIZE, paged, pager, section, table } from "../parts/table.ts";
import { counted, type Html, maybe, money, shown, when } from "../parts/text.ts";
import { incoming, TRANSFER_ACTIONS } from "../parts/transfer.ts";

const STATES = ["pending", "active", "suspended", "terminated", "cancelled", "fraud"] as const;

const seed: Action = {
  api: "POST /services",
  run: ({ control, account }, form) => {
    const made = control.seedServices({
      account: account.id,
      plan_id: form.count("plan_id", "The plan") ?? 0,
      count: form.count("count", "The number of services") ?? 1,
      domain_prefix: form.required("domain_prefix", "The beginning of the domain"),
    });
    const [first] = made;
    const one = made.length === 1 && first !== undefined;
    return {
      text: one ? `Service ${first.id} is active, and its first invoice paid.` : `${made.length} services were added.`,
      ...(one && { to: `${ROOT}/services/${first.id}` }),
    };
  },
};

export const services: Page = {
  path: "/services",
  nav: "/services",
  title: () => "Services",
  actions: { seed, accept: TRANSFER_ACTIONS.accept, decline: TRANSFER_ACTIONS.decline },
  body: (visit) => {
    const own = visit.control.list("services").filter(({ customer_id }) => customer_id === visit.account.id);
    const found = own.toReversed().filter(matching(visit.query));
    const part = paged(found, visit.query);
    return html`${incoming(visit)}${filter(visit.query)}
${section(
  counted(found.length, "service"),
  html`${table({
    caption: `Services of ${visit.account.name}`,
    unseen: true,
    columns: [
      { title: "Id" },
      { title: "Domain" },
      { title: "State" },
      { title: "Plan", wide: true },
      { title: "List price", align: "end", wide: true },
      { title: "Next due", wide: true },
    ],
    rows: part.items.map((service) => row(service)),
    empty:
      own.length === 0
        ? html`This account has no services. <a href="${ROOT}/settings#order">How to order one</a>.`
        : "No service matches.",
  })}${pager(`${ROOT}/services`, visit.query, part)}`,
)}
${domains(visit)}
${unfold(visit, "Add active services without ordering", {
  do: "seed",
  label: "Add",
  tone: "primary",
  fields: (
    kept,
  ) => html`<p class="hint">As if they had been ordered and paid: no request, no idempotency key, no rate limit.</p>
${selectField(kept, { name: "plan_id", label: "Plan", options: plans(visit.control.list("plans")) })}
${textField(kept, { name: "count", label: "How many", type: "number", value: "1", min: 1, max: 100_000, size: 7 })}
${textField(kept, { name: "domain_prefix", label: "Domains begin with", value: "site", hint: "site-00001.example and so on; plans without a domain get none." })}`,
})}`;
  },
};

/** Domains are ordered like services, and live beside them. */
function domains({ control, account }: Visit): Html {
  const own = control.list("domains").filter(({ customer_id }) => customer_id === account.id);
  if (own.length === 0) return html``;
  return section(
    counted(own.length, "domain"),
    table({
      caption: `Domains of ${account.name}`,
      unseen: true,
      columns: [
        { title: "Order" },
        { title: "Domain" },
        { title: "State" },
        { title: "Years", align: "end", wide: true },
        { title: "Price", align: "end", wide: true },
        { title: "Name servers", wide: true },
      ],
      rows: own
        .toReversed()
        .slice(0, PAGE_SIZE)
        .map(({ id, domain, status, years, price, currency, nameserver_mode }) => [
          html`<span class="nums">${id}</span>`,
          shown(domain),
          badge(status),
          years,
          html`<span class="nums">${money(price, currency)}</span>`,
          nameserver_mode,
        ]),
      empty: "",
    }),
  );
}

function plans(all: readonly Plan[]): [string, string][] {
  return all
    .filter(({ active }) => active)
    .map((plan): [string, string] => [
      String(plan.id),
      `${plan.name}, ${money(plan.prices[plan.currency] ?? 0, plan.currency)} a month`,
    ]);
}

function matching(query: URLSearchParams): (service: Service) => boolean {
  const text = (query.get("q") ?? "").trim().toLowerCase();
  const state = query.get("state") ?? "";
  return (service) =>
    (state === "" || service.status === state) &&
    (text === "" ||
      String(service.id) === text ||
      [service.domain ?? "", service.plan].some((one) => one.toLowerCase().includes(text)));
}

function filter(query: URLSearchParams): Html {
  const state = query.get("state") ?? "";
  return html`<form method="get" action="${ROOT}/services" class="filter" role="search">
<div class="field"><label for="q">Id, domain or plan</label><input id="q" name="q" type="search" value="${query.get("q") ?? ""}"></div>
<div class="field"><label for="state">State</label><select id="state" name="state"><option value="">any</option>${STATES.map(
    (word) => html`<option${word === state ? html` selected` : ""}>${word}</option>`,
  )}</select></div>
<button class="button">Show</button></form>`;
}

function row(service: Service): Html[] {
  const waiting = service.status === "pending" && service.provisioning_status !== "pending";
  return [
    html`<a class="nums" href="${ROOT}/services/${service.id}">${service.id}</a>`,
    service.domain === null
      ? maybe(null)
      : html`<a href="${ROOT}/services/${service.id}" tabindex="-1">${shown(service.domain)}</a>`,
    html`${badge(service.status)}${waiting ? html` <span class="hint">${service.provisioning_status}</span>` : ""}`,
    html`${service.plan}`,
    html`<span class="nums">${money(service.price, service.currency)}</span>`,
    when(service.next_due_date),
  ];
}
