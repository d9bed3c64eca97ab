import type { JsonObject } from "../model/index.ts";
import type { Decoder } from "./decoder.ts";
import { decoders, type RecordName, type RecordTypes } from "./records.ts";

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
  /** The record (§2) that the answer holds, alone or in a list. Absent: it holds none, or nothing is read from it. */
  readonly record?: RecordName;
  /**
   * How much of a 2xx answer is needed. Absent: all of it. `optional`: an empty answer is accepted, a broken one is not.
   * `ignored`: the status says it all, unless the body says that it failed (gap: the bodies of suspend and unsuspend are not
   * shown). `advisory`: all of it, and its words are findings that say nothing of the request.
   */
  readonly answer?: "optional" | "ignored" | "advisory";
}

/** The endpoints of §4, a row for each, under the one name used everywhere. */
export const endpoints = {
  listPlans: { method: "GET", path: "/plans", ability: "view", repeat: "safe", record: "plan" },
  listServices: { method: "GET", path: "/services", ability: "view", repeat: "safe", record: "service" },
  getService: { method: "GET", path: "/services/{id}", ability: "view", repeat: "safe", record: "service" },
  createService: { method: "POST", path: "/services", ability: "technical", repeat: "keyed", record: "service" },
  suspendService: {
    method: "POST",
    path: "/services/{id}/suspend",
    ability: "technical",
    repeat: "once",
    answer: "ignored",
  },
  unsuspendService: {
    method: "POST",
    path: "/services/{id}/unsuspend",
    ability: "technical",
    repeat: "once",
    answer: "ignored",
  },
  resetPassword: {
    method: "POST",
    path: "/services/{id}/password",
    ability: "technical",
    repeat: "once",
    answer: "optional",
  },
  panelSso: { method: "GET", path: "/services/{id}/panel-sso", ability: "technical", repeat: "safe" },
  listGrants: { method: "GET", path: "/services/{id}/grants", ability: "technical", repeat: "safe", record: "grant" },
  createGrant: {
    method: "POST",
    path: "/services/{id}/grants",
    ability: "technical",
    repeat: "once",
    record: "grant",
    answer: "optional",
  },
  revokeGrant: {
    method: "DELETE",
    path: "/services/{id}/grants/{grantId}",
    ability: "technical",
    repeat: "idempotent",
    answer: "ignored",
  },
  listInvoices: { method: "GET", path: "/invoices", ability: "billing", repeat: "safe", record: "invoice" },
  getInvoice: { method: "GET", path: "/invoices/{id}", ability: "billing", repeat: "safe", record: "invoice" },
  listWebhooks: { method: "GET", path: "/webhooks", ability: "technical", repeat: "safe", record: "webhook" },
  createWebhook: {
    method: "POST",
    path: "/webhooks",
    ability: "technical",
    repeat: "once",
    record: "webhook",
    answer: "optional",
  },
  deleteWebhook: {
    method: "DELETE",
    path: "/webhooks/{id}",
    ability: "technical",
    repeat: "idempotent",
    answer: "ignored",
  },
  checkDomains: { method: "GET", path: "/domains/check", ability: "view", repeat: "safe", answer: "advisory" },
  checkDomainsByPost: { method: "POST", path: "/domains/check", ability: "view", repeat: "safe", answer: "advisory" },
  registerDomain: { method: "POST", path: "/domains", ability: "technical", repeat: "once", answer: "optional" },
  listAccounts: { method: "GET", path: "/accounts", ability: "view", repeat: "safe", record: "account" },
  createAccount: {
    method: "POST",
    path: "/accounts",
    ability: "billing",
    repeat: "once",
    record: "account",
    answer: "optional",
  },
  listMigrationRequests: {
    method: "GET",
    path: "/migration-requests",
    ability: "view",
    repeat: "safe",
    record: "migration_request",
  },
  createMigrationRequest: {
    method: "POST",
    path: "/migration-requests",
    ability: "technical",
    repeat: "once",
    record: "migration_request",
    answer: "optional",
  },
  getMigrationRequest: {
    method: "GET",
    path: "/migration-requests/{id}",
    ability: "view",
    repeat: "safe",
    record: "migration_request",
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

/** The endpoints that change something: what a plan must never call. */
export type MutationName = {
  [E in EndpointName]: (typeof endpoints)[E]["repeat"] extends "safe" ? never : E;
}[EndpointName];

/** The endpoints whose answers hold a record. */
export type RecordEndpoint = {
  [E in EndpointName]: (typeof endpoints)[E] extends { readonly record: RecordName } ? E : never;
}[EndpointName];

/** The record in the answers of an endpoint. */
export type RecordOf<E extends RecordEndpoint> = RecordTypes[(typeof endpoints)[E]["record"]];

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

/** How the record in the answers of an endpoint is recognised and read. @internal */
export function decoderOf<E extends RecordEndpoint>(endpoint: E): Decoder<RecordOf<E>> {
  return decoders[endpoints[endpoint].record] as Decoder<RecordOf<E>>;
}
