/** Sending an event that has not happened, to try a receiver. */
import { html } from "hono/html";
import { EVENTS } from "../../store/records.ts";
import type { Action } from "../page.ts";
import type { ActParts } from "./act.ts";
import { selectField, textField } from "./fields.ts";
import { counted } from "./text.ts";

export const TRIGGER: Action = {
  api: "POST /events/trigger",
  run: async ({ control, account }, form) => {
    const event = form.oneOf("event", "The event", EVENTS);
    const subject = form.count("subject", "The id");
    const webhook = form.count("webhook_id", "The webhook");
    const sent = control.trigger(event, {
      account: account.id,
      ...(subject !== undefined && (event.startsWith("invoice.") ? { invoice_id: subject } : { service_id: subject })),
      ...(webhook !== undefined && { webhook_id: webhook }),
    });
    await control.settled();
    return {
      text: `${event} was sent in ${counted(sent.length, "delivery", "deliveries")}. Nothing else has changed.`,
    };
  },
};

/** @param webhookId only to this subscription, whether it asked for the event or not. */
export function triggerForm(webhookId?: number): ActParts {
  return {
    do: "trigger",
    label: "Send",
    inline: true,
    fields: (
      kept,
    ) => html`${webhookId === undefined ? "" : html`<input type="hidden" name="webhook_id" value="${webhookId}">`}
${selectField(kept, { name: "event", label: "Event", options: EVENTS.map((event) => [event, event]) })}
${textField(kept, { name: "subject", label: "Service or invoice", type: "number", min: 1, size: 8, placeholder: "newest" })}`,
  };
}
