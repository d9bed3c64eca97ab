/** The client: an object with a method for each endpoint. `Reader` is the type of its reading half. */
import type { ApiError, Diagnostic, JsonObject, RequestBudget } from "../model/index.ts";
import { webAddress } from "./address.ts";
import { type Answers, readAnswer, readOne } from "./answers.ts";
import { buildChain, type ClientOptions, type RequestEvent, resolveOptions } from "./chain.ts";
import { findText } from "./decoder.ts";
import { checkDomains, checkDomainsByPost } from "./domain-check.ts";
import type { Ability, EndpointName, Mutation, MutationName, RecordEndpoint, RecordOf } from "./endpoints.ts";
import {
  type ApiAnswer,
  type ApiRequest,
  anyOf,
  buildRequest,
  type CallOptions,
  type ChainHandler,
  type RequestParts,
} from "./exchange.ts";
import { describeShape, incomplete, malformed, tooLate, unprovenList, unreadableRow } from "./failed-attempt.ts";
import { HostLists } from "./host-lists.ts";
import { reserve } from "./limiter.ts";
import type { ReadOptions } from "./list-reading.ts";
import { createListing, type Listing } from "./listing.ts";
import { type RawReader, rawReader } from "./raw.ts";
import type { Ticket } from "./ticket.ts";

/** Options of one listing. */
export type ListOptions = CallOptions & ReadOptions;

/** Assumed latency before the first response, in milliseconds. */
const USUAL_MS = 200;

/**
 * A client for all endpoints of the Hosting Automation API. Every method rejects with an ApiError. Its `reached` states if the
 * API may have processed the request. The client respects the rate limit, retries safe requests and pages lazily.
 *
 * ```ts
 * const client = new HostingClient({ baseUrl: "https://api.example.com", token });
 * for await (const service of client.services.list()) use(service.domain);
 * ```
 */
export class HostingClient {
  readonly #options: ReturnType<typeof resolveOptions>;
  readonly #chain: ChainHandler<ApiAnswer>;
  /** @internal */
  readonly raw: RawReader;
  readonly #lists = new HostLists();
  /** Lists with a warning. */
  readonly #warned = new Set<RecordEndpoint>();
  #requests = 0;
  /** Total latency of all requests, in milliseconds. */
  #underWayMs = 0;

  constructor(options: ClientOptions) {
    const onRequest = (event: RequestEvent) => {
      this.#requests += 1;
      this.#underWayMs += event.ms;
      options.onRequest?.(event);
    };
    this.#options = { ...resolveOptions(options), onRequest };
    // From now on, the clock detects a stop of the process.
    this.#options.clock.wokeAt?.();
    this.#chain = buildChain(this.#options);
    this.raw = rawReader(this.#options);
  }

  /** Number of HTTP requests so far, including each attempt. */
  get requests(): number {
    return this.#requests;
  }

  /** Rate limit in force, in requests a minute: the client's own, or the host's if that is lower. */
  get requestsPerMinute(): number {
    return this.#options.limiter.limit;
  }

  /** Returns the number of requests that may be sent from now on, and the usual latency. */
  async budget(): Promise<RequestBudget> {
    const latencyMs = this.#requests === 0 ? USUAL_MS : this.#underWayMs / this.#requests;
    return { ...(await this.#options.limiter.outlook()), latencyMs };
  }

  /** Returns the time at the host by the `Date` of its responses, in milliseconds since the epoch. Before a response: the local time. */
  hostNow(): number {
    return this.#options.hostClock.now();
  }

  /**
   * Returns the `Date` of the newest response, in milliseconds since the epoch. No clock of this machine changes this time. Before
   * the first response: {@link hostNow}.
   */
  answeredAt(): number {
    return this.#options.hostClock.answeredAt ?? this.hostNow();
  }

  /** Returns the 403 of the last minute that named an ability which the token lacks (§5). Sends no request. */
  refusalOf(ability: Ability): ApiError | undefined {
    return this.#options.lacked.refusalOf(ability);
  }

  /** Closes the client's own connections. The caller's dispatcher stays open. */
  async close(): Promise<void> {
    await this.#options.close();
  }

  /**
   * Waits until the rate limit allows a mutation, and books a place for it. Pass the ticket to `request`.
   * @param options `withinMs`: maximum wait, in milliseconds. @returns undefined if no place is free within that time.
   */
  async reserve<E extends MutationName>(
    { endpoint, params, idempotencyKey }: Mutation<E>,
    { withinMs, ...options }: CallOptions & { readonly withinMs?: number | undefined } = {},
  ): Promise<Ticket | undefined> {
    this.#options.onMutation?.();
    const request = this.#build(endpoint, { ...options, params, idempotencyKey });
    const ticket = await reserve(this.#options, request, withinMs);
    if (ticket === undefined || !(this.#options.clock.now() > (options.notAfter ?? Number.POSITIVE_INFINITY)))
      return ticket;
    ticket.release();
    throw tooLate(endpoint);
  }

  /** Sends a mutation and reads its response (§4). */
  async request<E extends MutationName>(
    { endpoint, params, body, idempotencyKey }: Mutation<E>,
    options: CallOptions = {},
  ): Promise<Answers[E]> {
    this.#options.onMutation?.();
    const { writes } = this.#options.limiter;
    const { ticket, signal = options.stop } = options;
    const isInTurn = ticket === undefined && (await writes.begin({ signal }));
    try {
      const { json } = await this.#call(endpoint, { ...options, params, body, idempotencyKey });
      return readAnswer(endpoint, json);
    } finally {
      ticket?.endTurn();
      if (isInTurn) writes.end();
    }
  }

  readonly plans = {
    list: (options?: ListOptions) => this.#list("listPlans", options),
  };

  readonly services = {
    list: (options?: ListOptions) => this.#list("listServices", options),
    get: (id: string, options?: CallOptions) => this.#get("getService", id, options),
    /** Orders a service. The host issues an invoice at once. The same key with the same body never orders twice. */
    create: (body: JsonObject, options: CallOptions & { readonly idempotencyKey: string }) =>
      // An untyped caller may omit the options. The error then names the missing key.
      this.request({ endpoint: "createService", body, idempotencyKey: options?.idempotencyKey }, options),
    /** Queues a suspension. The status of the service changes when it is complete. */
    suspend: (id: string, options?: CallOptions) =>
      this.request({ endpoint: "suspendService", params: { id } }, options),
    unsuspend: (id: string, options?: CallOptions) =>
      this.request({ endpoint: "unsuspendService", params: { id } }, options),
    /** Sets the password (shared and WordPress hosting). Without a password, the host generates one (Root VPS, Virtual Desktop). */
    resetPassword: (id: string, { password, ...options }: CallOptions & { readonly password?: string } = {}) =>
      this.request(
        { endpoint: "resetPassword", params: { id }, ...(password !== undefined && { body: { password } }) },
        options,
      ),
    /** Returns a one-time sign-on URL for the control panel. Not part of `Reader`: each call creates a credential. */
    panelSso: async (id: string, { signal }: CallOptions = {}): Promise<{ readonly url: string }> => {
      this.#options.onMutation?.();
      const { json } = await this.#call("panelSso", { params: { id }, signal });
      const url = findText(json, ["url", "sso_url", "login_url"], ["sso", "panel_sso"]);
      if (url === null) throw malformed("panelSso", { expected: 'an object with "url"', came: describeShape(json) });
      return { url: webAddress(url) };
    },
  };

  readonly grants = {
    list: (serviceId: string, options?: ListOptions) => this.#list("listGrants", options, { id: serviceId }),
    create: (serviceId: string, body: JsonObject, options?: CallOptions) =>
      this.request({ endpoint: "createGrant", params: { id: serviceId }, body }, options),
    revoke: (serviceId: string, grantId: string, options?: CallOptions) =>
      this.request({ endpoint: "revokeGrant", params: { id: serviceId, grantId } }, options),
  };

  readonly invoices = {
    list: (options?: ListOptions) => this.#list("listInvoices", options),
    get: (id: string, options?: CallOptions) => this.#get("getInvoice", id, options),
  };

  readonly webhooks = {
    list: (options?: ListOptions) => this.#list("listWebhooks", options),
    /** Creates a webhook. Only this response contains the signing secret. */
    create: (body: JsonObject, options?: CallOptions) => this.request({ endpoint: "createWebhook", body }, options),
    delete: (id: string, options?: CallOptions) => this.request({ endpoint: "deleteWebhook", params: { id } }, options),
  };

  readonly domains = {
    check: (names: readonly string[], { signal }: CallOptions = {}) =>
      checkDomains((endpoint, parts) => this.#call(endpoint, parts), names, signal),
    checkByPost: (names: readonly string[], { signal }: CallOptions = {}) =>
      checkDomainsByPost((endpoint, parts) => this.#call(endpoint, parts), names, signal),
    /** Registers a domain. The host issues an invoice at once. Never repeated after a lost response. */
    register: (body: JsonObject, options?: CallOptions) => this.request({ endpoint: "registerDomain", body }, options),
  };

  readonly accounts = {
    list: (options?: ListOptions) => this.#list("listAccounts", options),
    create: (body: JsonObject, options?: CallOptions) => this.request({ endpoint: "createAccount", body }, options),
  };

  readonly migrationRequests = {
    list: (options?: ListOptions) => this.#list("listMigrationRequests", options),
    get: (id: string, options?: CallOptions) => this.#get("getMigrationRequest", id, options),
    create: (body: JsonObject, options?: CallOptions) =>
      this.request({ endpoint: "createMigrationRequest", body }, options),
  };

  #call(endpoint: EndpointName, parts: RequestParts): Promise<ApiAnswer> {
    return this.#chain(this.#build(endpoint, parts));
  }

  #build(endpoint: EndpointName, parts: RequestParts): ApiRequest {
    const signal = anyOf(this.#options.signal, parts.signal);
    const stop = anyOf(this.#options.stop, parts.stop);
    return buildRequest(endpoint, { ...parts, signal, stop });
  }

  async #get<E extends RecordEndpoint>(endpoint: E, id: string, { signal }: CallOptions = {}): Promise<RecordOf<E>> {
    const { json } = await this.#call(endpoint, { params: { id }, signal });
    return readOne(endpoint, json);
  }

  #list<E extends RecordEndpoint>(
    endpoint: E,
    { signal, whole, onRead, onNoList, onBadRow, mostPages = Number.POSITIVE_INFINITY }: ListOptions = {},
    params?: Readonly<Record<string, string>>,
  ): Listing<RecordOf<E>> {
    const { pageSize, maxPages } = this.#options;
    const readAnother = async () => {
      for await (const _ of this.plans.list({ signal })) break;
    };
    const warned =
      (warning: (failure: ApiError) => Diagnostic, then: typeof onNoList) =>
      (failure: ApiError): void => {
        if (!this.#warned.has(endpoint)) this.#options.onWarning?.(warning(failure));
        this.#warned.add(endpoint);
        then?.(failure);
      };
    return createListing({
      endpoint,
      maxPages,
      pageSize,
      host: this.#lists,
      whole,
      onRead,
      onNoList: onNoList && warned(unprovenList, onNoList),
      onBadRow: onBadRow && warned(unreadableRow, onBadRow),
      ...(endpoint !== "listPlans" && { readAnother }),
      fetchPage: (page, size) => {
        if (page > mostPages) throw incomplete(endpoint, `The list has more than ${mostPages} pages.`);
        return this.#call(endpoint, {
          params,
          signal,
          query: [
            ["page", String(page)],
            ["per_page", String(size)],
          ],
        });
      },
    });
  }
}

/**
 * The reading half of the client. Plans and reads take this type, so that the compiler rejects orders, suspensions and deletions.
 */
export interface Reader
  extends Pick<HostingClient, "hostNow" | "plans" | "invoices">,
    Partial<Pick<HostingClient, "answeredAt" | "refusalOf">> {
  readonly services: Pick<HostingClient["services"], "list" | "get">;
  readonly grants: Pick<HostingClient["grants"], "list">;
  readonly webhooks: Pick<HostingClient["webhooks"], "list">;
  readonly domains: Pick<HostingClient["domains"], "check">;
  readonly accounts: Pick<HostingClient["accounts"], "list">;
  readonly migrationRequests: Pick<HostingClient["migrationRequests"], "list" | "get">;
}

/** The writing half of the client. It takes each request as a plain value. */
export type Writer = Pick<HostingClient, "request" | "reserve">;
