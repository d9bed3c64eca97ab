import { isObject, type JsonObject } from "../model/index.ts";
import type { MutationName } from "./endpoints.ts";
import { accountForm, grantForm, invoiceForm, migrationRequestForm, serviceForm, webhookForm } from "./forms.ts";
import type { Answers } from "./records.ts";
import { findBeside, findOne, findText, takeOne } from "./unwrap.ts";

type Reading = { readonly [E in MutationName]: (json: unknown) => Answers[E] };

const DOMAIN_ORDER = ["order", "service", "domain", "registration"];

/**
 * Reads what each mutation answers. Most of these shapes are not specified (§4, gaps in endpoint shapes): records are
 * found by structure, an answer without a usable one is null. Only an order must name its service (api.malformed).
 */
const reading: Reading = {
  createService: (json) => ({
    service: takeOne("createService", serviceForm, json),
    invoice: findBeside(invoiceForm, json, serviceForm.one) ?? null,
  }),
  suspendService: () => null,
  unsuspendService: () => null,
  resetPassword: (json) => ({
    password: findText(json, ["password", "new_password", "generated_password"], ["service", "credentials"]),
  }),
  createGrant: (json) => findOne(grantForm, json) ?? null,
  revokeGrant: () => null,
  createWebhook: (json) => {
    const record = findOne(webhookForm, json);
    const secret = findText(json, ["secret", "signing_secret", "signingSecret", "webhook_secret"], webhookForm.one);
    return record === undefined ? null : { ...record, secret };
  },
  deleteWebhook: () => null,
  registerDomain: (json) => {
    if (!isObject(json)) return null;
    const order = findOne({ ...serviceForm, one: DOMAIN_ORDER }, json);
    return {
      id: order?.id ?? null,
      status: order?.status ?? null,
      invoice: findBeside(invoiceForm, json, DOMAIN_ORDER) ?? null,
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
