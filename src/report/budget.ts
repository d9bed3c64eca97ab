// Progress of long reads, and the request budget.
import { formatEstimate, plural } from "./numbers.ts";
import { cut, widthOf } from "./text-style.ts";

/** The window of §8, in seconds. */
const MINUTE = 60;
/** Shorter waits are not reported, in ms. */
const SHORT_MS = 1_000;

/** A request that has to wait, as the client reports it. `busy`: the host refused with this status. */
export type RequestWait = (BudgetWait | { readonly cause: "busy"; readonly status: number }) & {
  /** In milliseconds. */
  readonly ms: number;
  /** `GET /services/7/grants` */
  readonly request: string;
};

/** A wait for the budget. */
interface BudgetWait {
  readonly cause: "budget" | "pause" | "turn" | "spread";
  /** Requests a minute. */
  readonly limit: number;
  /** Requests of the last minute: of this process, of others on this machine, and what the host counts beyond them. */
  readonly own: number;
  readonly others: number;
  readonly elsewhere: number;
}

/** The request budget of a token. */
export interface Budget {
  /** Requests that may still be sent in this minute, and how many a minute has. */
  readonly left: number;
  readonly of: number;
  /** End of the wait, in milliseconds since the epoch. A past time: nothing waits. */
  readonly until: number;
  /** The host refused a request and asked for a pause. */
  readonly isPause: boolean;
  /** The status of a busy host. */
  readonly busy?: number;
}

export interface Reading {
  /** Requests that were answered. */
  readonly done: number;
  /** Unread listings and objects. Each takes at least one request. */
  readonly open: number;
}

/** The budget while a request waits. @param now milliseconds since the epoch. @param before the budget before the wait. */
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
 * Estimates the seconds that requests wait: the rest of the current wait, then a minute for each full budget. 0 if they fit
 * into the rest of the budget.
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

/** `budget 0 of 60`, `next in 38 s`; during a pause `paused by the API`, `next in 38 s`. */
export function budgetParts(budget: Budget | undefined, now: number): { budget?: string; next?: string } {
  if (budget === undefined) return {};
  const waits = isWaiting(budget, now);
  return {
    budget: waits ? (pauseOf(budget) ?? budgetOf(budget)) : budgetOf(budget),
    ...(waits && { next: `next in ${Math.ceil((budget.until - now) / 1000)} s` }),
  };
}

/** The parts of a line of status, separated by commas, as many of them as fit into the width. */
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

/** `Reading 120 of 303, budget 0 of 60, next in 38 s, about 3 minutes left` */
export function readingLine({ done, open }: Reading, budget: Budget | undefined, now: number, width?: number): string {
  const seconds = secondsFor(open, budget, now);
  const left = seconds > 0 ? { left: `${formatEstimate(seconds)} left` } : {};
  return fitted({ first: `Reading ${done} of ${done + open}`, ...budgetParts(budget, now), ...left }, width);
}

/** `Waiting to send requests, budget 0 of 60, next in 38 s` */
export function waitLine(budget: Budget, now: number, width?: number): string {
  return fitted({ first: "Waiting to send requests", ...budgetParts(budget, now) }, width);
}

/** `Waiting for 4 s: CONNECT api.example:443 through the proxy proxy.example:3128`; undefined for a wait that is not worth one. */
export function connectingLine(step: string, ms: number, width = Number.POSITIVE_INFINITY): string | undefined {
  return ms < SHORT_MS ? undefined : cut(`Waiting for ${Math.floor(ms / 1000)} s: ${step}`, width);
}

/** `Waiting 38 s to send GET /services/7/grants: …`, the line of `--verbose`; undefined for a wait that is not worth one. */
export function waitReasonLine(wait: RequestWait): string | undefined {
  const { ms, request } = wait;
  if (ms < SHORT_MS) return undefined;
  const start = `Waiting ${Math.ceil(ms / 1000)} s to send ${request}`;
  if (wait.cause === "busy") return `${start}: ${hostIsBusy(wait.status)}`;
  const { cause, limit, own, others, elsewhere } = wait;
  const booked = [
    [own, "by this run"],
    [others, "by other processes with this token"],
    [elsewhere, "elsewhere, as the API counts"],
  ] as const;
  const who = booked.flatMap(([count, by]) => (count > 0 ? [`${count} ${by}`] : []));
  const why = {
    budget: `the budget of ${plural(limit, "request")} a minute is used up`,
    pause: "the API rejected a request (429), and asked for a pause or is given one",
    turn: "another process with this token is next",
    spread: `after a refusal requests are spread over the minute, ${limit} at most`,
  }[cause];
  const sent = who.length === 0 ? "" : `; sent in the last minute: ${who.join(", ")}`;
  return `${start}: ${why}${sent}`;
}
