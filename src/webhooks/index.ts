/**
 * Webhook deliveries (§6 Events). In: the raw bytes of a request's body and the subscription's signing secret. Out: the
 * signature that the delivery must carry. Must not: parse a body before its signature is checked, or let a secret into
 * any text.
 */
export { signatureOf } from "./signature.ts";
