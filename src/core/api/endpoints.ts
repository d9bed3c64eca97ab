import type { JsonObject } from "../model/index.ts";

/** §5: what a token may do. */
export type Ability = "view" | "technical" | "billing";

/**
 * Whether a request may be sent again when its answer was lost. `safe`: changes nothing. `keyed`: the same
 * Idempotency-Key makes it harmless (§4). `idempotent`: doing it twice leaves the same state (DELETE).
 * `once`: never again after it may have reached the server.
 */
export type Repeat = "safe" | "keyed" | "idempotent" | "once";

export interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path under /api/v1 with `{id}` and `{grantId}` placeholders. */
  readonly path: string;
  readonly ability: Ability;
  readonly repeat: Repeat;
}

/** The 24 endpoints of §4, each under the one name used everywhere. */
export const endpoints = {
  listPlans: { method: "GET", path: "/plans", ability: "view", repeat: "safe" },
  listServices: { method: "GET", path: "/services", ability: "view", repeat: "safe" },
  getService: { method: "GET", path: "/services/{id}", ability: "view", repeat: "safe" },
  createService: { method: "POST", path: "/services", ability: "technical", repeat: "keyed" },
  suspendService: { method: "POST", path: "/services/{id}/suspend", ability: "technical", repeat: "once" },
  unsuspendService: { method: "POST", path: "/services/{id}/unsuspend", ability: "technical", repeat: "once" },
  resetPassword: { method: "POST", path: "/services/{id}/password", ability: "technical", repeat: "once" },
  panelSso: { method: "GET", path: "/services/{id}/panel-sso", ability: "technical", repeat: "safe" },
  listGrants: { method: "GET", path: "/services/{id}/grants", ability: "technical", repeat: "safe" },
  createGrant: { method: "POST", path: "/services/{id}/grants", ability: "technical", repeat: "once" },
  revokeGrant: {
    method: "DELETE",
    path: "/services/{id}/grants/{grantId}",
    ability: "technical",
    repeat: "idempotent",
  },
  listInvoices: { method: "GET", path: "/invoices", ability: "billing", repeat: "safe" },
  getInvoice: { method: "GET", path: "/invoices/{id}", ability: "billing", repeat: "safe" },
  listWebhooks: { method: "GET", path: "/webhooks", ability: "technical", repeat: "safe" },
  createWebhook: { method: "POST", path: "/webhooks", ability: "technical", repeat: "once" },
  deleteWebhook: { method: "DELETE", path: "/webhooks/{id}", ability: "technical", repeat: "idempotent" },
  checkDomains: { method: "GET", path: "/domains/check", ability: "view", repeat: "safe" },
  checkDomainsByPost: { method: "POST", path: "/domains/check", ability: "view", repeat: "safe" },
  registerDomain: { method: "POST", path: "/domains", ability: "technical", repeat: "once" },
  listAccounts: { method: "GET", path: "/accounts", ability: "view", repeat: "safe" },
  createAccount: { method: "POST", path: "/accounts", ability: "billing", repeat: "once" },
  listMigrationRequests: { method: "GET", path: "/migration-requests", ability: "view", repeat: "safe" },
  createMigrationRequest: { method: "POST", path: "/migration-requests", ability: "technical", repeat: "once" },
  getMigrationRequest: { method: "GET", path: "/migration-requests/{id}", ability: "view", repeat: "safe" },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

/** The endpoints that change something: what a plan must never call. */
export type MutationName =
  | "createService"
  | "suspendService"
  | "unsuspendService"
  | "resetPassword"
  | "createGrant"
  | "revokeGrant"
  | "createWebhook"
  | "deleteWebhook"
  | "registerDomain"
  | "createAccount"
  | "createMigrationRequest";

/** A request that changes something, as a plain value: it can be written down before it is sent. */
export interface Mutation<E extends MutationName = MutationName> {
  readonly endpoint: E;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** §4: required by createService, meaningless elsewhere. */
  readonly idempotencyKey?: string;
}

/** `POST /api/v1/services/{id}/suspend`. */
export function describeEndpoint(name: EndpointName): string {
  const endpoint = endpoints[name];
  return `${endpoint.method} /api/v1${endpoint.path}`;
}
