import { formatDuration, formatNumber } from "./duration.ts";
import { escapeLine } from "./escape.ts";

/** One attempt of a request, as the client tells it. */
export interface RequestEvent {
  readonly method: string;
  /** With its query; never a full URL, never a header. */
  readonly path: string;
  readonly status?: number | undefined;
  /** What went wrong when no answer came. */
  readonly error?: string | undefined;
  /** Milliseconds from sending to the end of the answer. */
  readonly ms: number;
  /** From 1. */
  readonly attempt: number;
  /** Requests that may still be sent in the current window (§8). */
  readonly budgetLeft?: number | undefined;
  /** Size of the window's budget; without it only what is left is said. */
  readonly budget?: number | undefined;
  /** Milliseconds spent waiting for the budget, or before a repetition. */
  readonly waitedMs?: number | undefined;
}

/** `GET /api/v1/services?page=1 → 200 in 34 ms (57 of 60 left)`, the line of `--verbose`. */
export function requestEventLine(event: RequestEvent): string {
  const result = event.status === undefined ? `failed (${event.error ?? "no answer"})` : String(event.status);
  const notes = [
    ...(event.attempt > 1 ? [`attempt ${event.attempt}`] : []),
    ...(event.waitedMs !== undefined && event.waitedMs >= 100 ? [`waited ${milliseconds(event.waitedMs)}`] : []),
    ...(event.budgetLeft === undefined ? [] : [budgetText(event.budgetLeft, event.budget)]),
  ];
  const line = `${event.method} ${event.path} → ${result} in ${milliseconds(event.ms)}`;
  return escapeLine(notes.length === 0 ? line : `${line} (${notes.join(", ")})`);
}

function budgetText(left: number, of: number | undefined): string {
  return of === undefined ? `${left} left` : `${left} of ${of} left`;
}

function milliseconds(ms: number): string {
  if (ms < 1000) return `${formatNumber(Math.round(ms))} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms / 1000);
}
