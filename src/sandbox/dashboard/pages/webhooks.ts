/** The webhook subscriptions of the account, and every delivery of an event to them. */
import { html } from "hono/html";
import { EVENTS, type EventName, type Webhook } from "../../store/records.ts";
import { type Action, type Page, ROOT, type Visit } from "../page.ts";
import { act, unfold } from "../parts/act.ts";
import { deliveryTable, REPLAY } from "../parts/deliveries.ts";
import { checkboxes, textField } from "../parts/fields.ts";
import { paged, pager, section, table } from "../parts/table.ts";
import { code, counted, type Html } from "../parts/text.ts";
import { TRIGGER, triggerForm } from "../parts/trigger.ts";

const subscribe: Action = {
  api: "POST /webhooks",
  run: ({ control, account }, form) => {
    const { id, secret } = control.create("webhooks", {
      account: account.id,
      url: form.text("url") ?? "",
      events: form.all("events") as EventName[],
    });
    return { text: `Webhook ${id} is registered.`, once: { label: "Its signing secret", value: secret } };
  },
};

export const webhooks: Page = {
  path: "/webhooks",
  nav: "/webhooks",
  title: () => "Webhooks",
  actions: { subscribe, trigger: TRIGGER, replay: REPLAY },
  live: { deliveries },
  body: (visit) => {
    const own = visit.control.list("webhooks").filter(({ customer_id }) => customer_id === visit.account.id);
    return html`${section(
      counted(own.length, "subscription"),
      html`${list(visit, own)}
${unfold(visit, "Register a webhook", {
  do: "subscribe",
  label: "Register",
  tone: "primary",
  fields: (
    kept,
  ) => html`${textField(kept, { name: "url", label: "URL", type: "text", required: true, placeholder: "http://127.0.0.1:4000/hook", size: 40 })}
${checkboxes(kept, { name: "events", label: "Events", options: EVENTS.map((event) => [event, event]), checked: EVENTS })}`,
})}`,
    )}
${section("Send an event that has not happened", act(visit, triggerForm()))}
${section("Deliveries", html`<div id="deliveries" data-live>${deliveries(visit)}</div>`)}`;
  },
};

function list(visit: Visit, own: readonly Webhook[]): Html {
  return table({
    caption: `Webhooks of ${visit.account.name}`,
    unseen: true,
    columns: [{ title: "Id" }, { title: "URL" }, { title: "Events", wide: true }],
    rows: own.map(({ id, url, events }) => [
      html`<a class="nums" href="${ROOT}/webhooks/${id}" aria-label="Webhook ${id}">${id}</a>`,
      html`<span class="break">${code(url)}</span>`,
      events.length === EVENTS.length
        ? "all"
        : html`${events.map((event) => html`<span class="chip">${event}</span> `)}`,
    ]),
    empty: "Nobody is told of events.",
  });
}

function deliveries(visit: Visit): Html {
  const own = visit.control.list("deliveries").filter(({ customer_id }) => customer_id === visit.account.id);
  const part = paged(own.toReversed(), visit.query);
  return html`${deliveryTable(visit, part.items, "Deliveries")}${pager(`${ROOT}/webhooks`, visit.query, part)}`;
}
