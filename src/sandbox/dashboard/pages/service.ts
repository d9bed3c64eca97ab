/** One service: what it is, what the vendor's side can do to it, its invoices, grants and transfers. */
import { html } from "hono/html";
import type { Service } from "../../store/records.ts";
import type { Page, Visit } from "../page.ts";
import { act } from "../parts/act.ts";
import { badge } from "../parts/badge.ts";
import { idOf } from "../parts/id.ts";
import { INVOICE_ACTIONS, invoiceTable } from "../parts/invoices.ts";
import { facts, section, table } from "../parts/table.ts";
import { code, fromNow, type Html, maybe, money, shown, when } from "../parts/text.ts";
import { TRANSFER_ACTIONS, transferPart } from "../parts/transfer.ts";

export const service: Page = {
  path: "/services/:id",
  nav: "/services",
  title: (visit) => {
    const { id, domain, plan } = read(visit);
    return `Service ${id}: ${domain ?? plan}`;
  },
  actions: {
    provision: {
      api: "POST /services/:id/provision",
      run: ({ control }, form) => ({ text: `Service ${control.provisionService(form.id()).id} is provisioned.` }),
    },
    suspend: {
      api: "POST /services/:id/suspend",
      run: ({ control }, form) => ({ text: `Service ${control.suspendService(form.id()).id} is suspended.` }),
    },
    unsuspend: {
      api: "POST /services/:id/unsuspend",
      run: ({ control }, form) => ({ text: `Service ${control.unsuspendService(form.id()).id} is active again.` }),
    },
    terminate: {
      api: "POST /services/:id/terminate",
      run: ({ control }, form) => ({ text: `Service ${control.terminateService(form.id()).id} is terminated.` }),
    },
    ...INVOICE_ACTIONS,
    ...TRANSFER_ACTIONS,
  },
  live: { state },
  body: (visit) => {
    const record = read(visit);
    return html`${owner(visit, record)}
<div class="card"><div id="state" data-live>${state(visit)}</div>
<div class="row wrap actions">${buttons(visit, record)}</div></div>
${section("Invoices", invoiceTable(visit, invoicesOf(visit, record), { caption: `Invoices of service ${record.id}`, empty: "No invoices.", brief: true }))}
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
    suspended_for === null
      ? ""
      : html` <span class="hint">${suspended_for === "unpaid" ? "an invoice is overdue" : "on request"}</span>`;
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

function invoicesOf({ control }: Visit, { id }: Service) {
  return control
    .list("invoices")
    .filter((invoice) => invoice.order_id === id)
    .toReversed();
}

/** Only what its state allows. */
function buttons(visit: Visit, record: Service): Html {
  const { id, status, provisioning_status } = record;
  const ended = !["pending", "active", "suspended"].includes(status);
  if (ended) return html`<p class="hint">Nothing can be done to a service that is ${status}.</p>`;
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
          // Of one whose invoice is overdue, the way back is to pay it, below.
          ...(record.suspended_for !== "unpaid" && { tone: "primary" }),
        })
      : ""
  }${act(visit, {
    do: "terminate",
    id,
    label: "Terminate",
    about: `service ${id}`,
    tone: "danger",
    confirm: "Its invoices stay; the service cannot be brought back.",
  })}`;
}

/** Says so when the service is another account's than the one that is looked at. */
function owner({ control, account }: Visit, { customer_id }: Service): Html {
  if (customer_id === account.id) return html``;
  const name = control.get("customers", customer_id).name;
  return html`<p class="note">This service belongs to the account <strong>${name}</strong>, not to ${account.name}, which you are looking at.</p>`;
}

function grants({ control }: Visit, { id }: Service): Html {
  const given = control.list("grants").filter((grant) => grant.service_id === id);
  return table({
    caption: `Grants of service ${id}`,
    unseen: true,
    columns: [{ title: "E-mail" }, { title: "May" }, { title: "Until", wide: true }],
    rows: given.map((grant) => [shown(grant.email), grant.permission, when(grant.expires_at)]),
    empty: html`With nobody. Grants are made by API: <code>POST /api/v1/services/${id}/grants</code>.`,
  });
}
