/** One exchange with the API as values: the request, made from its parts and checked, and the reply to it. */
import { problem } from "../messages/index.ts";
import { type Clock, exactJson, type Json } from "../model/index.ts";
import { type Endpoint, type EndpointName, endpoints, type Mutation } from "./endpoints.ts";
import { refuseArgument } from "./failed-attempt.ts";
import type { Ticket } from "./ticket.ts";

/** Options of one call. */
export interface CallOptions {
  /** Aborted: the request does not leave any more, and its answer is not awaited. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted: the request does not leave any more. One that has left is awaited, as `signal` would not. */
  readonly stop?: AbortSignal | undefined;
  /** No attempt of the request leaves after this moment, in milliseconds since the epoch. */
  readonly notAfter?: number | undefined;
  /**
   * For requests with an Idempotency-Key (§4): how long after one whose outcome is open the same may be sent again, in ms. By
   * then the host may have forgotten the key, and would order a second time. Default: 5,000.
   */
  readonly repeatWithinMs?: number | undefined;
  /** The place of the first attempt within the request limit. Default: each attempt waits for its own. */
  readonly ticket?: Ticket | undefined;
  /**
   * Called each time before the request leaves: at once, or after it waited for the rate limit, and again when it is repeated. If
   * it rejects, the request does not leave.
   */
  readonly onLeave?: (() => void | Promise<void>) | undefined;
  /** The time in which each attempt may leave. Default: any time. */
  readonly fence?: Fence | undefined;
}

/** The time in which a request may leave after its record. */
export interface Fence {
  /** Time that is left, in milliseconds; 0 if none is. */
  leftMs(): number;
  /** Records the request again, for a repetition: its time begins again. @throws HostformError; the request must not leave. */
  renew(): Promise<void>;
}

/** Parts of a request. */
export interface RequestParts extends CallOptions, Pick<Mutation, "params" | "body" | "idempotencyKey"> {
  readonly query?: readonly (readonly [name: string, value: string])[];
}

/** One request on its way down the chain. The token is not in it: `authorize` adds that last. */
export interface ApiRequest extends CallOptions {
  readonly endpoint: EndpointName;
  readonly method: Endpoint["method"];
  /** Path and query under /api/v1, placeholders filled in: `/services/7/suspend`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes; every attempt sends the same ones (§4: a repeated request with the same key). */
  readonly body?: string;
  /** Values of the body that no message may show. */
  readonly secrets: readonly string[];
  /** Counts from 1; set by the retry handler. */
  readonly attempt: number;
  /** An earlier attempt may have been carried out; set by the retry handler. */
  readonly isRepetition?: boolean;
  /** `notAfter` by the monotonic clock; set by the retry handler. */
  readonly notAfterMono?: number | undefined;
  /** Wait of this attempt for the rate limit, in ms, and the requests left in the minute after it; set by the limit handler. */
  readonly waitedMs: number;
  readonly left: number;
}

/** Why a body ended early although status and headers had come. */
export type Cut = "closed" | "timeout" | "too_large";

/** Answer as it came over the wire. Header names are lower-case. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly cut?: Cut;
  /** The Content-Encoding, if hostform cannot decode it: the text is then empty. */
  readonly encoding?: string;
}

/** A reply that was understood: 2xx. `json` is undefined for an empty body. */
export interface ApiAnswer {
  readonly status: number;
  readonly json: unknown;
  /** The number of all rows of a list, as the headers state it. */
  readonly total?: number;
}

export type ChainHandler<R> = (request: ApiRequest) => Promise<R>;

/** Returns true if the time in which a request may leave is over by either clock. @param delayMs from now on. */
export const isTooLate = (
  { notAfter, notAfterMono }: Pick<ApiRequest, "notAfter" | "notAfterMono">,
  clock: Clock,
  delayMs = 0,
): boolean =>
  clock.now() + delayMs > (notAfter ?? Number.POSITIVE_INFINITY) ||
  clock.monotonic() + delayMs > (notAfterMono ?? Number.POSITIVE_INFINITY);

/** Aborted: a request that has not left must not leave. */
export const beforeLeaving = ({ signal, stop }: CallOptions): AbortSignal | undefined => anyOf(signal, stop);

/** A signal that is aborted with the first of two. */
export function anyOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);
}

/** Characters that a header can carry and a person can read. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Makes a request from its parts, checking what can be checked before anything is sent. Throws api.argument: an id that
 * would change the path, a keyed request without its key (§4: required), a password that is too short (§8).
 */
export function buildRequest(name: EndpointName, parts: RequestParts): ApiRequest {
  const endpoint: Endpoint = endpoints[name];
  const { method, repeat } = endpoint;
  const { params = {}, query = [], body, idempotencyKey, ...options } = parts;
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, key: string) => segment(name, key, params[key]));
  const search = query
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value.toWellFormed())}`)
    .join("&");
  if (repeat === "keyed" && !KEY.test(idempotencyKey ?? ""))
    refuseArgument(name, problem("api.argument/key", { isGiven: idempotencyKey !== undefined }));
  if (repeat !== "keyed" && idempotencyKey !== undefined)
    refuseArgument(name, problem("api.argument/surplus", { what: "Idempotency-Key" }));
  if (body !== undefined && method !== "POST") refuseArgument(name, problem("api.argument/surplus", { what: "body" }));
  const password = body?.password;
  if (name === "resetPassword" && password !== undefined && (typeof password !== "string" || password.length < 8)) {
    refuseArgument(name, problem("api.argument/password"));
  }
  return {
    ...options,
    endpoint: name,
    method,
    path: search === "" ? path : `${path}?${search}`,
    headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
    ...(body !== undefined && { body: JSON.stringify(sorted(body)) }),
    secrets: typeof password === "string" ? [password] : [],
    attempt: 1,
    waitedMs: 0,
    left: 0,
  };
}

/** The same body gives the same bytes, in whatever order it was put together: what is sent again must not differ. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item)]));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const NO_SEGMENT = /(?:^|[/\\])\.{1,2}(?:$|[/\\])|[\u0000-\u001f\u007f]/;

/** One segment of the path: an opaque id, percent-encoded. Refuses what a server or proxy that decodes it might take for another path. */
function segment(endpoint: EndpointName, name: string, value: string | undefined): string {
  if (typeof value !== "string" || value.trim() === "" || NO_SEGMENT.test(value) || !value.isWellFormed()) {
    refuseArgument(endpoint, problem("api.argument/id", { value: JSON.stringify(value ?? null), name }));
  }
  return encodeURIComponent(value);
}

/** Far more than any record has: a function that descends level by level must not overflow the stack. */
const MOST_LEVELS = 100;

/**
 * Parses JSON; undefined when the text is not JSON, or nested more than 100 levels deep. Integers beyond 2^53 become strings of
 * their digits, so that a long id survives (ids other than those of services and invoices are not specified).
 */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    const source = text.replace(/^\uFEFF/, "");
    if (isDeep(source)) return undefined;
    return { value: exactJson(source) };
  } catch {
    return undefined;
  }
}

function isDeep(text: string): boolean {
  let levels = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case 0x5b: // [
      case 0x7b: // {
        levels += 1;
        if (levels > MOST_LEVELS) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        levels -= 1;
    }
  }
  return false;
}

const QUOTE = 0x22;

/** The quote that ends the string which begins here: the next one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === "\\") before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** The used part of a dispatcher of undici 7 or later, an `Agent` or a `MockAgent`. Its types would need its package. */
export interface HttpDispatcher {
  dispatch(options: never, handler: never): boolean;
}
