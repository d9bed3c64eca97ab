import { ApiError, HostformError } from "../core/model/index.ts";
import type { Host } from "./source.ts";

/** How long the end of a run that was stopped twice may take to be recorded, in ms. A state in a file takes far less. */
export const RECORDING_MS = 4_500;
/** How long the summary may take after that, in ms. */
export const SUMMARY_MS = 400;

const interrupted = (summary: string) => new HostformError([{ severity: "error", code: "interrupted", summary }]);

/**
 * Ctrl-C (SIGINT, SIGTERM) during a plan and its apply.
 *
 * 1. While reading, the first one ends the run: nothing was begun. A second one ends the process.
 * 2. Once applying, the first one stops what has not left; what has is awaited and recorded.
 * 3. The second one ends what is in flight, too. What never left is taken back in the state, the summary is printed, the
 *    lock freed: that takes milliseconds, and where it does not (a state at a server), {@link RECORDING_MS} at most.
 * 4. A third one, or the end of that time: the summary as it is known by then, and the process ends.
 */
export class Interrupts {
  /** Nothing that has not left leaves any more. */
  readonly stop: AbortSignal;
  /** Nothing is awaited of what has left. */
  readonly now: AbortSignal;
  /** Nor is anything that is being recorded. */
  readonly abandon: AbortSignal;
  /** Ctrl-C is nothing to this run any more. */
  readonly end: () => void;
  #applying = false;

  constructor(host: Host) {
    const [stop, now, abandon, over] = [0, 0, 0, 0].map(() => new AbortController()) as Controllers;
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
      // What is still open would keep the process. What is said of the end comes first.
      if (abandon.signal.aborted) setImmediate(() => host.exit(1));
    };
  }

  /** From now on something may have been begun. */
  planned(): void {
    this.#applying = true;
  }

  /** Waits for the end of some work. @returns false when that was given up. */
  async unlessAbandoned(work: Promise<unknown> = Promise.resolve()): Promise<boolean> {
    const { abandon } = this;
    const given = new Promise<boolean>((resolve) => {
      if (abandon.aborted) setImmediate(resolve, false);
      else abandon.addEventListener("abort", () => resolve(false), { once: true });
    });
    return Promise.race([work.then(() => true), given]);
  }
}

type Controllers = [AbortController, AbortController, AbortController, AbortController];

/**
 * Does work that a Ctrl-C may end at once, as nothing is begun that must be finished. The signal reaches the requests
 * under way.
 * @throws HostformError `interrupted`.
 */
export async function interruptible<T>(host: Host, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (host.wasInterrupted()) throw interrupted("Interrupted.");
  const stop = new AbortController();
  const end = host.onInterrupt(() => stop.abort(interrupted("Interrupted.")));
  try {
    return await work(stop.signal);
  } catch (error) {
    // A cancelled request says that it was cancelled, not why; only what may have been changed by it is worth saying.
    const changing = error instanceof ApiError && error.reached !== "no" && !error.endpoint.startsWith("GET ");
    if (!changing) stop.signal.throwIfAborted();
    throw error;
  } finally {
    end();
  }
}
