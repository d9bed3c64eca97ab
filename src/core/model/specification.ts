// Words of the specification that several folders need.

/** Currencies of the service (§2). */
export const CURRENCIES = ["GEL", "USD", "EUR"] as const;

/** Returns true for a known currency. Amounts in other currencies are no bound. */
export const isCurrency = (word: string): boolean => CURRENCIES.some((currency) => currency === word);

export type Currency = (typeof CURRENCIES)[number];

/** Events that a webhook can subscribe to and a receiver gets (§6). */
export const EVENTS = [
  "service.provisioned",
  "invoice.paid",
  "service.suspended",
  "invoice.created",
  "service.expiring",
  "service.terminated",
  "service.transfer_accepted",
] as const;

export type EventName = (typeof EVENTS)[number];
