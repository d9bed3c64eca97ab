import type { Json } from "../model/index.ts";
import { type Endpoint, type EndpointName, endpoints, type Mutation } from "./endpoints.ts";
import type { ApiRequest } from "./exchange.ts";
import { refuseArgument } from "./failure.ts";

export interface RequestParts {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: readonly (readonly [name: string, value: string])[];
  readonly body?: Mutation["body"];
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly notAfter?: number | undefined;
  readonly repeatWithinMs?: number | undefined;
  readonly stop?: AbortSignal | undefined;
}

/** What a header can carry and a person can read. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Makes a request from its parts, checking what can be checked before anything is sent. Throws api.argument: an id that
 * would change the path, a keyed request without its key (§4: required), a password that is too short (§8).
 */
export function buildRequest(name: EndpointName, parts: RequestParts): ApiRequest {
  const endpoint: Endpoint = endpoints[name];
  const { method, repeat } = endpoint;
  const { params = {}, query = [], body, idempotencyKey, signal, notAfter, stop, repeatWithinMs } = parts;
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, key: string) => segment(name, key, params[key]));
  const search = query
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value.toWellFormed())}`)
    .join("&");
  if (repeat === "keyed") {
    if (idempotencyKey === undefined || !KEY.test(idempotencyKey)) {
      refuseArgument(
        name,
        idempotencyKey === undefined
          ? "An order needs an Idempotency-Key"
          : "The Idempotency-Key cannot be sent as a header",
        "Give `idempotencyKey`: 1 to 255 visible ASCII characters, the same for the same order.",
      );
    }
  } else if (idempotencyKey !== undefined) {
    refuseArgument(name, "This endpoint takes no Idempotency-Key");
  }
  if (body !== undefined && method !== "POST") refuseArgument(name, "This endpoint takes no body");
  const password = body?.password;
  if (name === "resetPassword" && password !== undefined && (typeof password !== "string" || password.length < 8)) {
    refuseArgument(name, "The password is shorter than 8 characters", "Give a password of at least 8 characters.");
  }
  return {
    endpoint: name,
    method,
    path: search === "" ? path : `${path}?${search}`,
    headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
    ...(body !== undefined && { body: JSON.stringify(sorted(body)) }),
    secrets: typeof password === "string" ? [password] : [],
    signal,
    notAfter,
    repeatWithinMs,
    stop,
    attempt: 1,
    waitedMs: 0,
    left: 0,
  };
}

/** The same body gives the same bytes, in whatever order it was put together: what is sent again must not differ. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item)]));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const NO_SEGMENT = /^\.{1,2}$|[/\\\u0000-\u001f\u007f]/;

/** One segment of the path: an id, percent-encoded. Refuses what a server or proxy might read as more than one. */
function segment(endpoint: EndpointName, name: string, value: string | undefined): string {
  if (typeof value !== "string" || value.trim() === "" || NO_SEGMENT.test(value) || !value.isWellFormed()) {
    refuseArgument(endpoint, `${JSON.stringify(value ?? null)} is not an id`, `Give \`${name}\` as the API shows it.`);
  }
  return encodeURIComponent(value);
}
