/** What the clock does next, as a list. */
import { html } from "hono/html";
import type { Upcoming } from "../../control/time.ts";
import { ROOT, type Visit } from "../page.ts";
import { table } from "./table.ts";
import { fromNow, type Html, when } from "./text.ts";

const WORDS: Readonly<Record<Upcoming["what"], string>> = {
  provision: "is provisioned",
  register: "is registered",
  suspend: "is suspended",
  unsuspend: "is unsuspended",
  notice: "enters its renewal notice window",
  renew: "is renewed: an invoice is raised",
  terminate: "is terminated, unless its invoice is paid",
  cancel: "is cancelled, unless its invoice is paid",
  deliver: "is sent",
};

/** Of all accounts: the clock is everybody's. */
export function dueList(visit: Visit, most: number): Html {
  const { control, now } = visit;
  const due = control.upcoming(most);
  if (due.length === 0) return html`<p class="empty">Nothing is due.</p>`;
  return html`<ol class="due">${due.map(
    (one) => html`<li><div>${subject(one)}${owner(visit, one)} ${WORDS[one.what]}</div>
<div class="under hint">${when(one.at)}, ${fromNow(one.at, now)}</div></li>`,
  )}</ol>`;
}

/** The same with a line for each, for a page of its own. */
export function dueTable(visit: Visit, most: number): Html {
  const { control, now } = visit;
  return table({
    caption: "What falls due next",
    unseen: true,
    columns: [{ title: "When" }, { title: "In", wide: true }, { title: "What" }],
    rows: control
      .upcoming(most)
      .map((one) => [when(one.at), fromNow(one.at, now), html`${subject(one)}${owner(visit, one)} ${WORDS[one.what]}`]),
    empty: "Nothing is due.",
  });
}

/** Named when it is not the account that is looked at. */
function owner({ account, accounts }: Visit, { customer_id }: Upcoming): Html {
  const other = accounts.find(({ id }) => id === customer_id && id !== account.id);
  return other === undefined ? html`` : html` <span class="hint">of ${other.name}</span>`;
}

function subject({ what, order_id, delivery_id }: Upcoming): Html {
  if (delivery_id !== null) return html`<a href="${ROOT}/deliveries/${delivery_id}">Delivery ${delivery_id}</a>`;
  if (what === "register") return html`Domain order ${order_id}`;
  return html`<a href="${ROOT}/services/${order_id}">Service ${order_id}</a>`;
}
