import { isObject, type JsonObject } from "../model/index.ts";
import type { MutationName } from "./endpoints.ts";
import { accountForm, grantForm, invoiceForm, migrationRequestForm, serviceForm, webhookForm } from "./forms.ts";
import { accepted, formOf } from "./malformed.ts";
import { findOnce, GENERATED_PASSWORD, namesIn, WEBHOOK_SECRET } from "./one-time.ts";
import type { Answers } from "./records.ts";
import { findBeside, findOne } from "./unwrap.ts";

type Fields = { readonly [key: string]: unknown };

/** An invoice in the place of an order (§2 Invoice): its id is not that of what was ordered. */
const isInvoice = (value: Fields) => "invoice_number" in value || ("order_id" in value && "total" in value);

/** An object that is the order itself, not an invoice of it nor an envelope that merely names it. */
const isOrder = (value: Fields) =>
  !isInvoice(value) &&
  (["status", "plan", "domain", "product_type"].some((name) => name in value) ||
    !("order_id" in value || "service_id" in value));

/** The order that an invoice or an envelope names: `order_id` (§2), `service_id`; undefined when none is named. */
function namedOrder(json: unknown): { readonly id: unknown } | undefined {
  const found = [json, ...(isObject(json) ? Object.values(json) : [])].filter(isObject);
  const named = found.map((value) => value.service_id ?? value.order_id).find((id) => id !== undefined && id !== null);
  return named === undefined ? undefined : { id: named };
}

type Reading = { readonly [E in MutationName]: (json: unknown) => Answers[E] };

const DOMAIN_ORDER = ["order", "service", "domain", "registration"];

/**
 * Reads what each mutation answers. Most of these shapes are not specified (§4, gaps in endpoint shapes): records are
 * found by structure, an answer without a usable one is null. Only an order must name its service (api.accepted).
 */
const reading: Reading = {
  createService: (json) => {
    const order = findOne(serviceForm, json, isOrder) ?? findOne(serviceForm, namedOrder(json));
    const invoice = findBeside(invoiceForm, json, serviceForm.one) ?? findOne(invoiceForm, json, isInvoice) ?? null;
    // A job, perhaps, which makes it.
    if (order === undefined) throw accepted("createService", serviceForm.noun, formOf(json));
    return { service: order, invoice };
  },
  suspendService: () => null,
  unsuspendService: () => null,
  resetPassword: (json) => {
    const password = findOnce(json, { ...GENERATED_PASSWORD, wrappers: ["service", "credentials"] });
    const isStructure = typeof json === "object" && json !== null;
    return { password, ...(password === null && isStructure && { names: namesIn(json) }) };
  },
  createGrant: (json) => findOne(grantForm, json) ?? null,
  revokeGrant: () => null,
  createWebhook: (json) => {
    const record = findOne(webhookForm, json);
    const secret = findOnce(json, { ...WEBHOOK_SECRET, wrappers: webhookForm.one });
    if (record !== undefined) return { ...record, secret, ...(secret === null && { names: namesIn(json) }) };
    // The secret is told only this once: it is kept even when the answer names no id.
    return secret === null ? null : { id: null, url: null, events: [], created_at: null, raw: {}, secret };
  },
  deleteWebhook: () => null,
  registerDomain: (json) => {
    if (json === undefined) return null;
    // `[]` and `null` are not an empty answer: they say something, though nothing of a registration.
    if (!isObject(json)) return { id: null, status: null, invoice: null, raw: {} };
    const order =
      findOne({ ...serviceForm, one: DOMAIN_ORDER }, json, isOrder) ?? findOne(serviceForm, namedOrder(json));
    return {
      id: order?.id ?? null,
      status: order?.status ?? null,
      invoice: findBeside(invoiceForm, json, DOMAIN_ORDER) ?? findOne(invoiceForm, json, isInvoice) ?? null,
      raw: (order?.raw ?? (isObject(json.data) ? json.data : json)) as JsonObject,
    };
  },
  createAccount: (json) => findOne(accountForm, json) ?? null,
  createMigrationRequest: (json) => findOne(migrationRequestForm, json) ?? null,
};

/** Reads the answer of one mutation; `json` is undefined for an empty body. */
export function readAnswer<E extends MutationName>(endpoint: E, json: unknown): Answers[E] {
  return reading[endpoint](json);
}
