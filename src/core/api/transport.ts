/** The wire: sends one request and reads its response. A failure below HTTP states whether the request can have arrived. */
import type { ZlibOptions } from "node:zlib";
import type { Dispatcher } from "undici";
import { problem } from "../messages/index.ts";
import { noneWithin } from "../messages/network.ts";
import { type Clock, errnoOf, isGap, momentOf } from "../model/index.ts";
import { describeEndpoint } from "./endpoints.ts";
import { type ApiReply, type ApiRequest, beforeLeaving, type Cut, type HttpDispatcher, isTooLate } from "./exchange.ts";
import { cancelled, FailedAttempt, late, tooLate } from "./failed-attempt.ts";
import { networkFailure, stepFailure } from "./network-failure.ts";

type DispatchHandler = Dispatcher.DispatchHandler;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface SendOptions {
  readonly baseUrl: URL;
  /** Returns the connections. */
  dispatcher(): Promise<HttpDispatcher>;
  readonly clock: Clock;
  /** Time limit of one attempt, from connecting to the last byte, in ms. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/** Maximum wait for a response after the run was stopped, in ms. */
export const LAST_WAIT_MS = 30_000;

/** Internal abort reason for the timers of a finished attempt. One shared object, because a new error for each request is slow. */
const OVER = new Error("the attempt is over");
/** Internal abort reason of an attempt that its caller cancelled. */
const GIVEN_UP = new Error("given up");

/**
 * Sends a request and reads the whole response, bounded in time and size. Follows no redirect. Rejects only if no status arrived; an
 * incomplete body has `cut`.
 *
 * Writes no byte to a socket after `signal` or `stop` is aborted, or after the time limit of the request: a request may wait for a
 * connection, and the process may be stopped at any moment. So {@link Exchange} checks again in the event loop turn in which undici
 * writes. A request that was not written has `reached: "no"`.
 */
export async function send(options: SendOptions, request: ApiRequest): Promise<ApiReply> {
  const { baseUrl, clock, timeoutMs, maxResponseBytes } = options;
  const { origin, pathname } = baseUrl;
  const dispatcher = (await options.dispatcher()) as Dispatcher;
  const { endpoint, signal, stop } = request;
  const held = beforeLeaving(request);
  if (held?.aborted) throw cancelled(endpoint, "no");
  const ended = new AbortController();
  const overdue = () =>
    isTooLate(request, clock)
      ? tooLate(endpoint)
      : request.fence !== undefined && request.fence.leftMs() <= 0
        ? late(endpoint)
        : undefined;
  const exchange = new Exchange({ held, overdue }, maxResponseBytes);
  let timedOut = false;
  const timers: Promise<void>[] = [];
  const endAfter = (ms: number) => {
    const over = () => {
      timedOut = true;
      exchange.giveUp();
    };
    timers.push(clock.sleep(ms, ended.signal).then(over, () => {}));
  };
  const onHeld = () => {
    if (!exchange.hasLeft || signal?.aborted) exchange.giveUp();
  };
  const onStop = () => exchange.hasLeft && endAfter(LAST_WAIT_MS);
  held?.addEventListener("abort", onHeld);
  signal?.addEventListener("abort", onHeld);
  stop?.addEventListener("abort", onStop);
  endAfter(timeoutMs);
  const began = momentOf(clock);
  const { method, body = null } = request;
  const headers = { ...request.headers, ...(body !== null && { "content-type": "application/json" }) };
  // Disable undici's limits, because the injected clock limits the whole attempt.
  const limits = { headersTimeout: 0, bodyTimeout: 0 };
  try {
    dispatcher.dispatch({ origin, path: `${pathname}${request.path}`, method, headers, body, ...limits }, exchange);
    const reply = await exchange.reply;
    // A whole response is returned even after cancellation: it may belong to an order.
    if (reply.cut === "closed" && signal?.aborted) throw cancelled(endpoint, "maybe");
    return reply.cut === "closed" && timedOut ? { ...reply, cut: "timeout" } : reply;
  } catch (error) {
    if (error instanceof FailedAttempt) throw error;
    if (held?.aborted && !exchange.hasLeft) throw cancelled(endpoint, "no");
    if (exchange.overdue !== undefined) throw exchange.overdue;
    if (signal?.aborted) throw cancelled(endpoint, "maybe");
    const was = { timeoutMs, isPaused: isGap(began, clock) };
    if (timedOut && exchange.hasLeft) throw timeout(request, baseUrl, was);
    throw unreachable(request, baseUrl, {
      error: timedOut ? stepFailure("no connection", noneWithin(timeoutMs / 1000)) : error,
      hasLeft: exchange.hasLeft,
      isPaused: was.isPaused,
    });
  } finally {
    ended.abort(OVER);
    held?.removeEventListener("abort", onHeld);
    signal?.removeEventListener("abort", onHeld);
    stop?.removeEventListener("abort", onStop);
    await Promise.all(timers);
  }
}

/** Conditions that prevent sending. */
interface Check {
  /** After its abort, the request must not be sent. */
  readonly held: AbortSignal | undefined;
  /** Returns a failure if the time limit has passed. */
  overdue(): FailedAttempt | undefined;
}

/** Handler of undici for one attempt. It collects the body without a stream, because a stream is slow. */
class Exchange implements DispatchHandler {
  /** True if a byte of the request may have been written to a socket. */
  hasLeft = false;
  /** Failure of a request that was not written, because its time limit had passed. */
  overdue: FailedAttempt | undefined;
  readonly #check: Check;
  readonly #most: number;
  readonly #reply = Promise.withResolvers<ApiReply>();
  #controller: Dispatcher.DispatchController | undefined;
  #isGivenUp = false;
  #head: Pick<ApiReply, "status" | "headers"> | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** @param check is evaluated when the request is written. @param most maximum size of the body, in bytes. */
  constructor(check: Check, most: number) {
    this.#check = check;
    this.#most = most;
  }

  get reply(): Promise<ApiReply> {
    return this.#reply.promise;
  }

  /** Cancels the request, or stops waiting for its response. */
  giveUp(): void {
    this.#isGivenUp = true;
    if (this.#controller === undefined) this.#reply.reject(GIVEN_UP);
    else this.#controller.abort(GIVEN_UP);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { held, overdue } = this.#check;
    if (!held?.aborted && !this.#isGivenUp) this.overdue = overdue();
    if (held?.aborted || this.#isGivenUp || this.overdue !== undefined) {
      controller.abort(GIVEN_UP);
    } else {
      this.hasLeft = true;
      this.#controller = controller;
    }
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // Statuses 100 to 199 precede the response.
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

  /** Ends the connection, because the rest of the body would follow on it. */
  #refuse(controller: Dispatcher.DispatchController): void {
    this.#end("too_large");
    controller.abort(GIVEN_UP);
  }

  #end(cut?: Cut): void {
    if (this.#head === undefined) return;
    const body = decoded(Buffer.concat(this.#chunks), this.#head.headers["content-encoding"], this.#most);
    this.#reply.resolve({ ...this.#head, ...body, ...(cut && { cut }) });
  }
}

/** Returns one value for each header: the first value, or for `Link` all values. */
function single(headers: Headers): ApiReply["headers"] {
  const one = (name: string, values: string[]) => (name === "link" ? values.join(", ") : values[0]);
  return Object.fromEntries(
    Object.entries(headers).map(([given, value]) => {
      const name = given.toLowerCase();
      return [name, Array.isArray(value) ? one(name, value) : value];
    }),
  );
}

/** Maximum number of encodings of one body. */
const MOST_ENCODINGS = 2;

/** Decodes a body. Requests ask for no compression (`Accept-Encoding: identity`), but gateways may compress. */
function decoded(
  body: Buffer,
  contentEncoding: string | undefined,
  most: number,
): Pick<ApiReply, "text" | "cut" | "encoding"> {
  const names = (contentEncoding ?? "").toLowerCase().split(/[\s,]+/);
  const encodings = names.filter((name) => name !== "" && name !== "identity");
  if (body.length === 0 || encodings.length === 0) return { text: body.toString("utf8") };
  if (encodings.length > MOST_ENCODINGS) return { text: "", encoding: encodings.slice(0, 3).join(", ") };
  let bytes = body;
  for (const name of encodings.reverse()) {
    const decode = decoderOf(name);
    if (decode === undefined) return { text: "", encoding: name };
    try {
      bytes = decode(bytes, { maxOutputLength: most });
    } catch (error) {
      // The stream ends early, or contains invalid bytes.
      return { text: "", cut: errnoOf(error) === "ERR_BUFFER_TOO_LARGE" ? "too_large" : "closed" };
    }
  }
  return { text: bytes.toString("utf8") };
}

function decoderOf(encoding: string): ((bytes: Buffer, options: ZlibOptions) => Buffer) | undefined {
  // Loaded here, because servers rarely compress.
  const zlib = process.getBuiltinModule("node:zlib");
  if (encoding === "gzip" || encoding === "x-gzip") return zlib.gunzipSync;
  if (encoding === "br") return zlib.brotliDecompressSync;
  // Some servers omit the two leading bytes of zlib's format.
  const inflate: typeof zlib.inflateSync = (bytes, options) =>
    ((bytes as Buffer).readUInt8(0) & 0x0f) === 8
      ? zlib.inflateSync(bytes, options)
      : zlib.inflateRawSync(bytes, options);
  return encoding === "deflate" ? inflate : undefined;
}

function timeout(
  { endpoint }: ApiRequest,
  { origin }: URL,
  { timeoutMs, isPaused }: { readonly timeoutMs: number; readonly isPaused: boolean },
): FailedAttempt {
  const place = { request: describeEndpoint(endpoint), origin };
  const said = isPaused
    ? problem("api.timeout/paused", place)
    : problem("api.timeout", { ...place, seconds: timeoutMs / 1000 });
  return new FailedAttempt(endpoint, { ...said, reached: "maybe", transient: true });
}

/** Returns the failure below HTTP. @param hasLeft false if no byte of the request was written, whatever the error is. */
function unreachable(
  { endpoint }: ApiRequest,
  { origin }: URL,
  { error, hasLeft, isPaused }: { readonly error: unknown; readonly hasLeft: boolean; readonly isPaused: boolean },
): FailedAttempt {
  const { what: failure, remedies: fix, reached, transient } = networkFailure(error);
  const said = problem("api.unreachable", { request: describeEndpoint(endpoint), origin, failure, isPaused, fix });
  return new FailedAttempt(endpoint, { ...said, reached: hasLeft ? reached : "no", transient }, { cause: error });
}
