import type { Sent } from "../http/reply.ts";
import { eventData, instant } from "../shape/index.ts";
import type { Delivery, EventName, Webhook } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { World } from "../world.ts";

/** Finished deliveries that are kept, so that a sandbox left running does not grow without end. */
const KEPT_DELIVERIES = 5_000;

/**
 * Puts a delivery into the outbox for each subscription of these accounts to the event (inside a transaction). The body
 * is made now: it tells how things were when it happened.
 */
export function emit(world: World, event: EventName, item: Sent, customerIds: readonly number[]): Delivery[] {
  const webhooks = world.store
    .table("webhooks")
    .filter((one) => customerIds.includes(one.customer_id) && one.events.includes(event));
  if (webhooks.length === 0) return [];
  return post(world, event, item, webhooks);
}

/** The same for subscriptions that have been chosen already. */
export function post(world: World, event: EventName, item: Sent, webhooks: readonly Webhook[]): Delivery[] {
  const { profile } = world.settings;
  // "ISO 8601 timestamp with UTC offset" (§6), whatever form other instants take.
  const form = profile.timestamps === "date" ? "offset" : profile.timestamps;
  const timestamp = instant(world.clock.instant(), { ...profile, timestamps: form });
  const body = JSON.stringify({ event, data: eventData(item, profile), timestamp });
  const times = profile.deliveries === "twice" ? 2 : 1;
  return webhooks.flatMap((webhook) => Array.from({ length: times }, () => enter(world, webhook, event, body, null)));
}

/** One delivery into the outbox, due now. */
export function enter(
  world: World,
  webhook: Webhook,
  event: EventName,
  body: string,
  replayOf: number | null,
): Delivery {
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

/** Drops the oldest of the finished deliveries when there are too many (inside a transaction). */
export function prune(store: Store): void {
  let surplus = store.table("deliveries").size - KEPT_DELIVERIES;
  if (surplus <= KEPT_DELIVERIES / 10) return;
  for (const { id, status } of store.table("deliveries").all()) {
    if (surplus <= 0) return;
    if (status === "pending") continue;
    store.table("deliveries").remove(id);
    surplus -= 1;
  }
}
