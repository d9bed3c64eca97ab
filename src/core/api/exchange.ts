/** One exchange with the API as values: the checked request, and the reply. */
import { problem } from "../messages/index.ts";
import { type Clock, type ClockTimes, elapsedMs, exactJson, type Json } from "../model/index.ts";
import { type Endpoint, type EndpointName, endpoints, type Mutation } from "./endpoints.ts";
import { refuseArgument } from "./failed-attempt.ts";
import type { Ticket } from "./ticket.ts";

/** Options of one call. */
export interface CallOptions {
  /** After its abort, the request is not sent, and its response is not awaited. */
  readonly signal?: AbortSignal | undefined;
  /** After its abort, the request is not sent. The response to a sent request is still awaited. */
  readonly stop?: AbortSignal | undefined;
  /** Last moment at which an attempt may be sent, in milliseconds since the epoch. */
  readonly notAfter?: number | undefined;
  /**
   * Time after an attempt with unknown result in which a request with an Idempotency-Key (§4) may be sent again, in ms. Later, the
   * host may have forgotten the key, and would order a second time. Default: 5,000.
   */
  readonly repeatWithinMs?: number | undefined;
  /** Booked place of the first attempt within the rate limit. Default: each attempt waits for a place. */
  readonly ticket?: Ticket | undefined;
  /**
   * Called before each attempt is sent, after its wait for the rate limit. If it rejects, the attempt is not sent.
   */
  readonly onLeave?: (() => void | Promise<void>) | undefined;
  /** The time in which each attempt may be sent. Default: any time. */
  readonly fence?: Fence | undefined;
}

/** The time in which a request may be sent after its record. */
export interface Fence {
  /** Returns the remaining time, in milliseconds, 0 at least. */
  leftMs(): number;
  /** Records the request again for a repetition, with a new time. @throws HostformError; then the request must not be sent. */
  renew(): Promise<void>;
}

export interface RequestParts extends CallOptions, Pick<Mutation, "params" | "body" | "idempotencyKey"> {
  readonly query?: readonly (readonly [name: string, value: string])[];
}

/** One request in the chain, without the token: `authorize` adds the token last. */
export interface ApiRequest extends CallOptions {
  readonly endpoint: EndpointName;
  readonly method: Endpoint["method"];
  /** Path and query under /api/v1, placeholders filled in: `/services/7/suspend`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exact bytes of the body. Each attempt sends equal bytes, because it repeats a request with the same key (§4). */
  readonly body?: string;
  /** Secret values of the body, which no message may contain. */
  readonly secrets: readonly string[];
  /** Number of the attempt, from 1; set by the retry handler. */
  readonly attempt: number;
  /** True if the API may have carried out an earlier attempt; set by the retry handler. */
  readonly isRepetition?: boolean;
  /** Time of the first attempt with an unknown result, and the time for which the host remembers its key, in ms; set by the retry handler. */
  readonly keyKept?: { readonly since: ClockTimes; readonly ms: number } | undefined;
  /** Wait of this attempt for the rate limit, in ms, and the remaining requests of the minute; set by the limit handler. */
  readonly waitedMs: number;
  readonly left: number;
}

/** Reason for an incomplete body after status and headers. */
export type Cut = "closed" | "timeout" | "too_large";

/** Response as received. Header names are lower-case. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly cut?: Cut;
  /** The Content-Encoding, if hostform cannot decode it. The text is then empty. */
  readonly encoding?: string;
}

/** A parsed 2xx reply. `json` is undefined for an empty body. */
export interface ApiAnswer {
  readonly status: number;
  readonly json: unknown;
  /** Number of all rows of a list in the headers. */
  readonly total?: number;
}

export type ChainHandler<R> = (request: ApiRequest) => Promise<R>;

/**
 * Returns true if the time limit of a request has passed, or if the host may have forgotten its key. The host may forget the key
 * exactly at its time limit. @param delayMs delay until the request is sent.
 */
export const isTooLate = (
  { notAfter = Number.POSITIVE_INFINITY, keyKept }: Pick<ApiRequest, "notAfter" | "keyKept">,
  clock: Clock,
  delayMs = 0,
): boolean =>
  clock.now() + delayMs > notAfter ||
  (keyKept !== undefined && elapsedMs(keyKept.since, clock) + delayMs >= keyKept.ms);

/** Returns the signal that stops a request before it is sent. */
export const beforeLeaving = ({ signal, stop }: CallOptions): AbortSignal | undefined => anyOf(signal, stop);

/** Returns a signal that is aborted with the first of two signals. */
export function anyOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);
}

/** Visible characters that a header accepts. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Builds and checks a request.
 * @throws FailedAttempt `api.argument`: an id would change the path, the required key is missing (§4), or the password is too short
 * (§8).
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

/** Sorts the names of a body: a repetition must send the same bytes. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item)]));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
const NO_SEGMENT = /(?:^|[/\\])\.{1,2}(?:$|[/\\])|[\u0000-\u001f\u007f]/;

/** Returns an opaque id as a percent-encoded segment of the path. Rejects ids that a decoding server or proxy may read as another path. */
function segment(endpoint: EndpointName, name: string, value: string | undefined): string {
  if (typeof value !== "string" || value.trim() === "" || NO_SEGMENT.test(value) || !value.isWellFormed()) {
    refuseArgument(endpoint, problem("api.argument/id", { value: JSON.stringify(value ?? null), name }));
  }
  return encodeURIComponent(value);
}

/** Maximum depth of JSON: recursive functions must not overflow the stack. */
const MOST_LEVELS = 100;

/**
 * Parses JSON; undefined if the text is not JSON, or has more than 100 levels. Integers beyond 2^53 become strings of their digits, so
 * that a long id stays exact (only ids of services and invoices are specified).
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

/** Returns the index of the quote that ends a string: the next quote after an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === "\\") before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** The used part of a dispatcher of undici 7 or later, an `Agent` or a `MockAgent`. Undici's own types would need its package. */
export interface HttpDispatcher {
  dispatch(options: never, handler: never): boolean;
}
