/** The header fields by which a host reports its rate limit (§8 does not specify them), and dates in headers. */
import { WINDOW_MS } from "../local/rolling-window.ts";
import type { ApiReply } from "./exchange.ts";

/** Statements of an answer about the rate limit (§8: the headers are not specified, so each may be missing or odd). */
interface RateHints {
  /** Requests per minute that the server allows. */
  readonly limit: number | undefined;
  /** Requests left in the server's window. */
  readonly remaining: number | undefined;
  /** Time until the server's window starts again, in ms. */
  readonly resetMs: number | undefined;
  /** Pause that the server asks for, in ms. */
  readonly retryAfterMs: number | undefined;
}

/** A reset further away than this is not that of a one-minute window: ignored. */
const LONGEST_RESET_MS = 3_600_000;

/**
 * Reads Retry-After (seconds or HTTP date), the X-RateLimit fields, and those of the IETF's drafts: RateLimit-Limit,
 * -Remaining and -Reset, or RateLimit and RateLimit-Policy. What makes no sense is left out.
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
  const resetMs = reset(field("reset") ?? state.t ?? state.reset, serverNow(headers, now));
  const retryAfterMs = retryAfter(headers, now);
  return { limit: limit === 0 ? undefined : limit, remaining, resetMs, retryAfterMs };
}

/** `"default";r=10;t=5`, or `limit=60, remaining=10, reset=5` as older drafts have it; of several policies the first. */
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

/** Returns the pause of Retry-After, in ms; undefined if it is absent, unreadable or a past date. */
export function retryAfter(headers: ApiReply["headers"], now: number): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined) return undefined;
  if (/^\d{1,7}(\.\d{1,9})?$/.test(value)) return Number(value) * 1000;
  const date = httpDate(value);
  const wait = date === undefined ? -1 : date - serverNow(headers, now);
  return wait >= 0 ? wait : undefined;
}

/** The server's idea of now, so that a clock that differs from ours does not distort its dates. */
function serverNow(headers: ApiReply["headers"], now: number): number {
  return httpDate(headers.date) ?? now;
}

/** The moment that an HTTP date names, in ms since the epoch; undefined for anything else. */
export function httpDate(value: string | undefined): number | undefined {
  if (value === undefined || !/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}

function count(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,9}$/.test(value.trim()) ? Number(value) : undefined;
}

/** Epoch seconds, epoch milliseconds or seconds from now, distinguished by their size. */
function reset(value: string | undefined, now: number): number | undefined {
  if (value === undefined || !/^\d{1,15}(\.\d{1,9})?$/.test(value.trim())) return undefined;
  const number = Number(value);
  const wait = number > 1e11 ? number - now : number > 1e8 ? number * 1000 - now : number * 1000;
  return wait >= 0 && wait <= LONGEST_RESET_MS ? wait : undefined;
}
