import { ApiError, HostformError } from "../core/model/index.ts";
import type { Host } from "./source.ts";

/** Time limit of the last state write after the second Ctrl-C, in milliseconds. A local state needs much less. */
export const RECORDING_MS = 4_500;
/** Time limit of the summary that follows, in milliseconds. */
export const SUMMARY_MS = 400;

const interrupted = (summary: string) => new HostformError([{ severity: "error", code: "interrupted", summary }]);

/**
 * Handles Ctrl-C (SIGINT, SIGTERM) during a plan and its apply.
 *
 * 1. During the plan, the first press ends the run. The second press ends the process.
 * 2. During the apply, the first press stops requests that are not sent yet. The run waits for requests in progress and saves
 * their results.
 * 3. The second press cancels requests in progress. The run saves them as pending, prints the summary and releases the lock.
 * A local state needs milliseconds, a remote state at most {@link RECORDING_MS}.
 * 4. A third press, or the end of this time, prints the summary and ends the process.
 */
export class Interrupts {
  /** Aborted when no more requests may be sent. */
  readonly stop: AbortSignal;
  /** Aborted when requests in progress are cancelled. */
  readonly now: AbortSignal;
  /** Aborted when the run no longer waits for state writes. */
  readonly abandon: AbortSignal;
  /** Stops the handling of Ctrl-C. */
  readonly end: () => void;
  #applying = false;

  constructor(host: Host) {
    const stop = new AbortController();
    const now = new AbortController();
    const abandon = new AbortController();
    const over = new AbortController();
    this.stop = stop.signal;
    this.now = now.signal;
    this.abandon = abandon.signal;
    const later = (ms: number, step: () => void) => void host.clock.sleep(ms, over.signal).then(step, () => undefined);
    const giveUp = () => {
      abandon.abort();
      later(SUMMARY_MS, () => host.exit(1));
    };
    const press = () => {
      if (abandon.signal.aborted || (now.signal.aborted && !this.#applying)) host.exit(1);
      else if (now.signal.aborted) giveUp();
      else if (!this.#applying) now.abort(interrupted("Interrupted. Nothing was changed."));
      else if (stop.signal.aborted) {
        now.abort(interrupted("Interrupted twice."));
        later(RECORDING_MS, giveUp);
      }
      stop.abort();
    };
    if (host.wasInterrupted()) press();
    const off = host.onInterrupt(press);
    this.end = () => {
      off();
      over.abort();
      // Exit explicitly after the summary, because open handles would keep the process alive.
      if (abandon.signal.aborted) setImmediate(() => host.exit(1));
    };
  }

  /** Called at the start of the apply. */
  planned(): void {
    this.#applying = true;
  }

  /** Waits for a task. @returns false if the wait was abandoned. */
  async unlessAbandoned(work: Promise<unknown> = Promise.resolve()): Promise<boolean> {
    const { abandon } = this;
    const given = new Promise<boolean>((resolve) => {
      if (abandon.aborted) setImmediate(resolve, false);
      else abandon.addEventListener("abort", () => resolve(false), { once: true });
    });
    return Promise.race([work.then(() => true), given]);
  }
}

/** Runs a task that Ctrl-C ends at once. @param work Its signal cancels requests. @throws HostformError `interrupted`. */
export async function interruptible<T>(host: Host, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (host.wasInterrupted()) throw interrupted("Interrupted.");
  const stop = new AbortController();
  const end = host.onInterrupt(() => stop.abort(interrupted("Interrupted.")));
  try {
    return await work(stop.signal);
  } catch (error) {
    // A cancelled write may have changed the account, so report its error instead.
    const changing = error instanceof ApiError && error.reached !== "no" && !error.endpoint.startsWith("GET ");
    if (!changing) stop.signal.throwIfAborted();
    throw error;
  } finally {
    end();
  }
}
