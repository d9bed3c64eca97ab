/**
 * The chain of handlers between the client and the wire, and the options of a client. Each handler is a function. The large handlers
 * are in files of their name.
 */
import type { Ledger } from "../local/ledger.ts";
import { MemoryLedger } from "../local/memory-store.ts";
import { problem, raise } from "../messages/index.ts";
import {
  ApiError,
  attempt,
  type Clock,
  type ClockTimes,
  type Diagnostic,
  momentOf,
  systemClock,
} from "../model/index.ts";
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
 * Builds the handlers of every request, from the outside in. Only this function knows the order.
 *
 * 0. knowAbilities  rejects requests that need an ability which the token lacks, by an earlier 403.
 * 1. retry          decides on typed failures, so it encloses the handlers that create them. Each attempt passes all handlers below.
 * 2. parseResponse  status -> typed failure, body -> JSON: a cut or unreadable body is a failure that 1 may repeat.
 * 3. limit          waits for the rate limit, and reads 429 and the rate headers before they become failures.
 * 4. observe        learns the host's time, warns once about an announced end of the API, and reports each HTTP request without the
 *                   wait for the rate limit and without the token.
 * 5. authorize      adds the token last.
 * 6. send           the wire: time and size limits.
 *
 * The client reads records from the JSON after the chain: reading depends on the endpoint, and a repetition does not change an
 * unknown format.
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
  /** Base URL of the host, with or without /api/v1. */
  readonly baseUrl: string;
  /** Access token (§5.1). No error and no event contains it. */
  readonly token: string;
  readonly clock?: Clock | undefined;
  /** Source of jitter: numbers from 0 up to 1. */
  readonly random?: (() => number) | undefined;
  /** Connections, which the caller closes. Default: the client's own pool, through the proxies of `env`. */
  readonly dispatcher?: HttpDispatcher | undefined;
  /** Source of HTTPS_PROXY, HTTP_PROXY and NO_PROXY. Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called before each request that changes the account or creates a credential. Throws to prevent the request. */
  readonly onMutation?: (() => unknown) | undefined;
  /** Rate limit (§8). Default: 60. Set more only if the host allows more. */
  readonly requestsPerMinute?: number | undefined;
  /** Share of the rate limit for this client, above 0 and at most 1. Default: 1. */
  readonly budgetShare?: number | undefined;
  /** Counter of the requests of the last minute. Default: in memory. */
  readonly ledger?: Ledger | undefined;
  /** Time limit of one attempt, in ms. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of failed attempts of a call. Default: 4. */
  readonly maxAttempts?: number | undefined;
  /** Maximum size of one response, in bytes. Default: 10 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Maximum number of pages of one listing. Default: 2,000. */
  readonly maxPages?: number | undefined;
  /** `per_page` (§8), at most 100. Default: 100. */
  readonly pageSize?: number | undefined;
  /** Accept plain http to addresses other than loopback. */
  readonly insecureHttp?: boolean | undefined;
  readonly userAgent?: string | undefined;
  /** Sentence about the account, for errors of its host or token. */
  readonly account?: string | undefined;
  /** After its abort, the client sends no request, as with the `stop` of each call. It awaits responses to sent requests for at most 30 s. */
  readonly stop?: AbortSignal | undefined;
  /** After its abort, the client awaits no response, as with the `signal` of each call. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called when a request waits for the rate limit or for a pause of the server, with the time in ms and the known reason. Only the first
   * request of the queue causes a call.
   */
  readonly onWait?: ((ms: number, wait?: Wait) => void) | undefined;
  /**
   * Called when a step of a connection begins, with its name (`CONNECT api.example:443 through the proxy proxy.example:3128`),
   * and with undefined when the connection is open or has failed.
   */
  readonly onConnecting?: ((step: string | undefined) => void) | undefined;
  /** Called after each HTTP request. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called with `api.deprecated`, at most once: a response announces the end of this version of the API (§9.3). */
  readonly onWarning?: ((warning: Diagnostic) => void) | undefined;
}

/** Time limit for opening a connection, in ms. Shorter than the limit of a request: a request that fails here was not sent. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Checks the options, adds defaults, and creates the parts of a client. `close` ends the client's own connections; the caller's
 * dispatcher stays open.
 * @throws HostformError `provider.base_url`, `provider.token`, `provider.proxy`, `api.argument`.
 */
export function resolveOptions(options: ClientOptions) {
  const { clock = systemClock, random = Math.random, ledger = new MemoryLedger(), env = process.env, onWait } = options;
  const baseUrl = normalizeBaseUrl(options.baseUrl, options.insecureHttp);
  const token = validToken(options.token);
  const requestsPerMinute = within("requestsPerMinute", options.requestsPerMinute ?? 60, MOST_REQUESTS_PER_MINUTE);
  const { budgetShare = 1 } = options;
  if (!(budgetShare > 0 && budgetShare <= 1)) refuseOption("budgetShare", "above 0, and at most 1");
  const timeoutMs = within("timeoutMs", options.timeoutMs ?? 30_000, 3_600_000);
  // Rejects an unusable proxy before the first request.
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
    onMutation: options.onMutation,
    dispatcher: async (): Promise<HttpDispatcher> => {
      if (options.dispatcher !== undefined) return options.dispatcher;
      own ??= openPool();
      return (await own) as HttpDispatcher;
    },
    close: async (): Promise<void> => {
      const pool = await own;
      // The pool's queue still contains a request that was cancelled while its connection opened.
      await (limiter.isIdle ? pool?.end() : pool?.close());
    },
    limiter,
    onWait,
    hostClock: new HostClock(clock),
    lacked: new LackedAbilities(clock),
    redact: createRedact(token),
    timeoutMs,
    maxAttempts: within("maxAttempts", options.maxAttempts ?? 4, 20),
    maxResponseBytes: within("maxResponseBytes", options.maxResponseBytes ?? 10 * 1024 * 1024, 1024 * 1024 * 1024),
    maxPages: within("maxPages", options.maxPages ?? 2_000, 1_000_000),
    pageSize: within("pageSize", options.pageSize ?? 100, 100),
    userAgent: options.userAgent ?? `hostform/${VERSION}`,
    account: options.account,
    stop: options.stop,
    signal: options.signal,
    onRequest: options.onRequest,
    onWarning: options.onWarning,
  };
}

function within(name: string, value: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  refuseOption(name, `a whole number from 1 to ${most}`);
}

function refuseOption(name: string, bounds: string): never {
  raise("api.argument/option", { name, bounds });
}

/** One HTTP request, without headers, body and secrets. */
export interface RequestEvent {
  readonly endpoint: EndpointName;
  readonly method: string;
  /** Path and query under /api/v1. */
  readonly path: string;
  /** Number of the attempt within its call, from 1. */
  readonly attempt: number;
  /** Status of the response. Absent without a response; then `error` is set. */
  readonly status?: number;
  /** Code of the failure, such as `api.timeout`. */
  readonly error?: string;
  /** Duration without the wait for the rate limit, in ms. */
  readonly ms: number;
  /** Wait for the rate limit, in ms. */
  readonly waitedMs: number;
  /** Requests left in this minute after this one. */
  readonly left: number;
}

/** Reports each finished attempt to the owner of the client. Learns the host's time, and warns about an announced end of the API (§9.3). */
function observe(
  { clock, hostClock, onRequest, onWarning }: Pick<ChainOptions, "clock" | "hostClock" | "onRequest" | "onWarning">,
  next: ChainHandler<ApiReply>,
): ChainHandler<ApiReply> {
  let isAnnounced = false;
  return async function observing(request) {
    const { endpoint, method, path, attempt, waitedMs, left } = request;
    const sentAt = momentOf(clock);
    const { mono: started } = sentAt;
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
      // A request that was not sent is not reported.
      const isUnsent = UNSENT.has(code) && error instanceof ApiError && error.reached === "no";
      if (!isUnsent) report({ error: code });
      throw error;
    }
  };
}

const UNSENT: ReadonlySet<string> = new Set(["api.cancelled", "api.late", "api.too_late"]);

/** Calls an observer. A failure of the observer must not lose the response to an order. */
function notify(observer: () => void): void {
  attempt(observer, () => undefined);
}

/** Adds the headers of every request (§5.1, §4). Closest to the wire, so that no other handler receives the token. */
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

/** Maximum offset of a host's clock, in ms: one year. */
const MOST_MS = 366 * 86_400_000;

/**
 * Time at the host, by the `Date` header of its latest response. Without a usable header, the local time. Times in records must be
 * compared with the host's time, because this machine's clock may be hours off.
 */
class HostClock {
  readonly #clock: Clock;
  /** Last known time of the host, in ms since the epoch, and its moment here. */
  #known: { readonly host: number; readonly at: ClockTimes };
  /** `Date` of the newest response, in ms since the epoch. */
  answeredAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    const at = momentOf(clock);
    this.#known = { host: at.wall, at };
  }

  /** Returns the time at the host, in milliseconds since the epoch. */
  now(): number {
    return this.#known.host + this.#passedSince(this.#known.at);
  }

  /** Returns the passed time by the faster clock: the wall clock may have been set back, and the monotonic clock may stop during sleep. */
  #passedSince({ wall, mono }: ClockTimes): number {
    return Math.max(this.#clock.now() - wall, Math.floor(this.#clock.monotonic() - mono));
  }

  /**
   * Learns from a response to a request sent at `sentAt`. The header has whole seconds and was written between sending and receiving:
   * if it fits the local time, the offset is 0. A response from a cache (`Age`) has an old date.
   */
  learn({ status, headers }: Pick<ApiReply, "status" | "headers">, sentAt: ClockTimes): void {
    const date = httpDate(headers.date);
    if (date === undefined || status > 299 || headers.age !== undefined) return;
    const at = momentOf(this.#clock);
    const [least, most] = [date - at.wall, date + 1_000 + this.#passedSince(sentAt) - at.wall];
    const offset = least > 0 ? least : most < 0 ? most : 0;
    if (Math.abs(offset) > MOST_MS) return;
    this.#known = { host: at.wall + offset, at };
    this.answeredAt = date;
  }
}

/**
 * Returns the warning about an announced end of the API. `Deprecation` is `@` with epoch seconds, or in drafts of RFC 9745 `true` or an
 * HTTP date. `Sunset` is an HTTP date.
 */
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

/** Returns the day of a moment. Moments beyond the calendar of JavaScript have no day. */
const dayOf = (at: number) => (Math.abs(at) < 8.64e15 ? new Date(at).toISOString().slice(0, 10) : "an unknown day");

/** Returns the page with the relation `deprecation` or `sunset` in `Link`. */
function announcementIn(link: string): string | undefined {
  const found = link
    .slice(0, 4_000)
    .split(/,(?=\s*<)/)
    .find((one) => /;\s*rel="?[^";]*\b(?:deprecation|sunset)\b/i.test(one));
  const url = URL.parse(/<([^>]{1,300})>/.exec(found ?? "")?.[1] ?? "");
  return url?.protocol === "https:" || url?.protocol === "http:" ? url.href : undefined;
}

/** Validity of a 403, in milliseconds. Later, the token may have received the ability. */
const KNOWN_MS = 60_000;

/** Matches the words of a 403 about a missing ability. `ABOUT_SERVICE`: matches the words of a 403 about one service. */
const ABOUT_ABILITY = /abilit|permission|scope/i;
const ABOUT_SERVICE = /restrict|outside/i;

/** Responses 403 that named an ability which the token lacks (§5). */
class LackedAbilities {
  readonly #clock: Clock;
  readonly #refusals = new Map<Ability, { readonly failure: FailedAttempt; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  learn(ability: Ability, error: unknown): void {
    if (namesAbility(error, ability)) this.#refusals.set(ability, { failure: error, at: this.#clock.monotonic() });
  }

  /** Returns the 403 of the last minute that named the ability. */
  refusalOf(ability: Ability): FailedAttempt | undefined {
    const { failure, at } = this.#refusals.get(ability) ?? { failure: undefined, at: 0 };
    return this.#clock.monotonic() - at < KNOWN_MS ? failure : undefined;
  }
}

/**
 * Rejects requests that need an ability which the token lacks (§5), without sending them, after the first 403 that names the
 * ability. The first read that needs more than `view` is sent alone: the others wait for its response.
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
