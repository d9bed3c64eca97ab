// Progress of an apply: a line for each event, the status area of a terminal, a line for each request.
import {
  type ApplyEvent,
  type ChangeOutcome,
  formatNumber,
  isNoOp,
  type Plan,
  type ProgressVerb,
  some,
} from "../core/model/index.ts";
import { type Budget, budgetParts, fitted, isWaiting } from "./budget.ts";
import { escapeLine } from "./escape.ts";
import { formatDuration, formatElapsed, formatEstimate, plural } from "./numbers.ts";
import { cut, paint as painter, type TextStyle } from "./text-style.ts";

const WAITING = "Waiting to send its requests";
/** Maximum number of addresses in a line about several resources. */
const MAX_NAMED = 3;

/**
 * Returns the line of an apply event in Terraform's words: `hosting_service.acme: Creating...`
 * @param options.waits true if requests wait for the budget. A change that starts now then also waits.
 */
export function progressLine(
  event: ApplyEvent,
  { color, waits = false }: { readonly color: boolean; readonly waits?: boolean },
): string {
  const paint = painter(color);
  if (event.type === "waiting") {
    return `Still waiting for ${plural(event.addresses.length, "queued job")}: ${some(event.addresses.map(escapeLine), MAX_NAMED)} [${formatElapsed(event.seconds)} elapsed]`;
  }
  const address = paint.bold(`${escapeLine(event.address)}:`);
  if (event.type === "busy")
    return `${address} The host is busy (${event.status}). Waiting ${Math.ceil(event.seconds)} s`;
  const { start, noun } = WORDS[event.action];
  switch (event.type) {
    case "start":
      return `${address} ${waits ? WAITING : start}...${idText(event.id)}`;
    case "progress":
      return `${address} Still ${start.charAt(0).toLowerCase()}${start.slice(1)}... [${formatElapsed(event.seconds)} elapsed]`;
    case "complete": {
      // A queued job is not complete (§3).
      const end = event.outcome.awaiting === "job" ? "requested" : "complete";
      if (event.outcome.result === "waiting")
        return `${address} ${paint.warning(`Not possible yet after ${formatElapsed(event.seconds)}`)}; ${waitingText(event.outcome)}`;
      const after = `${noun} ${end} after ${formatElapsed(event.seconds)}${idText(event.id)}`;
      const awaiting = awaitingText(event.outcome);
      return `${address} ${paint.good(after)}${awaiting === undefined ? "" : `; ${awaiting}`}`;
    }
    case "errored": {
      const [cause] = event.outcome.diagnostics;
      if (event.outcome.result === "not-started") return `${address} Not sent, because the run was interrupted`;
      const open = event.outcome.unknown ? ": the result of its request is unknown" : "";
      const why = cause === undefined ? open : `: ${escapeLine(cause.summary)}`;
      return `${address} ${paint.error(`${noun} errored after ${formatElapsed(event.seconds)}`)}${why}`;
    }
  }
}

const idText = (id: string | undefined) => (id === undefined ? "" : ` [id=${escapeLine(id)}]`);

/** Returns the reason for a waiting change: `hosting_grant.a waits until service 1003 is live: its invoice is not paid`. */
export const waitingText = ({ address, diagnostics: [why] }: ChangeOutcome): string =>
  escapeLine(why?.summary ?? `${address} waits`);

/** Returns the reason for the wait of a completed change: `waits for payment of invoice INV-2026-000123` (§3: provisioned once paid). */
export function awaitingText({ awaiting, invoice }: ChangeOutcome): string | undefined {
  switch (awaiting) {
    case undefined:
      return undefined;
    case "payment": {
      const name = invoice?.number ?? invoice?.id;
      return `waits for payment of ${name == null ? "its invoice" : `invoice ${escapeLine(name)}`}`;
    }
    case "provisioning":
      return "waits to be provisioned";
    case "job":
      return "waits for its queued job";
    case "status":
      return "waits: its status is not understood";
  }
}

/**
 * Words for the progress of an action, as in Terraform. `start`: at its start. `noun`: before "complete after" and "errored after".
 * hostform's own actions have similar words.
 */
const WORDS: Readonly<Record<ProgressVerb, { readonly start: string; readonly noun: string }>> = {
  order: { start: "Ordering", noun: "Order" },
  create: { start: "Creating", noun: "Creation" },
  update: { start: "Modifying", noun: "Modifications" },
  delete: { start: "Destroying", noun: "Destruction" },
  forget: { start: "Removing from the state", noun: "Removal from the state" },
  suspend: { start: "Suspending", noun: "Suspension" },
  unsuspend: { start: "Unsuspending", noun: "Unsuspension" },
  "suspend-and-forget": {
    start: "Suspending and removing from the state",
    noun: "Suspension and removal from the state",
  },
  import: { start: "Importing", noun: "Import" },
};

/** State of a running apply, for the status area of a terminal. */
export interface Status {
  /** Start of the apply, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The plan's estimate of the whole apply, in seconds. */
  readonly estimate: number;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Number of requests of each unfinished change, by address, for the estimate of the remaining time. */
  readonly outstanding: ReadonlyMap<string, number>;
  readonly requests: number;
  readonly running: ReadonlyMap<string, { readonly action: ProgressVerb; readonly since: number }>;
  /** Resources with awaited queued jobs. */
  readonly waiting: readonly string[];
}

/** Returns the status before the first event. @param now milliseconds since the epoch. */
export function startStatus(plan: Plan, now: number): Status {
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const outstanding = new Map(changes.map(({ address, requests }) => [address, Math.max(1, requests)]));
  return {
    startedAt: now,
    estimate: plan.requests.seconds,
    total: changes.length,
    done: 0,
    failed: 0,
    outstanding,
    requests: sum(outstanding.values()),
    running: new Map(),
    waiting: [],
  };
}

export function advanceStatus(status: Status, event: ApplyEvent, now: number): Status {
  if (event.type === "waiting") return { ...status, waiting: event.addresses };
  if (event.type === "busy") return status;
  if (event.type === "start" || event.type === "progress") {
    const since =
      event.type === "start" ? now : (status.running.get(event.address)?.since ?? now - event.seconds * 1000);
    return { ...status, running: new Map(status.running).set(event.address, { action: event.action, since }) };
  }
  const running = new Map(status.running);
  const outstanding = new Map(status.outstanding);
  running.delete(event.address);
  outstanding.delete(event.address);
  const waiting = status.waiting.filter((address) => address !== event.address);
  const ended = { ...status, running, outstanding, waiting };
  if (event.outcome.result === "not-started") return ended;
  return event.type === "complete" ? { ...ended, done: status.done + 1 } : { ...ended, failed: status.failed + 1 };
}

/**
 * Estimates the remaining seconds: the plan's estimate, multiplied by the share of unsent requests. If the apply is slower than the
 * estimate, the pace so far counts instead.
 */
export function remainingSeconds(status: Status, now: number): number {
  const open = sum(status.outstanding.values());
  if (open === 0 || status.requests === 0) return 0;
  const share = open / status.requests;
  const estimated = status.estimate * share;
  const elapsed = (now - status.startedAt) / 1000;
  const paced = share < 1 ? (elapsed * share) / (1 - share) : 0;
  return elapsed > status.estimate * (1 - share) + estimated ? Math.max(estimated, paced) : estimated;
}

const STATUS_LINES = 8;

/**
 * Prints the status area without a final newline. The caller erases and repaints the area. Never wider than the terminal, because a
 * wrapped line could not be erased. Never higher than {@link STATUS_LINES}.
 */
export function renderStatus(status: Status, now: number, options: TextStyle, budget?: Budget): string {
  const paint = painter(options.color);
  const width = (options.width ?? 80) - 1;
  const fit = (text: string) => cut(text, width);
  const waits = isWaiting(budget, now);
  const room = STATUS_LINES - 1;
  const running = [...status.running].map(
    ([address, { action, since }]) =>
      `  ${escapeLine(address)}: ${waits && !status.waiting.includes(address) ? WAITING : WORDS[action].start}... [${formatElapsed((now - since) / 1000)}]`,
  );
  if (status.waiting.length > 0)
    running.push(`  waiting for queued jobs: ${some(status.waiting.map(escapeLine), MAX_NAMED)}`);
  const hidden = running.length > room ? running.length - room + 1 : 0;
  const shown = hidden > 0 ? [...running.slice(0, room - 1), `  and ${hidden} more`] : running;
  const total = totalText(status, now, width, waits ? budget : undefined);
  return [...shown.map((line) => paint.dim(fit(line))), paint.bold(fit(total))].join("\n");
}

/**
 * Returns the total: `3 of 12 done, 1 failed, 14s elapsed, about 30 seconds left`. While requests wait, adds `budget 0 of 60, next
 * in 38 s`.
 */
function totalText(status: Status, now: number, width: number, budget: Budget | undefined): string {
  const left = remainingSeconds(status, now);
  const failed = status.failed > 0 ? `, ${status.failed} failed` : "";
  const first = `${status.done} of ${status.total} done${failed}, ${formatElapsed((now - status.startedAt) / 1000)} elapsed`;
  const estimate = left > 0 ? { left: `${formatEstimate(left)} left` } : {};
  return fitted({ first, ...budgetParts(budget, now), ...estimate }, width);
}

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

/** One attempt of a request. */
export interface RequestEvent {
  readonly method: string;
  /** Path and query, without the origin. */
  readonly path: string;
  readonly status?: number | undefined;
  /** Cause of a missing response. */
  readonly error?: string | undefined;
  /** Milliseconds from sending to the end of the response. */
  readonly ms: number;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Remaining requests in the current window (§8). */
  readonly budgetLeft?: number | undefined;
  /** Size of the window's budget. If absent, the line contains only the remaining number. */
  readonly budget?: number | undefined;
  /** Milliseconds of the wait for the budget or before a retry. */
  readonly waitedMs?: number | undefined;
}

/** Returns the line of `--verbose`: `GET /api/v1/services?page=1 → 200 in 34 ms (57 of 60 left)`. */
export function requestEventLine(event: RequestEvent): string {
  const result = event.status === undefined ? `failed (${event.error ?? "no response"})` : String(event.status);
  const notes = [
    ...(event.attempt > 1 ? [`attempt ${event.attempt}`] : []),
    ...(event.waitedMs !== undefined && event.waitedMs >= 100 ? [`waited ${milliseconds(event.waitedMs)}`] : []),
    ...(event.budgetLeft === undefined
      ? []
      : [`${event.budgetLeft}${event.budget === undefined ? "" : ` of ${event.budget}`} left`]),
  ];
  const line = `${event.method} ${event.path} → ${result} in ${milliseconds(event.ms)}`;
  return escapeLine(notes.length === 0 ? line : `${line} (${notes.join(", ")})`);
}

function milliseconds(ms: number): string {
  if (ms < 1000) return `${formatNumber(Math.round(ms))} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms / 1000);
}
