// The queue of this process for the turn of a token. A store keeps the turn itself: a row that all processes see.
import { problem } from "../messages/index.ts";
import { type Clock, HostformError } from "../model/index.ts";
import type { Turn, TurnHolder, TurnRequest } from "./account-store.ts";
import { PATIENCE_MS } from "./database-file.ts";

/** Pause before the next question while another process has the turn, in ms. */
const ASK_AGAIN_MS = 50;
/** If another process waits, it gets the turn after so many creates of this one. */
const CREATES_IN_A_ROW = 20;
/** Pause after which this process may take the turn again. Longer than a waiting process needs to ask. */
const PAUSE_FOR_OTHERS_MS = 3 * ASK_AGAIN_MS;
/** A longer wait for one process is reported. */
const REPORT_AFTER_MS = 5_000;
/** The holder of a turn gives a sign of life this often. */
export const BEAT_MS = 10_000;
/** A holder without a sign of life for this long is frozen. */
export const FROZEN_AFTER_MS = 60_000;
/** A process that did not look for this long may have been frozen itself, and counts again. */
const LOOKS_WITHIN_MS = 5_000;

/** The process that keeps this one waiting. */
export interface Blocker extends TurnHolder {
  /** The process, as no other is called. */
  readonly who: string;
  /** Changes with each sign of life. */
  readonly sign: string;
}

/** The turn as a store keeps it. Each function is one transaction. */
export interface TurnRow {
  /**
   * Takes the turn if it is free, if its holder has ended, or if the last sign of life of its holder is `frozen`. Otherwise
   * records that this process waits.
   */
  take(request: TurnRequest, frozen?: string): Promise<Turn | Blocker>;
  /** Records a sign of life, if this process still has the turn. */
  beat(turn: Turn): Promise<void>;
  /** Returns true if another process waits for the turn. */
  isAwaited(): Promise<boolean>;
  /** Gives the turn back. @returns as {@link isAwaited}. @throws HostformError `store.busy`: this process still has it. */
  release(turn: Turn): Promise<boolean>;
  /** Records that this process no longer waits. */
  withdraw(): Promise<void>;
}

interface TurnQueueOptions {
  readonly clock: Clock;
  /** Called once for each process that this one waits for, after five seconds. */
  onWaiting?(holder: TurnHolder): void;
  /** Called when this process has taken the turn from a frozen one. */
  onTakenOver?(holder: TurnHolder): void;
}

/** Observation of the process that has the turn. Times are monotonic. */
interface Observed {
  readonly holder: Blocker;
  /** First look at this holder, and at its last sign of life. */
  readonly from: number;
  readonly signFrom: number;
  readonly at: number;
}

/** Lets the creates of this process into its turn, side by side, and lets other processes in between. */
export class TurnQueue {
  readonly #row: TurnRow;
  readonly #options: TurnQueueOptions;
  #turn: Turn | undefined;
  /** Creates that have the turn now, and all that have had it since another process was let in. */
  #inside = 0;
  #entered = 0;
  /** Monotonic. */
  #othersUntil = 0;
  #observed: Observed | undefined;
  /** The processes that were reported. */
  readonly #reported = new Set<string>();
  /** Ends the signs of life of this process. */
  #beating = new AbortController();
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
      await this.#oneByOne(() => this.#leave(turn));
    }
  }

  /** Another process has taken the turn: the next create of this process takes it again. */
  lost(turn: Turn): void {
    if (turn !== this.#turn) return;
    this.#turn = undefined;
    this.#inside = 0;
    this.#entered = 0;
    this.#beating.abort();
  }

  /** Ends the signs of life. The next turn begins them again. */
  close(): void {
    this.#beating.abort();
    this.#reported.clear();
  }

  async #enter(request: TurnRequest): Promise<Turn> {
    const { clock } = this.#options;
    const { signal } = request;
    let since: number | undefined;
    let waits = false;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const answer = await this.#oneByOne(() => this.#tryToEnter(request));
        if (answer && "epoch" in answer) return answer;
        waits ||= answer !== undefined;
        // The time of own creates does not count.
        since = answer && (since ?? clock.monotonic());
        if (answer) this.#refuseLate(answer, clock.monotonic() - (since ?? 0), request);
        await clock.sleep(ASK_AGAIN_MS, signal);
      }
    } catch (error) {
      // A busy file keeps the record of the wait; another process does not depend on it.
      if (waits) await this.#oneByOne(() => this.#withdraw()).catch(() => {});
      throw error;
    }
  }

  /** @returns undefined while this process waits for itself: it has let another one in. */
  async #tryToEnter(request: TurnRequest): Promise<Turn | Blocker | undefined> {
    if (this.#turn === undefined) {
      if (this.#othersUntil > this.#options.clock.monotonic()) return undefined;
      const frozen = this.#frozen();
      const answer = await this.#row.take(request, frozen?.sign);
      if (!("epoch" in answer)) return this.#observe(answer);
      if (answer.isTakenOver && frozen !== undefined) {
        this.#options.onTakenOver?.(frozen);
        this.#reported.delete(frozen.who);
      }
      this.#observed = undefined;
      this.#turn = answer;
      this.#beat();
    } else if (this.#entered >= CREATES_IN_A_ROW) {
      if (await this.#row.isAwaited()) return undefined;
      this.#entered = 0;
    }
    this.#inside += 1;
    this.#entered += 1;
    return this.#turn;
  }

  /** Counts how long the holder has given no sign of life, and reports a long wait. */
  #observe(holder: Blocker): Blocker {
    const { clock, onWaiting } = this.#options;
    const at = clock.monotonic();
    const known = this.#observed && at - this.#observed.at <= LOOKS_WITHIN_MS ? this.#observed : undefined;
    const isSame = known !== undefined && known.holder.who === holder.who;
    const from = isSame ? known.from : at;
    const signFrom = isSame && known.holder.sign === holder.sign ? known.signFrom : at;
    this.#observed = { holder, from, signFrom, at };
    if (at - from >= REPORT_AFTER_MS && !this.#reported.has(holder.who)) {
      this.#reported.add(holder.who);
      onWaiting?.(holder);
    }
    return holder;
  }

  /** The holder that has given no sign of life for a minute. */
  #frozen(): Blocker | undefined {
    const { holder, signFrom, at } = this.#observed ?? {};
    const now = this.#options.clock.monotonic();
    if (holder === undefined || signFrom === undefined || at === undefined || now - at > LOOKS_WITHIN_MS)
      return undefined;
    return now - signFrom >= FROZEN_AFTER_MS ? holder : undefined;
  }

  /** Another create of this process may have the turn by now, and keeps it. */
  async #withdraw(): Promise<void> {
    if (this.#turn === undefined) await this.#row.withdraw();
  }

  async #leave(turn: Turn): Promise<void> {
    if (turn !== this.#turn) return;
    this.#inside -= 1;
    if (this.#inside > 0) return;
    this.#turn = undefined;
    this.#entered = 0;
    await this.#giveBack(turn);
  }

  async #giveBack(turn: Turn): Promise<void> {
    const { clock } = this.#options;
    try {
      if (await this.#row.release(turn)) this.#othersUntil = clock.monotonic() + PAUSE_FOR_OTHERS_MS;
      this.#beating.abort();
    } catch (error) {
      // It is given back at the next beat.
      if (!(error instanceof HostformError)) throw error;
    }
  }

  /** Shows that this process lives, as long as it has the turn. */
  #beat(): void {
    this.#beating.abort();
    this.#beating = new AbortController();
    const { signal } = this.#beating;
    const turn = this.#turn;
    const step = async () => {
      if (turn === undefined || signal.aborted) return;
      await (this.#turn === turn ? this.#row.beat(turn) : this.#giveBack(turn));
    };
    void keepBeating(this.#options.clock, signal, () => this.#oneByOne(step));
  }

  /** @throws HostformError `store.turn`, `store.busy`, when the wait is over. */
  #refuseLate(holder: Blocker, waitedMs: number, { timeoutMs = Number.POSITIVE_INFINITY }: TurnRequest): void {
    const { pid, project, since, file } = holder;
    // No process can take a file from its holder.
    const isOver = file !== undefined && this.#frozen() !== undefined;
    const limitMs = file === undefined ? timeoutMs : Math.max(timeoutMs, PATIENCE_MS);
    if (waitedMs < limitMs && !isOver) return;
    const about = { pid, project, seconds: Math.round(Math.max(waitedMs, isOver ? FROZEN_AFTER_MS : 0) / 1000) };
    const why =
      file === undefined
        ? problem("store.turn", { ...about, since: new Date(since).toISOString() })
        : problem("store.busy", { ...about, place: file });
    throw new HostformError([why]);
  }

  #oneByOne<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#last.then(step);
    this.#last = done.catch(() => {});
    return done;
  }
}

/** Never rejects. */
async function keepBeating(clock: Clock, signal: AbortSignal, beat: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(BEAT_MS, signal).catch(() => {});
    // A file that is busy now may be free at the next beat.
    if (!signal.aborted) await beat().catch(() => {});
  }
}
