/** Parses verified bodies to events (§6), finds the ids in events, and defines the reasons to reject a delivery. */

import type { Code } from "../core/model/codes.ts";
import { HostformError } from "../core/model/errors.ts";
import { EVENTS, type EventName } from "../core/model/specification.ts";
import { exactJson, isObject } from "../core/model/value.ts";

export { EVENTS, type EventName } from "../core/model/specification.ts";

/**
 * Data of an event. The specification does not define its fields (§6: "Contents of the data object per event: not shown").
 * Integers above 2^53 are strings of digits. Read ids with `serviceIdOf`, `invoiceIdOf` and `orderIdOf`, and read the object
 * from the API.
 */
export interface EventData {
  readonly [field: string]: unknown;
}

interface BaseEvent {
  readonly data: EventData;
  /** Time of the event, in the sender's format. */
  readonly timestamp: string;
  /** Time of the event. Undefined if the format is invalid (§6 requires ISO 8601 with a UTC offset). */
  readonly at: Date | undefined;
}

/** Event that §6 lists. `event` narrows the type. */
export type KnownEvent = {
  readonly [Name in EventName]: BaseEvent & { readonly known: true; readonly event: Name };
}[EventName];

/** An event of a later API version that this library does not know (§9: clients tolerate new events). */
export interface UnknownEvent extends BaseEvent {
  readonly known: false;
  readonly event: string;
}

/** An event. Check `known` first, then switch on `event`. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/**
 * Parses a verified body. Accepts new fields, new events and any format of `data`.
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
    // JSON parsers may ignore a byte order mark (RFC 8259, 8.1).
    const text =
      typeof rawBody === "string"
        ? rawBody.replace(/^\uFEFF/, "")
        : new TextDecoder("utf-8", { fatal: true }).decode(rawBody);
    return exactJson(text);
  } catch {
    // The parser's message contains parts of the body.
    throw new WebhookError("webhooks.not_json", "The body is not JSON in UTF-8.");
  }
}

function dataOf(data: unknown): EventData {
  if (isObject(data)) return data;
  // PHP encodes an object without fields as an empty list.
  if (Array.isArray(data) && data.length === 0) return {};
  throw new WebhookError("webhooks.not_an_event", 'The body has no "data" that is an object.');
}

const INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))?$/;

/** Parses a time. Undefined for a time without an offset, because its time zone is unknown. A date means midnight UTC. */
function instantOf(timestamp: string): Date | undefined {
  if (!INSTANT.test(timestamp)) return undefined;
  const at = new Date(timestamp.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  return Number.isNaN(at.getTime()) ? undefined : at;
}

type Subject = "service" | "invoice" | "order";

/** Names of fields that wrap the object of the event in other APIs. */
const ENVELOPES = ["data", "object", "resource", "attributes"];
/** More names of fields that may contain the object. */
const CARRIERS = ["transfer"];

/**
 * Returns the id of the service in an event as a string, for any format of `data`: the service's fields, `service_id`,
 * `{service: {…}}`, or the `order_id` of an invoice. Never returns the id of an invoice. If an invoice belongs to a domain
 * order, the result is the id of that order.
 *
 * @returns undefined if the event contains no id, or two different ids. Then read everything again: a wrong id would be
 * worse.
 */
export function serviceIdOf(event: WebhookEvent): string | undefined {
  return idOf(event, ["service", "order"]);
}

/**
 * Returns the id of the invoice in an event as a string. In a service event, only fields that clearly belong to an invoice
 * count. Undefined if there is none.
 */
export function invoiceIdOf(event: WebhookEvent): string | undefined {
  return idOf(event, ["invoice"]);
}

/**
 * Returns the id of the order in an event as a string. A service is also an order (§2: "service/order identifier"), so the id
 * of the service is used if there is no order id. Undefined if there is none.
 */
export function orderIdOf(event: WebhookEvent): string | undefined {
  return idOf(event, ["order", "service"]);
}

/** Returns the id at the first place with an id: under each of the names, then `data.id`, then inside an invoice. */
function idOf(event: WebhookEvent, names: readonly Subject[]): string | undefined {
  const subjects = unwrapped([event.data, ...nestedIn([event.data], "data")]);
  const roots = [...subjects, ...unwrapped(nestedIn([event.data], ...CARRIERS))];
  const subject = event.event.startsWith("invoice.") ? "invoice" : event.event.startsWith("service.") ? "service" : "";
  const explicit = (places: readonly EventData[], name: Subject) => places.flatMap((place) => named(place, name));
  const ways = [
    ...names.map((name) => () => explicit(roots, name)),
    () => (names.some((name) => name === subject) ? subjects.flatMap(({ id }) => textOf(id)) : []),
    // In a service event, an invoice contains the order id, which is the service id.
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

/** Returns these objects, and the objects that they wrap. */
const unwrapped = (places: readonly EventData[]): EventData[] => [...places, ...nestedIn(places, ...ENVELOPES)];

const nestedIn = (places: readonly EventData[], ...names: readonly string[]): EventData[] =>
  places.flatMap((place) => names.map((name) => place[name]).filter(isObject));

/**
 * Returns the ids of a subject in an object: `service_id: 5`, `serviceId: 5`, `service: 5`, `service: {id: 5}`, `service:
 * {data: {id: 5}}`.
 */
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

/** Returns an id as a string. Empty if the value is no id. */
function textOf(value: unknown): string[] {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? [String(value)] : [];
  return typeof value === "string" && /^\w[\w.:-]{0,199}$/.test(value) ? [value] : [];
}

/** Reasons to reject a delivery: HTTP status (§6 Delivery: the sender retries after every status except 2xx) and remedy. */
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

/** Codes of rejected deliveries. `docs/errors.md` explains each code. */
export type WebhookCode = keyof typeof deliveryRefusals;

/** A rejected delivery. Never contains the secret or the correct signature. */
export class WebhookError extends HostformError {
  override readonly name = "WebhookError";
  readonly code: WebhookCode;
  /** HTTP status of the response to the sender. */
  readonly status: number;

  /** @param sentence Describes the mistake. Must contain nothing from the body, which may be forged. */
  constructor(code: WebhookCode, sentence: string) {
    super([{ severity: "error", code, summary: sentence, remedies: [deliveryRefusals[code].remedy] }]);
    this.code = code;
    this.status = deliveryRefusals[code].status;
  }
}

export function tooLarge(maxBytes: number): WebhookError {
  return new WebhookError("webhooks.too_large", `The body is larger than ${maxBytes} bytes.`);
}
