import type { Dispatcher } from "undici";
import { type Clock, fail, systemClock } from "../model/index.ts";
import { normalizeBaseUrl } from "./base-url.ts";
import { type Ledger, MemoryLedger } from "./ledger.ts";
import type { RequestEvent } from "./observe.ts";
import { VERSION } from "./version.ts";

export interface ClientOptions {
  /** The host's address, with or without /api/v1. */
  readonly baseUrl: string;
  /** §5.1: the access token. It appears in no error and no event. */
  readonly token: string;
  readonly clock?: Clock | undefined;
  /** For jitter: numbers from 0 up to 1. */
  readonly random?: (() => number) | undefined;
  /** The connections; the caller closes them. Default: an own pool, through the proxies that `env` names. */
  readonly dispatcher?: Dispatcher | undefined;
  /** Where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read. Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** §8: at most and by default 60. */
  readonly requestsPerMinute?: number | undefined;
  /** Where the requests of the last minute are counted. Default: in memory. */
  readonly ledger?: Ledger | undefined;
  /** For one attempt, in ms. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts that may fail before a call does. Default 4. */
  readonly maxAttempts?: number | undefined;
  /** Size of one answer, in bytes. Default 10 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Pages of one listing. Default 500. */
  readonly maxPages?: number | undefined;
  /** §8: `per_page`, at most and by default 100. */
  readonly pageSize?: number | undefined;
  /** Accept plain http to addresses other than loopback. */
  readonly insecureHttp?: boolean | undefined;
  readonly userAgent?: string | undefined;
  /** Aborted: no request leaves any more, as with the `stop` of each call. What has left is awaited, 30 s at most. */
  readonly stop?: AbortSignal | undefined;
  /** Aborted: what has left is not awaited either, as with the `signal` of each call. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a request has to wait for the budget or for a pause that the server asks for, with the time in ms. */
  readonly onWait?: ((ms: number) => void) | undefined;
  /** Called after each HTTP request. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
}

/** The options with defaults filled in and checked. Throws provider.base_url, provider.token, api.argument. */
export function resolveOptions(options: ClientOptions) {
  return {
    baseUrl: normalizeBaseUrl(options.baseUrl, options.insecureHttp),
    token: validToken(options.token),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    dispatcher: options.dispatcher,
    env: options.env ?? process.env,
    requestsPerMinute: within("requestsPerMinute", options.requestsPerMinute ?? 60, 1, 60),
    ledger: options.ledger ?? new MemoryLedger(),
    timeoutMs: within("timeoutMs", options.timeoutMs ?? 30_000, 1, 3_600_000),
    maxAttempts: within("maxAttempts", options.maxAttempts ?? 4, 1, 20),
    maxResponseBytes: within("maxResponseBytes", options.maxResponseBytes ?? 10 * 1024 * 1024, 1, 1024 * 1024 * 1024),
    maxPages: within("maxPages", options.maxPages ?? 500, 1, 1_000_000),
    pageSize: within("pageSize", options.pageSize ?? 100, 1, 100),
    userAgent: options.userAgent ?? `hostform/${VERSION}`,
    stop: options.stop,
    signal: options.signal,
    onRequest: options.onRequest,
    onWait: options.onWait,
  };
}

function within(name: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  fail("api.argument", `${name} must be a whole number from ${least} to ${most}`);
}

/** §5.1. @throws HostformError `provider.token` for what cannot stand in a header; the token is not in it. */
export function validToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  fail(
    "provider.token",
    token.trim() === "" ? "The API token is empty" : "The API token holds characters that no token has",
    {
      remedies: ["Copy the token again, without spaces or line breaks."],
    },
  );
}
