import { type Dispatcher, request as httpRequest } from "undici";
import type { Clock } from "../model/index.ts";
import { describeEndpoint } from "./endpoints.ts";
import { type ApiRequest, beforeLeaving, type Cut, type Handler, type Reply } from "./exchange.ts";
import { cancelled, FailedAttempt } from "./failure.ts";
import { networkFailure } from "./network-failure.ts";

type DispatchHandler = Dispatcher.DispatchHandler;

export interface SendOptions {
  readonly baseUrl: URL;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** For one attempt, from connecting to the last byte, in ms. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/** How long an answer is awaited once everything is stopped, in ms. */
export const LAST_WAIT_MS = 30_000;

/**
 * Puts a request on the wire and reads the whole answer, bounded in time and size. Redirects are not followed. Rejects
 * only when no status came; a body that ended early is told by `cut`.
 *
 * Nothing is written to a socket once `signal` or `stop` is aborted: a request may wait for a connection, so undici asks
 * here once more, in the same turn of the event loop as it writes. What was not written is `cancelled` with `reached: "no"`.
 */
export function send(options: SendOptions): Handler<Reply> {
  const { baseUrl, dispatcher, clock, timeoutMs, maxResponseBytes } = options;
  return async (request) => {
    const { endpoint, signal, stop } = request;
    const held = beforeLeaving(request);
    if (held?.aborted) throw cancelled(endpoint, "no");
    const ended = new AbortController();
    const abort = new AbortController();
    const unsent = Promise.withResolvers<never>();
    let left = false;
    let timedOut = false;
    const timers: Promise<void>[] = [];
    const within = (ms: number) => {
      const over = () => {
        timedOut = true;
        abort.abort();
      };
      timers.push(clock.sleep(ms, ended.signal).then(over, () => {}));
    };
    const onHeld = () => {
      if (!left) unsent.reject(cancelled(endpoint, "no"));
      if (!left || signal?.aborted) abort.abort();
    };
    const onStop = () => left && within(LAST_WAIT_MS);
    const gate = (dispatch: Dispatcher["dispatch"]) => (sent: Dispatcher.DispatchOptions, handler: DispatchHandler) => {
      const start = handler.onRequestStart?.bind(handler);
      handler.onRequestStart = (controller, context) => {
        if (held?.aborted || abort.signal.aborted) return controller.abort(new Error("stopped before it was sent"));
        left = true;
        start?.(controller, context);
      };
      return dispatch(sent, handler);
    };
    held?.addEventListener("abort", onHeld);
    signal?.addEventListener("abort", onHeld);
    stop?.addEventListener("abort", onStop);
    within(timeoutMs);
    const exchange = async (): Promise<Reply> => {
      const { statusCode, headers, body } = await httpRequest(`${baseUrl.href}${request.path}`, {
        method: request.method,
        headers: { ...request.headers, ...(request.body !== undefined && { "content-type": "application/json" }) },
        body: request.body ?? null,
        dispatcher: dispatcher.compose(gate),
        signal: abort.signal,
        // One limit for the whole attempt, kept by the injected clock.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const read = await readBody(body, Number(headers["content-length"] ?? 0), maxResponseBytes);
      // An answer that came whole is handed out even if the caller has just given up: it may be that of an order.
      if (read.cut === "closed" && signal?.aborted) throw cancelled(endpoint, "maybe");
      const cut = read.cut === "closed" && timedOut ? "timeout" : read.cut;
      return { status: statusCode, headers: single(headers), text: read.text, ...(cut && { cut }) };
    };
    try {
      return await Promise.race([exchange(), unsent.promise]);
    } catch (error) {
      if (error instanceof FailedAttempt) throw error;
      if (held?.aborted && !left) throw cancelled(endpoint, "no");
      if (signal?.aborted) throw cancelled(endpoint, "maybe");
      if (timedOut) throw timeout(request, baseUrl, timeoutMs);
      throw unreachable(request, baseUrl, error);
    } finally {
      ended.abort();
      held?.removeEventListener("abort", onHeld);
      signal?.removeEventListener("abort", onHeld);
      stop?.removeEventListener("abort", onStop);
      await Promise.all(timers);
    }
  };
}

async function readBody(
  body: Dispatcher.ResponseData["body"],
  declared: number,
  most: number,
): Promise<{ text: string; cut?: Cut }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let cut: Cut | undefined;
  try {
    if (declared > most) {
      body.on("error", () => {}).destroy();
      return { text: "", cut: "too_large" };
    }
    // Leaving the loop destroys the stream, and with it the connection.
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) {
        cut = "too_large";
        break;
      }
      chunks.push(chunk);
    }
  } catch {
    cut = "closed";
  }
  return { text: Buffer.concat(chunks).toString("utf8"), ...(cut && { cut }) };
}

/** Repeated headers: the first one counts. */
function single(headers: Readonly<Record<string, string | string[] | undefined>>): Reply["headers"] {
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
    fix: "Try again; see `--verbose` for the times of each request.",
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
      fix: failure.fix ?? "Try again.",
      transient: failure.transient,
    },
    { cause: error },
  );
}
