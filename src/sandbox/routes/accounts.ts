import { idParam, page, requireManageTrack, requireOwn, type Call, type Endpoint } from "../http/endpoint.ts";
import { Refusal, notFound } from "../refusal.ts";
import type { Reply, Sent } from "../shape/items.ts";
import { CURRENCIES, EVENTS, TIERS, type Account, type EventName, type Webhook } from "../store/records.ts";
import { webhookSecret } from "../store/store.ts";
import { Fields, isWebUrl, type Body } from "./fields.ts";

/** Client accounts: Manage track only (§4). */

const sentAccount = (record: Account): Sent => ({ kind: "account", record });

/** "Requires Growth partner tier or above" (§4). */
function create(call: Call): Reply {
  const { store, clock } = call.world;
  requireManageTrack(call.customer);
  const { tier } = call.customer;
  if (tier === null || TIERS.indexOf(tier) < TIERS.indexOf("growth")) {
    throw new Refusal(403, "Creating client accounts requires the Growth partner tier or above.");
  }
  const record = store.table("accounts").put({
    id: store.next("accounts", 401),
    customer_id: call.customer.id,
    ...readAccount(call.body),
    created_at: clock.instant(),
  });
  return { form: "one", status: 201, item: sentAccount(record) };
}

export const accountEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/accounts",
    ability: "view",
    answer: (call) => {
      requireManageTrack(call.customer);
      const own = call.world.store.table("accounts").filter((one) => one.customer_id === call.customer.id);
      return page(call, "accounts", own, sentAccount);
    },
  },
  { method: "POST", path: "/accounts", ability: "billing", answer: create },
];

/** The rules for client accounts (§4 POST /api/v1/accounts body). */

/** "Required: name. Optional: company_name, company_number, vat_number, currency." */
export function readAccount(body: Body): Omit<Account, "id" | "customer_id" | "created_at"> {
  const fields = new Fields(body);
  return fields.complete({
    name: fields.string("name", { required: true }),
    company_name: fields.string("company_name") ?? null,
    company_number: fields.string("company_number") ?? null,
    vat_number: fields.string("vat_number") ?? null,
    currency: fields.oneOf("currency", CURRENCIES) ?? null,
  });
}

/** Webhook subscriptions. The signing secret is sentWebhook once, at registration (§2). */

const sentWebhook = (record: Webhook): Sent => ({ kind: "webhook", record, withSecret: false });

export const webhookEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/webhooks",
    ability: "technical",
    answer: (call) => {
      const own = call.world.store.table("webhooks").filter((one) => one.customer_id === call.customer.id);
      return page(call, "webhooks", own, sentWebhook);
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

/** The rules for webhook subscriptions (§4 POST /api/v1/webhooks body). */

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
