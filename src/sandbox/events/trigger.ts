import type { Sent } from "../http/reply.ts";
import { Refusal, notFound } from "../refusal.ts";
import { EVENTS, type Delivery, type EventName, type Webhook } from "../store/records.ts";
import type { World } from "../world.ts";
import { post } from "./emit.ts";

/** What a triggered event is about, and who is told. */
export interface Subject {
  /** The service that it names; default: the newest of the account. */
  service_id?: number;
  /** The same for invoice events. */
  invoice_id?: number;
  /** Only this subscription, whether it asked for the event or not; default: all of the account that did. */
  webhook_id?: number;
  /** Id of the account; default: that of whatever else is named. */
  customer_id?: number;
}

/**
 * Sends an event that has not happened: nothing changes but the delivery log.
 * @throws Refusal (422) for an unknown event, a subject that is not there, and when nobody subscribed.
 */
export function trigger(world: World, name: string, subject: Subject): Delivery[] {
  const event = EVENTS.find((one) => one === name);
  if (event === undefined) throw new Refusal(422, `There is no event "${name}". The events are ${EVENTS.join(", ")}.`);
  const item = itemOf(world, event, subject);
  const owner = item.record.customer_id;
  const account = world.store.table("customers").get(owner)?.name ?? owner;
  if (subject.customer_id !== undefined && subject.customer_id !== owner) {
    throw new Refusal(
      422,
      `The ${item.kind} ${item.record.id} belongs to the account ${account}, not to the one named.`,
    );
  }
  const webhooks = subscribed(world, event, subject, owner);
  if (webhooks.length > 0) return post(world, event, item, webhooks);
  const which = subject.webhook_id === undefined ? "No webhook" : `Webhook ${subject.webhook_id} is none`;
  const wanted = subject.webhook_id === undefined ? ` subscribes to ${event}` : "";
  throw new Refusal(422, `${which} of the account ${account}${wanted}, so nothing was sent.`);
}

type About = Extract<Sent, { kind: "service" | "invoice" }>;

function itemOf(world: World, event: EventName, subject: Subject): About {
  const kind = event.startsWith("invoice.") ? "invoice" : "service";
  const { invoice_id, service_id } = subject;
  const [id, other] = kind === "invoice" ? [invoice_id, service_id] : [service_id, invoice_id];
  if (other !== undefined) {
    throw new Refusal(
      422,
      `The event ${event} is about ${kind === "invoice" ? "an invoice, not a service" : "a service, not an invoice"}.`,
    );
  }
  const customerId = ownerOf(world, subject);
  const { store } = world;
  const own = (one: { id: number; customer_id: number }): boolean =>
    id === undefined ? customerId === undefined || one.customer_id === customerId : one.id === id;
  const found = kind === "invoice" ? store.table("invoices").filter(own) : store.table("services").filter(own);
  const record = found.at(-1);
  if (record === undefined) {
    if (id !== undefined) throw notFound(kind, id);
    throw new Refusal(422, `There is no ${kind} that ${event} could be about. Order a service first, or name one.`);
  }
  return { kind, record } as About;
}

function ownerOf(world: World, { customer_id, webhook_id }: Subject): number | undefined {
  if (webhook_id === undefined) return customer_id;
  const webhook = world.store.table("webhooks").get(webhook_id);
  if (webhook === undefined) throw notFound("webhook", webhook_id);
  return webhook.customer_id;
}

/** Events belong to an account: a webhook of another one would tell its owner what is not theirs. */
function subscribed(world: World, event: EventName, { webhook_id }: Subject, customerId: number): Webhook[] {
  const named = (one: Webhook): boolean =>
    webhook_id === undefined ? one.events.includes(event) : one.id === webhook_id;
  return world.store.table("webhooks").filter((one) => one.customer_id === customerId && named(one));
}
