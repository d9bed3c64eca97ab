/**
 * Creates events (§6): one delivery per webhook in the outbox. `sender.ts` sends them.
 *
 * Must not: send an event before its change is committed.
 */
import { notFound, unprocessable } from "../refusal.ts";
import { eventData, instant, type Sent } from "../shape/items.ts";
import { type Delivery, EVENTS, type EventName, type Webhook } from "../store/records.ts";
import type { World } from "../world.ts";

type EventItem = Extract<Sent, { kind: "service" | "invoice" }>;

/**
 * Adds a delivery to the outbox for each webhook of the accounts that has subscribed to the event. By default, for the
 * record's account. The body is created now, with the current record. Must run inside a transaction.
 */
export function emit(
  world: World,
  event: EventName,
  item: EventItem,
  customerIds: readonly number[] = [item.record.customer_id],
): void {
  const isSubscribed = (one: Webhook): boolean => customerIds.includes(one.customer_id) && one.events.includes(event);
  post(world, event, item, world.store.table("webhooks").filter(isSubscribed));
}

/** Adds deliveries for the given webhooks to the outbox. */
function post(world: World, event: EventName, item: EventItem, webhooks: readonly Webhook[]): Delivery[] {
  if (webhooks.length === 0) return [];
  const { profile } = world.settings;
  // §6 requires "ISO 8601 timestamp with UTC offset", whatever the format of other times.
  const form = profile.timestamps === "date" ? "offset" : profile.timestamps;
  const timestamp = instant(world.clock.instant(), { ...profile, timestamps: form });
  const body = JSON.stringify({ event, data: eventData(item, profile), timestamp });
  const times = profile.deliveries === "twice" ? 2 : 1;
  return webhooks.flatMap((webhook) => Array.from({ length: times }, () => enter(world, webhook, event, body, null)));
}

/** Adds one delivery to the outbox. It is due now. */
function enter(world: World, webhook: Webhook, event: EventName, body: string, replayOf: number | null): Delivery {
  const { store, clock } = world;
  const delivery = store.table("deliveries").put({
    id: store.next("deliveries", 701),
    webhook_id: webhook.id,
    customer_id: webhook.customer_id,
    event,
    url: webhook.url,
    body,
    status: "pending",
    attempts: [],
    replay_of: replayOf,
    created_at: clock.instant(),
  });
  store.table("outbox").put({ id: delivery.id, due_at: clock.instant() });
  return delivery;
}

/**
 * Sends the body of a delivery again, byte for byte, to the webhook's current URL.
 * @throws Refusal (422) if the webhook was deleted or the delivery is not finished
 */
export function replayDelivery(world: World, delivery: Delivery): Delivery {
  const webhook = world.store.table("webhooks").get(delivery.webhook_id);
  if (webhook === undefined) throw unprocessable(`Webhook ${delivery.webhook_id} of this delivery was removed.`);
  if (delivery.status === "pending") throw unprocessable(`Delivery ${delivery.id} is still being attempted.`);
  return enter(world, webhook, delivery.event, delivery.body, delivery.id);
}

/** Subject and receivers of a triggered event. */
export interface Subject {
  /** Id of the service. By default, the account's newest service. */
  service_id?: number;
  /** Id of the invoice, for invoice events. By default, the account's newest invoice. */
  invoice_id?: number;
  /**
   * Id of the only receiver, even if it has not subscribed to the event. By default, all subscribed webhooks of the account.
   */
  webhook_id?: number;
  /** Id of the account. By default, the account of the service or invoice. */
  customer_id?: number;
}

/**
 * Sends a test event. Changes no record except the delivery log.
 * @throws Refusal (422) for an unknown event or subject, and if no webhook would receive the event
 */
export function triggerEvent(world: World, name: string, subject: Subject): Delivery[] {
  const event = EVENTS.find((one) => one === name);
  if (event === undefined) throw unprocessable(`There is no event "${name}". The events are ${EVENTS.join(", ")}.`);
  const item = itemOf(world, event, subject);
  const owner = item.record.customer_id;
  const account = world.store.table("customers").get(owner)?.name ?? owner;
  if (subject.customer_id !== undefined && subject.customer_id !== owner) {
    throw unprocessable(
      `The ${item.kind} ${item.record.id} belongs to the account ${account}, not to the selected account.`,
    );
  }
  const { webhook_id } = subject;
  // An event belongs to an account. Other accounts must not receive it.
  const receives = (one: Webhook): boolean =>
    one.customer_id === owner && (webhook_id === undefined ? one.events.includes(event) : one.id === webhook_id);
  const webhooks = world.store.table("webhooks").filter(receives);
  if (webhooks.length > 0) return post(world, event, item, webhooks);
  throw unprocessable(
    webhook_id === undefined
      ? `No webhook of the account ${account} subscribes to ${event}. No event was sent.`
      : `Webhook ${webhook_id} does not belong to the account ${account}. No event was sent.`,
  );
}

function itemOf(world: World, event: EventName, subject: Subject): EventItem {
  const kind = event.startsWith("invoice.") ? "invoice" : "service";
  const { invoice_id, service_id } = subject;
  const [id, other] = kind === "invoice" ? [invoice_id, service_id] : [service_id, invoice_id];
  if (other !== undefined) {
    throw unprocessable(
      `The event ${event} is about ${kind === "invoice" ? "an invoice, not a service" : "a service, not an invoice"}.`,
    );
  }
  const { store } = world;
  const webhook = subject.webhook_id === undefined ? undefined : store.table("webhooks").get(subject.webhook_id);
  if (subject.webhook_id !== undefined && webhook === undefined) throw notFound("webhook", subject.webhook_id);
  const customerId = webhook?.customer_id ?? subject.customer_id;
  const own = (one: { id: number; customer_id: number }): boolean =>
    id === undefined ? customerId === undefined || one.customer_id === customerId : one.id === id;
  const found = kind === "invoice" ? store.table("invoices").filter(own) : store.table("services").filter(own);
  const record = found.at(-1);
  if (record === undefined) {
    if (id !== undefined) throw notFound(kind, id);
    throw unprocessable(`There is no ${kind} for ${event}. Order a service first, or pass an id.`);
  }
  return { kind, record } as EventItem;
}
