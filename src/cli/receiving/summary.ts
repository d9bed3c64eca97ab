/** An event in a few words, for people and for programs. What it tells is the sender's: it is escaped, and cut. */
import { isObject } from "../../core/model/index.ts";
import { escapeLine } from "../../report/index.ts";
import { invoiceIdOf, orderIdOf, serviceIdOf, type WebhookEvent } from "../../webhooks/index.ts";

/** Longer names and words of an event are cut. */
const LONGEST = 80;

/** `invoice 5003 (INV-2026-000003), service 1003 (www.acme.example)`; empty when it names nothing. */
export function subjectOf(event: WebhookEvent): string {
  const invoice = invoiceIdOf(event);
  const service = serviceIdOf(event) ?? orderIdOf(event);
  const parts = [
    invoice === undefined ? undefined : `invoice ${short(invoice)}${named(event, "invoice", "invoice_number")}`,
    service === undefined ? undefined : `service ${short(service)}${named(event, "service", "domain")}`,
  ];
  return parts.filter((part) => part !== undefined).join(", ");
}

/** `invoice.paid of 2026-11-21T10:00:00+00:00: invoice 5003, service 1003`. */
export function summaryOf(event: WebhookEvent): string {
  const subject = subjectOf(event);
  const known = event.known ? "" : " (an event that this version does not know)";
  return `${short(event.event)} of ${short(event.timestamp)}${known}${subject === "" ? "" : `: ${subject}`}`;
}

/** The same as fields. Ids are strings, or null where the event names none. */
export function summaryJson(event: WebhookEvent): Readonly<Record<string, string | boolean | null>> {
  return {
    event: event.event,
    known: event.known,
    timestamp: event.timestamp,
    service_id: serviceIdOf(event) ?? null,
    invoice_id: invoiceIdOf(event) ?? null,
    order_id: orderIdOf(event) ?? null,
  };
}

/** Text of the sender on one line, not longer than it need be. */
export function short(text: string): string {
  const line = escapeLine(text);
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/** ` (www.acme.example)`: a field of the record, wherever the event has put it. */
function named({ data }: WebhookEvent, record: string, field: string): string {
  const nested = data[record];
  const value = (isObject(nested) ? nested[field] : undefined) ?? data[field];
  return typeof value === "string" && value !== "" ? ` (${short(value)})` : "";
}
