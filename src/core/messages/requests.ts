/** Messages about requests to the API: responses, failures, the base URL and the token. */
import type { Remedy } from "../model/index.ts";
import { type Catalogue, error, type Words, warning } from "./message.ts";

/** `POST /api/v1/services/{id}/suspend` */
type Request = Words<"request">;
/** The HTTP status. */
type Status = { readonly status: number };
type Place = Request & Words<"origin">;

const AGAIN = "Try again later. If it fails again, ask the host.";
const CHECK_URL = "Check that the base URL is the API's URL.";
const NO_GATEWAY =
  "Check that the base URL is the API's URL, and that no proxy or gateway responds in its place. If one does, ask its administrator to allow requests to the API.";
const REPORT_LIST = "Report it to the host. Nothing is changed on the basis of an incomplete listing.";
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
    summary: `The listing ${given.request} ${what}`,
    detail: detail(given),
    remedies: [remedy],
  }));

/** The sentence about a request whose result is unknown. @param repeat class of the request; a read has no such sentence. */
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
  "api.cancelled": error(({ request }: Request) => ({ summary: `${request} was cancelled` })),
  "api.too_late": error(({ request }: Request) => ({
    summary: `${request} was not sent: its time limit has passed`,
    remedies: ["Run the command again: it reads the account first."],
  })),
  "api.too_late/key": error(({ request }: Request) => ({
    summary: `${request} was not sent again: it waited for the rate limit for so long that the host may have forgotten its Idempotency-Key`,
    detail: "An earlier attempt may have been carried out.",
    remedies: [
      "Run the command again: it looks in the account for the result of that attempt, and orders again only if it finds nothing.",
    ],
  })),
  "api.late": error(({ request }: Request) => ({
    summary: `${request} was not sent: more than 5 seconds passed since it was recorded`,
    detail: "This process was stopped, or had to wait. Another run may have changed the account since then.",
    remedies: [{ do: "apply_again" }],
  })),

  "api.argument/key": argument(
    ({ isGiven }: { readonly isGiven: boolean }) =>
      `An order needs an Idempotency-Key${isGiven ? " that can be sent as a header" : ""}`,
    () => "Give idempotencyKey: 1 to 255 visible ASCII characters, the same for the same order.",
  ),
  "api.argument/surplus": argument(
    ({ what }: Words<"what">) => `This endpoint takes no ${what}`,
    () => "Leave it out.",
  ),
  "api.argument/password": argument(
    () => "The password is shorter than 8 characters",
    () => "Give a password of at least 8 characters.",
  ),
  "api.argument/id": argument(
    ({ value }: Words<"value" | "name">) => `${value} is not an id`,
    ({ name }) => `Give ${name} as the API shows it.`,
  ),
  "api.argument/domain": argument(
    ({ value, why }: Words<"value" | "why">) => `${value} is not a domain name: ${why}`,
    () => "Give names such as acme.example.",
  ),
  "api.argument/option": argument(
    ({ name, bounds }: Words<"name" | "bounds">) => `${name} must be ${bounds}`,
    () => "Give such a number.",
  ),

  "api.malformed": error(({ request, expected, came }: Request & Words<"expected" | "came">) => ({
    summary: `The API's response to ${request} has an unknown format`,
    detail: `Expected ${expected}, received ${came}.`,
    remedies: [
      "Check that the base URL is the API's URL, and that no proxy responds in its place. If both hold, report the format of the response.",
    ],
  })),
  "api.malformed/row": warning(({ request, failure }: Request & Words<"failure">) => ({
    summary: `An entry in the response to ${request} has an unknown format`,
    detail: `${failure} An object that the list lacks may still exist.`,
    remedies: [
      "Report the format of the entry to the host. Until the entry is readable, no object is created in this list.",
    ],
  })),
  "api.malformed/cut": error(({ status }: Status) => again(`The API's response was cut off (${status})`)),
  "api.malformed/text": error(({ status }: Status) => ({
    summary: `The response is plain text, not an API response (${status})`,
    remedies: [NO_GATEWAY],
  })),
  "api.malformed/page": error(({ status, isTransient }: Status & { readonly isTransient: boolean }) => ({
    summary: `The response is a web page, not an API response (${status})`,
    remedies: [isTransient ? `Try again later. ${NO_GATEWAY}` : NO_GATEWAY],
  })),
  "api.malformed/sign_on": error({
    summary: "The API's sign-on URL is not an http or https URL",
    remedies: ["Sign on in the dashboard, and report the URL to the host."],
  }),
  "api.no_list": warning(({ request, failure }: Request & Words<"failure">) => ({
    summary: `${request} returned no list, so this run could not check its objects`,
    detail: `${failure}. Objects keep their values in the state.`,
    remedies: [
      "If the list should have objects, check that no proxy responds. Otherwise ask the host for a list, [] if it is empty: until then, no object is created in this list.",
    ],
  })),
  "api.inconclusive": error(({ request, status, came, expected }: Request & Status & Words<"came" | "expected">) => ({
    summary: `The response to ${request} has status ${status} and ${came}`,
    detail: `Expected status 200 and ${expected}. Such a response proves neither that an object exists nor that it is absent.`,
    remedies: [
      "Try again in a minute. If the response stays the same, check that no proxy responds, then report it to the host.",
    ],
  })),
  "api.accepted": error(({ request, noun, came }: Request & Words<"noun" | "came">) => ({
    summary: `The API accepted ${request}, but its response names no object`,
    detail: `Expected ${noun} with an id, received ${came}.`,
    remedies: ["Check the account before you send it again: a job may create it later."],
  })),
  "api.too_large": error(({ request }: Request) => ({
    summary: `The response to ${request} is too large`,
    remedies: ["Report it to the host: no response of the API should be that large."],
  })),

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
    "Run the command again when nobody else changes the account. Nothing is changed on the basis of an incomplete listing.",
  ),

  "api.unauthenticated": error({
    summary: "The API did not accept the token (401)",
    remedies: ["Check the token; create a new one in the dashboard (API Tokens) if it was revoked."],
  }),
  "api.forbidden": error(({ request, ability }: Request & Words<"ability">) => ({
    summary: `The token lacks permission for ${request} (403)`,
    remedies: [
      `The request needs the ability "${ability}". Use a token that has this ability, belongs to the object's account, and is not restricted to other services.`,
    ],
  })),
  "api.forbidden/track": error(({ request }: Request) => ({
    summary: `The account lacks permission for ${request} (403)`,
    remedies: [
      "Client accounts need an account on the Manage track. Use such an account, or leave out client accounts.",
    ],
  })),
  "api.forbidden/restricted": error(({ request }: Request) => ({
    summary: `The token lacks permission for ${request} (403)`,
    remedies: ["Use a token of the whole account, or widen the restriction of this token."],
  })),
  "api.forbidden/refused": error(({ request, ability }: Request & Words<"ability">) => ({
    summary: `The API rejected ${request} (403)`,
    remedies: [`Follow the server's message. If the token is the reason, the request needs the ability "${ability}".`],
  })),
  "api.not_found": error(({ request, status }: Request & Status) => ({
    summary: `The API does not know ${request} (${status})`,
    remedies: [CHECK_URL],
  })),
  "api.not_found/object": error(({ status }: Status) => ({
    summary: `The API does not know the object (${status})`,
    remedies: ["Check the id; the object may have been removed elsewhere."],
  })),
  "api.validation": error(({ request, changes }: Request & { readonly changes: boolean }) => ({
    summary: `The API rejected the values of ${request} (422)`,
    remedies: [
      changes
        ? "Correct the values that the server names. If it names none, the state of the object does not allow the request (an unpaid service)."
        : "Report it to the host: the request only reads, and takes no values from you.",
    ],
  })),
  "api.conflict": error(({ request, status }: Request & Status) =>
    again(`The API is busy with another request, so it did not serve ${request} (${status})`),
  ),
  "api.conflict/key": error({
    summary: "The API is still working on a request with the same Idempotency-Key (409)",
    remedies: ["Run the command again in a minute. It uses the same Idempotency-Key, so nothing is ordered twice."],
  }),
  "api.rejected": error(({ request, status }: Request & Status) => ({
    summary: `The API rejected ${request} (${status})`,
    remedies: ["Read the server's message."],
  })),
  "api.rejected/key": error(({ status }: Status) => ({
    summary: `The API knows the Idempotency-Key of this order from a request with other values (${status})`,
    remedies: [
      "Look in the dashboard for the result of the earlier order. If it was carried out, import its service.",
      "If not, declare another reference, which gives the order another key.",
    ],
  })),
  "api.rate_limited": error({
    summary: "The API rejected the request: the rate limit is exceeded (429)",
    remedies: ["Wait a minute, or lower requests_per_minute if others use the same token."],
  }),
  "api.rate_limited/pause": error(
    (given: Request & Words<"pause" | "since" | "until" | "again"> & { readonly isRepeated: boolean }) => ({
      summary: `The API asks for a pause of ${given.pause}`,
      detail: `${given.request} was not sent${given.isRepeated ? " again" : ""}. The API rejected a request${given.since} (429), and asks for a pause until ${given.until}.`,
      remedies: [
        `Run the command again after ${given.again}: until then, no request with this token is sent.`,
        "If you know that the host is ready again, set HOSTFORM_STORE=memory for one command: it ignores the pause, which all processes of this machine share.",
      ],
    }),
  ),
  "api.redirect": error(({ status, target }: Status & Words<"target">) => ({
    summary: `The API responded with a redirect (${status})${target}, which is not followed`,
    remedies: ["Set the base URL to the final URL."],
  })),
  "api.server": error(({ status }: Status) => again(`The API failed (${status})`)),
  "api.timeout": error(({ request, origin, seconds }: Place & { readonly seconds: number }) => ({
    summary: `The API did not respond within ${seconds} seconds`,
    detail: `${request} at ${origin}.`,
    remedies: ["Try again.", { do: "see", what: "requests" }],
  })),
  "api.timeout/paused": error(({ request, origin }: Place) => ({
    summary: "This process was paused while it waited for the API's response, or a clock was set",
    detail: `${request} at ${origin}.`,
    remedies: ["Try again.", { do: "see", what: "requests" }],
  })),
  "api.timeout/host": error(again("The API timed out while it waited for the request (408)")),
  "api.unreachable": error(
    (
      given: Place & Words<"failure"> & { readonly isPaused: boolean; readonly fix: readonly Remedy[] | undefined },
    ) => ({
      summary: `The API could not be reached: ${given.failure}`,
      detail: `${given.request} at ${given.origin}.${given.isPaused ? " This process was paused meanwhile, or a clock was set." : ""}`,
      remedies: given.fix ?? ["Try again."],
    }),
  ),
  "api.unreachable/proxy": error({
    summary: "The proxy asks for a user name and password (407)",
    remedies: ["Put them into HTTPS_PROXY or HTTP_PROXY: http://USER:PASSWORD@HOST:PORT."],
  }),
  "api.deprecated": warning(
    ({ request, announced, page }: Request & Words<"announced"> & { readonly page: string | undefined }) => ({
      summary: `The API announces that ${request} ${announced}`,
      detail: page && `The host explains it at ${page}.`,
      remedies: ["Read the announcement of the host. Before the end, install a version that uses the new API."],
    }),
  ),

  "provider.base_url": baseUrl("The base URL is not a URL"),
  "provider.base_url/scheme": error(({ scheme }: Words<"scheme">) => ({
    summary: `The base URL must begin with https://, not ${scheme}//`,
    remedies: [SET_URL],
  })),
  "provider.base_url/credentials": baseUrl(
    "The base URL contains a user name or password",
    "Remove it from the URL. The API token is set separately.",
  ),
  "provider.base_url/query": baseUrl("The base URL contains a query or a fragment"),
  "provider.base_url/version": baseUrl("The base URL names another version of the API than /api/v1"),
  "provider.base_url/plain": error(({ host }: Words<"host">) => ({
    summary: `Plain http to ${host} would expose the API token on the network`,
    detail: "Plain http is accepted for loopback addresses only.",
    remedies: [
      "Use https.",
      {
        do: "allow",
        limits: [{ limit: "insecure_http" }],
        when: "the connection to the server is protected otherwise",
      },
    ],
  })),
  "provider.proxy": error(({ variable }: Words<"variable">) => ({
    summary: `${variable} is not the URL of an HTTP proxy`,
    remedies: [
      `Set ${variable} to a URL such as http://proxy.example:3128, or unset it.`,
      "Percent-encode the characters of a password that have a meaning in URLs (@ is %40).",
    ],
  })),
  "provider.token": error(({ of, variable, state, set }: Words<"of" | "variable" | "state" | "set">) => ({
    summary: `No API token for ${of}: the environment variable ${variable} is ${state}`,
    remedies: [`Create a token in the dashboard (API Tokens) and set it: ${set}.`, { do: "see", what: "sandbox" }],
  })),
  "provider.token/empty_file": error(({ of, file }: Words<"of" | "file">) => ({
    summary: `The token file of ${of} is empty`,
    detail: file,
    remedies: ["Write the API token into it."],
  })),
  "provider.token/file": error(({ of, failure, base }: Words<"of" | "failure" | "base">) => ({
    summary: `The token file of ${of} cannot be read`,
    detail: failure,
    remedies: [`Check token_file; the path is relative to ${base}.`],
  })),
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
    summary: `${ORIGINS} names something that is not an origin`,
    remedies: [LIST_ORIGINS],
  }),
  "trust.origin/empty": error({ summary: `${ORIGINS} is set, but empty`, remedies: [LIST_ORIGINS] }),
  "trust.override": warning(({ of, origin }: Words<"of" | "origin">) => ({
    summary: `${of} sends its token to ${origin}, not to HOSTING_BASE_URL`,
    detail: "The provider's settings name that URL.",
    remedies: [`Remove base_url if you do not want that. If you do, set ${ORIGINS} to the origins that you trust.`],
  })),
  "config.invalid_value/share": error({
    summary: "The environment variable HOSTFORM_BUDGET_SHARE is not a share",
    remedies: ["Set it to a number above 0 and up to 1, such as 0.5, or unset it."],
  }),
  "config.invalid_value/store": error({
    summary: "The environment variable HOSTFORM_STORE names no store",
    remedies: ["Set it to postgres://…, to local (a file of this machine), or to memory."],
  }),
} satisfies Catalogue;
