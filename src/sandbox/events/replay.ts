import { Refusal } from "../refusal.ts";
import type { Delivery } from "../store/records.ts";
import type { World } from "../world.ts";
import { enter } from "./emit.ts";

/**
 * Sends a delivery once more, the very same bytes, to where its subscription points now.
 * @throws Refusal (422) when the subscription is gone or the delivery still under way.
 */
export function replay(world: World, delivery: Delivery): Delivery {
  const webhook = world.store.table("webhooks").get(delivery.webhook_id);
  if (webhook === undefined) throw new Refusal(422, `Webhook ${delivery.webhook_id} of this delivery is gone.`);
  if (delivery.status === "pending") throw new Refusal(422, `Delivery ${delivery.id} is still being attempted.`);
  return enter(world, webhook, delivery.event, delivery.body, delivery.id);
}
