/** Deliveries of events as rows. */
import { html } from "hono/html";
import type { Delivery } from "../../store/records.ts";
import { type Action, ROOT, type Visit } from "../page.ts";
import { badge, httpStatus } from "./badge.ts";
import { table } from "./table.ts";
import { clockTime, code, fromNow, type Html, maybe } from "./text.ts";

/** Sends the same bytes once more. */
export const REPLAY: Action = {
  api: "POST /deliveries/:id/replay",
  run: async ({ control }, form) => {
    const { id, replay_of } = control.replayDelivery(form.id());
    await control.settled();
    const { status } = control.get("deliveries", id);
    return { text: `Delivery ${replay_of} was sent again as ${id}: ${status}.`, to: `${ROOT}/deliveries/${id}` };
  },
};

/** Newest first. */
export function deliveryTable({ now }: Visit, deliveries: readonly Delivery[], caption: string): Html {
  return table({
    caption,
    unseen: true,
    columns: [
      { title: "Id" },
      { title: "State" },
      { title: "Event" },
      { title: "Answer", wide: true },
      { title: "Attempts", align: "end", wide: true },
      { title: "To", wide: true },
      { title: "Since", wide: true },
    ],
    rows: deliveries.map(({ id, status, event, attempts, url, created_at, replay_of }) => [
      html`<a class="nums" href="${ROOT}/deliveries/${id}" aria-label="Delivery ${id}">${id}</a>`,
      html`${badge(status)}${replay_of === null ? "" : html` <span class="hint">of ${replay_of}</span>`}`,
      code(event),
      attempts.length === 0 ? maybe(null) : httpStatus(attempts.at(-1)?.status ?? null, "none"),
      html`<span class="nums">${attempts.length}</span>`,
      html`<span class="clip">${code(url)}</span>`,
      html`${clockTime(created_at)} <span class="hint">${fromNow(created_at, now)}</span>`,
    ]),
    empty: "No event has been sent to this account.",
  });
}
