/** One delivery: the exact body, its signature, every attempt. */
import { html } from "hono/html";
import { SIGNATURE_HEADER, sign } from "../../events/sender.ts";
import type { Attempt, Delivery } from "../../store/records.ts";
import { type Page, ROOT, type Visit } from "../page.ts";
import { act } from "../parts/act.ts";
import { badge, httpStatus } from "../parts/badge.ts";
import { REPLAY } from "../parts/deliveries.ts";
import { idOf } from "../parts/id.ts";
import { facts, section, table } from "../parts/table.ts";
import { code, fromNow, type Html, maybe, when } from "../parts/text.ts";

export const delivery: Page = {
  path: "/deliveries/:id",
  nav: "/webhooks",
  title: (visit) => `Delivery ${read(visit).id}: ${read(visit).event}`,
  actions: { replay: REPLAY },
  live: { state },
  body: (visit) => {
    const record = read(visit);
    return html`<div class="card"><div id="state" data-live>${state(visit)}</div>
<div class="row actions">${act(visit, { do: "replay", id: record.id, label: "Replay", about: `delivery ${record.id}`, tone: "primary" })}
<span class="hint">The same bytes, to where the subscription points now.</span></div></div>
${section(
  "Body",
  html`<p class="hint">The exact text that is signed and sent, ${Buffer.byteLength(record.body)} bytes.</p>
<pre tabindex="0" role="region" aria-label="Body"><code>${record.body}</code></pre>
<details class="unfold"><summary>Laid out</summary><pre tabindex="0" role="region" aria-label="Body, laid out"><code>${laidOut(record.body)}</code></pre></details>`,
)}`;
  },
};

function read(visit: Visit): Delivery {
  return visit.control.get("deliveries", idOf(visit, "delivery"));
}

function state(visit: Visit): Html {
  const record = read(visit);
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
  columns: [{ title: "No." }, { title: "When" }, { title: "Answer" }, { title: "Why it does not count" }],
  rows: record.attempts.map((attempt, at) => attemptRow(attempt, at)),
  empty: "Not attempted yet.",
})}${next(visit, record)}`;
}

function attemptRow({ at, status, error }: Attempt, index: number): (Html | number)[] {
  return [index + 1, when(at), httpStatus(status, "none"), maybe(error)];
}

function next({ control, now }: Visit, { id, status }: Delivery): Html {
  if (status !== "pending") return html``;
  const due = control.upcoming(10_000).find((one) => one.delivery_id === id);
  return due === undefined
    ? html``
    : html`<p class="hint">The next attempt: ${when(due.at)}, ${fromNow(due.at, now)}.</p>`;
}

/** With the secret of now: after a rotation, another than the one that was sent then. */
function signature({ control }: Visit, { webhook_id, body }: Delivery): Html {
  const subscription = control.list("webhooks").find(({ id }) => id === webhook_id);
  if (subscription === undefined)
    return html`<span class="hint">the subscription is gone, and its secret with it</span>`;
  return html`<span class="break">${code(sign(body, subscription.secret))}</span> <span class="hint">with the secret of now</span>`;
}

function laidOut(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
