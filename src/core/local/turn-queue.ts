// Queue of this process for the create lock of a token. The lock itself is a row of the shared store.
import { problem } from "../messages/index.ts";
import { type Clock, HostformError } from "../model/index.ts";
import type { Turn, TurnHolder, TurnRequest } from "./account-store.ts";
import { PATIENCE_MS } from "./database-file.ts";

/** Pause before the next attempt while another process has the create lock, in milliseconds. */
const ASK_AGAIN_MS = 50;
/** Number of creates before a waiting process gets the create lock. */
const CREATES_IN_A_ROW = 20;
/** Pause before this process takes the create lock again. Longer than the pause between attempts of a waiting process. */
const PAUSE_FOR_OTHERS_MS = 3 * ASK_AGAIN_MS;
/** Wait for one process before it is reported, in milliseconds. */
const REPORT_AFTER_MS = 5_000;
/** Interval of the holder's heartbeats, in milliseconds. */
export const BEAT_MS = 10_000;
/** Time without a heartbeat after which a holder counts as frozen, in milliseconds. */
export const FROZEN_AFTER_MS = 60_000;
/** Maximum gap between two observations, in milliseconds. After a longer gap, the measurement restarts: this process may have been frozen. */
const LOOKS_WITHIN_MS = 5_000;

/** Process that blocks this process. */
export interface Blocker extends TurnHolder {
  /** Unique id of the process. */
  readonly who: string;
  /** Changes with each heartbeat. */
  readonly sign: string;
}

/** Create lock in a store. Each function is one transaction. */
export interface TurnRow {
  /**
   * Takes the create lock if the lock is free, if its holder has ended, or if the holder's last heartbeat is still `frozen`.
   * Otherwise records that this process waits.
   */
  take(request: TurnRequest, frozen?: string): Promise<Turn | Blocker>;
  /** Records a heartbeat if this process still has the create lock. */
  beat(turn: Turn): Promise<void>;
  /** Returns true if another process waits for the create lock. */
  isAwaited(): Promise<boolean>;
  /** Releases the create lock. @returns as {@link isAwaited}. @throws HostformError `store.busy`; this process then keeps the lock. */
  release(turn: Turn): Promise<boolean>;
  /** Records that this process no longer waits. */
  withdraw(): Promise<void>;
  /** Waits until the create lock may be free. Default: 50 ms. */
  wait?(signal?: AbortSignal): Promise<void>;
}

interface TurnQueueOptions {
  readonly clock: Clock;
  /** Called once for each awaited process, after 5 seconds. */
  onWaiting?(holder: TurnHolder): void;
  /** Called when this process has taken the create lock from a frozen process. */
  onTakenOver?(holder: TurnHolder): void;
}

/** Observation of the create lock's holder. Times are monotonic, in milliseconds. */
interface Observed {
  readonly holder: Blocker;
  /** First observation of this holder. `signFrom`: first observation of its last heartbeat. */
  readonly from: number;
  readonly signFrom: number;
  readonly at: number;
}

/** Runs the creates of this process simultaneously under one create lock, and lets other processes in between. */
export class TurnQueue {
  readonly #row: TurnRow;
  readonly #options: TurnQueueOptions;
  #turn: Turn | undefined;
  /** Number of running creates. `#entered`: number of all creates since another process had the lock. */
  #inside = 0;
  #entered = 0;
  /** End of the pause for other processes, monotonic. */
  #othersUntil = 0;
  #observed: Observed | undefined;
  /** Ids of the reported processes. */
  readonly #reported = new Set<string>();
  /** Ends the heartbeats of this process. */
  #beating = new AbortController();
  /** Promise of the last step on the create lock. Steps run one after the other. */
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

  /** Drops a lock that another process has taken over. The next create of this process takes the lock again. */
  lost(turn: Turn): void {
    if (turn !== this.#turn) return;
    this.#turn = undefined;
    this.#inside = 0;
    this.#entered = 0;
    this.#beating.abort();
  }

  /** Ends the heartbeats. The next create lock begins new ones. */
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
        // Count only the wait for other processes.
        since = answer && (since ?? clock.monotonic());
        if (answer) this.#refuseLate(answer, clock.monotonic() - (since ?? 0), request);
        await (answer && this.#row.wait ? this.#row.wait(signal) : clock.sleep(ASK_AGAIN_MS, signal));
      }
    } catch (error) {
      // If the file is busy, the record of the wait stays. No other process depends on this record.
      if (waits) await this.#oneByOne(() => this.#withdraw()).catch(() => {});
      throw error;
    }
  }

  /** Tries to take the create lock for a create. @returns undefined during the pause for other processes. */
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

  /** Measures the holder's time without a heartbeat, and reports a long wait. */
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

  /** Returns the holder if it had no heartbeat for one minute. */
  #frozen(): Blocker | undefined {
    const { holder, signFrom, at } = this.#observed ?? {};
    const now = this.#options.clock.monotonic();
    if (holder === undefined || signFrom === undefined || at === undefined || now - at > LOOKS_WITHIN_MS)
      return undefined;
    return now - signFrom >= FROZEN_AFTER_MS ? holder : undefined;
  }

  /** Withdraws from the wait, unless another create of this process now has the create lock. */
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
      // The next heartbeat retries the release.
      if (!(error instanceof HostformError)) throw error;
    }
  }

  /** Begins the heartbeats of the create lock. */
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

  /** Ends a wait that exceeds its limit. @throws HostformError `store.turn` or `store.busy`. */
  #refuseLate(holder: Blocker, waitedMs: number, { timeoutMs = Number.POSITIVE_INFINITY }: TurnRequest): void {
    const { pid, project, since, file } = holder;
    // No process can take over the file from its holder.
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

/** Sends heartbeats until the signal is aborted. Never rejects. */
async function keepBeating(clock: Clock, signal: AbortSignal, beat: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(BEAT_MS, signal).catch(() => {});
    // A busy file may be free at the next heartbeat.
    if (!signal.aborted) await beat().catch(() => {});
  }
}
