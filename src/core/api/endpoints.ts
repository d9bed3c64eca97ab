/** The endpoints of §4: method, path, ability, repetition and record of each. */
import type { JsonObject } from "../model/index.ts";
import type { Decoder } from "./decoder.ts";
import { decoders, type RecordName, type RecordTypes } from "./records.ts";

/** Abilities of a token (§5). */
export type Ability = "view" | "technical" | "billing";

/**
 * Rule for repeating a request after a lost response. `safe`: the request only reads. `keyed`: the same Idempotency-Key makes a
 * repetition harmless (§4). `idempotent`: a repetition has the same result (DELETE). `once`: never repeated after it may have
 * reached the server.
 */
export type Repeat = "safe" | "keyed" | "idempotent" | "once";

export interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path under /api/v1 with `{id}` and `{grantId}` placeholders. */
  readonly path: string;
  readonly ability: Ability;
  readonly repeat: Repeat;
  /** The record (§2) in the response, alone or in a list. Absent: no record is read. */
  readonly record?: RecordName;
  /**
   * Required part of a 2xx response. Absent: the whole response. `optional`: accepts an empty response, and rejects a broken response.
   * `ignored`: the status is enough, unless the body contains an error (gap: the bodies of suspend and unsuspend are not specified).
   * `advisory`: the whole response. An error in the body is then a finding about the domain, and not about the request.
   */
  readonly answer?: "optional" | "ignored" | "advisory";
}

type Details = Pick<Endpoint, "record" | "answer">;

/** Defines a request that only reads. */
const get = <const D extends Details>(path: string, ability: Ability, details: D) =>
  ({ method: "GET", path, ability, repeat: "safe", ...details }) as const;

/** Defines a request that the API must not carry out twice. */
const once = <const D extends Details>(path: string, ability: Ability, details: D) =>
  ({ method: "POST", path, ability, repeat: "once", ...details }) as const;

const remove = (path: string) =>
  ({ method: "DELETE", path, ability: "technical", repeat: "idempotent", answer: "ignored" }) as const;

/** The endpoints of §4, by their name in the client. */
export const endpoints = {
  listPlans: get("/plans", "view", { record: "plan" }),
  listServices: get("/services", "view", { record: "service" }),
  getService: get("/services/{id}", "view", { record: "service" }),
  createService: { method: "POST", path: "/services", ability: "technical", repeat: "keyed", record: "service" },
  suspendService: once("/services/{id}/suspend", "technical", { answer: "ignored" }),
  unsuspendService: once("/services/{id}/unsuspend", "technical", { answer: "ignored" }),
  resetPassword: once("/services/{id}/password", "technical", { answer: "optional" }),
  panelSso: get("/services/{id}/panel-sso", "technical", {}),
  listGrants: get("/services/{id}/grants", "technical", { record: "grant" }),
  createGrant: once("/services/{id}/grants", "technical", { record: "grant", answer: "optional" }),
  revokeGrant: remove("/services/{id}/grants/{grantId}"),
  listInvoices: get("/invoices", "billing", { record: "invoice" }),
  getInvoice: get("/invoices/{id}", "billing", { record: "invoice" }),
  listWebhooks: get("/webhooks", "technical", { record: "webhook" }),
  createWebhook: once("/webhooks", "technical", { record: "webhook", answer: "optional" }),
  deleteWebhook: remove("/webhooks/{id}"),
  checkDomains: get("/domains/check", "view", { answer: "advisory" }),
  checkDomainsByPost: { method: "POST", path: "/domains/check", ability: "view", repeat: "safe", answer: "advisory" },
  registerDomain: once("/domains", "technical", { answer: "optional" }),
  listAccounts: get("/accounts", "view", { record: "account" }),
  createAccount: once("/accounts", "billing", { record: "account", answer: "optional" }),
  listMigrationRequests: get("/migration-requests", "view", { record: "migration_request" }),
  createMigrationRequest: once("/migration-requests", "technical", { record: "migration_request", answer: "optional" }),
  getMigrationRequest: get("/migration-requests/{id}", "view", { record: "migration_request" }),
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

/** The endpoints that change the account. A plan never calls them. */
export type MutationName = {
  [E in EndpointName]: (typeof endpoints)[E]["repeat"] extends "safe" ? never : E;
}[EndpointName];

/** The endpoints whose responses contain a record. */
export type RecordEndpoint = {
  [E in EndpointName]: (typeof endpoints)[E] extends { readonly record: RecordName } ? E : never;
}[EndpointName];

/** The record in the responses of an endpoint. */
export type RecordOf<E extends RecordEndpoint> = RecordTypes[(typeof endpoints)[E]["record"]];

/** A request that changes the account, as a plain value: it can be recorded before it is sent. */
export interface Mutation<E extends MutationName = MutationName> {
  readonly endpoint: E;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** Required for createService (§4), and forbidden for all other endpoints. */
  readonly idempotencyKey?: string;
}

/** Returns for example `POST /api/v1/services/{id}/suspend`. */
export function describeEndpoint(name: EndpointName): string {
  const endpoint = endpoints[name];
  return `${endpoint.method} /api/v1${endpoint.path}`;
}

/** Returns the decoder of an endpoint's record. @internal */
export function decoderOf<E extends RecordEndpoint>(endpoint: E): Decoder<RecordOf<E>> {
  return decoders[endpoints[endpoint].record] as Decoder<RecordOf<E>>;
}
