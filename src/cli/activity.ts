/** Prints the status of a run. A terminal repaints it at the bottom. Other outputs get one line every 15 seconds. */
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
  /** Moves the cursor up, and clears the screen below. */
  rewind(lines: number): void;
  readonly clock: Clock;
  /** True if the status is repainted in place. False: printed as lines. */
  readonly repaints: boolean;
  /** True if nothing is printed. */
  readonly isSilent: boolean;
  readonly look: TextStyle;
}

export type Activity = ReturnType<typeof startActivity>;

/**
 * Prints how many lists are read and why requests wait. Only this object writes to the bottom of a terminal. Other output
 * must pass through `above`, which erases the status, writes, and repaints.
 */
export function startActivity({ err, rewind, clock, repaints, isSilent, look }: ActivityOptions) {
  let reading: Reading | undefined;
  let budget: Budget | undefined;
  let connection: { readonly step: string; readonly since: number } | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  /** Number of painted lines. */
  let lines = 0;
  /** False while the last line is incomplete. The status is then not painted. */
  let isLineEnded = true;
  let isMuted = isSilent;
  const erase = (): void => {
    if (lines > 0) rewind(lines);
    lines = 0;
  };
  /** Replaces the status with a text. */
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
  /** Erases the status and stops. */
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
    /** Returns the request budget at the last request or wait. */
    budget: () => budget,
    /** Counts a request with a response. @param of Request limit per minute. */
    requested({ left }: RequestEvent, of: number): void {
      budget = { left, of, until: 0, isPause: false };
      if (reading !== undefined) reading = { ...reading, done: reading.done + 1 };
    },
    waits(wait: Wait): void {
      budget = budgetAfterWait(wait, clock.monotonic(), budget);
      start();
    },
    /** @param step Step of opening a connection. Undefined at its end. */
    connects(step: string | undefined): void {
      connection = step === undefined ? undefined : { step, since: clock.monotonic() };
      if (connection !== undefined) start();
    },
    /** @param open Number of unread lists and objects. 0 at the end. */
    reads(open: number): void {
      reading = { done: reading?.done ?? 0, open };
      if (open === 0) end();
      else start();
    },
    /** Stops all output until the returned function is called. */
    mute(): () => void {
      const before = isMuted;
      end();
      isMuted = true;
      return () => {
        isMuted = before;
      };
    },
    /** Wraps a write function, so that its text is above the status. */
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
