/** The errors of the client. Each says whether the request reached the API, and whether it may be sent again. */
import {
  ApiError,
  type ApiFailure,
  type Code,
  type Diagnostic,
  isObject,
  type Reached,
  warningOf,
} from "../model/index.ts";
import { describeEndpoint, type EndpointName, endpoints, type Repeat } from "./endpoints.ts";

/** Warnings about an unknown result, by class of the request. A read needs none. */
const DOUBT: Readonly<Record<Repeat, string | undefined>> = {
  safe: undefined,
  keyed: "It is not known whether the API carried out the request; the same Idempotency-Key may be sent again.",
  idempotent: "It is not known whether the API carried out the request; it may be sent again.",
  once: "It is not known whether the API carried out the request; check the account before it is sent again.",
};

interface FailureDetails extends Omit<ApiFailure, "endpoint"> {
  /** The same request may succeed a little later. This is no permission to send it again. */
  readonly transient?: boolean | undefined;
}

/** One attempt that failed: the error that callers get, with what the retry handler needs to decide. */
export class FailedAttempt extends ApiError {
  readonly transient: boolean;
  readonly #endpoint: EndpointName;
  readonly #details: FailureDetails;

  constructor(endpoint: EndpointName, details: FailureDetails, options?: ErrorOptions) {
    const doubt = details.reached === "maybe" ? DOUBT[endpoints[endpoint].repeat] : undefined;
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

  /** The same failure with the account that it is about: a sentence, for failures that are not about one object. */
  of(account: string | undefined): FailedAttempt {
    const { detail, ...details } = this.#details;
    if (account === undefined || !OF_ACCOUNT.has(details.code)) return this;
    return new FailedAttempt(
      this.#endpoint,
      { ...details, detail: [detail, account].filter(Boolean).join(" ") },
      { cause: this.cause },
    );
  }

  /** The same refusal of another request, which was not sent. */
  unsent(endpoint: EndpointName): FailedAttempt {
    const detail = [this.#details.detail, "This request was not sent."].filter(Boolean).join(" ");
    return new FailedAttempt(endpoint, { ...this.#details, detail, reached: "no" }, { cause: this });
  }

  /** The same failure after `attempts` attempts, of which (`doubtful`) an earlier one may have been carried out. */
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

/** Fix for a proxy that requires authentication. */
export const PROXY_AUTHENTICATION = "Put them into HTTPS_PROXY or HTTP_PROXY: http://USER:PASSWORD@HOST:PORT.";

/** The request was aborted by its caller. */
export function cancelled(endpoint: EndpointName, reached: Reached): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.cancelled",
    summary: `${describeEndpoint(endpoint)} was cancelled`,
    reached,
  });
}

/** An attempt that was not made because the moment is over until which it was harmless. */
export function tooLate(endpoint: EndpointName): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.too_late",
    summary: `${describeEndpoint(endpoint)} was not sent: its time is over`,
    reached: "no",
    remedies: ["Run the command again: it reads the account first."],
  });
}

/** An attempt that was not made because too much time passed since its record. @param cause failure of the attempt before it. */
export function late(endpoint: EndpointName, cause?: unknown): FailedAttempt {
  const failure = {
    code: "api.late",
    summary: `${describeEndpoint(endpoint)} was not sent: more than 5 seconds passed since it was recorded`,
    reached: "no",
    detail: "This process was stopped, or had to wait. Another run may have changed the account since then.",
    remedies: [{ do: "apply_again" }],
    transient: true,
  } as const;
  return new FailedAttempt(endpoint, failure, { cause });
}

/** The same for a request with an Idempotency-Key (§4) of which an earlier attempt may have been carried out. @param options `isBusy`: the host refused one because it was busy. */
export function keyTooOld(
  endpoint: EndpointName,
  { isBusy, ...options }: ErrorOptions & { readonly isBusy: boolean },
): ApiError {
  return new ApiError(
    {
      isBusy,
      code: "api.too_late",
      summary: `${describeEndpoint(endpoint)} was not sent again: it waited for the rate limit for so long that the host may have forgotten its Idempotency-Key`,
      endpoint: describeEndpoint(endpoint),
      reached: "maybe",
      detail: "An earlier attempt may have been carried out.",
      remedies: [
        "Run the command again: it looks in the account for what that attempt may have made, and orders again only if it finds nothing.",
      ],
    },
    options,
  );
}

/** Refuses to make a request from what the caller gave. */
export function refuseArgument(endpoint: EndpointName, summary: string, fix?: string): never {
  throw new FailedAttempt(endpoint, {
    code: "api.argument",
    summary,
    reached: "no",
    detail: "No request was sent.",
    remedies: fix === undefined ? undefined : [fix],
  });
}

/** A 2xx answer that cannot be understood: what was expected, what came, from which endpoint. */
export function malformed(
  endpoint: EndpointName,
  what: { readonly came: string; readonly expected?: string; readonly transient?: boolean; readonly status?: number },
): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.malformed",
    summary: `The API's answer to ${describeEndpoint(endpoint)} could not be understood`,
    reached: endpoints[endpoint].repeat === "safe" ? "answered" : "maybe",
    status: what.status,
    detail: `Expected ${what.expected ?? "JSON"}, received ${what.came}.`,
    remedies: [
      "Check that the base URL is the API's address, and that no proxy answers in its place. If both hold, report the answer's form.",
    ],
    transient: what.transient ?? false,
  });
}

/** An answer that would be an empty list if it were one: it proves nothing of the collection. */
export function noList(endpoint: EndpointName, came: string): FailedAttempt {
  const expected = "a list, `[]` if it is empty. The lists of this host that hold objects have another form";
  return inconclusive(endpoint, came, 200, expected);
}

/** The warning in place of the failure of {@link noList}, where nothing is concluded from the list. */
export function unprovenList({ endpoint, message }: ApiError): Diagnostic {
  return warningOf("api.no_list", `${endpoint} holds no list, so this run could not check it`, {
    detail: `${message}. The list counts as empty here, and recorded objects that it lacks are planned as they were recorded.`,
    remedies: [
      "If the list should have objects, check that no proxy answers. Otherwise ask the host for a list, `[]` if it is empty: until then, nothing is created there.",
    ],
  });
}

/** The warning in place of the failure of one row of a list. */
export function unreadableRow({ endpoint, diagnostics: [failure] }: ApiError): Diagnostic {
  return warningOf("api.malformed", `A row in the answer to ${endpoint} could not be understood`, {
    detail: `${failure?.detail} Nothing is concluded from what the list lacks.`,
    remedies: ["Report the form of the row to the host. Until it is readable, nothing is created there."],
  });
}

/** A success that shows neither what there is nor that there is nothing. */
export function inconclusive(
  endpoint: EndpointName,
  came: string,
  status: number,
  expected = isList(endpoint) ? "a list" : "the object",
): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.inconclusive",
    summary: `${describeEndpoint(endpoint)} was answered with status ${status} and ${came}`,
    reached: "answered",
    status,
    detail: `Expected status 200 and ${expected}. hostform concludes from such an answer neither that something exists nor that it does not.`,
    remedies: [
      "Try again in a minute. If the answer stays the same, check that no proxy answers, then report it to the host.",
    ],
  });
}

const isList = (endpoint: EndpointName) => endpoint.startsWith("list");

/** A 2xx answer to a create that names nothing of what was created: that of a job, for example. */
export function accepted(endpoint: EndpointName, noun: string, came: string): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.accepted",
    summary: `The API accepted ${describeEndpoint(endpoint)} and did not say what it made`,
    reached: "maybe",
    detail: `Expected ${noun} with an id, received ${came}.`,
    remedies: ["Check the account before you send it again: a job may make it later."],
  });
}

/** The form of a value without its contents, which may be secret: `an object with "id", "status"`. */
export function describeShape(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (value === null) return "null";
  if (!isObject(value)) return `a ${typeof value}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return "an empty object";
  const shown = keys.slice(0, 8).map((key) => JSON.stringify(key.slice(0, 40)));
  return `an object with ${shown.join(", ")}${keys.length > shown.length ? ", …" : ""}`;
}

export const endless = (endpoint: EndpointName, detail: string) =>
  broken(endpoint, "does not end or repeats itself", detail);

/** A page is missing before the end: what it holds might be ordered again. */
export function half(endpoint: EndpointName, what: string, received: number): FailedAttempt {
  const count = received === 1 ? "1 object" : `${received} objects`;
  const detail = `${what}, but the server reports more than the ${count} that came.`;
  return broken(endpoint, "is incomplete", detail);
}

/** The account changes faster than its list is read: no row is missing for certain, and none is there for certain. */
export const changing = (endpoint: EndpointName, times: number) =>
  broken(
    endpoint,
    "changes while it is read",
    `It was read ${times} times, and differed each time.`,
    "Run the command again when nobody else changes the account. Nothing is changed on the basis of an incomplete listing.",
  );

export function broken(
  endpoint: EndpointName,
  what: string,
  detail: string,
  remedy = "Report it to the host. Nothing is changed on the basis of an incomplete listing.",
): FailedAttempt {
  return new FailedAttempt(endpoint, {
    code: "api.pagination",
    summary: `The listing ${describeEndpoint(endpoint)} ${what}`,
    reached: "answered",
    detail,
    remedies: [remedy],
  });
}
