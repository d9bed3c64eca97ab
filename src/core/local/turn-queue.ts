// The queue of this process for the turn of a token. A store keeps the turn itself: a row that all processes see.
import type { Clock } from "../model/index.ts";
import type { Turn, TurnHolder, TurnRequest } from "./account-store.ts";

/** Pause before the next question while another process has the turn, in ms. */
const ASK_AGAIN_MS = 50;
/** If another process waits, it gets the turn after so many creates of this one. */
const CREATES_IN_A_ROW = 20;
/** Pause after which this process may take the turn again. Longer than a waiting process needs to ask. */
const PAUSE_FOR_OTHERS_MS = 3 * ASK_AGAIN_MS;
/** A longer wait is reported. */
const REPORT_AFTER_MS = 5_000;

/** The turn as a store keeps it. Each function is one transaction. */
export interface TurnRow {
  /** Takes the turn if it is free, or if its holder has ended. Otherwise records that this process waits. */
  take(request: TurnRequest): Promise<Turn | TurnHolder>;
  /** Returns true if another process waits for the turn. */
  isAwaited(): Promise<boolean>;
  /** Gives the turn back. @returns as {@link isAwaited}. */
  release(turn: Turn): Promise<boolean>;
  /** Records that this process no longer waits. */
  withdraw(): Promise<void>;
}

interface TurnQueueOptions {
  readonly clock: Clock;
  /** Called once for each wait of 5 seconds for another process. */
  onWaiting?(holder: TurnHolder): void;
}

/** Lets the creates of this process into its turn, side by side, and lets other processes in between. */
export class TurnQueue {
  readonly #row: TurnRow;
  readonly #options: TurnQueueOptions;
  #turn: Turn | undefined;
  /** Creates that have the turn now, and all that have had it since another process was let in. */
  #inside = 0;
  #entered = 0;
  #othersUntil = 0;
  /** Steps that change the turn run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(row: TurnRow, options: TurnQueueOptions) {
    this.#row = row;
    this.#options = options;
  }

  async run<T>(request: TurnRequest, work: (turn: Turn) => Promise<T>): Promise<T> {
    const turn = await this.#enter(request);
    try {
      return await work(turn);
    } finally {
      await this.#oneByOne(() => this.#leave());
    }
  }

  async #enter(request: TurnRequest): Promise<Turn> {
    const { clock, onWaiting } = this.#options;
    const { signal } = request;
    const started = clock.now();
    let isReported = false;
    let waits = false;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const answer = await this.#oneByOne(() => this.#tryToEnter(request));
        if (answer && "epoch" in answer) return answer;
        waits ||= answer !== undefined;
        if (answer && !isReported && clock.now() - started >= REPORT_AFTER_MS) {
          isReported = true;
          onWaiting?.(answer);
        }
        await clock.sleep(ASK_AGAIN_MS, signal);
      }
    } catch (error) {
      if (waits) await this.#oneByOne(() => this.#withdraw());
      throw error;
    }
  }

  /** @returns undefined while this process waits for itself: it has let another one in. */
  async #tryToEnter(request: TurnRequest): Promise<Turn | TurnHolder | undefined> {
    if (this.#turn === undefined) {
      const left = this.#othersUntil - this.#options.clock.now();
      // A longer pause is that of a clock that was set back.
      if (left > 0 && left <= PAUSE_FOR_OTHERS_MS) return undefined;
      const answer = await this.#row.take(request);
      if (!("epoch" in answer)) return answer;
      this.#turn = answer;
    } else if (this.#entered >= CREATES_IN_A_ROW) {
      if (await this.#row.isAwaited()) return undefined;
      this.#entered = 0;
    }
    this.#inside += 1;
    this.#entered += 1;
    return this.#turn;
  }

  /** Another create of this process may have the turn by now, and keeps it. */
  async #withdraw(): Promise<void> {
    if (this.#turn === undefined) await this.#row.withdraw();
  }

  async #leave(): Promise<void> {
    this.#inside -= 1;
    const turn = this.#turn;
    if (this.#inside > 0 || turn === undefined) return;
    this.#turn = undefined;
    this.#entered = 0;
    if (await this.#row.release(turn)) this.#othersUntil = this.#options.clock.now() + PAUSE_FOR_OTHERS_MS;
  }

  #oneByOne<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#last.then(step);
    this.#last = done.catch(() => {});
    return done;
  }
}
