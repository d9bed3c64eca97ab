// Words of the specification that more than one room needs.

/** §2: the currencies of the service. */
export const CURRENCIES = ["GEL", "USD", "EUR"] as const;

export type Currency = (typeof CURRENCIES)[number];

/** §6: the events that a webhook can subscribe to, and that a receiver is sent. */
export const EVENTS = [
  "service.provisioned",
  "invoice.paid",
  "service.suspended",
  "invoice.created",
  "service.expiring",
  "service.terminated",
  "service.transfer_accepted",
] as const;

/** The name of an event that §6 lists. */
export type EventName = (typeof EVENTS)[number];
