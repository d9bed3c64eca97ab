import type { Mutation, MutationName } from "./endpoints.ts";
import type {
  AccountRecord,
  Answers,
  DomainAvailability,
  GrantRecord,
  InvoiceRecord,
  MigrationRequestRecord,
  PlanRecord,
  ServiceRecord,
  WebhookRecord,
} from "./records.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** No attempt of the request leaves after this moment, in milliseconds since the epoch. */
  readonly notAfter?: number;
  /**
   * For requests with an Idempotency-Key (§4): how long after one whose outcome is open the same may be sent again, in ms. By
   * then the host may have forgotten the key, and would order a second time. Default: 5,000.
   */
  readonly repeatWithinMs?: number;
  /** Aborted: what has not left does not leave any more. What has left is waited for, as `signal` would not. */
  readonly stop?: AbortSignal;
}

/** A listing: iterate to page through lazily, or take `.all()`. Each iteration starts anew. */
export interface Listing<T> extends AsyncIterable<T> {
  all(): Promise<T[]>;
}

/**
 * The half of the client that changes nothing. Planning and observing take this type, so that they cannot order,
 * suspend or delete: the compiler says so.
 */
export interface Reader {
  /** What time it is at the host, in milliseconds since the epoch: by the `Date` of its answers, else the local clock. */
  hostNow(): number;
  readonly plans: { list(options?: CallOptions): Listing<PlanRecord> };
  readonly services: {
    list(options?: CallOptions): Listing<ServiceRecord>;
    get(id: string, options?: CallOptions): Promise<ServiceRecord>;
  };
  readonly grants: { list(serviceId: string, options?: CallOptions): Listing<GrantRecord> };
  readonly invoices: {
    list(options?: CallOptions): Listing<InvoiceRecord>;
    get(id: string, options?: CallOptions): Promise<InvoiceRecord>;
  };
  readonly webhooks: { list(options?: CallOptions): Listing<WebhookRecord> };
  readonly domains: { check(names: readonly string[], options?: CallOptions): Promise<DomainAvailability[]> };
  readonly accounts: { list(options?: CallOptions): Listing<AccountRecord> };
  readonly migrationRequests: {
    list(options?: CallOptions): Listing<MigrationRequestRecord>;
    get(id: string, options?: CallOptions): Promise<MigrationRequestRecord>;
  };
}

/** The half that changes things: one entry for all of them, taking the request as a plain value. */
export interface Writer {
  perform<E extends MutationName>(mutation: Mutation<E>, options?: CallOptions): Promise<Answers[E]>;
}
