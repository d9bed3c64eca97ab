import type { EndpointName } from "./endpoints.ts";

/** One request on its way down the chain. The token is not in it: `authorize` adds that last. */
export interface ApiRequest {
  readonly endpoint: EndpointName;
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query under /api/v1, placeholders filled in: `/services/7/suspend`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes; every attempt sends the same ones (§4: a repeated request with the same key). */
  readonly body?: string;
  /** Values of the body that no message may show. */
  readonly secrets: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** No attempt leaves after this moment (milliseconds since the epoch): a key may be forgotten by then. */
  readonly notAfter?: number | undefined;
  /** For requests with a key: how long after one whose outcome is open another attempt may leave, in ms. */
  readonly repeatWithinMs?: number | undefined;
  /** Called when an attempt has its turn and leaves; set by the retry handler. */
  readonly onLeave?: (() => void) | undefined;
  /** Aborted: no attempt leaves any more; one that has left is waited for. */
  readonly stop?: AbortSignal | undefined;
  /** Counts from 1; set by the retry handler. */
  readonly attempt: number;
  /** How long this attempt waited for the rate limit, in ms, and what it left of the minute; set by the limit handler. */
  readonly waitedMs: number;
  readonly left: number;
}

/** Why a body ended early although status and headers had come. */
export type Cut = "closed" | "timeout" | "too_large";

/** What came over the wire. Header names are lower-case. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly cut?: Cut;
}

/** A reply that was understood: 2xx. `json` is undefined for an empty body. */
export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

export type Handler<R> = (request: ApiRequest) => Promise<R>;

/** What ends the wait of a request that has not left. */
export function beforeLeaving({ signal, stop }: Pick<ApiRequest, "signal" | "stop">): AbortSignal | undefined {
  return anyOf(signal, stop);
}

/** A signal that is aborted with the first of two. */
export function anyOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  if (one === other) return one;
  return one !== undefined && other !== undefined ? AbortSignal.any([one, other]) : (one ?? other);
}
