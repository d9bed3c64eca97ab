/** Pages of the account's services with their invoices and grants, and actions of the vendor. */
import { html } from "hono/html";
import type { Service } from "../../store/records.ts";
import { act, search, searched } from "../forms.ts";
import {
  badge,
  code,
  counted,
  facts,
  fromNow,
  type Html,
  long,
  maybe,
  money,
  PAGE_SIZE,
  section,
  shown,
  table,
  when,
} from "../html.ts";
import { callAction, idOf, own, type Page, ROOT, type Visit } from "../page.ts";
import { INVOICE_ACTIONS, invoiceTable } from "./invoices.ts";

const STATES = ["pending", "active", "suspended", "terminated", "cancelled", "fraud"] as const;

const services: Page = {
  path: "/services",
  title: () => "Services",
  body: (visit) => {
    const all = own(visit, "services").toReversed();
    const found = all.filter(matching(visit.query));
    const none = html`This account has no services. <a href="${ROOT}/settings#order">How to order one</a>.`;
    const listed = table({
      list: { path: `${ROOT}/services`, query: visit.query },
      caption: `Services of ${visit.account.name}`,
      columns: { Id: "", Domain: "", State: "", Plan: "wide", "List price": "end wide", "Next due": "wide" },
      items: found,
      row,
      empty: all.length === 0 ? none : "No service matches.",
    });
    return html`${filter(visit.query)}
${section(counted(found.length, "service"), listed)}
${domains(visit)}`;
  },
};

/** Returns the section of domain orders. */
function domains(visit: Visit): Html {
  const all = own(visit, "domains").toReversed();
  if (all.length === 0) return html``;
  return section(
    counted(all.length, "domain"),
    table({
      caption: `Domains of ${visit.account.name}`,
      columns: { Order: "", Domain: "", State: "", Years: "end wide", Price: "end wide", "Name servers": "wide" },
      items: all.slice(0, PAGE_SIZE),
      row: ({ id, domain, status, years, price, currency, nameserver_mode }) => [
        html`<span class="nums">${id}</span>`,
        long(domain),
        badge(status),
        years,
        html`<span class="nums">${money(price, currency)}</span>`,
        nameserver_mode,
      ],
      empty: "",
    }),
  );
}

function matching(query: URLSearchParams): (service: Service) => boolean {
  const text = searched(query);
  const state = query.get("state") ?? "";
  return (service) =>
    (state === "" || service.status === state) &&
    (text === "" ||
      String(service.id) === text ||
      [service.domain ?? "", service.plan].some((one) => one.toLowerCase().includes(text)));
}

function filter(query: URLSearchParams): Html {
  const state = query.get("state") ?? "";
  const states = html`<div class="field"><label for="state">State</label><select id="state" name="state"><option value="">any</option>${STATES.map(
    (word) => html`<option${word === state && html` selected`}>${word}</option>`,
  )}</select></div>`;
  return search(`${ROOT}/services`, query, "Id, domain or plan", states);
}

function row(service: Service): Html[] {
  const waiting = service.status === "pending" && service.provisioning_status !== "pending";
  return [
    html`<a class="nums" href="${ROOT}/services/${service.id}">${service.id}</a>`,
    service.domain === null
      ? maybe(null)
      : html`<a href="${ROOT}/services/${service.id}" tabindex="-1">${long(service.domain)}</a>`,
    html`${badge(service.status)}${waiting && html` <span class="hint">${service.provisioning_status}</span>`}`,
    html`${service.plan}`,
    html`<span class="nums">${money(service.price, service.currency)}</span>`,
    when(service.next_due_date),
  ];
}

const service: Page = {
  path: "/services/:id",
  nav: "/services",
  title: (visit) => {
    const { id, domain, plan } = read(visit);
    return `Service ${id}: ${domain ?? plan}`;
  },
  actions: {
    provision: callAction("provisionService", ({ id }) => `Service ${id} is provisioned.`),
    suspend: callAction("suspendService", ({ id }) => `Service ${id} is suspended.`),
    unsuspend: callAction("unsuspendService", ({ id }) => `Service ${id} is active again.`),
    terminate: callAction("terminateService", ({ id }) => `Service ${id} is terminated.`),
    ...INVOICE_ACTIONS,
  },
  live: { state },
  body: (visit) => {
    const record = read(visit);
    const bills = visit.control.list("invoices").filter(({ order_id }) => order_id === record.id);
    return html`${owner(visit, record)}
<div class="card"><div id="state" data-live>${state(visit)}</div>
<div class="row wrap actions">${buttons(visit, record)}</div></div>
${section("Invoices", invoiceTable(visit, bills.toReversed(), { caption: `Invoices of service ${record.id}`, empty: "No invoices.", brief: true }))}
${section("Shared with", grants(visit, record))}`;
  },
};

function read(visit: Visit): Service {
  return visit.control.get("services", idOf(visit, "service"));
}

function state(visit: Visit): Html {
  const record = read(visit);
  const { status, suspended_for, provisioning_status, currency, price } = record;
  const why =
    suspended_for !== null &&
    html` <span class="hint">${suspended_for === "unpaid" ? "an invoice is overdue" : "on request"}</span>`;
  return facts([
    ["State", html`${badge(status)}${why}`],
    ["Provisioning", badge(provisioning_status)],
    ["Domain", maybe(record.domain)],
    ["Plan", html`${shown(record.plan)} <span class="hint">plan_id ${record.plan_id}</span>`],
    [
      "List price",
      html`${money(price, currency)} <span class="hint">every ${record.term === 1 ? "month" : `${record.term} months`}</span>`,
    ],
    ["Coupon", record.coupon_code === null ? maybe(null) : code(record.coupon_code)],
    [
      "Next due",
      html`${when(record.next_due_date)} <span class="hint">${fromNow(record.next_due_date, visit.now)}</span>`,
    ],
    ["Ordered", when(record.created_at)],
    ["Queued", queue(visit, record)],
  ]);
}

function queue({ control, now }: Visit, { id }: Service): Html {
  const jobs = control.list("jobs").filter((job) => job.order_id === id);
  if (jobs.length === 0) return maybe(null);
  return html`${jobs.map((job) => html`${job.kind} <span class="hint">${fromNow(job.due_at, now)}</span> `)}`;
}

/** Returns the buttons for the service's current state. */
function buttons(visit: Visit, record: Service): Html {
  const { id, status, provisioning_status } = record;
  const ended = !["pending", "active", "suspended"].includes(status);
  if (ended) return html`<p class="hint">A service that is ${status} has no actions.</p>`;
  return html`${
    provisioning_status === "provisioned"
      ? ""
      : act(visit, { do: "provision", id, label: "Provision now", about: `service ${id}`, tone: "primary" })
  }${status === "active" ? act(visit, { do: "suspend", id, label: "Suspend", about: `service ${id}` }) : ""}${
    status === "suspended"
      ? act(visit, {
          do: "unsuspend",
          id,
          label: "Unsuspend",
          about: `service ${id}`,
          // For an overdue invoice, payment is the primary action.
          ...(record.suspended_for !== "unpaid" && { tone: "primary" }),
        })
      : ""
  }${act(visit, {
    do: "terminate",
    id,
    label: "Terminate",
    about: `service ${id}`,
    tone: "danger",
    confirm: "Its invoices stay. A terminated service cannot be restored.",
  })}`;
}

/** Returns a note if the service does not belong to the selected account. */
function owner({ control, account }: Visit, { customer_id }: Service): Html {
  if (customer_id === account.id) return html``;
  const name = control.get("customers", customer_id).name;
  return html`<p class="note">This service belongs to the account <strong>${name}</strong>, not to the selected account ${account.name}.</p>`;
}

function grants({ control }: Visit, { id }: Service): Html {
  const given = control.list("grants").filter((grant) => grant.service_id === id);
  return table({
    caption: `Grants of service ${id}`,
    columns: { "E-mail": "", May: "", Until: "wide" },
    items: given,
    row: (grant) => [shown(grant.email), grant.permission, when(grant.expires_at)],
    empty: html`No grants. Create one with <code>POST /api/v1/services/${id}/grants</code>.`,
  });
}

export const servicePages: readonly Page[] = [services, service];
