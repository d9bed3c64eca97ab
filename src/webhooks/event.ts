/**
 * Events (§6): read from a body that was verified, with the ids that they name; and why a delivery is refused.
 */

import type { Code } from "../core/model/codes.ts";
import { HostformError } from "../core/model/errors.ts";
import { EVENTS, type EventName } from "../core/model/specification.ts";
import { exactJson, isObject } from "../core/model/value.ts";

export { EVENTS, type EventName } from "../core/model/specification.ts";

/**
 * Data of an event about its subject. Its fields are not specified (§6: "Contents of the data object per event: not shown").
 * An integer beyond 2^53 is a text of its digits. Read ids with `serviceIdOf`, `invoiceIdOf` and `orderIdOf`, and read the object again.
 */
export interface EventData {
  readonly [field: string]: unknown;
}

interface BaseEvent {
  readonly data: EventData;
  /** Time of the event, in the sender's notation. */
  readonly timestamp: string;
  /** The same as an instant; undefined when it is none (§6 says ISO 8601 with a UTC offset). */
  readonly at: Date | undefined;
}

/** An event of §6, named by `event`. */
export type KnownEvent = {
  readonly [Name in EventName]: BaseEvent & { readonly known: true; readonly event: Name };
}[EventName];

/** An event that a later version of the API has and this library does not know (§9: clients tolerate what is new). */
export interface UnknownEvent extends BaseEvent {
  readonly known: false;
  readonly event: string;
}

/** An event. Ask `known` first, then switch on `event`. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/**
 * Reads an event from a body that has been verified. It accepts new fields, new events and any form of `data`.
 *
 * @throws WebhookError `webhooks.not_json`, or `webhooks.not_an_event` for JSON without the three fields of §6
 */
export function parseEvent(rawBody: string | Uint8Array): WebhookEvent {
  const json = parsed(rawBody);
  if (!isObject(json)) throw new WebhookError("webhooks.not_an_event", "The body is not an object.");
  const { event, data, timestamp } = json;
  const lacks = (what: string) => new WebhookError("webhooks.not_an_event", `The body has no ${what}.`);
  if (typeof event !== "string" || event === "") throw lacks('"event" with the name of an event');
  if (typeof timestamp !== "string" || timestamp === "") throw lacks('"timestamp"');
  const fields = { data: dataOf(data), timestamp, at: instantOf(timestamp) };
  const name = EVENTS.find((one) => one === event);
  return name === undefined ? { known: false, event, ...fields } : { known: true, event: name, ...fields };
}

function parsed(rawBody: string | Uint8Array): unknown {
  try {
    // A byte order mark is allowed to be ignored (RFC 8259, 8.1); the decoder drops it.
    const text =
      typeof rawBody === "string"
        ? rawBody.replace(/^\uFEFF/, "")
        : new TextDecoder("utf-8", { fatal: true }).decode(rawBody);
    return exactJson(text);
  } catch {
    // The parser's own message quotes the body.
    throw new WebhookError("webhooks.not_json", "The body is not JSON in UTF-8.");
  }
}

function dataOf(data: unknown): EventData {
  if (isObject(data)) return data;
  // PHP writes an object without fields as an empty list.
  if (Array.isArray(data) && data.length === 0) return {};
  throw new WebhookError("webhooks.not_an_event", 'The body has no "data" that is an object.');
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))?$/;

/** Undefined also for a time without an offset: nobody knows whose it is. A bare date is its midnight in UTC. */
function instantOf(timestamp: string): Date | undefined {
  if (!INSTANT.test(timestamp)) return undefined;
  const at = new Date(timestamp.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  return Number.isNaN(at.getTime()) ? undefined : at;
}

type Subject = "service" | "invoice" | "order";

/** Names of envelopes that hold the subject in other APIs. */
const ENVELOPES = ["data", "object", "resource", "attributes"];
/** Further names that may hold the subject. */
const CARRIERS = ["transfer"];

/**
 * The id of the service that an event names, as text, in any form of `data`: the service's fields, `service_id`,
 * `{service: {…}}`, the `order_id` of an invoice. The id of an invoice is never the id of a service. (An invoice may belong to a
 * domain order: that id is then no service's.)
 *
 * @returns undefined when none is named, or two that differ: a guess would be worse than reading everything again
 */
export function serviceIdOf(event: WebhookEvent): string | undefined {
  return idOf(event, ["service", "order"]);
}

/** The id of the invoice that an event names, as text; of a service event only what is clearly an invoice's. Else undefined. */
export function invoiceIdOf(event: WebhookEvent): string | undefined {
  return idOf(event, ["invoice"]);
}

/**
 * The id of the order that an event names, as text. A service is its own order (§2: "service/order identifier"), so that of
 * the service counts where no order is named. Else undefined.
 */
export function orderIdOf(event: WebhookEvent): string | undefined {
  return idOf(event, ["order", "service"]);
}

/** The first place that names the subject decides: under each of the names, then as `data.id`, then inside of an invoice. */
function idOf(event: WebhookEvent, names: readonly Subject[]): string | undefined {
  const subjects = unwrapped([event.data, ...nestedIn([event.data], "data")]);
  const roots = [...subjects, ...unwrapped(nestedIn([event.data], ...CARRIERS))];
  const subject = event.event.startsWith("invoice.") ? "invoice" : event.event.startsWith("service.") ? "service" : "";
  const explicit = (places: readonly EventData[], name: Subject) => places.flatMap((place) => named(place, name));
  const ways = [
    ...names.map((name) => () => explicit(roots, name)),
    () => (names.some((name) => name === subject) ? subjects.flatMap(({ id }) => textOf(id)) : []),
    // The invoice in a service event names the order, and so the service.
    () =>
      names
        .filter((name) => name !== "invoice")
        .flatMap((name) => explicit(unwrapped(nestedIn(roots, "invoice")), name)),
  ];
  for (const way of ways) {
    const [found, ...others] = new Set(way());
    if (found !== undefined) return others.length === 0 ? found : undefined;
  }
  return undefined;
}

/** The places, and what they merely wrap. */
const unwrapped = (places: readonly EventData[]): EventData[] => [...places, ...nestedIn(places, ...ENVELOPES)];

const nestedIn = (places: readonly EventData[], ...names: readonly string[]): EventData[] =>
  places.flatMap((place) => names.map((name) => place[name]).filter(isObject));

/** The ids that a place gives a subject: `service_id: 5`, `serviceId: 5`, `service: 5`, `service: {id: 5}`, `service: {data: {id: 5}}`. */
function named(place: EventData, name: Subject): string[] {
  const held = place[name];
  const objects = isObject(held) ? unwrapped([held]) : [];
  return [
    place[`${name}_id`],
    place[`${name}Id`],
    held,
    ...objects.flatMap((object) => [object.id, object[`${name}_id`]]),
  ].flatMap(textOf);
}

/** An id as text; nothing for what is none. */
function textOf(value: unknown): string[] {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? [String(value)] : [];
  return typeof value === "string" && /^\w[\w.:-]{0,199}$/.test(value) ? [value] : [];
}

/** Reasons to refuse a delivery: the status for the sender (§6 Delivery: it retries anything but 2xx) and the remedy. */
export const deliveryRefusals = {
  "webhooks.method": { status: 405, remedy: "Deliveries come by POST. The receiver answers nothing else." },
  "webhooks.too_large": {
    status: 413,
    remedy: "Raise `maxBytes` if deliveries of the API are that large; the body was not read to its end.",
  },
  "webhooks.cut_off": { status: 400, remedy: "Nothing to do: it tries again." },
  "webhooks.no_signature": {
    status: 401,
    remedy:
      "Deliveries carry one `X-Service-Signature` header of 64 hexadecimal digits. A proxy in between must pass it on.",
  },
  "webhooks.bad_signature": {
    status: 401,
    remedy:
      "It is forged or altered, or the secret belongs to another subscription. The body must reach the receiver byte for byte.",
  },
  "webhooks.not_json": { status: 400, remedy: "Nothing to do: the sender signed something that is not an event." },
  "webhooks.not_an_event": {
    status: 400,
    remedy: "An event is an object with `event`, `data` and `timestamp`; the message names what is missing.",
  },
  "webhooks.too_old": {
    status: 400,
    remedy:
      "Somebody sent a copy again, or the delivery was delayed. Raise `maxAge` above the time for which the sender retries; check the clock of this machine.",
  },
  "webhooks.busy": { status: 503, remedy: "Nothing to do: the sender tries again, and then gets the result." },
  "webhooks.body_read": {
    status: 500,
    remedy:
      "The signature is over the exact bytes: put the receiver before `express.json()`, or behind `express.raw()`.",
  },
  "webhooks.failed": { status: 500, remedy: "See the error of the receiving program. The sender tries again." },
} as const satisfies { readonly [code in Code]?: { readonly status: number; readonly remedy: string } };

/** Each is explained in `docs/errors.md`. */
export type WebhookCode = keyof typeof deliveryRefusals;

/** A refused delivery. It never holds the secret or the right signature. */
export class WebhookError extends HostformError {
  override readonly name = "WebhookError";
  readonly code: WebhookCode;
  /** The HTTP status that the sender is answered with. */
  readonly status: number;

  /** @param sentence what is wrong; nothing of the body, which nobody may have vouched for */
  constructor(code: WebhookCode, sentence: string) {
    super([{ severity: "error", code, summary: sentence, remedies: [deliveryRefusals[code].remedy] }]);
    this.code = code;
    this.status = deliveryRefusals[code].status;
  }
}

export function tooLarge(maxBytes: number): WebhookError {
  return new WebhookError("webhooks.too_large", `The body is larger than ${maxBytes} bytes.`);
}
