/** Reads and moves the clock, and lists the next due steps. */
import { addMonths, DAY_MS, type SandboxClock } from "../clock.ts";
import { settle } from "../lifecycle/billing.ts";
import { unprocessable } from "../refusal.ts";
import type { World } from "../world.ts";

/** Sum of the periods. Months are calendar months: one month from 31 January is 28 or 29 days. */
export type Span = { [unit in keyof typeof UNITS | "months"]?: number };

export interface Time {
  now: string;
  frozen: boolean;
}

export function timeOf(clock: SandboxClock): Time {
  return { now: clock.instant(), frozen: clock.frozen };
}

const UNITS = {
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
  days: DAY_MS,
  weeks: 7 * DAY_MS,
} as const;
const NAMES = [...Object.keys(UNITS), "months"].join(", ");
/** Maximum: a century. Later dates may have a year of five digits, which the specification does not allow. */
const LONGEST_MS = 36_525 * DAY_MS;

/** Moves the clock forward, and performs each due step at its due time. Must run inside a transaction. */
export function advance(world: World, span: Span): Time {
  world.clock.advance(milliseconds(span, world.clock.now()));
  settle(world);
  return timeOf(world.clock);
}

function milliseconds(span: Span, now: number): number {
  let total = 0;
  for (const [unit, amount] of Object.entries(span)) {
    if (unit !== "months" && !Object.hasOwn(UNITS, unit)) {
      throw unprocessable(`The clock has no unit "${unit}": it moves forward by {${NAMES}}.`);
    }
    const sound = typeof amount === "number" && amount >= 0 && Number.isFinite(amount);
    if (!sound || (unit === "months" && !Number.isInteger(amount))) {
      throw unprocessable(`The clock moves forward by {${NAMES}}, each a number of 0 or more, months a whole one.`);
    }
    total += unit === "months" ? addMonths(now, amount) - now : amount * UNITS[unit as keyof typeof UNITS];
  }
  if (!(total > 0)) throw unprocessable(`The period is missing: {${NAMES}}.`);
  if (total > LONGEST_MS) throw unprocessable("The clock moves forward by 100 years at most.");
  return Math.round(total);
}

export interface Upcoming {
  /** Due time (ISO 8601, UTC). */
  at: string;
  what: "provision" | "register" | "suspend" | "unsuspend" | "notice" | "renew" | "terminate" | "cancel" | "deliver";
  /** Id of the service or domain order. Null for a delivery. */
  order_id: number | null;
  delivery_id: number | null;
  customer_id: number | null;
}

/** Returns the next queued jobs, billing steps and deliveries, sorted by due time. */
export function upcoming({ store }: World, most = 20): Upcoming[] {
  const order = (order_id: number, what: Upcoming["what"], at: string): Upcoming => {
    const owner = store.table("services").get(order_id) ?? store.table("domains").get(order_id);
    return { at, what, order_id, delivery_id: null, customer_id: owner?.customer_id ?? null };
  };
  const delivery = ({ id, due_at }: { id: number; due_at: string }): Upcoming => {
    const customer_id = store.table("deliveries").get(id)?.customer_id ?? null;
    return { at: due_at, what: "deliver", order_id: null, delivery_id: id, customer_id };
  };
  const jobs = store.table("jobs").all();
  const steps = store.table("billing").all();
  return [
    ...jobs.map((job) => order(job.order_id, job.kind, job.due_at)),
    ...steps.map((row) => order(row.id, row.step, row.due_at)),
    ...store.table("outbox").all().map(delivery),
  ]
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .slice(0, most);
}
