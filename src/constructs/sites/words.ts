// Words of the API (§2, §4, §6). They are repeated here, because a user's program must not load the kinds. A test compares
// them.

/** Currency of an order and its invoices (§2). */
export const Currency = { GEL: "GEL", USD: "USD", EUR: "EUR" } as const;
/** Currency of an order and its invoices: `"GEL"`, `"USD"` or `"EUR"`. */
export type Currency = (typeof Currency)[keyof typeof Currency];

/** Number of months paid in advance (§4). */
export const Term = {
  MONTH: 1,
  QUARTER: 3,
  HALF_YEAR: 6,
  YEAR: 12,
  TWO_YEARS: 24,
  THREE_YEARS: 36,
} as const;
/** Number of months paid in advance: 1, 3, 6, 12, 24 or 36. */
export type Term = (typeof Term)[keyof typeof Term];

/** Permissions of a grant (§2 Service grant). */
export const Permission = { VIEW: "view", MANAGE: "manage" } as const;
/** Permission of a grant: `"view"` or `"manage"`. */
export type Permission = (typeof Permission)[keyof typeof Permission];

/** Events that can be subscribed to (§6). */
export const EventName = {
  SERVICE_PROVISIONED: "service.provisioned",
  INVOICE_PAID: "invoice.paid",
  SERVICE_SUSPENDED: "service.suspended",
  INVOICE_CREATED: "invoice.created",
  SERVICE_EXPIRING: "service.expiring",
  SERVICE_TERMINATED: "service.terminated",
  SERVICE_TRANSFER_ACCEPTED: "service.transfer_accepted",
} as const;
/** An event that can be subscribed to, such as `"invoice.paid"`. */
export type EventName = (typeof EventName)[keyof typeof EventName];

/** Deletion policies. The API cannot delete a service, a client account or a migration request. */
export const DeletionPolicy = {
  /** Rejects the plan. */
  PREVENT: "prevent",
  /** Removes the resource from the state. The object stays in the account, and a service is still billed. */
  FORGET: "forget",
  /** For services only: suspends the service, then removes it from the state. */
  SUSPEND: "suspend",
} as const;
/** Deletion policy: `"prevent"`, `"forget"` or, for a service, `"suspend"`. */
export type DeletionPolicy = (typeof DeletionPolicy)[keyof typeof DeletionPolicy];
