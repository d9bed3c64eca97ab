/** A service that changes hands: offered by one account, accepted or declined by the other (§6 service.transfer_accepted). */
import { html } from "hono/html";
import type { Service, Transfer } from "../../store/records.ts";
import { type Action, ROOT, type Visit } from "../page.ts";
import { act } from "./act.ts";
import { badge } from "./badge.ts";
import { selectField } from "./fields.ts";
import { section } from "./table.ts";
import { type Html, shown, when } from "./text.ts";

export const TRANSFER_ACTIONS = {
  offer: {
    api: "POST /services/:id/transfer",
    run: ({ control, accounts }, form) => {
      const transfer = control.offerTransfer(form.id(), { to: form.count("to", "The account") ?? "" });
      const to = accounts.find(({ id }) => id === transfer.to_customer_id);
      return { text: `Service ${transfer.service_id} is on offer to ${to?.name ?? transfer.to_customer_id}.` };
    },
  },
  accept: {
    api: "POST /transfers/:id/accept",
    run: ({ control }, form) => {
      const { service_id } = control.acceptTransfer(form.id());
      return { text: `Service ${service_id} has changed hands. Both accounts are told by event.` };
    },
  },
  decline: {
    api: "POST /transfers/:id/decline",
    run: ({ control }, form) => ({
      text: `The offer of service ${control.declineTransfer(form.id()).service_id} is declined.`,
    }),
  },
} as const satisfies Record<string, Action>;

/** The offer that is open, or the form for one; and what was before. */
export function transferPart(visit: Visit, service: Service): Html {
  const all = visit.control.list("transfers").filter(({ service_id }) => service_id === service.id);
  const open = all.find(({ status }) => status === "offered");
  return html`${open === undefined ? offer(visit, service) : offered(visit, open)}
${all.length === 0 ? "" : html`<ul class="plain">${all.toReversed().map((transfer) => html`<li>${line(visit, transfer)}</li>`)}</ul>`}`;
}

function offer(visit: Visit, { id, customer_id, status }: Service): Html {
  if (status !== "active" && status !== "suspended")
    return html`<p class="empty">A service that is ${status} cannot change hands.</p>`;
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
        options: others.map((one) => [String(one.id), one.name]),
      }),
  });
}

function offered(visit: Visit, { id, service_id, to_customer_id }: Transfer): Html {
  const to = nameOf(visit, to_customer_id);
  return html`<p>On offer to <strong>${to}</strong>, which decides:</p><div class="row">
${act(visit, { do: "accept", id, label: "Accept", about: `service ${service_id} for ${to}`, tone: "primary" })}
${act(visit, { do: "decline", id, label: "Decline", about: `service ${service_id} for ${to}` })}</div>`;
}

function line(visit: Visit, transfer: Transfer): Html {
  const [from, to] = [nameOf(visit, transfer.from_customer_id), nameOf(visit, transfer.to_customer_id)];
  return html`${badge(transfer.status)} ${from} to ${to} <span class="hint">${when(transfer.created_at)}</span>`;
}

/** What other accounts offer to the one that is looked at. */
export function incoming(visit: Visit): Html {
  const open = visit.control
    .list("transfers")
    .filter((one) => one.status === "offered" && one.to_customer_id === visit.account.id);
  if (open.length === 0) return html``;
  return section(
    "Offered to this account",
    html`<ul class="plain">${open.map((transfer) => {
      const { id, service_id, from_customer_id } = transfer;
      const from = nameOf(visit, from_customer_id);
      return html`<li class="row wrap"><span>${shown(from)} offers <a href="${ROOT}/services/${service_id}">service ${service_id}</a></span>
${act(visit, { do: "accept", id, label: "Accept", about: `service ${service_id}`, tone: "primary" })}
${act(visit, { do: "decline", id, label: "Decline", about: `service ${service_id}` })}</li>`;
    })}</ul>`,
  );
}

function nameOf({ accounts }: Visit, id: number): string {
  return accounts.find((account) => account.id === id)?.name ?? `account ${id}`;
}
