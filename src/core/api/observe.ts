import { ApiError, type Clock } from "../model/index.ts";
import type { EndpointName } from "./endpoints.ts";
import type { Handler, Reply } from "./exchange.ts";

/** One HTTP request that was made: what `--verbose` prints. No header, no body, nothing secret. */
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
  /** How long the request waited for the rate limit, in ms. */
  readonly waitedMs: number;
  /** Requests left in this minute after this one. */
  readonly left: number;
}

/** Tells the owner of the client about each attempt, once it is over. */
export function observe(
  { clock, onRequest }: { clock: Clock; onRequest: (event: RequestEvent) => void },
  next: Handler<Reply>,
): Handler<Reply> {
  return async (request) => {
    const { endpoint, method, path, attempt, waitedMs, left } = request;
    const started = clock.now();
    const tell = (outcome: { status: number } | { error: string }) => {
      try {
        onRequest({ endpoint, method, path, attempt, ...outcome, ms: clock.now() - started, waitedMs, left });
      } catch {
        // The answer of an order matters more than whoever watches.
      }
    };
    try {
      const reply = await next(request);
      tell({ status: reply.status });
      return reply;
    } catch (error) {
      const code = (error instanceof ApiError && error.diagnostics[0]?.code) || "internal";
      // What was stopped before it left was never a request.
      const isUnsent = code === "api.cancelled" && error instanceof ApiError && error.reached === "no";
      if (!isUnsent) tell({ error: code });
      throw error;
    }
  };
}
