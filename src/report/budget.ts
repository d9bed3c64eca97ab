// Progress of long reads, and the request budget.
import { formatEstimate, plural } from "./numbers.ts";
import { cut, widthOf } from "./text-style.ts";

/** Window of the request limit (§8), in seconds. */
const MINUTE = 60;
/** Minimum duration of a reported wait, in milliseconds. */
const SHORT_MS = 1_000;

/** Wait of a request. `busy`: the host rejected the request with `status` because it is busy. */
export type RequestWait = (BudgetWait | { readonly cause: "busy"; readonly status: number }) & {
  /** Duration of the wait, in milliseconds. */
  readonly ms: number;
  /** Method and path of the request: `GET /services/7/grants`. */
  readonly request: string;
};

/** A wait for the budget. */
interface BudgetWait {
  readonly cause: "budget" | "pause" | "turn" | "spread";
  /** Limit of requests a minute. */
  readonly limit: number;
  /** Requests of the last minute: of this process, of other processes on this machine, and of other clients. */
  readonly own: number;
  readonly others: number;
  readonly elsewhere: number;
}

/** The request budget of a token. */
export interface Budget {
  /** Number of remaining requests in this minute, and number of requests per minute. */
  readonly left: number;
  readonly of: number;
  /** End of the wait, in milliseconds since the epoch. In the past if nothing waits. */
  readonly until: number;
  /** True if the host rejected a request and requested a pause. */
  readonly isPause: boolean;
  /** Status with which a busy host rejected the request. */
  readonly busy?: number;
}

export interface Reading {
  /** Number of requests with a response. */
  readonly done: number;
  /** Number of unread listings and objects. Each needs at least one request. */
  readonly open: number;
}

/** Returns the budget during a wait. @param now milliseconds since the epoch. @param before the budget before the wait. */
export function budgetAfterWait(wait: RequestWait, now: number, before?: Budget): Budget {
  const until = wait.ms < SHORT_MS ? 0 : now + wait.ms;
  if (wait.cause === "busy") {
    const { left = MINUTE, of = MINUTE } = before ?? {};
    return { left, of, until, isPause: false, busy: wait.status };
  }
  const { cause, limit, own, others, elsewhere } = wait;
  const left = Math.max(0, limit - own - others - elsewhere);
  return { left, of: limit, until, isPause: cause === "pause" };
}

/** Returns true while requests wait and hostform sends none. */
export function isWaiting(budget: Budget | undefined, now: number): budget is Budget {
  return budget !== undefined && budget.until > now;
}

/**
 * Estimates the seconds that requests wait: the rest of the current wait, then a minute for each full budget. 0 if the rest of the
 * budget is sufficient.
 */
export function secondsFor(requests: number, budget: Budget | undefined, now: number): number {
  if (budget === undefined || (requests <= budget.left && !isWaiting(budget, now))) return 0;
  const beyond = Math.max(1, requests - budget.left);
  const next = isWaiting(budget, now) ? (budget.until - now) / 1000 : MINUTE;
  return next + Math.floor((beyond - 1) / budget.of) * MINUTE;
}

const budgetOf = ({ left, of }: Budget) => `budget ${left} of ${of}`;

const pauseOf = ({ busy, isPause }: Budget) =>
  busy === undefined ? (isPause ? "paused by the API" : undefined) : hostIsBusy(busy);

const hostIsBusy = (status: number) => `the host is busy (${status})`;

/** Returns for example `budget 0 of 60`, `next in 38 s`; during a pause `paused by the API`, `next in 38 s`. */
export function budgetParts(budget: Budget | undefined, now: number): { budget?: string; next?: string } {
  if (budget === undefined) return {};
  const waits = isWaiting(budget, now);
  return {
    budget: waits ? (pauseOf(budget) ?? budgetOf(budget)) : budgetOf(budget),
    ...(waits && { next: `next in ${Math.ceil((budget.until - now) / 1000)} s` }),
  };
}

/** Joins the parts of a status line with commas. Drops parts that exceed the width. */
export function fitted(
  { first, budget, next, left }: { first: string; budget?: string; next?: string; left?: string },
  width = Number.POSITIVE_INFINITY,
): string {
  const lines = [
    [first, budget, next, left],
    [first, next, left],
    [first, left],
    [first, next],
  ].map((parts) => parts.filter((part) => part !== undefined).join(", "));
  return lines.find((line) => widthOf(line) <= width) ?? cut(first, width);
}

/** Returns for example `Reading 120 of 303, budget 0 of 60, next in 38 s, about 3 minutes left`. */
export function readingLine({ done, open }: Reading, budget: Budget | undefined, now: number, width?: number): string {
  const seconds = secondsFor(open, budget, now);
  const left = seconds > 0 ? { left: `${formatEstimate(seconds)} left` } : {};
  return fitted({ first: `Reading ${done} of ${done + open}`, ...budgetParts(budget, now), ...left }, width);
}

/** Returns for example `Waiting to send requests, budget 0 of 60, next in 38 s`. */
export function waitLine(budget: Budget, now: number, width?: number): string {
  return fitted({ first: "Waiting to send requests", ...budgetParts(budget, now) }, width);
}

/** Returns for example `Waiting for 4 s: CONNECT api.example:443 through the proxy proxy.example:3128`; undefined for a short wait. */
export function connectingLine(step: string, ms: number, width = Number.POSITIVE_INFINITY): string | undefined {
  return ms < SHORT_MS ? undefined : cut(`Waiting for ${Math.floor(ms / 1000)} s: ${step}`, width);
}

/** Returns for example `Waiting 38 s to send GET /services/7/grants: …`, the line of `--verbose`. Undefined for a short wait. */
export function waitReasonLine(wait: RequestWait): string | undefined {
  const { ms, request } = wait;
  if (ms < SHORT_MS) return undefined;
  const start = `Waiting ${Math.ceil(ms / 1000)} s to send ${request}`;
  if (wait.cause === "busy") return `${start}: ${hostIsBusy(wait.status)}`;
  const { cause, limit, own, others, elsewhere } = wait;
  const booked = [
    [own, "by this run"],
    [others, "by other processes with this token"],
    [elsewhere, "by other clients, according to the API"],
  ] as const;
  const who = booked.flatMap(([count, by]) => (count > 0 ? [`${count} ${by}`] : []));
  const why = {
    budget: `the budget of ${plural(limit, "request")} a minute is used up`,
    pause: "the API rejected a request (429), so hostform pauses",
    turn: "another process with this token is next",
    spread: `after a 429 response, hostform spreads at most ${limit} requests over a minute`,
  }[cause];
  const sent = who.length === 0 ? "" : `; sent in the last minute: ${who.join(", ")}`;
  return `${start}: ${why}${sent}`;
}
