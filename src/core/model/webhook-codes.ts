/** Codes of deliveries that a receiver refuses (`hostform/webhooks`); a part of `codes`. */
export const webhookCodes = {
  "webhooks.method": [
    "A webhook receiver was asked for something else than to take a delivery",
    "Deliveries come by POST; nothing else is answered at that address.",
  ],
  "webhooks.too_large": [
    "A delivery is larger than the receiver takes",
    "Raise `maxBytes` if deliveries of the API are that large; the body was not read to its end.",
  ],
  "webhooks.cut_off": [
    "The sender of a delivery broke off in the middle of its body",
    "Nothing to do: it tries again.",
  ],
  "webhooks.no_signature": [
    "A delivery carries no signature, or nothing that could be one",
    "Deliveries carry one `X-Service-Signature` header of 64 hexadecimal digits. A proxy in between must pass it on.",
  ],
  "webhooks.bad_signature": [
    "The signature of a delivery does not belong to its body",
    "It is forged or altered, or the secret is not that of the subscription. The body must reach the receiver byte for byte.",
  ],
  "webhooks.not_json": [
    "The body of a delivery is not JSON in UTF-8",
    "Nothing to do here: the sender signed something that is no event.",
  ],
  "webhooks.not_an_event": [
    "The body of a delivery is JSON, but not an event",
    "An event is an object with `event`, `data` and `timestamp`; the message names what is missing.",
  ],
  "webhooks.too_old": [
    "A delivery is older than the receiver accepts, or it does not say how old it is",
    "It is a copy that somebody sends again, or it was on its way for long. Raise `maxAge` above the time for which the sender tries again; check the clock of this machine.",
  ],
  "webhooks.busy": [
    "The same delivery is being handled at this moment",
    "Nothing to do: the sender tries again, and is then told what came of it.",
  ],
  "webhooks.body_read": [
    "The body was read before the receiver could verify it",
    "The signature is over the exact bytes: put the receiver before `express.json()`, or behind `express.raw()`.",
  ],
  "webhooks.failed": [
    "An event could not be handled by the program that receives it",
    "See that program's own error; the sender tries again.",
  ],
} as const;
