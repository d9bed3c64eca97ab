/** Parses times from hosts and declarations. Never uses the local time zone, so every machine gets the same result. */

/**
 * A parsed time. `instant`: exact. `local`: without offset; `at` may be wrong by up to one day. `day`: a date that starts at
 * `at` in UTC. `none`: means "no date". `unknown`: unreadable; hostform then plans no change.
 */
export type Moment = { readonly form: "instant" | "local" | "day"; readonly at: number } | { form: "none" | "unknown" };

const NONE: Moment = { form: "none" };
const UNREADABLE: Moment = { form: "unknown" };

export const DAY_MS = 86_400_000;
/** Times before 1971 or after 9999-12-29 mean "no date": `0000-00-00`, the epoch, 9999-12-31. */
const FIRST_MS = 365 * DAY_MS;
const LAST_MS = 253_402_128_000_000; // 9999-12-30
/**
 * March 1973, in seconds since the epoch. Smaller numbers are days, years or durations. Numbers above the same time in
 * milliseconds are milliseconds.
 */
const LEAST_SECONDS = 100_000_000;
const LEAST_MS = LEAST_SECONDS * 1000;

const NO_DATE = /^(?:|-?0|never|none|null|nil|false|no|n\/a|-|unlimited|forever|-?infinity)$|^-?000[01]-/i;
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(?: ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?))?)?$/i;
/** Format of HTTP and mail headers: a weekday and a time zone. */
const HTTP = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*, .*(?:GMT|UTC|[+-]\d{4})$/i;

const bounded = (form: "instant" | "local" | "day", at: number): Moment =>
  at < FIRST_MS || at >= LAST_MS ? NONE : { form, at };

/** Parses the time of a host: a string, or a number of seconds or milliseconds since the epoch. */
export function readMoment(said: unknown): Moment {
  if (said === null || said === undefined || said === false) return NONE;
  if (typeof said === "number") return ofNumber(said);
  if (typeof said !== "string") return UNREADABLE;
  const text = said.trim();
  if (NO_DATE.test(text)) return NONE;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return ofNumber(Number(text));
  const read = ofIso(text);
  if (read !== undefined) return bounded(read.form, read.at);
  const at = HTTP.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? UNREADABLE : bounded("instant", at);
}

function ofNumber(number: number): Moment {
  if (number <= 0) return NONE;
  if (!(number >= LEAST_SECONDS)) return UNREADABLE;
  // The year 9999 in seconds means "no date". As milliseconds it would be in 1978.
  if (number < LEAST_MS || Math.abs(number * 1000 - LAST_MS) <= 2 * DAY_MS) return bounded("instant", number * 1000);
  return bounded("instant", number);
}

/** Parses an ISO 8601 time with `T` or a space. Undefined for any other format, or if the time does not exist. */
function ofIso(text: string): { readonly form: "instant" | "local" | "day"; readonly at: number } | undefined {
  const [all, year, month, day, hour, minute, second = "00", fraction = "", zone] = ISO.exec(text) ?? [];
  if (all === undefined) return undefined;
  const date = `${year}-${month}-${day}`;
  const start = Date.parse(`${date}T00:00:00Z`);
  // Reject February 30, which Date would parse as March 2.
  if (Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== date) return undefined;
  if (hour === undefined) return { form: "day", at: start };
  const clock = Date.parse(`${date}T${hour}:${minute}:${second}${fraction.slice(0, 4)}Z`);
  if (Number.isNaN(clock) || Number(hour) > 23) return undefined;
  if (zone === undefined) return { form: "local", at: clock };
  const [, sign, hours = "0", minutes = "0"] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (Number(hours) > 14 || Number(minutes) > 59) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return { form: "instant", at: clock - (sign === "-" ? -offset : offset) };
}

const DECLARED = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** Returns why a text is not a valid declared time. Undefined for an ISO 8601 time with offset, or a calendar date. */
export function momentProblem(text: string): string | undefined {
  const expected = "expected a time such as 2027-01-31T00:00:00Z";
  if (!DECLARED.test(text)) return `${expected}, or a day such as 2027-01-31`;
  const read = ofIso(text);
  if (read === undefined) return `${expected}: ${JSON.stringify(text)} is on no calendar or clock`;
  if (read.form === "local") return `${expected}: ${JSON.stringify(text)} has no offset; write ${text}Z for UTC`;
  if (readMoment(text).form === "none")
    return `${expected}: hosts write ${JSON.stringify(text)} for "no date"; leave it out instead`;
  return undefined;
}

/** Converts a declared time to milliseconds since the epoch. A date starts at midnight UTC. */
export const declaredMoment = (text: string): number | undefined => ofIso(text)?.at;

/** Converts the time of a host to the format of declarations. A time without an offset is UTC. */
export function declarableMoment(shown: unknown): string | undefined {
  const moment = readMoment(shown);
  return "at" in moment ? new Date(moment.at).toISOString().replace(".000Z", "Z") : undefined;
}

/** Returns true if the returned end is certainly not later than the sent end. False if there is no returned end. */
export function endsNoLater(sent: unknown, shown: unknown): boolean {
  const wanted = readMoment(sent);
  const end = readMoment(shown);
  if (!("at" in end)) return false;
  const latest = end.form === "instant" ? end.at : end.at + DAY_MS;
  return "at" in wanted ? latest <= wanted.at : wanted.form === "none";
}

/**
 * Returns true if two times are equal to the second, in any format. A date equals any time of that day. A time without an
 * offset equals any time less than one day away, because its time zone is unknown.
 */
export function sameMoment(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "string" || typeof b !== "string") return false;
  const left = readMoment(a);
  const right = readMoment(b);
  if (!("at" in left) || !("at" in right)) return left.form === "none" && right.form === "none";
  const forms = [left.form, right.form];
  if (forms[0] === forms[1] && forms[0] !== "day") return Math.floor(left.at / 1000) === Math.floor(right.at / 1000);
  if (forms.includes("day"))
    if (a.slice(0, 10) === b.slice(0, 10) || Math.floor(left.at / DAY_MS) === Math.floor(right.at / DAY_MS))
      return true;
  return forms.includes("local") && Math.abs(left.at - right.at) < DAY_MS;
}
