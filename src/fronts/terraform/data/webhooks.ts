import type { Attributes } from "../../../core/model/schema.ts";
import { type CheckedDataSource, listOf, shaped, told } from "./define.ts";
import { allOf, kindOf } from "./lookup.ts";

const webhook: Attributes = {
  id: told("string", "Identifier of the subscription."),
  url: told("string", "Where events are posted to."),
  events: told({ set: "string" }, "Names of the events that are delivered."),
  created_at: told("string", "When it was registered (ISO 8601)."),
};

export const hostingWebhooks: CheckedDataSource = {
  name: "hosting_webhooks",
  schema: {
    version: 0,
    description:
      "The webhook subscriptions of the account, whether or not Terraform manages them. Their signing secrets cannot be read: the API tells each once, at registration.",
    attributes: { webhooks: listOf(webhook, "subscriptions") },
  },
  async read(_config, session) {
    const all = await allOf(kindOf("hosting_webhook"), session);
    return { webhooks: all.map(({ attributes }) => shaped(webhook, attributes)) };
  },
};
