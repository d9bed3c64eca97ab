import type { Reply } from "./exchange.ts";

/** What an answer says about the rate limit (§8: the headers are not specified, so each may be missing or odd). */
export interface RateHints {
  /** Requests per minute that the server allows. */
  readonly limit?: number;
  /** Requests left in the server's window. */
  readonly remaining?: number;
  /** How long until the server's window starts anew, in ms. */
  readonly resetMs?: number;
  /** How long the server asks to wait, in ms. */
  readonly retryAfterMs?: number;
}

/** A reset further away than this is not that of a one-minute window: ignored. */
const LONGEST_RESET_MS = 3_600_000;

/** Reads Retry-After (seconds or HTTP date) and the X-RateLimit headers; what makes no sense is left out. */
export function rateHints(headers: Reply["headers"], now: number): RateHints {
  const limit = count(headers["x-ratelimit-limit"]);
  const remaining = count(headers["x-ratelimit-remaining"]);
  const resetMs = reset(headers["x-ratelimit-reset"], serverNow(headers, now));
  const retryAfterMs = retryAfter(headers, now);
  return {
    ...(limit !== undefined && limit > 0 && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(resetMs !== undefined && { resetMs }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** How long Retry-After asks to wait, in ms; undefined when it is absent, unreadable or a date gone by. */
export function retryAfter(headers: Reply["headers"], now: number): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined) return undefined;
  if (/^\d{1,7}(\.\d{1,9})?$/.test(value)) return Number(value) * 1000;
  const date = httpDate(value);
  const wait = date === undefined ? -1 : date - serverNow(headers, now);
  return wait >= 0 ? wait : undefined;
}

/** The server's idea of now, so that a clock that differs from ours does not distort its dates. */
function serverNow(headers: Reply["headers"], now: number): number {
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

/** Epoch seconds, epoch milliseconds or seconds from now, told apart by their size. */
function reset(value: string | undefined, now: number): number | undefined {
  if (value === undefined || !/^\d{1,15}(\.\d{1,9})?$/.test(value.trim())) return undefined;
  const number = Number(value);
  const wait = number > 1e11 ? number - now : number > 1e8 ? number * 1000 - now : number * 1000;
  return wait >= 0 && wait <= LONGEST_RESET_MS ? wait : undefined;
}
