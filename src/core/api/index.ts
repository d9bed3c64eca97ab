/**
 * The client of the Hosting Automation API, published as `hostform/client`. In: a base URL, a token, and for tests a
 * clock, randomness and a dispatcher. Out: the records of §2 in one shape whatever the server's variant, and typed errors
 * that say whether a request may have been carried out. Must not: know kinds, plans or state; guess where the answer is
 * unclear; follow redirects or addresses from the server; let the token into any text.
 */

export type { Acceptance, Ledger, Refusal, Reservation, WaitReason } from "../local/ledger.ts";
export { MemoryLedger } from "../local/memory-store.ts";
export { WINDOW_MS } from "../local/rolling-window.ts";
export { ApiError, type Clock, type Reached } from "../model/index.ts";
export type { Answers, DomainOrder, Registration, ServiceOrder } from "./answers.ts";
export type { ClientOptions, RequestEvent } from "./chain.ts";
export { HostingClient, type ListOptions, type Reader, type Writer } from "./client.ts";
export type { ApiRecord } from "./decoder.ts";
export type { DomainAvailability } from "./domain-check.ts";
export {
  type Ability,
  describeEndpoint,
  type Endpoint,
  type EndpointName,
  endpoints,
  type Mutation,
  type MutationName,
  type Repeat,
} from "./endpoints.ts";
export type { CallOptions, Fence, HttpDispatcher } from "./exchange.ts";
export { MOST_REQUESTS_PER_MINUTE, type Wait } from "./limiter.ts";
export type { ListReading, ReadOptions } from "./list-reading.ts";
export type { Listing } from "./listing.ts";
export { ledgerFor, type StoreOptions as LedgerOptions } from "./open-store.ts";
export type * from "./records.ts";
export type { Ticket } from "./ticket.ts";
export { VERSION } from "./version.ts";
