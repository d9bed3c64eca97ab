import { EVENTS, type EventName } from "../core/model/events.ts";
import { isObject } from "../core/model/value.ts";
import { WebhookError } from "./errors.ts";

export { EVENTS, type EventName } from "../core/model/events.ts";

/**
 * What an event tells of its subject. Its fields are not specified (§6: "Contents of the data object per event: not shown"),
 * so nothing is promised of them: take ids with `serviceIdOf`, `invoiceIdOf` and `orderIdOf`, and read the object again.
 */
export interface EventData {
  readonly [field: string]: unknown;
}

interface Told {
  readonly data: EventData;
  /** When it happened, as the sender wrote it. */
  readonly timestamp: string;
  /** The same as an instant; undefined when it is none (§6 says ISO 8601 with a UTC offset). */
  readonly at: Date | undefined;
}

/** An event of §6. `event` tells which. */
export type KnownEvent = {
  readonly [Name in EventName]: Told & { readonly known: true; readonly event: Name };
}[EventName];

/** An event that a later version of the API has and this library does not know (§9: clients tolerate what is new). */
export interface UnknownEvent extends Told {
  readonly known: false;
  readonly event: string;
}

/** An event. Ask `known` first, then switch on `event`. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/**
 * Reads an event from a body that has been verified. New fields and new events are tolerated, whatever form `data` has.
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
  const told = { data: dataOf(data), timestamp, at: instantOf(timestamp) };
  const name = EVENTS.find((one) => one === event);
  return name === undefined ? { known: false, event, ...told } : { known: true, event: name, ...told };
}

function parsed(rawBody: string | Uint8Array): unknown {
  try {
    // A byte order mark is allowed to be ignored (RFC 8259, 8.1); the decoder drops it.
    const text =
      typeof rawBody === "string"
        ? rawBody.replace(/^\uFEFF/, "")
        : new TextDecoder("utf-8", { fatal: true }).decode(rawBody);
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw new WebhookError("webhooks.not_json", "The body is not JSON in UTF-8.");
  }
}

function dataOf(data: unknown): EventData {
  if (isObject(data)) return data;
  // What PHP makes of an object without fields.
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
