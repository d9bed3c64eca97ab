/** Status of a run: repainted at the bottom of a terminal, elsewhere a line every 15 seconds. */
import type { RequestEvent, Wait } from "../core/api/index.ts";
import type { Clock } from "../core/model/index.ts";
import {
  type Budget,
  budgetAfterWait,
  connectingLine,
  isWaiting,
  type Reading,
  readingLine,
  waitLine,
} from "../report/budget.ts";
import type { TextStyle } from "../report/text-style.ts";

const REPAINT_MS = 100;
const PLAIN_MS = 15_000;

interface ActivityOptions {
  err(text: string): void;
  /** Moves the cursor up, and clears the rest of the screen. */
  rewind(lines: number): void;
  readonly clock: Clock;
  /** Repaints in place; otherwise prints lines. */
  readonly repaints: boolean;
  /** Prints nothing. */
  readonly isSilent: boolean;
  readonly look: TextStyle;
}

export type Activity = ReturnType<typeof startActivity>;

/**
 * Shows the reads of a plan and the waits for the request budget. Only this object writes the status at the bottom of a terminal: other
 * output passes through `above`, which erases and repaints the status.
 */
export function startActivity({ err, rewind, clock, repaints, isSilent, look }: ActivityOptions) {
  let reading: Reading | undefined;
  let budget: Budget | undefined;
  let connection: { readonly step: string; readonly since: number } | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  /** Number of painted lines. */
  let lines = 0;
  /** False after half a line: then nothing is painted. */
  let isLineEnded = true;
  let isMuted = isSilent;
  const erase = (): void => {
    if (lines > 0) rewind(lines);
    lines = 0;
  };
  /** Replaces the status by a text. */
  const paint = (text: string): void => {
    erase();
    err(`${text}\n`);
    lines = text.split("\n").length;
  };
  const tick = (): void => {
    const now = clock.monotonic();
    const width = look.width === undefined ? undefined : look.width - 1;
    const waiting = isWaiting(budget, now) ? waitLine(budget, now, width) : undefined;
    const connecting = connection && connectingLine(connection.step, now - connection.since, width);
    const text = connecting ?? (reading === undefined ? waiting : readingLine(reading, budget, now, width));
    if (repaints) erase();
    if (text === undefined || !isLineEnded) return;
    if (repaints) paint(text);
    else err(`${text}\n`);
  };
  const start = (): void => {
    if (isMuted || timer !== undefined) return;
    timer = setInterval(tick, repaints ? REPAINT_MS : PLAIN_MS);
    timer.unref();
  };
  /** Erases the status, and stops. */
  const end = (): void => {
    clearInterval(timer);
    timer = undefined;
    reading = undefined;
    connection = undefined;
    erase();
  };
  return {
    erase,
    paint,
    end,
    /** Returns the budget after the last request or wait. */
    budget: () => budget,
    /** Counts an answered request. @param of requests a minute. */
    requested({ left }: RequestEvent, of: number): void {
      budget = { left, of, until: 0, isPause: false };
      if (reading !== undefined) reading = { ...reading, done: reading.done + 1 };
    },
    waits(wait: Wait): void {
      budget = budgetAfterWait(wait, clock.monotonic(), budget);
      start();
    },
    /** @param step of opening a connection; undefined at its end. */
    connects(step: string | undefined): void {
      connection = step === undefined ? undefined : { step, since: clock.monotonic() };
      if (connection !== undefined) start();
    },
    /** @param open number of unread listings and objects; 0 at the end. */
    reads(open: number): void {
      reading = { done: reading?.done ?? 0, open };
      if (open === 0) end();
      else start();
    },
    /** Prints nothing until the returned function is called. */
    mute(): () => void {
      const before = isMuted;
      end();
      isMuted = true;
      return () => {
        isMuted = before;
      };
    },
    /** Wraps a function that writes, so that it writes above the status. */
    above:
      <T extends unknown[]>(write: (...given: T) => void) =>
      (...given: T): void => {
        erase();
        write(...given);
        const [text] = given;
        if (typeof text === "string" && text !== "") isLineEnded = text.endsWith("\n");
      },
  };
}
