/** One webhook subscription. */
import { html } from "hono/html";
import type { Webhook } from "../../store/records.ts";
import { type Page, ROOT, type Visit } from "../page.ts";
import { act } from "../parts/act.ts";
import { deliveryTable } from "../parts/deliveries.ts";
import { idOf } from "../parts/id.ts";
import { facts, paged, pager, section } from "../parts/table.ts";
import { code, type Html, when } from "../parts/text.ts";
import { TRIGGER, triggerForm } from "../parts/trigger.ts";

export const webhook: Page = {
  path: "/webhooks/:id",
  nav: "/webhooks",
  title: (visit) => `Webhook ${read(visit).id}`,
  actions: {
    rotate: {
      api: "POST /webhooks/:id/rotate",
      run: ({ control }, form) => {
        const { id, secret } = control.rotateSecret(form.id());
        return {
          text: `Webhook ${id} has another signing secret. Deliveries from now on are signed with it, retries too.`,
          once: { label: "Its signing secret", value: secret },
        };
      },
    },
    remove: {
      api: "DELETE /webhooks/:id",
      run: ({ control }, form) => {
        const id = form.id();
        control.remove("webhooks", id);
        return { text: `Webhook ${id} is removed.`, to: `${ROOT}/webhooks` };
      },
    },
    trigger: TRIGGER,
  },
  live: { deliveries },
  body: (visit) => {
    const record = read(visit);
    return html`<div class="card">${about(record)}
<div class="row wrap actions">
${act(visit, {
  do: "rotate",
  id: record.id,
  label: "Rotate the secret",
  confirm: "The old secret signs nothing more. A receiver that knows both loses nothing.",
})}
${act(visit, { do: "remove", id: record.id, label: "Remove", about: `webhook ${record.id}`, tone: "danger", confirm: "Events that are under way to it are abandoned." })}
</div></div>
${section("Send it an event that has not happened", act(visit, triggerForm(record.id)))}
${section("Deliveries", html`<div id="deliveries" data-live>${deliveries(visit)}</div>`)}`;
  },
};

function read(visit: Visit): Webhook {
  return visit.control.get("webhooks", idOf(visit, "webhook"));
}

function about({ url, events, created_at }: Webhook): Html {
  return facts([
    ["URL", code(url)],
    ["Events", html`${events.map((event) => html`<span class="chip">${event}</span> `)}`],
    ["Signing secret", html`<span class="hint">shown when it was made, and not again</span>`],
    ["Registered", when(created_at)],
  ]);
}

function deliveries(visit: Visit): Html {
  const { id } = read(visit);
  const part = paged(
    visit.control
      .list("deliveries")
      .filter((one) => one.webhook_id === id)
      .toReversed(),
    visit.query,
  );
  return html`${deliveryTable(visit, part.items, `Deliveries to webhook ${id}`)}${pager(`${ROOT}/webhooks/${id}`, visit.query, part)}`;
}
