// Words of the specification that more than one room needs.

/** §2: the currencies of the service. */
export const CURRENCIES = ["GEL", "USD", "EUR"] as const;

/** Returns true for a known currency: an amount in any other word bounds nothing. */
export const isCurrency = (word: string): boolean => CURRENCIES.some((currency) => currency === word);

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
