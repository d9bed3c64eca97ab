/** The part of the table of codes that tells of requests to the API; see `codes.ts`. */
export const apiCodes = {
  "api.argument": ["A request cannot be made from what was given", "Give what the message names; nothing was sent."],
  "api.unauthenticated": [
    "The API did not accept the token (401)",
    "Check the token; create a new one in the dashboard if it was revoked.",
  ],
  "api.forbidden": [
    "The token may not do this (403)",
    "Use a token with the ability named, and not restricted to other services.",
  ],
  "api.not_found": [
    "The API does not know the object (404)",
    "Check the id; the object may have been removed elsewhere.",
  ],
  "api.conflict": [
    "The API is still working on the same request (409)",
    "Run the command again in a minute: the same Idempotency-Key is used, nothing is ordered twice.",
  ],
  "api.validation": ["The API refused the values (422)", "Correct the attributes named."],
  "api.rate_limited": [
    "The API refused because of too many requests (429)",
    "Wait a minute, or lower `requests_per_minute` if others use the same token.",
  ],
  "api.rejected": ["The API refused the request", "Read the server's words in the message."],
  "api.server": ["The API failed (5xx)", "Try again later; if it stays, ask the host."],
  "api.unreachable": ["The API could not be reached", "Check base URL, network and proxy."],
  "api.timeout": ["The API did not answer in time", "Try again; see `--verbose` for the times of each request."],
  "api.too_late": [
    "An order was not sent again because its Idempotency-Key has grown too old",
    "Run the command again: it looks at the account first.",
  ],
  "api.ambiguous": [
    "It is not known whether the API carried the request out",
    "Do what the message says; hostform does not repeat such a request by itself.",
  ],
  "api.accepted": [
    "The API accepted an order and did not say what it made",
    "Run the command again in a minute: it looks at the account first, and orders nothing twice.",
  ],
  "api.form": [
    "The API shows what it made in another form than it was sent in",
    "Nothing, unless it is not what you meant: then declare it as the API shows it.",
  ],
  "api.malformed": [
    "The API's answer could not be understood",
    "Check that the base URL is the API's and not a page of a proxy; report the shape if it is.",
  ],
  "api.redirect": ["The API answered with a redirect, which is not followed", "Set the base URL to the final address."],
  "api.too_large": [
    "The answer or the listing is larger than is accepted",
    "Narrow the request, or raise the limit if it is right.",
  ],
  "api.pagination": [
    "A listing does not end, repeats itself or is not whole",
    "Report it to the host; hostform does not act on half a listing.",
  ],
  "api.cancelled": ["The request was cancelled", "Run the command again."],
} as const satisfies Record<string, readonly [meaning: string, action: string]>;
