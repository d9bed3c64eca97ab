import { CALLS } from "../../messages/expressions.ts";
import { Refusal } from "../refusal.ts";
import { text, whole } from "../typed-value.ts";
import { CallError, type Definition, take, textOf } from "./definition.ts";

// Functions for timestamps and durations.

/** A moment: local time, and its offset from UTC. */
interface Moment {
  /** Local time in nanoseconds since the epoch. */
  readonly reading: bigint;
  /** Offset from UTC in minutes. */
  readonly offset: number;
}

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:Z|([+-])(\d\d):(\d\d))$/;
const SECOND = 1_000_000_000n;

/** Parses a timestamp. @throws CallError */
function moment(written: string, index: number): Moment {
  const match = TIMESTAMP.exec(written);
  if (match === null) throw new CallError(CALLS.time(written), index);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offset = (match[8] === "-" ? -1 : 1) * (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 59 || Number(match[9] ?? 0) > 23 || Number(match[10] ?? 0) > 59)
    throw new CallError(CALLS.time(written), index);
  const seconds = BigInt(date.getTime() / 1000 + hour * 3600 + minute * 60 + second);
  return { reading: seconds * SECOND + BigInt((match[7] ?? "").padEnd(9, "0")), offset };
}

const clockOf = ({ reading }: Moment) => new Date(Number((reading - modulo(reading, SECOND)) / 1_000_000n));
const modulo = (a: bigint, b: bigint) => ((a % b) + b) % b;
const two = (value: number) => String(value).padStart(2, "0");

function offsetText({ offset }: Moment, between: string): string {
  const minutes = Math.abs(offset);
  return `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}${between}${two(minutes % 60)}`;
}

/** Formats a moment without fractions of a second, as Terraform does. */
function timestamp(at: Moment): string {
  const clock = clockOf(at);
  if (clock.getUTCFullYear() < 0 || clock.getUTCFullYear() > 9999) throw new Refusal(CALLS.years);
  return clock.toISOString().slice(0, 19) + (at.offset === 0 ? "Z" : offsetText(at, ":"));
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  "\u00b5s": 1e3,
  "\u03bcs": 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const PART = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/** Converts a Go duration (`-1h30m`, `1.5s`) to nanoseconds. */
function duration(written: string): bigint {
  const unsigned = written.replace(/^[+-]/, "");
  if (unsigned === "0") return 0n;
  const invalid = () => new CallError(CALLS.duration(written));
  let total = 0n;
  PART.lastIndex = 0;
  let end = 0;
  while (end < unsigned.length) {
    const match = PART.exec(unsigned);
    const [all = "", whole = "", fraction = "", unit = ""] = match ?? [];
    if (match === null || whole + fraction === "") throw invalid();
    if (whole.length > 15 || fraction.length > 15) throw new Refusal(CALLS.duration_size(written));
    const size = UNITS[unit] ?? 0;
    // Terraform computes the fraction with floating-point numbers.
    total += BigInt(whole) * BigInt(size) + BigInt(Math.trunc(Number(fraction) * (size / 10 ** fraction.length)));
    end += all.length;
  }
  if (end === 0 || total >= 2n ** 63n) throw invalid();
  return written.startsWith("-") ? -total : total;
}

const timeadd: Definition = {
  parameters: [take("timestamp"), take("duration")],
  result: "string",
  run(_, start, length) {
    const { reading, offset } = moment(textOf(start), 0);
    return text(timestamp({ reading: reading + duration(textOf(length)), offset }));
  },
};

const timecmp: Definition = {
  parameters: [take("timestamp_a"), take("timestamp_b")],
  result: "number",
  run(_, ...args) {
    const [a = 0n, b = 0n] = args.map((arg, i) => {
      const { reading, offset } = moment(textOf(arg), i);
      return reading - BigInt(offset) * 60n * SECOND;
    });
    return whole(a < b ? -1 : a > b ? 1 : 0);
  },
};

const MONTHS = "January February March April May June July August September October November December".split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** Returns the text for a verb of a date format. Undefined if the verb is unknown. */
function written(letters: string, at: Moment): string | undefined {
  const clock = clockOf(at);
  const month = MONTHS[clock.getUTCMonth()] ?? "";
  const day = DAYS[clock.getUTCDay()] ?? "";
  const hour = clock.getUTCHours();
  const half = hour % 12 === 0 ? 12 : hour % 12;
  const numbers: Readonly<Record<string, number>> = {
    M: clock.getUTCMonth() + 1,
    D: clock.getUTCDate(),
    h: hour,
    H: half,
    m: clock.getUTCMinutes(),
    s: clock.getUTCSeconds(),
  };
  const number = numbers[letters[0] ?? ""];
  if (number !== undefined && letters.length <= 2) return letters.length === 1 ? String(number) : two(number);
  const texts: Readonly<Record<string, string>> = {
    YY: two(clock.getUTCFullYear() % 100),
    YYYY: String(clock.getUTCFullYear()).padStart(4, "0"),
    MMM: month.slice(0, 3),
    MMMM: month,
    EEE: day.slice(0, 3),
    EEEE: day,
    AA: hour < 12 ? "AM" : "PM",
    aa: hour < 12 ? "am" : "pm",
    Z: at.offset === 0 ? "Z" : offsetText(at, ":"),
    ZZZ: at.offset === 0 ? "UTC" : offsetText(at, ""),
    ZZZZ: offsetText(at, ""),
    ZZZZZ: offsetText(at, ":"),
  };
  return texts[letters];
}

/** A quoted literal, a repeated letter, or other characters. */
const FORMAT_PART = /'(?:[^']|'')*'|([A-Za-z])\1*|[^'A-Za-z]+|'/g;

const formatdate: Definition = {
  parameters: [take("format"), take("time")],
  result: "string",
  run(_, format, time) {
    const at = moment(textOf(time), 1);
    const made = textOf(format).replace(FORMAT_PART, (part, letter: string | undefined) => {
      if (part === "'") throw new CallError(CALLS.literal_open, 0);
      if (part === "''") return "'";
      if (part.startsWith("'")) return part.slice(1, -1).replaceAll("''", "'");
      if (letter === undefined) return part;
      const value = written(part, at);
      if (value === undefined) throw new CallError(CALLS.date_verb(part), 0);
      return value;
    });
    return text(made);
  },
};

export const DATES: Readonly<Record<string, Definition>> = { formatdate, timeadd, timecmp };
