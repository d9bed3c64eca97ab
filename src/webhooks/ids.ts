import { isObject } from "../core/model/value.ts";
import type { EventData, WebhookEvent } from "./event.ts";

type Subject = "service" | "invoice" | "order";

/** Names that hold the subject itself, whatever it is: envelopes that other APIs use. */
const ENVELOPES = ["data", "object", "resource", "attributes"];
/** Beside the subject's own name: what an event may tell of on the way to it. */
const CARRIERS = ["transfer"];

/**
 * The id of the service that an event names, as text, in whatever form `data` has: the service's fields, `service_id`,
 * `{service: {…}}`, the `order_id` of an invoice. The id of an invoice is never taken for it. (An invoice may belong to a
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
    // What a service event tells of an invoice names the order, and so the service.
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

/** An id as text; nothing for what is none. Numbers beyond 2^53 have lost their last digits on the way. */
function textOf(value: unknown): string[] {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? [String(value)] : [];
  return typeof value === "string" && /^\w[\w.:-]{0,199}$/.test(value) ? [value] : [];
}
