// Words of the specification that several folders use.

/** Currencies of the service (§2). */
export const CURRENCIES = ["GEL", "USD", "EUR"] as const;

/** Returns true for a known currency. An amount in any other currency is no maximum. */
export const isCurrency = (word: string): boolean => CURRENCIES.some((currency) => currency === word);

export type Currency = (typeof CURRENCIES)[number];

/** Events that webhooks can subscribe to (§6). */
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
