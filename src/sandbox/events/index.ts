/**
 * Events (§6): what happened becomes one delivery for each subscription, signed, sent at once and retried. In: an event
 * and the record that it is about; later, the clock. Out: POST requests to the subscriptions' URLs, and the delivery log.
 * Must not: follow redirects, connect to an address that the options do not allow, send anything before the change that it
 * tells of is committed.
 */
export { emit } from "./emit.ts";
export { replay } from "./replay.ts";
export { HttpSender } from "./sender.ts";
export { type Subject, trigger } from "./trigger.ts";
