import type { ApiError } from "../model/index.ts";
import { buildChain, type ClientOptions, type RequestEvent, resolveOptions } from "./chain.ts";
import { type Endpoint, type EndpointName, endpoints } from "./endpoints.ts";
import {
  type ApiAnswer,
  type ApiReply,
  buildRequest,
  type ChainHandler,
  parseJson,
  type RequestParts,
} from "./exchange.ts";
import { FailedAttempt, refuseArgument } from "./failed-attempt.ts";
import { parseResponse } from "./parse-response.ts";
import { tokenForms } from "./token.ts";
import { send } from "./transport.ts";

/**
 * The endpoints that a probe can name. What reads is here, but for the one-time sign-on, which makes a credential. Of
 * what changes something: a webhook and its removal, which cost nothing and mail nobody. Whatever orders, suspends, mails
 * or sets a password is not, so that no mistake of a probe's owner can do it.
 */
export const PROBE_ENDPOINTS = [
  "listPlans",
  "listServices",
  "getService",
  "listGrants",
  "listInvoices",
  "getInvoice",
  "listWebhooks",
  "listAccounts",
  "listMigrationRequests",
  "getMigrationRequest",
  "checkDomains",
  "checkDomainsByPost",
  "createWebhook",
  "deleteWebhook",
] as const satisfies readonly EndpointName[];

export type ProbeEndpoint = (typeof PROBE_ENDPOINTS)[number];

/** Token of a request: the owner's, none, or one that nobody has. */
export type Credentials = "owner" | "none" | "unknown";

export interface ProbeRequest extends Pick<RequestParts, "params" | "query" | "body" | "signal" | "stop"> {
  readonly endpoint: ProbeEndpoint;
  /** Default: the owner's. */
  readonly as?: Credentials;
}

/** An answer as it came, with what the client makes of it. The token is in none of it, whatever the server echoes. */
export interface Probed extends Omit<ApiReply, "cut"> {
  /** The body as JSON, whatever the status; undefined when it is none. */
  readonly json: unknown;
  /** Why the client does not take it for an answer; undefined when it does. */
  readonly refusal: ApiError | undefined;
}

/** A token that no server has given out. The real one never goes with it. */
const UNKNOWN_TOKEN = "hostform-contract-check-not-a-token";

/** §8's headers in the answer to a stranger are those of another window than the token's. */
const RATE_HEADER = /^x-ratelimit-/;

interface Seen extends ApiAnswer {
  readonly reply: ApiReply;
  readonly refusal: ApiError | undefined;
}

/**
 * Sends single requests and returns raw answers: how a server answers, not what. Its requests go down the client's chain:
 * within the rate limit (those without the token too), bounded, no redirects, repeated by the same rules. A failure that may
 * pass is repeated, and thrown as an ApiError in the end.
 */
export class Prober {
  readonly #chains: Readonly<Record<Credentials, ChainHandler<ApiAnswer>>>;
  readonly #hide: (text: string) => string;
  readonly #close: () => Promise<void>;
  #requests = 0;
  #repeated = 0;
  #limited: Probed | undefined;

  /** @throws HostformError `provider.base_url`, `provider.token`, `provider.proxy`. */
  constructor(options: ClientOptions) {
    const resolved = resolveOptions(options);
    const { token } = resolved;
    this.#close = resolved.close;
    this.#hide = (text) => tokenForms(token).reduce((shown, form) => shown.replaceAll(form, "[redacted]"), text);
    const onRequest = (event: RequestEvent) => {
      this.#requests += 1;
      if (event.attempt > 1) this.#repeated += 1;
      options.onRequest?.(event);
    };
    const onLimited = (reply: ApiReply) => {
      this.#limited = this.#probed(reply, undefined);
    };
    const wire: ChainHandler<ApiReply> = (request) => send(resolved, request);
    const chain = (as: string | undefined, sent: ChainHandler<ApiReply>) =>
      buildChain({ ...resolved, token: as, onRequest }, { parse: keepingReply(onLimited), wire: sent });
    this.#chains = {
      owner: chain(token, wire),
      none: chain(undefined, ofStranger(wire)),
      unknown: chain(UNKNOWN_TOKEN, ofStranger(wire)),
    };
  }

  /** HTTP requests made so far, each attempt counted. */
  get requests(): number {
    return this.#requests;
  }

  /** Number of repetitions. */
  get repeated(): number {
    return this.#repeated;
  }

  /** The last refusal by the rate limit; the request was sent again. */
  get limited(): Probed | undefined {
    return this.#limited;
  }

  /** @throws ApiError when no answer came, or only failures that may pass. */
  async probe({ endpoint, as = "owner", ...parts }: ProbeRequest): Promise<Probed> {
    // Callers without types are held to the list as well.
    if (!PROBE_ENDPOINTS.includes(endpoint)) refuseArgument(endpoint, "A probe cannot use this endpoint");
    const answer = await this.#chains[as](buildRequest(endpoint, parts));
    // A removal that an attempt with a lost answer carried out has no reply.
    return isSeen(answer)
      ? this.#probed(answer.reply, answer.refusal)
      : this.#probed({ status: answer.status, headers: {}, text: "" }, undefined);
  }

  /** Result for callers, without the token. */
  #probed(reply: ApiReply, refusal: ApiError | undefined): Probed {
    const text = this.#hide(reply.text);
    const headers = Object.entries(reply.headers).map(([name, value]) => [name, value && this.#hide(value)]);
    return {
      status: reply.status,
      headers: Object.fromEntries(headers),
      text,
      json: parseJson(text)?.value,
      refusal,
    };
  }

  /** Closes its own connections; a dispatcher that was given stays open. */
  async close(): Promise<void> {
    await this.#close();
  }
}

/** `GET /api/v1/services/{id}`. */
export function probeTitle({ endpoint, query = [] }: Pick<ProbeRequest, "endpoint" | "query">): string {
  const { method, path }: Endpoint = endpoints[endpoint];
  const search = query.map(([name, value]) => `${name}=${value}`).join("&");
  return `${method} /api/v1${path}${search === "" ? "" : `?${search}`}`;
}

function isSeen(answer: ApiAnswer): answer is Seen {
  return "reply" in answer;
}

/**
 * Parses replies as the client does, and keeps each beside its result. Only a failure that may pass is thrown.
 * @param onLimited called with each refusal by the rate limit.
 */
function keepingReply(onLimited: (reply: ApiReply) => void) {
  return (options: Parameters<typeof parseResponse>[0], next: ChainHandler<ApiReply>): ChainHandler<Seen> =>
    async (request) => {
      const reply = await next(request);
      if (reply.status === 429) onLimited(reply);
      const { status } = reply;
      try {
        const { json } = await parseResponse(options, async () => reply)(request);
        return { status, json, reply, refusal: undefined };
      } catch (error) {
        if (!(error instanceof FailedAttempt) || error.transient) throw error;
        return { status, json: undefined, reply, refusal: error };
      }
    };
}

/** Drops what the answer to a stranger says of its window, which is not the token's. A 429 counts: then everybody waits. */
function ofStranger(next: ChainHandler<ApiReply>): ChainHandler<ApiReply> {
  return async (request) => {
    const reply = await next(request);
    if (reply.status === 429) return reply;
    const own = Object.entries(reply.headers).filter(([name]) => !RATE_HEADER.test(name));
    return { ...reply, headers: Object.fromEntries(own) };
  };
}
