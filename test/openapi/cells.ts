/** Requests that provoke each status of each endpoint that the specification names. */
import type { Sandbox } from "../../src/sandbox/index.ts";
import { registration } from "../support/registration.ts";
import type { Running, Sending } from "../unit/sandbox/harness.ts";

export interface Row {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path template of the document, without /api/v1. */
  readonly path: string;
  readonly ability: "view" | "technical" | "billing";
  /**
   * Request that succeeds. Each of the following fields is a request that fails, or the reason why no such request
   * exists.
   */
  readonly good: Asked;
  /** Request whose response is 422. */
  readonly invalid: Asked | string;
  /**
   * Request whose response is 403, because another account owns the record or its service, or because the account
   * lacks this feature.
   */
  readonly foreign: Asked | string;
  /** Request whose response is 403, because the token is restricted to other services. */
  readonly outside: Asked | string;
  /** Request whose response is 404. */
  readonly unknown: Asked | string;
}

/** Values of a request to an endpoint. `at` is the path with all parameters filled in. */
export interface Asked extends Sending {
  readonly at?: string;
}

/** Ids of the objects in the account before the first request, in the form of the profile. */
export interface Scene {
  readonly service: string;
  readonly server: string;
  readonly pending: string;
  readonly ended: string;
  readonly foreign: string;
  readonly grant: string;
  readonly foreignGrant: string;
  readonly invoice: string;
  readonly foreignInvoice: string;
  readonly webhook: string;
  readonly foreignWebhook: string;
  readonly migration: string;
  readonly foreignMigration: string;
  /** Token of the agency that is restricted to the server. */
  readonly restricted: string;
  readonly customer: string;
}

/**
 * Creates the objects of the agency and of the customer. Reads the ids from the lists of the API, because their form
 * depends on the profile.
 */
export async function scene({ sandbox, send }: Running): Promise<Scene> {
  const { control, tokens } = sandbox;
  const [service, server, pending, ended] = [
    control.seedServices({ plan_id: 11 }),
    control.seedServices({ plan_id: 31 }),
    control.seedServices({ plan_id: 11, status: "pending" }),
    control.seedServices({ plan_id: 11, status: "terminated" }),
  ].map(([one]) => one?.id ?? 0);
  const foreign = control.list("services").find(({ customer_id }) => customer_id === 2)?.id ?? 0;
  for (const [id, account] of [[service, "agency"] as const, [foreign, "customer"] as const]) {
    control.create("grants", { service_id: id ?? 0, email: "first@acme.example", permission: "view" });
    control.create("webhooks", { url: "https://hooks.acme.example/", events: ["invoice.paid"], account });
    control.create("migration_requests", { domain: "old.example", order_id: id ?? 0, account });
  }
  const first = async (path: string, token: string): Promise<string> => idOf((await send("GET", path, { token })).body);
  const { agency, customer } = tokens;
  return {
    service: String(service),
    server: String(server),
    pending: String(pending),
    ended: String(ended),
    foreign: String(foreign),
    grant: await first(`/services/${service}/grants`, agency),
    foreignGrant: await first(`/services/${foreign}/grants`, customer),
    invoice: String(control.list("invoices").find(({ order_id }) => order_id === service)?.id),
    foreignInvoice: String(control.list("invoices").find(({ order_id }) => order_id === foreign)?.id),
    webhook: await first("/webhooks", agency),
    foreignWebhook: await first("/webhooks", customer),
    migration: await first("/migration-requests", agency),
    foreignMigration: await first("/migration-requests", customer),
    restricted: tokenOf(sandbox, "restricted", ["view", "technical", "billing"], [server ?? 0]),
    customer,
  };
}

/** Returns a token of the agency. The first call for a name creates the token. */
export function tokenOf(
  { control }: Sandbox,
  name: string,
  abilities: ("view" | "technical" | "billing")[],
  service_ids: number[] | null = null,
): string {
  const known = control.list("tokens").find((token) => token.name === name);
  return (known ?? control.create("tokens", { name, abilities, service_ids })).value;
}

/** Returns the id of the first item of a list, with or without a wrapper. */
function idOf(list: unknown): string {
  const items = Array.isArray(list) ? list : Object.values(list as object).find(Array.isArray);
  const [item] = items as [{ id?: unknown; grant_id?: unknown; data?: object }];
  const { id, grant_id } = (item.data ?? item) as { id?: unknown; grant_id?: unknown };
  return String(id ?? grant_id);
}

const NOTHING_SENT = "it takes nothing but an id, and every other id belongs to nothing (404)";
const NO_RECORD = "there is no record in its path or its body";
const OWN_ONLY = "a list holds what the account, and the token, may see: it has nothing to refuse";
const NO_SERVICE = "what it is about belongs to no service";

const KEY = "matrix";
const ORDER = { plan_id: 11, currency: "USD", domain: "new.acme.example", term: 12 };
const DOMAIN = registration("new.acme.example");
const GRANT = { email: "dev@acme.example", permission: "manage", expires_at: "2027-06-30T00:00:00+00:00" };

/** Returns the 24 endpoints of §4. */
export function rows(has: Scene): readonly Row[] {
  const list = (path: string, ability: Row["ability"]): Row => ({
    method: "GET",
    path,
    ability,
    good: { at: `${path}?page=1&per_page=100` },
    invalid: { at: `${path}?page=-1` },
    foreign: OWN_ONLY,
    outside: OWN_ONLY,
    unknown: NO_RECORD,
  });
  /** Returns the row of an endpoint below a service. */
  const onService = (method: "GET" | "POST", what: string, more: { good?: Asked; invalid: Asked | string }): Row => {
    const at = (id: string) => ({ ...more.good, at: `/services/${id}${what}` });
    return {
      method,
      path: `/services/{id}${what}`,
      ability: what === "" ? "view" : "technical",
      good: at(has.service),
      invalid: more.invalid,
      foreign: at(has.foreign),
      outside: at(has.service),
      unknown: at("999999"),
    };
  };
  const customers = { token: has.customer };
  return [
    list("/plans", "view"),
    list("/services", "view"),
    onService("GET", "", { invalid: NOTHING_SENT }),
    {
      method: "POST",
      path: "/services",
      ability: "technical",
      good: { key: KEY, body: ORDER },
      invalid: { key: "other", body: { ...ORDER, plan_id: 14, term: 2 } },
      foreign: NO_RECORD,
      outside: { key: "other", body: ORDER },
      unknown: "a plan that does not exist is a wrong field (422)",
    },
    onService("POST", "/suspend", { invalid: { at: `/services/${has.ended}/suspend` } }),
    onService("POST", "/unsuspend", { invalid: { at: `/services/${has.ended}/unsuspend` } }),
    onService("POST", "/password", {
      good: { body: { password: "correct horse battery" } },
      invalid: { at: `/services/${has.service}/password`, body: { password: "short" } },
    }),
    onService("GET", "/panel-sso", { invalid: { at: `/services/${has.pending}/panel-sso` } }),
    onService("GET", "/grants", { invalid: { at: `/services/${has.service}/grants?per_page=x` } }),
    onService("POST", "/grants", {
      good: { body: GRANT },
      invalid: { at: `/services/${has.service}/grants`, body: { email: "nobody", permission: "own" } },
    }),
    {
      method: "DELETE",
      path: "/services/{id}/grants/{grantId}",
      ability: "technical",
      good: { at: `/services/${has.service}/grants/${has.grant}` },
      invalid: NOTHING_SENT,
      foreign: { at: `/services/${has.foreign}/grants/${has.foreignGrant}` },
      outside: { at: `/services/${has.service}/grants/${has.grant}` },
      unknown: { at: `/services/${has.service}/grants/${has.foreignGrant}` },
    },
    list("/invoices", "billing"),
    {
      method: "GET",
      path: "/invoices/{id}",
      ability: "billing",
      good: { at: `/invoices/${has.invoice}` },
      invalid: NOTHING_SENT,
      foreign: { at: `/invoices/${has.foreignInvoice}` },
      outside: { at: `/invoices/${has.invoice}` },
      unknown: { at: "/invoices/999999" },
    },
    list("/webhooks", "technical"),
    {
      method: "POST",
      path: "/webhooks",
      ability: "technical",
      good: { body: { url: "https://hooks.acme.example/new", events: ["invoice.paid", "service.suspended"] } },
      invalid: { body: { url: "hooks", events: [] } },
      foreign: NO_RECORD,
      outside: NO_SERVICE,
      unknown: NO_RECORD,
    },
    {
      method: "DELETE",
      path: "/webhooks/{id}",
      ability: "technical",
      good: { at: `/webhooks/${has.webhook}` },
      invalid: NOTHING_SENT,
      foreign: { at: `/webhooks/${has.foreignWebhook}` },
      outside: NO_SERVICE,
      unknown: { at: "/webhooks/00000000-0000-4000-8000-000000000000" },
    },
    {
      method: "GET",
      path: "/domains/check",
      ability: "view",
      good: { at: "/domains/check?domain=new.acme.example" },
      invalid: { at: "/domains/check" },
      foreign: NO_RECORD,
      outside: NO_SERVICE,
      unknown: NO_RECORD,
    },
    {
      method: "POST",
      path: "/domains/check",
      ability: "view",
      good: { body: { domains: ["new.acme.example", "example.com"] } },
      invalid: { body: { domains: ["-"] } },
      foreign: NO_RECORD,
      outside: NO_SERVICE,
      unknown: NO_RECORD,
    },
    {
      method: "POST",
      path: "/domains",
      ability: "technical",
      good: { body: DOMAIN },
      invalid: { body: { domain: "new.acme.example", years: 0 } },
      foreign: NO_RECORD,
      outside: { body: DOMAIN },
      unknown: NO_RECORD,
    },
    { ...list("/accounts", "view"), foreign: { ...customers } },
    {
      method: "POST",
      path: "/accounts",
      ability: "billing",
      good: { body: { name: "Acme", company_name: "Acme LLC", currency: "GEL" } },
      invalid: { body: { currency: "JPY" } },
      foreign: { ...customers, body: { name: "Acme" } },
      outside: NO_SERVICE,
      unknown: NO_RECORD,
    },
    list("/migration-requests", "view"),
    {
      method: "POST",
      path: "/migration-requests",
      ability: "technical",
      good: { body: { domain: "moving.example", order_id: Number(has.service), source: "cpanel", scope: "all" } },
      invalid: { body: { domain: "moving", order_id: 999_999 } },
      foreign: "an order of another account is a wrong field (422)",
      outside: { body: { domain: "moving.example", order_id: Number(has.service) } },
      unknown: "an order that does not exist is a wrong field (422)",
    },
    {
      method: "GET",
      path: "/migration-requests/{id}",
      ability: "view",
      good: { at: `/migration-requests/${has.migration}` },
      invalid: NOTHING_SENT,
      foreign: { at: `/migration-requests/${has.foreignMigration}` },
      outside: { at: `/migration-requests/${has.migration}` },
      unknown: { at: "/migration-requests/00000000-0000-4000-8000-000000000000" },
    },
  ];
}
