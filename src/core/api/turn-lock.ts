/** The turn that processes have one after the other; what one of them does in its turn goes side by side. */
import { type FileLock, takeFileLock } from "../local/index.ts";
import { attempt, type Clock } from "../model/index.ts";

/** How soon to ask again while another process has the turn. */
const ASK_AGAIN_MS = 50;
/** Others that wait get the turn after so many works of one process. */
const WORKS_IN_A_ROW = 20;
/** Longer than it takes them to ask. */
const PAUSE_FOR_OTHERS_MS = 3 * ASK_AGAIN_MS;
/** A longer wait is reported. */
const SAY_AFTER_MS = 5_000;

interface TurnLockOptions {
  readonly clock: Clock;
  /** Takes the lock at a path; undefined when another process has it, `free` when there are no locks. */
  take(path: string): FileLock | "free" | undefined;
  /** Called when this process has the turn. */
  onTaken(): void;
  /** Called before the others may have it. */
  beforeFree(): void;
  /** The lock could not be freed. */
  onFailure(error: unknown): void;
  /** Called once for each wait, when another process keeps this one waiting. */
  readonly onWaiting?: (() => void) | undefined;
}

/**
 * A lock on `FILE.lock`, which the system frees when its holder ends, however it ends. Who waits for it holds another one
 * (`FILE.next`): so its holder knows of it, and goes on without a pause while nobody waits.
 */
export class TurnLock {
  readonly #place: string;
  readonly #options: TurnLockOptions;
  #lock: FileLock | "free" | undefined;
  #next: FileLock | undefined;
  /** Works that have the turn now, and all that have had it since others were last let in, or did not wait. */
  #inside = 0;
  #entered = 0;
  #othersUntil = 0;

  /** @param place FILE. */
  constructor(place: string, options: TurnLockOptions) {
    this.#place = place;
    this.#options = options;
  }

  /** @param signal ends the wait. @throws its reason; `work` was not begun then. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    const { clock, onWaiting } = this.#options;
    const started = clock.now();
    let said = false;
    try {
      for (;;) {
        signal?.throwIfAborted();
        if (this.#mayEnter()) break;
        const isOwnWait = this.#inside > 0 || clock.now() < this.#othersUntil;
        if (!isOwnWait) this.#next ??= this.#takeNext();
        if (!said && clock.now() - started >= SAY_AFTER_MS && !isOwnWait) {
          said = true;
          onWaiting?.();
        }
        await clock.sleep(ASK_AGAIN_MS, signal);
      }
    } finally {
      this.#freeNext();
    }
    this.#inside += 1;
    this.#entered += 1;
  }

  #mayEnter(): boolean {
    if (this.#inside > 0) {
      if (this.#entered >= WORKS_IN_A_ROW && !this.#othersWait()) this.#entered = 0;
      return this.#entered < WORKS_IN_A_ROW;
    }
    if (this.#options.clock.now() < this.#othersUntil) return false;
    this.#lock = this.#options.take(`${this.#place}.lock`);
    if (this.#lock !== undefined) this.#options.onTaken();
    return this.#lock !== undefined;
  }

  #leave(): void {
    this.#inside -= 1;
    if (this.#inside > 0) return;
    this.#options.beforeFree();
    try {
      // Also when files can no longer be used: the lock of the last turn would keep all others waiting.
      if (this.#lock !== "free") this.#lock?.free();
    } catch (error) {
      this.#options.onFailure(error);
    }
    const isLong = this.#entered >= WORKS_IN_A_ROW && this.#othersWait();
    if (isLong) this.#othersUntil = this.#options.clock.now() + PAUSE_FOR_OTHERS_MS;
    this.#entered = 0;
  }

  /** Whether another process waits for the turn; also when that cannot be known. */
  #othersWait(): boolean {
    this.#next ??= this.#takeNext();
    const isFree = this.#next !== undefined;
    this.#freeNext();
    return !isFree;
  }

  #takeNext(): FileLock | undefined {
    return attempt(
      () => takeFileLock(`${this.#place}.next`),
      () => undefined,
    );
  }

  #freeNext(): void {
    const next = this.#next;
    this.#next = undefined;
    attempt(
      () => next?.free(),
      () => {},
    );
  }
}
