/** The wire: sends one request and reads its answer. Of a failure below HTTP it says whether the request can have arrived. */
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
  /** For one attempt, from connecting to the last byte, in ms. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/** Wait for an answer once the run is stopped, in ms. */
export const LAST_WAIT_MS = 30_000;

/** Why the timers of a finished attempt end; nobody sees it, and a new one for each request would cost more than sending it. */
const OVER = new Error("the attempt is over");
/** Why an attempt ends that its caller has given up; the caller knows it better. */
const GIVEN_UP = new Error("given up");

/**
 * Puts a request on the wire and reads the whole answer, bounded in time and size. Redirects are not followed. Rejects
 * only when no status came; a body that ended early has `cut`.
 *
 * Nothing is written to a socket once `signal` or `stop` is aborted, or the time of the request is over: a request may wait for
 * a connection, and the process may be stopped at any moment. So undici asks once more, in the same turn of the event loop in
 * which it writes. A request that was not written has `reached: "no"`.
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

/** Conditions under which a request must not leave. */
interface Check {
  /** Aborted: it must not leave. */
  readonly held: AbortSignal | undefined;
  /** Returns a failure if its time is over. */
  overdue(): FailedAttempt | undefined;
}

/** One attempt, as undici reports it: without a stream for the body, which costs more than all the rest. */
class Exchange implements DispatchHandler {
  /** A byte of the request may have been written to a socket. */
  hasLeft = false;
  /** The reason why the request was not written: its time was over. */
  overdue: FailedAttempt | undefined;
  readonly #check: Check;
  readonly #most: number;
  readonly #reply = Promise.withResolvers<ApiReply>();
  #controller: Dispatcher.DispatchController | undefined;
  #isGivenUp = false;
  #head: Pick<ApiReply, "status" | "headers"> | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** @param check is asked when the request is written. @param most bytes of the body. */
  constructor(check: Check, most: number) {
    this.#check = check;
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
    const body = decoded(Buffer.concat(this.#chunks), this.#head.headers["content-encoding"], this.#most);
    this.#reply.resolve({ ...this.#head, ...body, ...(cut && { cut }) });
  }
}

/** Repeated headers: the first one counts, and of `Link` all. */
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

/** The text of a body. Requests ask for no compression (`Accept-Encoding: identity`), and gateways compress nevertheless. */
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
      // The stream ends early, or holds something else from some byte on.
      return { text: "", cut: errnoOf(error) === "ERR_BUFFER_TOO_LARGE" ? "too_large" : "closed" };
    }
  }
  return { text: bytes.toString("utf8") };
}

function decoderOf(encoding: string): ((bytes: Buffer, options: ZlibOptions) => Buffer) | undefined {
  // Loaded here: few servers compress what was not to be compressed.
  const zlib = process.getBuiltinModule("node:zlib");
  if (encoding === "gzip" || encoding === "x-gzip") return zlib.gunzipSync;
  if (encoding === "br") return zlib.brotliDecompressSync;
  // Some servers leave out the two bytes by which zlib's form begins.
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

/** @param hasLeft false: not a byte of the request was written, whatever the error is. */
function unreachable(
  { endpoint }: ApiRequest,
  { origin }: URL,
  { error, hasLeft, isPaused }: { readonly error: unknown; readonly hasLeft: boolean; readonly isPaused: boolean },
): FailedAttempt {
  const { what: failure, remedies: fix, reached, transient } = networkFailure(error);
  const said = problem("api.unreachable", { request: describeEndpoint(endpoint), origin, failure, isPaused, fix });
  return new FailedAttempt(endpoint, { ...said, reached: hasLeft ? reached : "no", transient }, { cause: error });
}
