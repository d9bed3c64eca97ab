/** The wire: sends one request and reads its answer. Of a failure below HTTP it says whether the request can have arrived. */
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { type Clock, errnoOf, type Reached, type Remedy } from "../model/index.ts";
import { proxyFor, setting, type Variables } from "./connect.ts";
import { describeEndpoint } from "./endpoints.ts";
import { cancelled, FailedAttempt, PROXY_AUTHENTICATION } from "./errors.ts";
import {
  type ApiReply,
  type ApiRequest,
  beforeLeaving,
  type ChainHandler,
  type Cut,
  type HttpDispatcher,
} from "./exchange.ts";

type DispatchHandler = Dispatcher.DispatchHandler;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface SendOptions {
  readonly baseUrl: URL;
  readonly dispatcher: HttpDispatcher;
  readonly clock: Clock;
  /** For one attempt, from connecting to the last byte, in ms. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/** How long an answer is awaited once the run is stopped, in ms. */
export const LAST_WAIT_MS = 30_000;

/** Why the timers of a finished attempt end; nobody sees it, and a new one for each request would cost more than sending it. */
const OVER = new Error("the attempt is over");
/** Why an attempt ends that its caller has given up; the caller knows it better. */
const GIVEN_UP = new Error("given up");

/**
 * Puts a request on the wire and reads the whole answer, bounded in time and size. Redirects are not followed. Rejects
 * only when no status came; a body that ended early has `cut`.
 *
 * Nothing is written to a socket once `signal` or `stop` is aborted: a request may wait for a connection, so it is checked
 * once more, in the same turn of the event loop as undici writes. What was not written is `cancelled` with `reached: "no"`.
 */
export function send(options: SendOptions): ChainHandler<ApiReply> {
  const { baseUrl, clock, timeoutMs, maxResponseBytes } = options;
  const { origin, pathname } = baseUrl;
  const dispatcher = options.dispatcher as Dispatcher;
  return async (request) => {
    const { endpoint, signal, stop } = request;
    const held = beforeLeaving(request);
    if (held?.aborted) throw cancelled(endpoint, "no");
    const ended = new AbortController();
    const exchange = new Exchange(held, maxResponseBytes);
    let timedOut = false;
    const timers: Promise<void>[] = [];
    const within = (ms: number) => {
      const over = () => {
        timedOut = true;
        exchange.giveUp();
      };
      timers.push(clock.sleep(ms, ended.signal).then(over, () => {}));
    };
    const onHeld = () => {
      if (!exchange.hasLeft || signal?.aborted) exchange.giveUp();
    };
    const onStop = () => exchange.hasLeft && within(LAST_WAIT_MS);
    held?.addEventListener("abort", onHeld);
    signal?.addEventListener("abort", onHeld);
    stop?.addEventListener("abort", onStop);
    within(timeoutMs);
    const { method, body = null } = request;
    const headers = { ...request.headers, ...(body !== null && { "content-type": "application/json" }) };
    // One limit for the whole attempt, kept by the injected clock.
    const limits = { headersTimeout: 0, bodyTimeout: 0 };
    try {
      dispatcher.dispatch({ origin, path: `${pathname}${request.path}`, method, headers, body, ...limits }, exchange);
      const reply = await exchange.reply;
      // A whole answer is returned even if the caller has just given up: it may be that of an order.
      if (reply.cut === "closed" && signal?.aborted) throw cancelled(endpoint, "maybe");
      return reply.cut === "closed" && timedOut ? { ...reply, cut: "timeout" } : reply;
    } catch (error) {
      if (error instanceof FailedAttempt) throw error;
      if (held?.aborted && !exchange.hasLeft) throw cancelled(endpoint, "no");
      if (signal?.aborted) throw cancelled(endpoint, "maybe");
      if (timedOut) throw timeout(request, baseUrl, timeoutMs);
      throw unreachable(request, baseUrl, error);
    } finally {
      ended.abort(OVER);
      held?.removeEventListener("abort", onHeld);
      signal?.removeEventListener("abort", onHeld);
      stop?.removeEventListener("abort", onStop);
      await Promise.all(timers);
    }
  };
}

/** One attempt, as undici reports it: without a stream for the body, which costs more than all the rest. */
class Exchange implements DispatchHandler {
  /** Whether a byte of it may have been written to a socket. */
  hasLeft = false;
  readonly #held: AbortSignal | undefined;
  readonly #most: number;
  readonly #reply = Promise.withResolvers<ApiReply>();
  #controller: Dispatcher.DispatchController | undefined;
  #isGivenUp = false;
  #head: Pick<ApiReply, "status" | "headers"> | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** @param held aborted: it must not leave. @param most bytes of the body. */
  constructor(held: AbortSignal | undefined, most: number) {
    this.#held = held;
    this.#most = most;
  }

  get reply(): Promise<ApiReply> {
    return this.#reply.promise;
  }

  /** It does not leave any more, or its answer is not awaited. */
  giveUp(): void {
    this.#isGivenUp = true;
    if (this.#controller === undefined) this.#reply.reject(GIVEN_UP);
    else this.#controller.abort(GIVEN_UP);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#held?.aborted || this.#isGivenUp) {
      controller.abort(GIVEN_UP);
    } else {
      this.hasLeft = true;
      this.#controller = controller;
    }
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // 100 to 199 come before the answer.
    if (status < 200) return;
    this.#head = { status, headers: single(headers) };
    if (Number(headers["content-length"] ?? 0) > this.#most) this.#refuse(controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#most) this.#refuse(controller);
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#head === undefined) this.#reply.reject(error);
    else this.#end("closed");
  }

  /** The connection is of no more use: the rest of the body would come over it. */
  #refuse(controller: Dispatcher.DispatchController): void {
    this.#end("too_large");
    controller.abort(GIVEN_UP);
  }

  #end(cut?: Cut): void {
    if (this.#head === undefined) return;
    const text = Buffer.concat(this.#chunks).toString("utf8");
    this.#reply.resolve({ ...this.#head, text, ...(cut && { cut }) });
  }
}

/** Repeated headers: the first one counts. */
function single(headers: Headers): ApiReply["headers"] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value[0] : value]),
  );
}

function timeout(request: ApiRequest, baseUrl: URL, timeoutMs: number): FailedAttempt {
  return new FailedAttempt(request.endpoint, {
    code: "api.timeout",
    summary: `The API did not answer within ${timeoutMs / 1000} seconds`,
    reached: "maybe",
    detail: `${describeEndpoint(request.endpoint)} at ${baseUrl.origin}.`,
    remedies: ["Try again.", { do: "see", what: "requests" }],
    transient: true,
  });
}

function unreachable(request: ApiRequest, baseUrl: URL, error: unknown): FailedAttempt {
  const failure = networkFailure(error);
  return new FailedAttempt(
    request.endpoint,
    {
      code: "api.unreachable",
      summary: `The API could not be reached: ${failure.what}`,
      reached: failure.reached,
      detail: `${describeEndpoint(request.endpoint)} at ${baseUrl.origin}.`,
      remedies: failure.remedies ?? ["Try again."],
      transient: failure.transient,
    },
    { cause: error },
  );
}

/** As many as requests go side by side: the changes of an apply, and the pages of a list that are read ahead. */
const CONNECTIONS = 10;

/** The connection pool for a base URL, through its proxy if there is one. @throws HostformError `provider.proxy`. */
export function connectionPool(baseUrl: URL, env: Variables, connectTimeoutMs: number): Dispatcher {
  const pool = { allowH2: false, connections: CONNECTIONS, connect: { timeout: connectTimeoutMs } };
  const proxy = proxyFor(baseUrl, env);
  if (proxy === undefined) return new Agent(pool);
  // An empty string, not undefined: undici would look into the process's own environment.
  return new EnvHttpProxyAgent({ ...pool, httpProxy: proxy, httpsProxy: proxy, noProxy: setting(env, "no_proxy") });
}

/** What a failure below HTTP means. */
interface NetworkFailure {
  readonly reached: Extract<Reached, "no" | "maybe">;
  /** "connection refused (ECONNREFUSED)" */
  readonly what: string;
  readonly transient: boolean;
  readonly remedies?: readonly Remedy[];
}

const CHECK_URL = "Check the base URL, the network and the proxy.";

/** Codes that only occur before a request is sent: looking up the name, connecting. */
const BEFORE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "name lookup failed for now",
  EAI_FAIL: "name lookup failed",
  EAI_NODATA: "host has no address",
  EAI_NONAME: "host not found",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_PRX_CONN: "the proxy closed the connection",
};

/** Codes that mean "before" only when the system call was `connect`. */
const WHILE_CONNECTING: Readonly<Record<string, string>> = {
  ENETUNREACH: "network unreachable",
  EHOSTUNREACH: "host unreachable",
  ENETDOWN: "network down",
  EADDRNOTAVAIL: "address not available",
  EACCES: "connecting is not permitted",
  EPERM: "connecting is not permitted",
  ETIMEDOUT: "no connection in time",
  ECONNRESET: "connection reset while connecting",
};

/** OpenSSL's verification results and the errors of a handshake that never came to HTTP. */
const CERTIFICATE =
  /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/;
const HANDSHAKE =
  /^(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS)|UND_ERR_PRX_TLS)/;

/**
 * Says whether a request that failed below HTTP can have reached the server. `maybe` unless it certainly failed before it was
 * sent: a reset on a kept-alive connection may come after the server has acted.
 */
export function networkFailure(error: unknown): NetworkFailure {
  const code = errnoOf(error) ?? "unknown error";
  const causes = error instanceof AggregateError && error.errors.length > 0 ? error.errors : [error];
  const message = error instanceof Error ? error.message : "";

  if (message.includes("(407)"))
    return unsent("the proxy asks for a user name and password (407)", PROXY_AUTHENTICATION);
  const tunnel = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  if (tunnel !== undefined)
    return unsent(`the proxy refused the connection (${tunnel})`, CHECK_URL, { transient: tunnel >= "500" });
  if (CERTIFICATE.test(code)) {
    const remedy = "Check the base URL. For a private certificate authority set NODE_EXTRA_CA_CERTS.";
    return unsent(`the server's certificate is not trusted (${code})`, remedy);
  }
  if (HANDSHAKE.test(code))
    return unsent(`no TLS connection (${code})`, "Check that the base URL is https and names the right port.");
  if (message.includes("before secure TLS connection was established"))
    return unsent(`connection closed in the TLS handshake (${code})`, CHECK_URL, { transient: true });
  const before = causes.every((cause) => {
    const own = errnoOf(cause) ?? "";
    return Object.hasOwn(BEFORE, own) || (Object.hasOwn(WHILE_CONNECTING, own) && syscallOf(cause) === "connect");
  });
  if (before) {
    const what = BEFORE[code] ?? WHILE_CONNECTING[code] ?? "no connection";
    return unsent(`${what} (${code})`, CHECK_URL, { transient: true });
  }
  if (code.startsWith("HPE_"))
    return { reached: "maybe", what: `the answer is not HTTP (${code})`, transient: true, remedies: [CHECK_URL] };
  return { reached: "maybe", what: `the connection was lost (${code})`, transient: true };
}

function unsent(what: string, remedy: string, { transient = false } = {}): NetworkFailure {
  return { reached: "no", what, transient, remedies: [remedy] };
}

function syscallOf(error: unknown): unknown {
  return error instanceof Error && "syscall" in error ? error.syscall : undefined;
}
