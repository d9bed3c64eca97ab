/** Reads the headers with which a host reports its rate limit (§8 does not specify them), and dates in headers. */
import { WINDOW_MS } from "../local/rolling-window.ts";
import type { ApiReply } from "./exchange.ts";

/** Rate limit values of a response (§8 does not specify the headers, so each may be absent or odd). */
interface RateHints {
  /** Requests per minute that the server allows. */
  readonly limit: number | undefined;
  /** Requests left in the server's window. */
  readonly remaining: number | undefined;
  /** Time until the server's window restarts, in ms. */
  readonly resetMs: number | undefined;
  /** Pause that the server asks for, in ms. */
  readonly retryAfterMs: number | undefined;
}

/** Maximum time until a reset, in ms. A later reset does not belong to a window of one minute, and is ignored. */
const LONGEST_RESET_MS = 3_600_000;
/** Maximum pause until a date, in ms. */
const LONGEST_DATED_MS = 86_400_000;

/**
 * Reads Retry-After (seconds or HTTP date), the X-RateLimit headers, and the headers of the IETF's drafts: RateLimit-Limit,
 * -Remaining and -Reset, or RateLimit and RateLimit-Policy. Ignores invalid values.
 */
export function rateHints(headers: ApiReply["headers"], now: number): RateHints {
  const field = (name: string) => headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`];
  const policy = parameters(headers["ratelimit-policy"]);
  const state = parameters(headers.ratelimit);
  const window = count(policy.w) ?? WINDOW_MS / 1000;
  const quota = count(policy.q);
  const perMinute = quota === undefined ? undefined : Math.floor((quota * WINDOW_MS) / 1000 / Math.max(1, window));
  const limit = count(field("limit")?.split(/[,;]/)[0]) ?? count(state.limit) ?? perMinute;
  const remaining = count(field("remaining")) ?? count(state.r) ?? count(state.remaining);
  const until = untilBy(httpDate(headers.date), now);
  const resetMs = reset(field("reset") ?? state.t ?? state.reset, until);
  const retryAfterMs = retryAfter(headers["retry-after"]?.trim(), until);
  return { limit: limit === 0 ? undefined : limit, remaining, resetMs, retryAfterMs };
}

/** Parses `"default";r=10;t=5`, or `limit=60, remaining=10, reset=5` of older drafts. Reads the first of several policies. */
function parameters(value: string | undefined): Readonly<Record<string, string>> {
  if (value === undefined || value.length > 1_000) return {};
  const isList = /^\s*[a-z]+=/.test(value);
  const [first = ""] = isList ? [value.replaceAll(",", ";")] : value.split(",");
  return Object.fromEntries(
    first
      .split(";")
      .map((part) => part.split("=").map((word) => word.trim()))
      .filter(([name, given]) => name !== undefined && given !== undefined) as [string, string][],
  );
}

/** Returns the time until a moment of the server, in ms; undefined if the moment has passed, or is further away than `most`. */
type Until = (at: number, most: number) => number | undefined;

/**
 * Compares the server's dates with the server's clock. Without the server's time, the clocks may be hours apart, so a pause is then at
 * most one window of the limit.
 */
const untilBy =
  (serverNow: number | undefined, now: number): Until =>
  (at, most) => {
    const wait = at - (serverNow ?? now);
    if (wait < 0 || wait > most) return undefined;
    return serverNow === undefined ? Math.min(wait, WINDOW_MS) : wait;
  };

/** Returns the pause of Retry-After, in ms; undefined if it is absent, unreadable, a past date or one in the far future. */
function retryAfter(value: string | undefined, until: Until): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,7}(\.\d{1,9})?$/.test(value)) return Number(value) * 1000;
  const date = httpDate(value);
  return date === undefined ? undefined : until(date, LONGEST_DATED_MS);
}

/** Parses an HTTP date, in ms since the epoch; undefined for anything else. */
export function httpDate(value: string | undefined): number | undefined {
  if (value === undefined || !/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}

function count(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,9}$/.test(value.trim()) ? Number(value) : undefined;
}

/** Returns the time until a reset. Its value may be epoch seconds, epoch milliseconds or seconds from now, distinguished by their size. */
function reset(value: string | undefined, until: Until): number | undefined {
  if (value === undefined || !/^\d{1,15}(\.\d{1,9})?$/.test(value.trim())) return undefined;
  const number = Number(value);
  if (number > 1e8) return until(number > 1e11 ? number : number * 1000, LONGEST_RESET_MS);
  return number * 1000 <= LONGEST_RESET_MS ? number * 1000 : undefined;
}
