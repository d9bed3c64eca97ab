/**
 * Webhook deliveries on servers without Node, published as `hostform/webhooks/fetch`. In: a `Request`, or a raw body with
 * its signature. Out: a `Response`, typed events. Must not: import anything of Node, by whatever way.
 */
export { type Claim, type DuplicateMemory, type MemoryOptions, memoryOf } from "./duplicates.ts";
export { type WebhookCode, WebhookError } from "./errors.ts";
export {
  EVENTS,
  type EventData,
  type EventName,
  type KnownEvent,
  parseEvent,
  type UnknownEvent,
  type WebhookEvent,
} from "./event.ts";
export { fetchHandler } from "./fetch-handler.ts";
export { type Secret, SIGNATURE_HEADER, type SignatureHeader } from "./header.ts";
export { invoiceIdOf, orderIdOf, serviceIdOf } from "./ids.ts";
export type { Delivery, ReceiverOptions } from "./receive.ts";
export { verifySignatureAsync } from "./signature-web.ts";
