/** Pages of the account's webhooks and their deliveries, each with body, signature and attempts. */
import { html } from "hono/html";
import { SIGNATURE_HEADER, sign } from "../../events/sender.ts";
import { type Delivery, EVENTS, type Webhook } from "../../store/records.ts";
import { act } from "../forms.ts";
import {
  badge,
  clockTime,
  code,
  counted,
  facts,
  fromNow,
  type Html,
  httpStatus,
  maybe,
  section,
  table,
  when,
} from "../html.ts";
import { type Action, idOf, own, type Page, ROOT, type Visit } from "../page.ts";

const REPLAY: Action = {
  api: "POST /deliveries/:id/replay",
  run: async ({ control }, form) => {
    const { id, replay_of } = control.replayDelivery(form.id());
    await control.settled();
    const { status } = control.get("deliveries", id);
    return { text: `Delivery ${replay_of} was sent again as ${id}: ${status}.`, to: `${ROOT}/deliveries/${id}` };
  },
};

const webhooks: Page = {
  path: "/webhooks",
  title: () => "Webhooks",
  live: { deliveries },
  body: (visit) => {
    const all = own(visit, "webhooks");
    return html`${section(counted(all.length, "subscription"), list(visit, all))}
${section("Deliveries", html`<div id="deliveries" data-live>${deliveries(visit)}</div>`)}`;
  },
};

function list(visit: Visit, webhooks: readonly Webhook[]): Html {
  return table({
    caption: `Webhooks of ${visit.account.name}`,
    columns: { Id: "", URL: "", Events: "wide" },
    items: webhooks,
    row: ({ id, url, events }) => [
      html`<a class="nums" href="${ROOT}/webhooks/${id}" aria-label="Webhook ${id}">${id}</a>`,
      html`<span class="long">${code(url)}</span>`,
      events.length === EVENTS.length
        ? "all"
        : html`${events.map((event) => html`<span class="chip">${event}</span> `)}`,
    ],
    empty: "No webhooks, so events are not delivered.",
  });
}

function deliveries(visit: Visit): Html {
  return deliveryTable(visit, `${ROOT}/webhooks`, own(visit, "deliveries"), "Deliveries");
}

const webhook: Page = {
  path: "/webhooks/:id",
  nav: "/webhooks",
  title: (visit) => `Webhook ${readWebhook(visit).id}`,
  live: { deliveries: deliveriesTo },
  body: (visit) => {
    const record = readWebhook(visit);
    return html`<div class="card">${about(record)}</div>
${section("Deliveries", html`<div id="deliveries" data-live>${deliveriesTo(visit)}</div>`)}`;
  },
};

function readWebhook(visit: Visit): Webhook {
  return visit.control.get("webhooks", idOf(visit, "webhook"));
}

function about({ url, events, created_at }: Webhook): Html {
  return facts([
    ["URL", code(url)],
    ["Events", html`${events.map((event) => html`<span class="chip">${event}</span> `)}`],
    ["Registered", when(created_at)],
  ]);
}

function deliveriesTo(visit: Visit): Html {
  const { id } = readWebhook(visit);
  const all = visit.control.list("deliveries").filter((one) => one.webhook_id === id);
  return deliveryTable(visit, `${ROOT}/webhooks/${id}`, all, `Deliveries to webhook ${id}`);
}

const delivery: Page = {
  path: "/deliveries/:id",
  nav: "/webhooks",
  title: (visit) => `Delivery ${readDelivery(visit).id}: ${readDelivery(visit).event}`,
  actions: { replay: REPLAY },
  live: { state },
  body: (visit) => {
    const record = readDelivery(visit);
    return html`<div class="card"><div id="state" data-live>${state(visit)}</div>
<div class="row actions">${act(visit, { do: "replay", id: record.id, label: "Replay", about: `delivery ${record.id}`, tone: "primary" })}
<span class="hint">The same bytes, to the subscription's current URL.</span></div></div>
${section(
  "Body",
  html`<p class="hint">The exact text that is signed and sent, ${Buffer.byteLength(record.body)} bytes.</p>
<pre tabindex="0" role="region" aria-label="Text of the body"><code>${record.body}</code></pre>
`,
)}`;
  },
};

function readDelivery(visit: Visit): Delivery {
  return visit.control.get("deliveries", idOf(visit, "delivery"));
}

function state(visit: Visit): Html {
  const record = readDelivery(visit);
  const { webhook_id, status, url, replay_of, created_at } = record;
  return html`${facts(
    [
      ["State", badge(status)],
      ["To", code(url)],
      ["Subscription", html`<a href="${ROOT}/webhooks/${webhook_id}">Webhook ${webhook_id}</a>`],
      ["Since", html`${when(created_at)} <span class="hint">${fromNow(created_at, visit.now)}</span>`],
      ...(replay_of === null
        ? []
        : [["Replay of", html`<a href="${ROOT}/deliveries/${replay_of}">Delivery ${replay_of}</a>`] as const]),
      [SIGNATURE_HEADER, signature(visit, record)],
    ],
    ["To", SIGNATURE_HEADER],
  )}
${table({
  caption: "Attempts",
  captionShown: true,
  columns: { "No.": "", When: "", Answer: "", Error: "" },
  items: record.attempts,
  row: ({ at, status, error }, index) => [index + 1, when(at), httpStatus(status, "none"), maybe(error)],
  empty: "Not attempted yet.",
})}${next(visit, record)}`;
}

function next({ control, now }: Visit, { id, status }: Delivery): Html {
  if (status !== "pending") return html``;
  const due = control.upcoming(10_000).find((one) => one.delivery_id === id);
  return due === undefined
    ? html``
    : html`<p class="hint">The next attempt: ${when(due.at)}, ${fromNow(due.at, now)}.</p>`;
}

/** Returns the signature with the webhook's current secret. After a rotation, it differs from the sent signature. */
function signature({ control }: Visit, { webhook_id, body }: Delivery): Html {
  const subscription = control.list("webhooks").find(({ id }) => id === webhook_id);
  if (subscription === undefined)
    return html`<span class="hint">unknown: the subscription was removed with its secret</span>`;
  return html`<span class="break">${code(sign(body, subscription.secret))}</span> <span class="hint">with the current secret</span>`;
}

/** Returns a table of deliveries, newest first. */
function deliveryTable({ now, query }: Visit, path: string, deliveries: readonly Delivery[], caption: string): Html {
  return table({
    list: { path, query },
    caption,
    columns: { Id: "", State: "", Event: "", Answer: "wide", Attempts: "end wide", To: "wide", Since: "wide" },
    items: deliveries.toReversed(),
    row: ({ id, status, event, attempts, url, created_at, replay_of }) => [
      html`<a class="nums" href="${ROOT}/deliveries/${id}" aria-label="Delivery ${id}">${id}</a>`,
      html`${badge(status)}${replay_of !== null && html` <span class="hint">of ${replay_of}</span>`}`,
      code(event),
      attempts.length === 0 ? maybe(null) : httpStatus(attempts.at(-1)?.status ?? null, "none"),
      html`<span class="nums">${attempts.length}</span>`,
      html`<span class="long">${code(url)}</span>`,
      html`${clockTime(created_at)} <span class="hint">${fromNow(created_at, now)}</span>`,
    ],
    empty: "No deliveries to this account.",
  });
}

export const webhookPages: readonly Page[] = [webhooks, webhook, delivery];
