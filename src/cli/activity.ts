/** Status of a run while nothing is printed: a status at the bottom of a terminal, elsewhere a plain line now and then. */
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
  /** Goes up so many lines, and clears what follows. */
  rewind(lines: number): void;
  readonly clock: Clock;
  /** Repainted in place; otherwise plain lines. */
  readonly repaints: boolean;
  /** Nothing is shown at all. */
  readonly isSilent: boolean;
  readonly look: TextStyle;
}

export type Activity = ReturnType<typeof startActivity>;

/**
 * The reading of a plan and the waits for the request budget. The lines at the bottom of a terminal are this object's alone:
 * what is written meanwhile passes through `above`, which erases and repaints them.
 */
export function startActivity({ err, rewind, clock, repaints, isSilent, look }: ActivityOptions) {
  let reading: Reading | undefined;
  let budget: Budget | undefined;
  let connection: { readonly step: string; readonly since: number } | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  /** Lines painted, and whether the last thing written has ended its line: nothing is painted behind half a line. */
  let [lines, isLineEnded] = [0, true];
  let isMuted = isSilent;
  const erase = (): void => {
    if (lines > 0) rewind(lines);
    lines = 0;
  };
  /** Puts a text of one or more lines in the place of the status. */
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
  /** Nothing more is shown. */
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
    /** The budget as the last request or wait showed it. */
    budget: () => budget,
    /** A request was answered. @param of requests a minute. */
    requested({ left }: RequestEvent, of: number): void {
      budget = { left, of, until: 0, isPause: false };
      if (reading !== undefined) reading = { ...reading, done: reading.done + 1 };
    },
    waits(wait: Wait): void {
      budget = budgetAfterWait(wait, clock.monotonic(), budget);
      start();
    },
    /** @param step of a connection that is being opened; undefined: it is open, or has failed. */
    connects(step: string | undefined): void {
      connection = step === undefined ? undefined : { step, since: clock.monotonic() };
      if (connection !== undefined) start();
    },
    /** @param open listings and objects that are not read yet; 0 at the end. */
    reads(open: number): void {
      reading = { done: reading?.done ?? 0, open };
      if (open === 0) end();
      else start();
    },
    /** Nothing is shown until the function returned is called: a log that is written for months needs no line every 15 seconds. */
    mute(): () => void {
      const before = isMuted;
      end();
      isMuted = true;
      return () => {
        isMuted = before;
      };
    },
    /** A function that writes above the status. */
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
