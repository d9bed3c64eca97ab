// Time windows in which a policy limits effects: weekdays, hours, dates.
import type { EffectKind } from "./effect.ts";
import { DAY_MS } from "./moment.ts";

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/**
 * A time window in which only some effects are allowed, or none. A moment must match all fields. A window over midnight
 * belongs to the day on which it begins.
 */
export interface TimeWindow {
  readonly days?: readonly (typeof WEEKDAYS)[number][] | undefined;
  /** Start, `HH:MM`. Default: 00:00. */
  readonly from?: string | undefined;
  /** Exclusive end, `HH:MM`. Default: 24:00. */
  readonly to?: string | undefined;
  /** First day, `YYYY-MM-DD`. */
  readonly since?: string | undefined;
  /** Last day, `YYYY-MM-DD`. */
  readonly until?: string | undefined;
  /** IANA time zone. Default: UTC. */
  readonly time_zone?: string | undefined;
  /** Effects that are allowed in the window. Default: none. */
  readonly allow?: readonly EffectKind[] | undefined;
  /** Reason for messages. */
  readonly reason?: string | undefined;
}

/** Returns true if a moment (milliseconds since the epoch) is in the window. */
export function isWithin({ days, from = "00:00", to = "24:00", since, until, time_zone }: TimeWindow, at: number) {
  const local = localTime(at, time_zone);
  const holds = ({ day, date }: ReturnType<typeof localTime>) =>
    (days === undefined || days.some((one) => one === day)) &&
    (since === undefined || date >= since) &&
    (until === undefined || date <= until);
  if (from < to) return local.time >= from && local.time < to && holds(local);
  // After midnight, the window belongs to the previous day.
  return local.time >= from ? holds(local) : local.time < to && holds(dayBefore(local));
}

function localTime(at: number, timeZone = "UTC") {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hourCycle: "h23",
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const { weekday = "", year, month, day, hour, minute } = parts;
  return {
    day: weekday.toLowerCase().slice(0, 3),
    date: `${year?.padStart(4, "0")}-${month}-${day}`,
    time: `${hour}:${minute}`,
  };
}

/** Returns the previous calendar day, unaffected by daylight saving time. */
function dayBefore({ date, ...rest }: ReturnType<typeof localTime>): ReturnType<typeof localTime> {
  const before = Date.parse(`${date}T00:00:00Z`) - DAY_MS;
  return { ...rest, date: new Date(before).toISOString().slice(0, 10), day: localTime(before).day };
}
