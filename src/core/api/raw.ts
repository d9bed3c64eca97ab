/** GETs with unparsed responses, for checks of the host. */
import type { ApiError } from "../model/index.ts";
import { buildChain, type ChainOptions } from "./chain.ts";
import { describeEndpoint, type EndpointName, endpoints } from "./endpoints.ts";
import {
  type ApiAnswer,
  type ApiReply,
  buildRequest,
  type ChainHandler,
  parseJson,
  type RequestParts,
} from "./exchange.ts";
import { FailedAttempt } from "./failed-attempt.ts";
import { parseResponse } from "./parse-response.ts";
import { tokenForms } from "./token.ts";

type Get = { [E in EndpointName]: (typeof endpoints)[E]["method"] extends "GET" ? E : never }[EndpointName];

/** GETs without an effect. A one-time sign-on creates a credential, so it is not among them. */
export type ReadingEndpoint = Exclude<Get, "panelSso">;

/** A response as received, without the token, even if the host repeats the token. */
export interface RawAnswer extends Omit<ApiReply, "cut"> {
  readonly endpoint: ReadingEndpoint;
  /** The body as JSON, for any status; undefined for other text. */
  readonly json: unknown;
  /** The client's error for this response; undefined if the client accepts the response. */
  readonly refusal: ApiError | undefined;
}

export type RawReader = (endpoint: ReadingEndpoint, parts?: RequestParts) => Promise<RawAnswer>;

interface Kept extends ApiAnswer {
  readonly reply: ApiReply;
  readonly refusal: ApiError | undefined;
}

/**
 * Returns a function that sends one GET through the chain of a client, with its rate limit and its rules for repetitions.
 * The function throws an ApiError only if no response arrived, or after transient failures.
 */
export function rawReader(options: ChainOptions & { readonly token: string }): RawReader {
  const chain = buildChain(options, { parse: keepReply });
  const hide = (text: string) =>
    tokenForms(options.token).reduce((shown, form) => shown.replaceAll(form, "[redacted]"), text);
  return async (endpoint, parts = {}) => {
    if (endpoints[endpoint].method !== "GET") throw new Error(`${describeEndpoint(endpoint)} does not only read`);
    const { reply, refusal } = (await chain(buildRequest(endpoint, parts))) as Kept;
    const text = hide(reply.text);
    const headers = Object.entries(reply.headers).map(([name, value]) => [name, value && hide(value)]);
    const { status } = reply;
    return { endpoint, status, text, headers: Object.fromEntries(headers), json: parseJson(text)?.value, refusal };
  };
}

/** Parses replies like the client, and keeps each reply beside its result. Throws only transient failures. */
function keepReply(options: Parameters<typeof parseResponse>[0], next: ChainHandler<ApiReply>): ChainHandler<Kept> {
  return async (request) => {
    const reply = await next(request);
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
