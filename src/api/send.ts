import { type Dispatcher, request as httpRequest } from "undici";
import type { Clock } from "../model/index.ts";
import { describeEndpoint } from "./endpoints.ts";
import type { ApiRequest, Cut, Handler, Reply } from "./exchange.ts";
import { cancelled, FailedAttempt } from "./failure.ts";
import { networkFailure } from "./network-failure.ts";

export interface SendOptions {
  readonly baseUrl: URL;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** For one attempt, from connecting to the last byte, in ms. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/**
 * Puts a request on the wire and reads the whole answer, bounded in time and size. Redirects are not followed. Rejects
 * only when no status came; a body that ended early is told by `cut`.
 */
export function send(options: SendOptions): Handler<Reply> {
  const { baseUrl, dispatcher, clock, timeoutMs, maxResponseBytes } = options;
  return async (request) => {
    const { endpoint, signal } = request;
    if (signal?.aborted) throw cancelled(endpoint, "no");
    const ended = new AbortController();
    const stop = new AbortController();
    let timedOut = false;
    const abort = () => stop.abort();
    signal?.addEventListener("abort", abort, { once: true });
    const timer = clock.sleep(timeoutMs, ended.signal).then(
      () => {
        timedOut = true;
        stop.abort();
      },
      () => {},
    );
    try {
      const { statusCode, headers, body } = await httpRequest(`${baseUrl.href}${request.path}`, {
        method: request.method,
        headers: { ...request.headers, ...(request.body !== undefined && { "content-type": "application/json" }) },
        body: request.body ?? null,
        dispatcher,
        signal: stop.signal,
        // One limit for the whole attempt, kept by the injected clock.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const read = await readBody(body, Number(headers["content-length"] ?? 0), maxResponseBytes);
      // An answer that came whole is handed out even if the caller has just given up: it may be that of an order.
      if (read.cut === "closed" && signal?.aborted) throw cancelled(endpoint, "maybe");
      const cut = read.cut === "closed" && timedOut ? "timeout" : read.cut;
      return { status: statusCode, headers: single(headers), text: read.text, ...(cut && { cut }) };
    } catch (error) {
      if (error instanceof FailedAttempt) throw error;
      if (signal?.aborted) throw cancelled(endpoint, "maybe");
      if (timedOut) throw timeout(request, baseUrl, timeoutMs);
      throw unreachable(request, baseUrl, error);
    } finally {
      ended.abort();
      signal?.removeEventListener("abort", abort);
      await timer;
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
