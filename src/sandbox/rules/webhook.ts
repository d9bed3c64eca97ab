/** The rules for webhook subscriptions (§4 POST /api/v1/webhooks body). */
import { EVENTS, type EventName, type Webhook } from "../store/records.ts";
import { type Body, Fields } from "./fields.ts";
import { isWebUrl } from "./syntax.ts";

/** "One or more event names from the Events part"; a name given twice counts once. */
export function readWebhook(body: Body): Pick<Webhook, "url" | "events"> {
  const fields = new Fields(body);
  const url = fields.matching("url", isWebUrl, "a valid URL", { required: true });
  return fields.complete({ url, events: readEvents(fields) });
}

function readEvents(fields: Fields): EventName[] {
  const given = fields.raw("events");
  if (given === undefined || given === null) fields.refuse("events", "The events field is required.");
  else if (!Array.isArray(given)) fields.refuse("events", "The events field must be an array.");
  else if (given.length === 0) fields.refuse("events", "The events field must have at least 1 item.");
  const events = new Set<EventName>();
  for (const [at, name] of Array.isArray(given) ? given.entries() : []) {
    const event = EVENTS.find((one) => one === name);
    if (event === undefined) fields.refuse(`events.${at}`, `The events.${at} field is not a known event name.`);
    else events.add(event);
  }
  return [...events];
}
