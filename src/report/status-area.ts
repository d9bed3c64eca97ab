import { type ApplyEvent, isNoOp, type Plan, type Progress } from "../core/model/index.ts";
import { formatElapsed, formatEstimate } from "./duration.ts";
import { escapeLine } from "./escape.ts";
import { WORDS } from "./progress-words.ts";
import { type Look, paint as painter } from "./style.ts";
import { cut } from "./width.ts";

/** What the bottom of a terminal shows while an apply runs: a value that events turn into the next one. */
export interface Status {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The plan's estimate of the whole, in seconds. */
  readonly estimate: number;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** Requests of each change that has not ended, by which the remaining time is shared out. */
  readonly outstanding: ReadonlyMap<string, number>;
  readonly requests: number;
  readonly running: ReadonlyMap<string, { readonly action: Progress; readonly since: number }>;
  /** Resources whose queued jobs are being waited for. */
  readonly waiting: readonly string[];
}

/** The state before the first event. @param now milliseconds since the epoch. */
export function startStatus(plan: Plan, now: number): Status {
  const changes = plan.changes.filter((change) => !isNoOp(change));
  const outstanding = new Map(changes.map((change) => [change.address, Math.max(1, change.requests)]));
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

/** The state after an event. */
export function advanceStatus(status: Status, event: ApplyEvent, now: number): Status {
  if (event.type === "waiting") return { ...status, waiting: event.addresses };
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
 * About how many seconds remain: the plan's estimate, by the share of requests not yet done. Once more time has passed
 * than was estimated for what is done, the pace so far counts instead.
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

/**
 * The status area as lines without a final newline; the caller erases and repaints it. Never wider than the terminal
 * (a wrapped line could not be erased) nor higher than `height` lines.
 *
 * @param options.height lines that may be used, at least 2. Default: 8.
 */
export function renderStatus(status: Status, now: number, options: Look & { readonly height?: number }): string {
  const paint = painter(options.color);
  const fit = (text: string) => cut(text, (options.width ?? 80) - 1);
  const room = Math.max(2, options.height ?? 8) - 1;
  const running = [...status.running].map(
    ([address, { action, since }]) =>
      `  ${escapeLine(address)}: ${WORDS[action].start}... [${formatElapsed((now - since) / 1000)}]`,
  );
  if (status.waiting.length > 0)
    running.push(`  waiting for queued jobs: ${status.waiting.map(escapeLine).join(", ")}`);
  const hidden = running.length > room ? running.length - room + 1 : 0;
  const shown = hidden > 0 ? [...running.slice(0, room - 1), `  and ${hidden} more`] : running;
  return [...shown.map((line) => paint.dim(fit(line))), paint.bold(fit(totalText(status, now)))].join("\n");
}

/** `3 of 12 done, 1 failed, 14s elapsed, about 30 seconds left` */
function totalText(status: Status, now: number): string {
  const left = remainingSeconds(status, now);
  const parts = [
    `${status.done} of ${status.total} done`,
    ...(status.failed > 0 ? [`${status.failed} failed`] : []),
    `${formatElapsed((now - status.startedAt) / 1000)} elapsed`,
    ...(left > 0 ? [`${formatEstimate(left)} left`] : []),
  ];
  return parts.join(", ");
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
