/** Messages about requests to the API: responses, failures, base URL and token. */
import type { Remedy } from "../model/index.ts";
import { type Catalogue, error, type Words, warning } from "./message.ts";

/** Method and path, such as `POST /api/v1/services/{id}/suspend`. */
type Request = Words<"request">;
/** HTTP status. */
type Status = { readonly status: number };
type Sent = Request & Words<"origin">;

const AGAIN = "Try again later. If it fails again, ask the host.";
const CHECK_URL = "Check that the base URL is the API's URL.";
const NO_GATEWAY =
  "Check that the base URL is the API's URL, and that no proxy or gateway responds in its place. If one does, ask its administrator to allow requests to the API.";
const REPORT_LIST = "Report it to the host. Without the complete list, nothing is changed.";
const SET_URL = "Set the URL that the host gives, such as https://api.example.com; /api/v1 is optional.";
const UNSENT = "No request was sent.";
const ORIGINS = "HOSTFORM_ALLOWED_ORIGINS";
const LIST_ORIGINS = `List origins, separated by commas, such as https://api.example.com,https://gitlab.example; or unset ${ORIGINS}.`;
const COPY_TOKEN = "Copy the token again, without spaces or line breaks.";

const again = (summary: string) => ({ summary, remedies: [AGAIN] });
const baseUrl = (summary: string, remedy = SET_URL) => error({ summary, remedies: [remedy] });
const argument = <Given>(summary: (given: Given) => string, remedy: (given: Given) => string) =>
  error((given: Given) => ({ summary: summary(given), detail: UNSENT, remedies: [remedy(given)] }));
const listing = <Given = unknown>(what: string, detail: (given: Given) => string, remedy = REPORT_LIST) =>
  error((given: Given & Request) => ({
    summary: `The list ${given.request} ${what}`,
    detail: detail(given),
    remedies: [remedy],
  }));

/** Returns the sentence about a request with an unknown result. @param repeat Class of the request. Undefined for a read. */
export const doubtOf = (repeat: "safe" | "keyed" | "idempotent" | "once"): string | undefined =>
  repeat === "safe"
    ? undefined
    : `The API may have carried out the request; ${
        {
          keyed: "the same Idempotency-Key may be sent again",
          idempotent: "it may be sent again",
          once: "check the account before you send it again",
        }[repeat]
      }.`;

export const requests = {
  "api.cancelled": error({ summary: "{request} was cancelled" }),
  "api.too_late": error({
    summary: "{request} was not sent: its time limit has passed",
    remedies: ["Run the command again: it reads the account first."],
  }),
  "api.too_late/key": error({
    summary: "{request} was not sent again: after the wait for the rate limit, its Idempotency-Key may have expired",
    detail: "An earlier attempt may have been carried out.",
    remedies: ["Apply again: it orders only if the account has no result of that attempt."],
  }),
  "api.late": error({
    summary: "{request} was not sent: more than 5 seconds have passed since it was prepared",
    detail: "This process was stopped, or had to wait. Another run may have changed the account since then.",
    remedies: [{ do: "apply_again" }],
  }),

  "api.argument/key": argument(
    ({ isGiven }: { readonly isGiven: boolean }) =>
      `An order needs an Idempotency-Key${isGiven ? " that can be sent as a header" : ""}`,
    () => "Pass an idempotencyKey of 1 to 255 visible ASCII characters, the same for each attempt of one order.",
  ),
  "api.argument/surplus": argument(
    ({ what }: Words<"what">) => `This endpoint takes no ${what}`,
    ({ what }) => `Remove the ${what}.`,
  ),
  "api.argument/password": argument(
    () => "The password is shorter than 8 characters",
    () => "Pass a password of at least 8 characters.",
  ),
  "api.argument/id": argument(
    ({ value }: Words<"value" | "name">) => `${value} is not an id`,
    ({ name }) => `Pass the ${name} that the API returns.`,
  ),
  "api.argument/domain": argument(
    ({ value, why }: Words<"value" | "why">) => `${value} is not a domain name: ${why}`,
    () => "Pass a name such as acme.example.",
  ),
  "api.argument/option": argument(
    ({ name, bounds }: Words<"name" | "bounds">) => `${name} must be ${bounds}`,
    () => "Pass a number in this range.",
  ),

  "api.malformed": error({
    summary: "The API's response to {request} has an unknown format",
    detail: "Expected {expected}, received {came}.",
    remedies: [
      "Check that the base URL is the API's URL, and that no proxy responds in its place. If both are correct, report the format of the response.",
    ],
  }),
  "api.malformed/row": warning({
    summary: "An entry in the response to {request} has an unknown format",
    detail: "{failure} An object that is missing from the list may still exist.",
    remedies: [
      "Report the format of the entry to the host. Until the entry is readable, no object is created in this list.",
    ],
  }),
  "api.malformed/cut": error(({ status }: Status) => again(`The API's response was cut off (${status})`)),
  "api.malformed/text": error({
    summary: "The response is plain text, not an API response ({status})",
    remedies: [NO_GATEWAY],
  }),
  "api.malformed/page": error(({ status, isTransient }: Status & { readonly isTransient: boolean }) => ({
    summary: `The response is a web page, not an API response (${status})`,
    remedies: [isTransient ? `Try again later. ${NO_GATEWAY}` : NO_GATEWAY],
  })),
  "api.malformed/sign_on": error({
    summary: "The API's sign-on URL is not an http or https URL",
    remedies: ["Sign on in the dashboard, and report the URL to the host."],
  }),
  "api.no_list": warning({
    summary: "{request} returned no list, so this run could not check its objects",
    detail: "{failure}. Objects keep their values in the state.",
    remedies: [
      "If objects exist, check that no proxy responds. If none exist, ask the host to return an empty list ([]). Until then, no object is created in this list.",
    ],
  }),
  "api.inconclusive": error({
    summary: "The response to {request} has status {status} and {came}",
    detail:
      "Expected status 200 and {expected}. Such a response proves neither that an object exists nor that it is absent.",
    remedies: [
      "Try again in a minute. If the response stays the same, check that no proxy responds, then report it to the host.",
    ],
  }),
  "api.accepted": error({
    summary: "The API accepted {request}, but its response names no object",
    detail: "Expected {noun} with an id, received {came}.",
    remedies: ["Check the account before you send the request again: a job may create the object later."],
  }),
  "api.too_large": error({
    summary: "The response to {request} is too large",
    remedies: ["Report the size of the response to the host."],
  }),

  "api.pagination": listing("is incomplete", ({ why }: Words<"why">) => why),
  "api.pagination/half": listing(
    "is incomplete",
    ({ what, received }: Words<"what"> & { readonly received: number }) =>
      `${what}, but the server reports more than the ${received === 1 ? "1 object" : `${received} objects`} received.`,
  ),
  "api.pagination/endless": listing("does not end or repeats itself", ({ why }: Words<"why">) => why),
  "api.pagination/contradiction": listing("contradicts itself", ({ why }: Words<"why">) => why),
  "api.pagination/changing": listing(
    "changes while it is read",
    ({ times }: { readonly times: number }) => `It was read ${times} times, and differed each time.`,
    "Run the command again when nobody else changes the account. Without the complete list, nothing is changed.",
  ),

  "api.unauthenticated": error({
    summary: "The API did not accept the token (401)",
    remedies: ["Check the token. If it was revoked, create a new token in the dashboard (API Tokens)."],
  }),
  "api.forbidden": error({
    summary: "The token lacks permission for {request} (403)",
    remedies: [
      'The request needs the ability "{ability}". Use a token that has this ability, belongs to the object\'s account, and is not restricted to other services.',
    ],
  }),
  "api.forbidden/track": error({
    summary: "The account lacks permission for {request} (403)",
    remedies: [
      "Client accounts need an account on the Manage track. Use such an account, or remove the client accounts.",
    ],
  }),
  "api.forbidden/restricted": error({
    summary: "The token lacks permission for {request} (403)",
    remedies: ["Use a token of the whole account, or add the service to the scope of this token."],
  }),
  "api.forbidden/refused": error({
    summary: "The API rejected {request} (403)",
    remedies: [
      'Correct what the server\'s message names. If it names the token, the token needs the ability "{ability}".',
    ],
  }),
  "api.not_found": error({ summary: "The API does not know {request} ({status})", remedies: [CHECK_URL] }),
  "api.not_found/object": error({
    summary: "The API does not know the object ({status})",
    remedies: ["Check the id; the object may have been removed elsewhere."],
  }),
  "api.validation": error(({ request, changes }: Request & { readonly changes: boolean }) => ({
    summary: `The API rejected the values of ${request} (422)`,
    remedies: [
      changes
        ? "Correct the values in the server's message. If the message contains none, the status of the object does not allow the request (for example, an unpaid service)."
        : "Report it to the host: the request only reads, and contains no declared values.",
    ],
  })),
  "api.conflict": error(({ request, status }: Request & Status) =>
    again(`The API rejected ${request}, because it is still processing another request (${status})`),
  ),
  "api.conflict/key": error({
    summary: "The API is still processing a request with the same Idempotency-Key (409)",
    remedies: ["Apply again in a minute. The order uses the same Idempotency-Key, so nothing is ordered twice."],
  }),
  "api.rejected": error({
    summary: "The API rejected {request} ({status})",
    remedies: ["Correct what the server's message names. Without a message, ask the host."],
  }),
  "api.rejected/key": error({
    summary: "The API knows the Idempotency-Key of this order from a request with other values ({status})",
    remedies: [
      "Look in the dashboard for the result of the earlier order. If it was carried out, import its service.",
      "If it was not carried out, declare another reference: it gives the order another key.",
    ],
  }),
  "api.rate_limited": error({
    summary: "The API rejected the request: the rate limit is exceeded (429)",
    remedies: ["Wait a minute. If other programs use the same token, reduce requests_per_minute."],
  }),
  "api.rate_limited/pause": error(
    (given: Request & Words<"pause" | "since" | "until" | "again"> & { readonly isRepeated: boolean }) => ({
      summary: `The API asks for a pause of ${given.pause}`,
      detail: `${given.request} was not sent${given.isRepeated ? " again" : ""}. The API rejected a request${given.since} (429), and asks for a pause until ${given.until}.`,
      remedies: [
        `Run the command again after ${given.again}. Until then, no request with this token is sent.`,
        "If the host is ready earlier, set HOSTFORM_STORE=memory for one command, which then ignores the pause.",
      ],
    }),
  ),
  "api.redirect": error({
    summary: "The API responded with a redirect ({status}){target}, which is not followed",
    remedies: ["Set the base URL to the final URL."],
  }),
  "api.server": error(({ status }: Status) => again(`The API failed (${status})`)),
  "api.timeout": error({
    summary: "The API did not respond within {seconds} seconds",
    detail: "{request} at {origin}.",
    remedies: ["Try again.", { do: "see", what: "requests" }],
  }),
  "api.timeout/paused": error({
    summary: "This process was paused while it waited for the API's response, or a clock was set",
    detail: "{request} at {origin}.",
    remedies: ["Try again.", { do: "see", what: "requests" }],
  }),
  "api.timeout/host": error(again("The API timed out while it waited for the request (408)")),
  "api.unreachable": error(
    (given: Sent & Words<"failure"> & { readonly isPaused: boolean; readonly fix: readonly Remedy[] | undefined }) => ({
      summary: `The API could not be reached: ${given.failure}`,
      detail: `${given.request} at ${given.origin}.${given.isPaused ? " This process was paused meanwhile, or a clock was set." : ""}`,
      remedies: given.fix ?? ["Try again."],
    }),
  ),
  "api.unreachable/proxy": error({
    summary: "The proxy asks for a user name and password (407)",
    remedies: ["Set HTTPS_PROXY or HTTP_PROXY to http://USER:PASSWORD@HOST:PORT."],
  }),
  "api.deprecated": warning(
    ({ request, announced, page }: Request & Words<"announced"> & { readonly page: string | undefined }) => ({
      summary: `The API announces that ${request} ${announced}`,
      detail: page && `The host explains it at ${page}.`,
      remedies: ["Read the announcement of the host. Before the end, install a version that uses the new API."],
    }),
  ),

  "provider.base_url": baseUrl("The base URL is not a URL"),
  "provider.base_url/scheme": error({
    summary: "The base URL must begin with https://, not {scheme}//",
    remedies: [SET_URL],
  }),
  "provider.base_url/credentials": baseUrl(
    "The base URL contains a user name or password",
    "Remove it from the URL. The API token is set separately.",
  ),
  "provider.base_url/query": baseUrl("The base URL contains a query or a fragment"),
  "provider.base_url/version": baseUrl("The base URL contains another version of the API than /api/v1"),
  "provider.base_url/plain": error({
    summary: "Plain http to {host} would expose the API token on the network",
    detail: "Plain http is accepted for loopback addresses only.",
    remedies: [
      "Use https.",
      {
        do: "allow",
        limits: [{ limit: "insecure_http" }],
        when: "the connection to the server is protected otherwise",
      },
    ],
  }),
  "provider.proxy": error({
    summary: "{variable} is not the URL of an HTTP proxy",
    remedies: [
      "Set {variable} to a URL such as http://proxy.example:3128, or unset it.",
      "Percent-encode the special characters of a password (@ is %40).",
    ],
  }),
  "provider.token": error({
    summary: "No API token for {of}: the environment variable {variable} is {state}",
    remedies: ["Create a token in the dashboard (API Tokens) and set it: {set}.", { do: "see", what: "sandbox" }],
  }),
  "provider.token/empty_file": error({
    summary: "The token file of {of} is empty",
    detail: "{file}",
    remedies: ["Write the API token into the file."],
  }),
  "provider.token/file": error({
    summary: "The token file of {of} cannot be read",
    detail: "{failure}",
    remedies: ["Check token_file; the path is relative to {base}."],
  }),
  "provider.token/absent": error({ summary: "The API token is empty", remedies: [COPY_TOKEN] }),
  "provider.token/characters": error({
    summary: "The API token contains invalid characters",
    remedies: [COPY_TOKEN],
  }),
  "trust.origin": error(
    ({ of, origin, allowed }: Words<"of" | "allowed"> & { readonly origin: string | undefined }) => ({
      summary:
        origin === undefined
          ? `${of} has no URL that can be compared with ${ORIGINS}`
          : `${of} uses ${origin}, which may not receive credentials`,
      detail: `${ORIGINS} allows ${allowed}. ${UNSENT}`,
      remedies: [`Correct the URL, or add its origin to ${ORIGINS}.`],
    }),
  ),
  "trust.origin/malformed": error({
    summary: `${ORIGINS} is not a list of origins`,
    remedies: [LIST_ORIGINS],
  }),
  "trust.override": warning(({ of, origin }: Words<"of" | "origin">) => ({
    summary: `${of} sends its token to ${origin}, not to HOSTING_BASE_URL`,
    detail: "The base_url of the provider sets this URL.",
    remedies: [`Remove base_url. If it is intended, set ${ORIGINS} to the origins that you trust.`],
  })),
  "config.invalid_value/share": error({
    summary: "The environment variable HOSTFORM_BUDGET_SHARE is not a number from 0 to 1",
    remedies: ["Set it to a number greater than 0 and at most 1, such as 0.5, or unset it."],
  }),
  "config.invalid_value/store": error(({ isEmpty }: { readonly isEmpty: boolean }) => ({
    summary: `The environment variable HOSTFORM_STORE ${isEmpty ? "is set, but empty" : "has an unknown value"}`,
    remedies: ["Set it to postgres://…, to local (a file of this machine), or to memory."],
  })),
} satisfies Catalogue;
