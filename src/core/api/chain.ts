/**
 * The chain that a request passes from the client to the wire, and the options of a client. Each handler is a function; the small
 * ones are here, the others in files of their name.
 */
import type { Ledger } from "../local/ledger.ts";
import { MemoryLedger } from "../local/memory-store.ts";
import { problem, raise } from "../messages/index.ts";
import { ApiError, attempt, type Clock, type Diagnostic, systemClock } from "../model/index.ts";
import { normalizeBaseUrl } from "./address.ts";
import { type Ability, describeEndpoint, type EndpointName, endpoints } from "./endpoints.ts";
import type { ApiAnswer, ApiReply, ChainHandler, HttpDispatcher } from "./exchange.ts";
import { FailedAttempt } from "./failed-attempt.ts";
import { Limiter, limit, MOST_REQUESTS_PER_MINUTE, type Wait } from "./limiter.ts";
import { parseResponse } from "./parse-response.ts";
import { routeTo } from "./proxy.ts";
import { httpDate } from "./rate-hints.ts";
import { retry } from "./retry.ts";
import { createRedact, validToken } from "./token.ts";
import { send } from "./transport.ts";
import { VERSION } from "./version.ts";

/**
 * The handlers of every request, from the outside in; this is the one place that knows the order.
 *
 * 0. knowAbilities  refuses what needs an ability that the token lacks, by the first refusal that named it.
 * 1. retry          decides on typed failures, so it is outside of what makes them; each attempt passes all below.
 * 2. parseResponse  status -> typed failure, body -> JSON: a cut or unreadable body is a failure that 1 may repeat.
 * 3. limit          every attempt waits for its turn, and 429 and the rate headers are seen before they become failures.
 * 4. observe        learns the host's time from the answer, warns once of an announced end of the API, and reports each HTTP
 *                   request: timed without the wait for the turn, never shown the token.
 * 5. authorize      adds the token last.
 * 6. send           the wire: time and size limits.
 *
 * Reading records out of the JSON comes after the chain: it depends on the endpoint, and a repetition does not change a shape
 * that is not understood.
 */
export function buildChain(
  options: ChainOptions,
  {
    parse = parseResponse,
    wire = (request) => send(options, request),
  }: { readonly parse?: Parse; readonly wire?: ChainHandler<ApiReply> } = {},
): ChainHandler<ApiAnswer> {
  const sent = retry(options, parse(options, limit(options, observe(options, authorize(options, wire)))));
  return knowAbilities(options, sent);
}

/** Parts of the handlers. Without a token, no request is authorized. */
export type ChainOptions = Omit<ReturnType<typeof resolveOptions>, "token"> & { readonly token: string | undefined };
type Parse = (options: ChainOptions, next: ChainHandler<ApiReply>) => ChainHandler<ApiAnswer>;

export interface ClientOptions {
  /** The host's address, with or without /api/v1. */
  readonly baseUrl: string;
  /** §5.1: the access token. It appears in no error and no event. */
  readonly token: string;
  readonly clock?: Clock | undefined;
  /** For jitter: numbers from 0 up to 1. */
  readonly random?: (() => number) | undefined;
  /** The connections; the caller closes them. Default: an own pool, through the proxies that `env` names. */
  readonly dispatcher?: HttpDispatcher | undefined;
  /** Source of HTTPS_PROXY, HTTP_PROXY and NO_PROXY. Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** §8: 60 by default. More only where the host allows more. */
  readonly requestsPerMinute?: number | undefined;
  /** The part of that, and of the limit that the host reports, that this client may use: above 0, at most and by default 1. */
  readonly budgetShare?: number | undefined;
  /** Counter of the requests of the last minute. Default: in memory. */
  readonly ledger?: Ledger | undefined;
  /** For one attempt, in ms. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts that may fail before a call does. Default 4. */
  readonly maxAttempts?: number | undefined;
  /** Size of one answer, in bytes. Default 10 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Pages of one listing. Default 2,000. */
  readonly maxPages?: number | undefined;
  /** §8: `per_page`, at most and by default 100. */
  readonly pageSize?: number | undefined;
  /** Accept plain http to addresses other than loopback. */
  readonly insecureHttp?: boolean | undefined;
  readonly userAgent?: string | undefined;
  /** A sentence that names the account in errors that concern its host or token. */
  readonly account?: string | undefined;
  /** Aborted: no request leaves any more, as with the `stop` of each call. One that has left is awaited, 30 s at most. */
  readonly stop?: AbortSignal | undefined;
  /** Aborted: one that has left is not awaited either, as with the `signal` of each call. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called when a request has to wait for the budget or for a pause that the server asks for, with the time in ms, and why
   * where that is known. Those behind it in the queue are not reported.
   */
  readonly onWait?: ((ms: number, wait?: Wait) => void) | undefined;
  /**
   * Called when a step of a connection begins, with its name (`CONNECT api.example:443 through the proxy proxy.example:3128`),
   * and with undefined when the connection is open or has failed.
   */
  readonly onConnecting?: ((step: string | undefined) => void) | undefined;
  /** Called after each HTTP request. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called with `api.deprecated` at most once: an answer announces the end of this version of the API (§9.3). */
  readonly onWarning?: ((warning: Diagnostic) => void) | undefined;
}

/** A connection attempt gives up before the whole request does, so that it is known not to have been sent. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * The options checked and with defaults filled in, and what a client makes of them. `close` ends its own connections; a
 * dispatcher that was given stays open.
 * @throws HostformError `provider.base_url`, `provider.token`, `provider.proxy`, `api.argument`.
 */
export function resolveOptions(options: ClientOptions) {
  const { clock = systemClock, random = Math.random, ledger = new MemoryLedger(), env = process.env, onWait } = options;
  const baseUrl = normalizeBaseUrl(options.baseUrl, options.insecureHttp);
  const token = validToken(options.token);
  const requestsPerMinute = within("requestsPerMinute", options.requestsPerMinute ?? 60, 1, MOST_REQUESTS_PER_MINUTE);
  const { budgetShare = 1 } = options;
  if (!(budgetShare > 0 && budgetShare <= 1)) refuseOption("budgetShare", "above 0, and at most 1");
  const timeoutMs = within("timeoutMs", options.timeoutMs ?? 30_000, 1, 3_600_000);
  // Refuses a proxy that is not usable before the first request.
  if (options.dispatcher === undefined) routeTo(baseUrl, env);
  const openPool = async () => {
    const { connectionPool } = await import("./connect.ts");
    const connectMs = Math.min(CONNECT_TIMEOUT_MS, timeoutMs / 2);
    return connectionPool(baseUrl, env, { timeoutMs: connectMs, onStep: options.onConnecting });
  };
  let own: ReturnType<typeof openPool> | undefined;
  const limiter = new Limiter({ clock, random, ledger, requestsPerMinute, budgetShare, onWait });
  return {
    baseUrl,
    token,
    clock,
    random,
    dispatcher: async (): Promise<HttpDispatcher> => {
      if (options.dispatcher !== undefined) return options.dispatcher;
      own ??= openPool();
      return (await own) as HttpDispatcher;
    },
    close: async (): Promise<void> => {
      const pool = await own;
      // A request that was given up while its connection was being opened is still in the queue of the pool.
      await (limiter.isIdle ? pool?.end() : pool?.close());
    },
    limiter,
    onWait,
    hostClock: new HostClock(clock),
    lacked: new LackedAbilities(clock),
    redact: createRedact(token),
    timeoutMs,
    maxAttempts: within("maxAttempts", options.maxAttempts ?? 4, 1, 20),
    maxResponseBytes: within("maxResponseBytes", options.maxResponseBytes ?? 10 * 1024 * 1024, 1, 1024 * 1024 * 1024),
    maxPages: within("maxPages", options.maxPages ?? 2_000, 1, 1_000_000),
    pageSize: within("pageSize", options.pageSize ?? 100, 1, 100),
    userAgent: options.userAgent ?? `hostform/${VERSION}`,
    account: options.account,
    stop: options.stop,
    signal: options.signal,
    onRequest: options.onRequest,
    onWarning: options.onWarning,
  };
}

function within(name: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  refuseOption(name, `a whole number from ${least} to ${most}`);
}

function refuseOption(name: string, bounds: string): never {
  raise("api.argument/option", { name, bounds });
}

/** One HTTP request that was made. No header, no body, nothing secret. */
export interface RequestEvent {
  readonly endpoint: EndpointName;
  readonly method: string;
  /** Path and query under /api/v1. */
  readonly path: string;
  /** Counts from 1 for each call. */
  readonly attempt: number;
  /** The status, or `error` when none came. */
  readonly status?: number;
  /** A code such as `api.timeout`. */
  readonly error?: string;
  /** Duration, in ms, the wait for the rate limit not included. */
  readonly ms: number;
  /** Wait for the rate limit, in ms. */
  readonly waitedMs: number;
  /** Requests left in this minute after this one. */
  readonly left: number;
}

/** Reports each attempt to the owner of the client, once it is over, with what its answer says of the host (§9.3). */
function observe(
  { clock, hostClock, onRequest, onWarning }: Pick<ChainOptions, "clock" | "hostClock" | "onRequest" | "onWarning">,
  next: ChainHandler<ApiReply>,
): ChainHandler<ApiReply> {
  let isAnnounced = false;
  return async function observing(request) {
    const { endpoint, method, path, attempt, waitedMs, left } = request;
    const sentAt = clock.now();
    const started = clock.monotonic();
    const report = (outcome: { status: number } | { error: string }) =>
      notify(() =>
        onRequest?.({ endpoint, method, path, attempt, ...outcome, ms: clock.monotonic() - started, waitedMs, left }),
      );
    try {
      const reply = await next(request);
      hostClock.learn(reply, sentAt);
      const notice = isAnnounced ? undefined : noticeIn(reply.headers, endpoint);
      isAnnounced ||= notice !== undefined;
      if (notice !== undefined) notify(() => onWarning?.(notice));
      report({ status: reply.status });
      return reply;
    } catch (error) {
      const code = (error instanceof ApiError && error.diagnostics[0]?.code) || "internal";
      // A request that was stopped before it left, or was late, is not reported.
      const isUnsent = UNSENT.has(code) && error instanceof ApiError && error.reached === "no";
      if (!isUnsent) report({ error: code });
      throw error;
    }
  };
}

const UNSENT: ReadonlySet<string> = new Set(["api.cancelled", "api.late", "api.too_late"]);

/** Calls an observer. Its failure must not lose the answer to an order. */
function notify(observer: () => void): void {
  attempt(observer, () => undefined);
}

/** §5.1 and §4: the headers that every request carries. Closest to the wire, so that no other handler sees the token. */
function authorize(
  { token, userAgent }: Pick<ChainOptions, "token" | "userAgent">,
  next: ChainHandler<ApiReply>,
): ChainHandler<ApiReply> {
  const common = {
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": userAgent,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  return (request) => next({ ...request, headers: { ...request.headers, ...common } });
}

/** A year: with a larger difference the header makes no sense. */
const MOST_MS = 366 * 86_400_000;

/**
 * The time at the host, by the `Date` header of its latest answer. Times in its records are the host's, so they must be compared
 * with times of the host: the clock of this machine may be hours off. Without a usable header it is the local time.
 */
class HostClock {
  readonly #clock: Clock;
  /** Offset of the host's clock, in ms; positive when the host is ahead. */
  #offset = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#clock.now() + this.#offset;
  }

  /**
   * Learns from an answer to a request that left at `sentAt`. The header has whole seconds and was written between sending and
   * receiving: where it can be the local time, it is. An answer from a cache (`Age`) has an old one.
   */
  learn({ status, headers }: Pick<ApiReply, "status" | "headers">, sentAt: number): void {
    const date = httpDate(headers.date);
    if (date === undefined || status > 299 || headers.age !== undefined) return;
    const [least, most] = [date - this.#clock.now(), date + 1_000 - sentAt];
    const offset = least > 0 ? least : most < 0 ? most : 0;
    if (Math.abs(offset) <= MOST_MS) this.#offset = offset;
  }
}

/** `Deprecation` is `@` with epoch seconds; in drafts of RFC 9745 it was `true` or an HTTP date. `Sunset` is an HTTP date. */
function noticeIn(headers: ApiReply["headers"], endpoint: EndpointName): Diagnostic | undefined {
  const { deprecation = "", sunset = "", link = "" } = headers;
  const seconds = /^@(\d{1,12})$/.exec(deprecation.trim())?.[1];
  const since = seconds === undefined ? httpDate(deprecation) : Number(seconds) * 1000;
  const isDeprecated = since !== undefined || /^(true|\?1)$/i.test(deprecation.trim());
  const until = httpDate(sunset);
  if (!isDeprecated && until === undefined) return undefined;
  const parts = [
    ...(isDeprecated ? [since === undefined ? "is deprecated" : `is deprecated from ${dayOf(since)} on`] : []),
    ...(until === undefined ? [] : [`ends on ${dayOf(until)}`]),
  ];
  const page = announcementIn(link);
  return problem("api.deprecated", { request: describeEndpoint(endpoint), announced: parts.join(" and "), page });
}

/** The day of a moment; moments beyond the calendar of JavaScript have none. */
const dayOf = (at: number) => (Math.abs(at) < 8.64e15 ? new Date(at).toISOString().slice(0, 10) : "an unknown day");

/** The page that `Link` names as `deprecation` or `sunset`. */
function announcementIn(link: string): string | undefined {
  const found = link
    .slice(0, 4_000)
    .split(/,(?=\s*<)/)
    .find((one) => /;\s*rel="?[^";]*\b(?:deprecation|sunset)\b/i.test(one));
  const url = URL.parse(/<([^>]{1,300})>/.exec(found ?? "")?.[1] ?? "");
  return url?.protocol === "https:" || url?.protocol === "http:" ? url.href : undefined;
}

/** Time after which a request asks once more, in milliseconds: somebody may have given the token the ability. */
const KNOWN_MS = 60_000;

/** Words of a 403 about a missing ability, and words about one service, which say nothing of the others. */
const ABOUT_ABILITY = /abilit|permission|scope/i;
const ABOUT_SERVICE = /restrict|outside/i;

/** Refusals that named an ability which the token lacks (§5). */
class LackedAbilities {
  readonly #clock: Clock;
  readonly #refusals = new Map<Ability, { readonly failure: FailedAttempt; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  learn(ability: Ability, error: unknown): void {
    if (namesAbility(error, ability)) this.#refusals.set(ability, { failure: error, at: this.#clock.monotonic() });
  }

  /** The refusal that named the ability within the last minute. */
  refusalOf(ability: Ability): FailedAttempt | undefined {
    const { failure, at } = this.#refusals.get(ability) ?? { failure: undefined, at: 0 };
    return this.#clock.monotonic() - at < KNOWN_MS ? failure : undefined;
  }
}

/**
 * Refuses requests that need an ability which the token lacks (§5), without sending them, from the first 403 on that names the
 * ability. The first request that reads and needs more than `view` goes alone: the others wait for its answer.
 */
function knowAbilities(
  { lacked }: Pick<ChainOptions, "lacked">,
  next: ChainHandler<ApiAnswer>,
): ChainHandler<ApiAnswer> {
  const first = new Map<Ability, Promise<unknown>>();
  return async function knowing(request) {
    const { ability, repeat } = endpoints[request.endpoint];
    const isTried = repeat === "safe" && ability !== "view";
    const before = isTried ? first.get(ability) : undefined;
    if (before !== undefined) await before;
    const refusal = lacked.refusalOf(ability);
    if (refusal !== undefined) throw refusal.unsent(request.endpoint);
    const answer = next(request);
    if (isTried && !first.has(ability))
      first.set(
        ability,
        answer.catch(() => undefined),
      );
    return answer.catch((error: unknown) => {
      lacked.learn(ability, error);
      throw error;
    });
  };
}

/** Returns true if a 403 says that the token lacks this ability. */
export function namesAbility(error: unknown, ability: Ability): error is FailedAttempt {
  if (!(error instanceof FailedAttempt) || error.status !== 403) return false;
  const { serverMessage: said = "" } = error;
  return ABOUT_ABILITY.test(said) && said.toLowerCase().includes(ability) && !ABOUT_SERVICE.test(said);
}
