/** Errors of the client. `reached` states if the API may have received the request. `transient` states if a repetition may succeed. */
import { doubtOf, problem } from "../messages/index.ts";
import { ApiError, type ApiFailure, type Code, type Diagnostic, isObject, type Reached } from "../model/index.ts";
import { describeEndpoint, type EndpointName, endpoints } from "./endpoints.ts";

interface FailureDetails extends Omit<ApiFailure, "endpoint"> {
  /** True if the same request may succeed later. This alone does not permit a repetition. */
  readonly transient?: boolean | undefined;
}

/** One failed attempt: the error of the call, with the facts for the retry handler. */
export class FailedAttempt extends ApiError {
  readonly transient: boolean;
  readonly #endpoint: EndpointName;
  readonly #details: FailureDetails;

  constructor(endpoint: EndpointName, details: FailureDetails, options?: ErrorOptions) {
    const doubt = details.reached === "maybe" ? doubtOf(endpoints[endpoint].repeat) : undefined;
    super(
      {
        ...details,
        endpoint: describeEndpoint(endpoint),
        detail: [details.detail, doubt].filter(Boolean).join(" ") || undefined,
      },
      options,
    );
    this.transient = details.transient ?? false;
    this.#endpoint = endpoint;
    this.#details = details;
  }

  /** Returns the failure with a sentence about the account, if it does not concern one object. */
  of(account: string | undefined): FailedAttempt {
    const { detail, ...details } = this.#details;
    if (account === undefined || !OF_ACCOUNT.has(details.code)) return this;
    return new FailedAttempt(
      this.#endpoint,
      { ...details, detail: [detail, account].filter(Boolean).join(" ") },
      { cause: this.cause },
    );
  }

  /** Returns this refusal as the failure of another request, which was therefore not sent. */
  unsent(endpoint: EndpointName): FailedAttempt {
    const detail = [this.#details.detail, "This request was not sent."].filter(Boolean).join(" ");
    return new FailedAttempt(endpoint, { ...this.#details, detail, reached: "no" }, { cause: this });
  }

  /** Returns the failure after several attempts. @param doubtful true if the API may have carried out an earlier attempt. */
  after(attempts: number, doubtful: boolean): FailedAttempt {
    if (attempts < 2) return this;
    const details = this.#details;
    return new FailedAttempt(
      this.#endpoint,
      {
        ...details,
        reached: doubtful ? "maybe" : details.reached,
        detail: [details.detail, `This was attempt ${attempts}.`].filter(Boolean).join(" "),
      },
      { cause: this.cause },
    );
  }
}

/** Failures of an account, its token or its host. */
const OF_ACCOUNT: ReadonlySet<string> = new Set<Code>([
  "api.unauthenticated",
  "api.forbidden",
  "api.rate_limited",
  "api.server",
  "api.unreachable",
  "api.timeout",
  "api.redirect",
]);

/** Returns the failure of a request that its caller aborted. */
export const cancelled = (endpoint: EndpointName, reached: Reached): FailedAttempt =>
  new FailedAttempt(endpoint, { ...problem("api.cancelled", { request: describeEndpoint(endpoint) }), reached });

/** Returns the failure of a request that was not sent, because its time limit has passed. */
export const tooLate = (endpoint: EndpointName): FailedAttempt =>
  new FailedAttempt(endpoint, { ...problem("api.too_late", { request: describeEndpoint(endpoint) }), reached: "no" });

/** Returns the failure of a request that was not sent, because its record is too old. @param cause failure of the previous attempt. */
export const late = (endpoint: EndpointName, cause?: unknown): FailedAttempt =>
  new FailedAttempt(
    endpoint,
    { ...problem("api.late", { request: describeEndpoint(endpoint) }), reached: "no", transient: true },
    { cause },
  );

/**
 * Returns the failure of a request whose Idempotency-Key (§4) is too old for a repetition. The API may have carried out an earlier attempt.
 * @param options `isBusy`: the host rejected an attempt because it was busy.
 */
export function keyTooOld(name: EndpointName, options: ErrorOptions & { readonly isBusy: boolean }): ApiError {
  const { isBusy } = options;
  const endpoint = describeEndpoint(name);
  const said = problem("api.too_late/key", { request: endpoint });
  return new ApiError({ ...said, isBusy, endpoint, reached: "maybe" }, options);
}

/** Rejects an argument of the caller. */
export function refuseArgument(endpoint: EndpointName, said: Diagnostic): never {
  throw new FailedAttempt(endpoint, { ...said, reached: "no" });
}

/** Returns the failure of a 2xx response with an unknown format. */
export function malformed(
  endpoint: EndpointName,
  what: { readonly came: string; readonly expected?: string; readonly transient?: boolean; readonly status?: number },
): FailedAttempt {
  const { came, expected = "JSON", ...outcome } = what;
  const said = problem("api.malformed", { request: describeEndpoint(endpoint), expected, came });
  return new FailedAttempt(endpoint, {
    ...said,
    ...outcome,
    reached: endpoints[endpoint].repeat === "safe" ? "answered" : "maybe",
  });
}

/** Returns the failure of a response that is not a list. It does not prove that the collection is empty. */
export function noList(endpoint: EndpointName, came: string): FailedAttempt {
  const expected = "a list (`[]` if empty). The other lists of this host have another format";
  return inconclusive(endpoint, came, 200, expected);
}

/** Returns the warning in place of the failure of {@link noList}. */
export const unprovenList = ({ endpoint, message }: ApiError): Diagnostic =>
  problem("api.no_list", { request: endpoint, failure: message });

/** Returns the warning in place of the failure of one entry in a list. */
export const unreadableRow = ({ endpoint, diagnostics: [failure] }: ApiError): Diagnostic =>
  problem("api.malformed/row", { request: endpoint, failure: failure?.detail ?? "" });

/** Returns the failure of a 2xx response that proves neither the existence nor the absence of an object. */
export function inconclusive(
  endpoint: EndpointName,
  came: string,
  status: number,
  expected = endpoint.startsWith("list") ? "a list" : "the object",
): FailedAttempt {
  const said = problem("api.inconclusive", { request: describeEndpoint(endpoint), status, came, expected });
  return new FailedAttempt(endpoint, { ...said, reached: "answered", status });
}

/** Returns the failure of an order whose 2xx response has no object, for example the response of a job. */
export const accepted = (noun: string, came: string): FailedAttempt =>
  new FailedAttempt("createService", {
    ...problem("api.accepted", { request: describeEndpoint("createService"), noun, came }),
    reached: "maybe",
  });

/** Describes the structure of a value, for example `an object with "id", "status"`. The text contains no value, because values may be secret. */
export function describeShape(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0
      ? "an empty list"
      : value.length === 1
        ? "a list of 1 item"
        : `a list of ${value.length} items`;
  if (value === null) return "null";
  if (!isObject(value)) return `a ${typeof value}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return "an empty object";
  const shown = keys.slice(0, 8).map((key) => JSON.stringify(key.slice(0, 40)));
  return `an object with ${shown.join(", ")}${keys.length > shown.length ? ", …" : ""}`;
}

/** Returns the failure of a listing that cannot be read to its end. */
function unread(endpoint: EndpointName, said: Diagnostic): FailedAttempt {
  return new FailedAttempt(endpoint, { ...said, reached: "answered" });
}

export const endless = (endpoint: EndpointName, why: string) =>
  unread(endpoint, problem("api.pagination/endless", { request: describeEndpoint(endpoint), why }));

/** Returns the failure of a list with a missing page. Without this failure, the objects of this page could be ordered again. */
export const half = (endpoint: EndpointName, what: string, received: number) =>
  unread(endpoint, problem("api.pagination/half", { request: describeEndpoint(endpoint), what, received }));

/** Returns the failure of a list that changes during each reading, and therefore proves neither presence nor absence of an object. */
export const changing = (endpoint: EndpointName, times: number) =>
  unread(endpoint, problem("api.pagination/changing", { request: describeEndpoint(endpoint), times }));

/** Returns the failure of a list whose pages contradict each other. */
export const contradictory = (endpoint: EndpointName, why: string) =>
  unread(endpoint, problem("api.pagination/contradiction", { request: describeEndpoint(endpoint), why }));

export const incomplete = (endpoint: EndpointName, why: string) =>
  unread(endpoint, problem("api.pagination", { request: describeEndpoint(endpoint), why }));
