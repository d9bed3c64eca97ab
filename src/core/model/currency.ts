/** §2: the currencies of the service. */
export const CURRENCIES = ["GEL", "USD", "EUR"] as const;

export type Currency = (typeof CURRENCIES)[number];
