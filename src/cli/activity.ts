/** What a run does while nothing is printed: a status at the bottom of a terminal, elsewhere a plain line now and then. */
import type { RequestEvent, Wait } from "../core/api/index.ts";
import type { Clock } from "../core/model/index.ts";
import { type Budget, budgetAfterWait, isWaiting, type Reading, readingLine, waitLine } from "../report/budget.ts";
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

/**
 * The reading of a plan and the waits for the request budget. The lines at the bottom of a terminal are this object's alone:
 * what is written meanwhile passes through {@link above}, which erases and repaints them.
 */
export class Activity {
  readonly #options: ActivityOptions;
  #reading: Reading | undefined;
  #budget: Budget | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Lines painted, and whether the last thing written has ended its line: nothing is painted behind half a line. */
  #lines = 0;
  #isLineEnded = true;
  #isMuted: boolean;

  constructor(options: ActivityOptions) {
    this.#options = options;
    this.#isMuted = options.isSilent;
  }

  /** The budget as the last request or wait showed it. */
  get budget(): Budget | undefined {
    return this.#budget;
  }

  /** A request was answered. @param of requests a minute. */
  requested({ left }: RequestEvent, of: number): void {
    this.#budget = { left, of, until: 0, isPause: false };
    if (this.#reading !== undefined) this.#reading = { ...this.#reading, done: this.#reading.done + 1 };
  }

  waits(wait: Wait): void {
    this.#budget = budgetAfterWait(wait, this.#options.clock.now());
    this.#start();
  }

  /** @param open listings and objects that are not read yet; 0 at the end. */
  reads(open: number): void {
    this.#reading = open === 0 ? undefined : { done: this.#reading?.done ?? 0, open };
    if (open === 0) this.end();
    else this.#start();
  }

  /** Nothing more is shown. */
  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#reading = undefined;
    this.erase();
  }

  /** Nothing is shown until the function returned is called: a log that is written for months needs no line every 15 seconds. */
  mute(): () => void {
    const before = this.#isMuted;
    this.end();
    this.#isMuted = true;
    return () => {
      this.#isMuted = before;
    };
  }

  /** A function that writes above the status. */
  above<T extends unknown[]>(write: (...given: T) => void): (...given: T) => void {
    return (...given) => {
      this.erase();
      write(...given);
      const [text] = given;
      if (typeof text === "string" && text !== "") this.#isLineEnded = text.endsWith("\n");
    };
  }

  #start(): void {
    const { repaints } = this.#options;
    if (this.#isMuted || this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#tick(), repaints ? REPAINT_MS : PLAIN_MS);
    this.#timer.unref();
  }

  #tick(): void {
    const { clock, repaints, err, look } = this.#options;
    const now = clock.now();
    const width = look.width === undefined ? undefined : look.width - 1;
    const text =
      this.#reading !== undefined
        ? readingLine(this.#reading, this.#budget, now, width)
        : isWaiting(this.#budget, now)
          ? waitLine(this.#budget, now, width)
          : undefined;
    if (repaints) this.erase();
    if (text === undefined || !this.#isLineEnded) return;
    if (repaints) this.paint(text);
    else err(`${text}\n`);
  }

  /** Puts a text of one or more lines in the place of the status. */
  paint(text: string): void {
    this.erase();
    this.#options.err(`${text}\n`);
    this.#lines = text.split("\n").length;
  }

  erase(): void {
    if (this.#lines > 0) this.#options.rewind(this.#lines);
    this.#lines = 0;
  }
}
