/** Records of an account except orders (§4): client accounts (Manage track only), webhooks, invoices. */
import {
  billing,
  covers,
  type Endpoints,
  ownRecords,
  page,
  recordInPath,
  requireManageTrack,
  technical,
  view,
} from "../http/endpoint.ts";
import { Refusal } from "../refusal.ts";
import { created, shown } from "../shape/items.ts";
import { type Account, CURRENCIES, EVENTS, type EventName, TIERS, type Webhook } from "../store/records.ts";
import { nextSecret } from "../store/store.ts";
import type { World } from "../world.ts";
import { type Body, Fields, isWebUrl } from "./fields.ts";

export const accountEndpoints = {
  listAccounts: view((call) => {
    requireManageTrack(call.customer);
    return page(call, "account", ownRecords(call, "accounts"));
  }),
  createAccount: billing(({ world, customer, body }) => {
    requireManageTrack(customer);
    // "Requires Growth partner tier or above" (§4).
    if (customer.tier === null || TIERS.indexOf(customer.tier) < TIERS.indexOf("growth")) {
      throw new Refusal(403, "Creating client accounts requires the Growth partner tier or above.");
    }
    return created({ kind: "account", record: addAccount(world, customer.id, body) });
  }),
  listWebhooks: technical((call) => page(call, "webhook", ownRecords(call, "webhooks"))),
  registerWebhook: technical(({ world, customer, body }) =>
    created({ kind: "webhook", record: addWebhook(world, customer.id, body), withSecret: true }),
  ),
  removeWebhook: technical((call) => {
    call.world.store.table("webhooks").remove(recordInPath(call, "webhooks").id);
    return { form: "done", message: "The webhook has been removed." };
  }),
  listInvoices: billing((call) => {
    const visible = ownRecords(call, "invoices").filter(({ order_id }) => covers(call.token, order_id));
    return page(call, "invoice", visible);
  }),
  getInvoice: billing((call) => shown({ kind: "invoice", record: recordInPath(call, "invoices") })),
} satisfies Endpoints;

/** Adds a client account. "Required: name. Optional: company_name, company_number, vat_number, currency." */
export function addAccount({ store, clock }: World, customer_id: number, body: Body): Account {
  const fields = new Fields(body);
  const wanted = fields.complete({
    name: fields.string("name", { required: true }),
    company_name: fields.string("company_name") ?? null,
    company_number: fields.string("company_number") ?? null,
    vat_number: fields.string("vat_number") ?? null,
    currency: fields.oneOf("currency", CURRENCIES) ?? null,
  });
  const id = store.next("accounts", 401);
  return store.table("accounts").put({ id, customer_id, ...wanted, created_at: clock.instant() });
}

/** Adds a webhook. Its signing secret is returned only once, at the registration (§2). */
export function addWebhook(world: World, customer_id: number, body: Body): Webhook {
  const { store, clock } = world;
  const fields = new Fields(body);
  const url = fields.matching("url", isWebUrl, "a valid URL", { required: true });
  const wanted = fields.complete({ url, events: readEvents(fields) });
  const id = store.next("webhooks", 201);
  const secret = webhookSecret(world);
  return store.table("webhooks").put({ id, customer_id, ...wanted, secret, created_at: clock.instant() });
}

/** Returns a new signing secret. Must run inside a transaction. */
export function webhookSecret({ store, settings }: World): string {
  return `whsec_${nextSecret(store, settings.seed, "webhook").slice(0, 40)}`;
}

/** Reads "One or more event names from the Events part". Removes duplicates. */
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
