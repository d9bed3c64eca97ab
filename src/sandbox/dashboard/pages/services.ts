/** Pages of the account's services with their invoices, grants and transfers, and actions of the vendor. */
import { html } from "hono/html";
import type { Plan, Service, Transfer } from "../../store/records.ts";
import { act, search, searched, selectField, textField, unfold } from "../forms.ts";
import {
  badge,
  code,
  counted,
  facts,
  fromNow,
  type Html,
  type List,
  long,
  maybe,
  money,
  PAGE_SIZE,
  section,
  shown,
  table,
  when,
} from "../html.ts";
import { type Action, callAction, idOf, own, type Page, ROOT, serviceLink, type Visit } from "../page.ts";
import { INVOICE_ACTIONS, invoiceTable } from "./invoices.ts";

/**
 * Actions of a transfer: one account offers a service, and another account accepts or declines it (§6
 * service.transfer_accepted).
 */
const TRANSFER_ACTIONS = {
  offer: {
    api: "POST /services/:id/transfer",
    run: ({ control, accounts }, form) => {
      const transfer = control.offerTransfer(form.id(), { to: form.number("to", "The account") ?? "" });
      const to = accounts.find(({ id }) => id === transfer.to_customer_id);
      return `Service ${transfer.service_id} is on offer to ${to?.name ?? transfer.to_customer_id}.`;
    },
  },
  accept: callAction(
    "acceptTransfer",
    ({ service_id }) => `Service ${service_id} is transferred. Both accounts get an event.`,
  ),
  decline: callAction("declineTransfer", ({ service_id }) => `The offer of service ${service_id} is declined.`),
} as const satisfies Record<string, Action>;

const STATES = ["pending", "active", "suspended", "terminated", "cancelled", "fraud"] as const;

const seed: Action = {
  api: "POST /services",
  run: ({ control, account }, form) => {
    const made = control.seedServices({
      account: account.id,
      plan_id: form.number("plan_id", "The plan") ?? 0,
      count: form.number("count", "The number of services") ?? 1,
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

const services: Page = {
  path: "/services",
  title: () => "Services",
  actions: { seed, accept: TRANSFER_ACTIONS.accept, decline: TRANSFER_ACTIONS.decline },
  body: (visit) => {
    const all = own(visit, "services").toReversed();
    const found = all.filter(matching(visit.query));
    const none = html`This account has no services. <a href="${ROOT}/settings#order">How to order one</a>.`;
    const list: List<Service> = {
      path: `${ROOT}/services`,
      query: visit.query,
      by: {
        Id: ({ id }) => id,
        Domain: ({ domain }) => domain ?? "",
        State: ({ status }) => status,
        Plan: ({ plan }) => plan,
        "List price": ({ price }) => price,
        "Next due": ({ next_due_date }) => next_due_date,
      },
    };
    const listed = table({
      list,
      caption: `Services of ${visit.account.name}`,
      columns: { Id: "", Domain: "", State: "", Plan: "wide", "List price": "end wide", "Next due": "wide" },
      items: found,
      row,
      empty: all.length === 0 ? none : "No service matches.",
    });
    return html`${incoming(visit)}${filter(visit.query)}
${section(counted(found.length, "service"), listed)}
${domains(visit)}
${unfold(visit, "Add active services without ordering", {
  do: "seed",
  label: "Add",
  tone: "primary",
  fields: (
    kept,
  ) => html`<p class="hint">As if they had been ordered and paid: without a request, an Idempotency-Key or the rate limit.</p>
${selectField(kept, { name: "plan_id", label: "Plan", options: plans(visit.control.list("plans")) })}
${textField(kept, { name: "count", label: "How many", type: "number", value: "1", min: 1, max: 100_000, size: 7 })}
${textField(kept, { name: "domain_prefix", label: "Domains begin with", value: "site", hint: "site-00001.example and so on; plans without a domain get none." })}`,
})}`;
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

function plans(all: readonly Plan[]): [string, string][] {
  return all
    .filter(({ active }) => active)
    .map((plan): [string, string] => [
      String(plan.id),
      `${plan.name}, ${money(plan.prices[plan.currency] ?? 0, plan.currency)} a month`,
    ]);
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
  return search(`${ROOT}/services`, query, "Id, domain or plan", ["sort"], states);
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
    ...TRANSFER_ACTIONS,
  },
  live: { state },
  body: (visit) => {
    const record = read(visit);
    const bills = visit.control.list("invoices").filter(({ order_id }) => order_id === record.id);
    return html`${owner(visit, record)}
<div class="card"><div id="state" data-live>${state(visit)}</div>
<div class="row wrap actions">${buttons(visit, record)}</div></div>
${section("Invoices", invoiceTable(visit, bills.toReversed(), { caption: `Invoices of service ${record.id}`, empty: "No invoices.", brief: true }))}
<div class="two">
${section("Transfer", transferPart(visit, record))}
${section("Shared with", grants(visit, record))}
</div>`;
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

/** Returns the open offer or a form for a new offer, and the earlier transfers. */
function transferPart(visit: Visit, service: Service): Html {
  const all = visit.control.list("transfers").filter(({ service_id }) => service_id === service.id);
  const open = all.find(({ status }) => status === "offered");
  return html`${open === undefined ? offer(visit, service) : offered(visit, open)}
${all.length > 0 && html`<ul class="plain">${all.toReversed().map((transfer) => html`<li>${line(visit, transfer)}</li>`)}</ul>`}`;
}

function offer(visit: Visit, { id, customer_id, status }: Service): Html {
  if (status !== "active" && status !== "suspended")
    return html`<p class="empty">A service that is ${status} cannot be transferred.</p>`;
  const others = visit.accounts.filter((account) => account.id !== customer_id);
  return act(visit, {
    do: "offer",
    id,
    label: "Offer",
    about: `service ${id}`,
    inline: true,
    fields: (kept) =>
      selectField(kept, {
        name: "to",
        label: "To the account",
        options: others.map(({ id, name }) => [String(id), name]),
      }),
  });
}

function offered(visit: Visit, { id, service_id, to_customer_id }: Transfer): Html {
  const to = nameOf(visit, to_customer_id);
  return html`<p>On offer to <strong>${to}</strong>, which decides:</p><div class="row">
${decision(visit, id, `service ${service_id} for ${to}`)}</div>`;
}

function decision(visit: Visit, id: number, about: string): Html {
  return html`${act(visit, { do: "accept", id, label: "Accept", about, tone: "primary" })}
${act(visit, { do: "decline", id, label: "Decline", about })}`;
}

function line(visit: Visit, transfer: Transfer): Html {
  const { status, from_customer_id, to_customer_id } = transfer;
  return html`${badge(status)} ${nameOf(visit, from_customer_id)} to ${nameOf(visit, to_customer_id)} <span class="hint">${when(transfer.created_at)}</span>`;
}

/** Returns the open offers to the selected account. */
function incoming(visit: Visit): Html {
  const open = visit.control
    .list("transfers")
    .filter((one) => one.status === "offered" && one.to_customer_id === visit.account.id);
  if (open.length === 0) return html``;
  return section(
    "Offered to this account",
    html`<ul class="plain">${open.map((transfer) => {
      const { id, service_id, from_customer_id } = transfer;
      const from = nameOf(visit, from_customer_id);
      return html`<li class="row wrap"><span>${shown(from)} offers ${serviceLink(visit, service_id)}</span>
${decision(visit, id, `service ${service_id}`)}</li>`;
    })}</ul>`,
  );
}

function nameOf({ accounts }: Visit, id: number): string {
  return accounts.find((account) => account.id === id)?.name ?? `account ${id}`;
}

export const servicePages: readonly Page[] = [services, service];
