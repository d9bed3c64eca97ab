/** The records that nobody but the sandbox knows: what is queued, what is remembered, what is counted. */

/** A delivery that is still to be attempted, and when; the id is the delivery's. */
export interface Outgoing {
  id: number;
  due_at: string;
}

/** What comes next in the life of a service by the calendar; the id is the service's (see `life/billing.ts`). */
export interface BillingStep {
  id: number;
  step: "notice" | "renew" | "suspend" | "terminate" | "cancel";
  due_at: string;
  /** The invoice whose payment ends the waiting; null while there is none. */
  invoice_id: number | null;
  /** That invoice is for the next term, not for the one that the order began. */
  renewal: boolean;
  /** The day of the month that terms end on, where the month has it. */
  anchor_day: number;
}

/** A queued background job. Jobs run in order of `due_at`, then id, when somebody looks (see `life/jobs.ts`). */
export interface Job {
  id: number;
  kind: "suspend" | "unsuspend" | "provision" | "register";
  order_id: number;
  due_at: string;
}

/** A one-time sign-on into a service's control panel. */
export interface SignOn {
  id: number;
  service_id: number;
  value: string;
  used_at: string | null;
  created_at: string;
}

/** The answer kept under an Idempotency-Key; the id is `<customer id>:<key>`. */
export interface KeptAnswer {
  id: string;
  status: number;
  body: string;
  kept_at: string;
}

/** A named number: sequences, and the offset of the clock. */
export interface Counter {
  id: string;
  value: number;
}

/** A named text: the seed that the data was made from. */
export interface Setting {
  id: string;
  value: string;
}
