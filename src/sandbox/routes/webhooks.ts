/** Webhook subscriptions. The signing secret is sent once, at registration (§2). */
import { requireOwn } from "../http/endpoint.ts";
import { idParam, page, type Endpoint } from "../http/endpoint.ts";
import type { Sent } from "../shape/items.ts";
import { notFound } from "../refusal.ts";
import { readWebhook } from "../rules/webhook.ts";
import type { Webhook } from "../store/records.ts";
import { webhookSecret } from "../store/store.ts";

const sent = (record: Webhook): Sent => ({ kind: "webhook", record, withSecret: false });

export const webhookEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/webhooks",
    ability: "technical",
    answer: (call) => {
      const own = call.world.store.table("webhooks").filter((one) => one.customer_id === call.customer.id);
      return page(call, "webhooks", own, sent);
    },
  },
  {
    method: "POST",
    path: "/webhooks",
    ability: "technical",
    answer: (call) => {
      const { store, clock } = call.world;
      const wanted = readWebhook(call.body);
      const record = store.table("webhooks").put({
        id: store.next("webhooks", 201),
        customer_id: call.customer.id,
        ...wanted,
        secret: webhookSecret(call.world),
        created_at: clock.instant(),
      });
      return { form: "one", status: 201, item: { kind: "webhook", record, withSecret: true } };
    },
  },
  {
    method: "DELETE",
    path: "/webhooks/:id",
    ability: "technical",
    answer: (call) => {
      const id = idParam(call, "id", "webhook");
      const webhook = call.world.store.table("webhooks").get(id);
      if (webhook === undefined) throw notFound("webhook", id);
      requireOwn(call.token, webhook, "webhook");
      call.world.store.table("webhooks").remove(id);
      return { form: "done", status: 200, message: "The webhook has been removed." };
    },
  },
];
