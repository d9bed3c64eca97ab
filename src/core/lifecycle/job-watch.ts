import type { Kind, Remote } from "../kinds/kind.ts";
import { type Clock, isGap, momentOf } from "../model/index.ts";
import type { Account } from "./account.ts";

interface Waiter {
  readonly address: string;
  readonly id: string;
  readonly done: (remote: Remote) => boolean;
  readonly timeoutMs: number;
  /** End of the wait, in milliseconds of the monotonic clock. Undefined until the wait starts. */
  deadline?: number;
  /** An unknown status, and the time of its first reading by the same clock. */
  unclear?: { readonly word: string; readonly since: number };
  resolve(remote: Remote | undefined): void;
  reject(error: unknown): void;
}

interface Queue {
  readonly account: Account;
  readonly kind: Kind;
  readonly parent: string | undefined;
  readonly waiters: Set<Waiter>;
  running: boolean;
}

interface JobWatchOptions {
  readonly clock: Clock;
  /** Default timeout for a job, in milliseconds. */
  readonly timeoutMs: number;
  /** Resolves when all other requests have been sent. Polling and timeouts start only then. */
  readonly idle?: () => Promise<void>;
  /** Signal that ends all waits. */
  readonly stop: AbortSignal;
  /**
   * Called before each poll.
   * @param isGap True if this process slept or a clock was set since the last poll.
   * @returns false to end all waits.
   */
  mayLook?(isGap: boolean): Promise<boolean>;
  onWaiting?(addresses: readonly string[], seconds: number): void;
}

/**
 * Time in milliseconds after which an unchanged unknown status ends the wait. A shorter one may be a running job
 * ("suspending…").
 */
const STEADY_MS = 10_000;
/** Extra time for the response to the last poll, in milliseconds. */
const LAST_LOOK_MS = 900;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** Minimum and maximum pause for each request of a poll, in milliseconds. The limit is 60 requests a minute (§8). */
const LEAST_PAUSE_EACH_MS = 500;
const LONGEST_PAUSE_EACH_MS = 1_000;

/**
 * Returns the pause before the next poll, in milliseconds. The pause increases with each poll and with the number of requests
 * per poll.
 * @param last Previous pause. Undefined before the first poll.
 * @param cost Number of requests per poll.
 */
export function nextPause(last: number | undefined, cost: number): number {
  const grown = last === undefined ? FIRST_PAUSE_MS : last * 1.5;
  const most = Math.max(LONGEST_PAUSE_MS, cost * LONGEST_PAUSE_EACH_MS);
  return Math.min(Math.max(grown, (cost - 1) * LEAST_PAUSE_EACH_MS), most);
}

/**
 * Waits for queued jobs (§3: suspend and unsuspend are asynchronous). All jobs of one list share the requests of a poll, so
 * 100 suspensions need as many polls as one.
 */
export class JobWatch {
  readonly #options: JobWatchOptions;
  readonly #queues = new Map<string, Queue>();

  constructor(options: JobWatchOptions) {
    this.#options = options;
  }

  /**
   * Waits for one job.
   * @returns the object once `done` returns true, or once its status is unknown for 10 s. Undefined after the timeout (plus
   * 0.9 s for the last poll), if the object no longer exists, or if the run or this wait was stopped.
   */
  wait(
    account: Account,
    kind: Kind,
    alias: string,
    {
      timeoutMs = this.#options.timeoutMs,
      stop: own,
      ...waiting
    }: Pick<Waiter, "address" | "id" | "done"> & { timeoutMs?: number | undefined; stop?: AbortSignal },
    parent?: string,
  ): Promise<Remote | undefined> {
    if (own?.aborted || timeoutMs <= 0) return Promise.resolve(undefined);
    const key = JSON.stringify([alias, kind.type, parent]);
    const queue = this.#queues.get(key) ?? { account, kind, parent, waiters: new Set(), running: false };
    this.#queues.set(key, queue);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { ...waiting, timeoutMs, resolve, reject };
      if (this.#options.idle === undefined) waiter.deadline = this.#options.clock.monotonic() + timeoutMs;
      queue.waiters.add(waiter);
      own?.addEventListener("abort", () => queue.waiters.delete(waiter) && resolve(undefined));
      if (!queue.running) void this.#poll(queue);
    });
  }

  async #poll(queue: Queue): Promise<void> {
    const { clock, stop, onWaiting, idle, mayLook } = this.#options;
    const since = clock.monotonic();
    let lookedAt = momentOf(clock);
    queue.running = true;
    for (let pause: number | undefined; queue.waiters.size > 0; ) {
      await idle?.();
      for (const waiter of queue.waiters) waiter.deadline ??= clock.monotonic() + waiter.timeoutMs;
      const cost = queue.account.costOf(queue.kind, queue.waiters.size, queue.parent);
      pause = nextPause(pause, cost);
      const left = Math.max(0, firstDeadline(queue) - clock.monotonic());
      if (!stop.aborted) await clock.sleep(Math.min(pause, left), stop).catch(() => undefined);
      const may = stop.aborted || (await mayLook?.(isGap(lookedAt, clock)));
      if (stop.aborted || queue.waiters.size === 0 || may === false) break;
      lookedAt = momentOf(clock);
      const addresses = [...queue.waiters].map(({ address }) => address);
      onWaiting?.(addresses, (clock.monotonic() - since) / 1000);
      try {
        await this.#lookInTime(queue);
      } catch (error) {
        // The run was stopped. The next run reads the result of the job.
        if (stop.aborted) break;
        for (const waiter of queue.waiters) waiter.reject(error);
        queue.waiters.clear();
      }
    }
    for (const waiter of queue.waiters) waiter.resolve(undefined);
    queue.running = false;
  }

  /** Polls, and ends waits whose deadline passes before the response. */
  async #lookInTime(queue: Queue): Promise<void> {
    const { clock } = this.#options;
    const ended = new AbortController();
    const cut = new AbortController();
    const endLook = async () => {
      await clock.sleep(Math.max(0, firstDeadline(queue) + LAST_LOOK_MS - clock.monotonic()), ended.signal);
      cut.abort();
      for (const waiter of queue.waiters) {
        if ((waiter.deadline ?? Number.POSITIVE_INFINITY) > clock.monotonic()) continue;
        queue.waiters.delete(waiter);
        waiter.resolve(undefined);
      }
    };
    const look = this.#look(queue, cut.signal).catch((error: unknown) => {
      if (!cut.signal.aborted) throw error;
    });
    await Promise.race([look, endLook().catch(() => look)]).finally(() => ended.abort());
  }

  async #look({ account, kind, parent, waiters }: Queue, signal: AbortSignal): Promise<void> {
    const waiting = [...waiters];
    const ids = [...new Set(waiting.map(({ id }) => id))];
    const seen = await account.readAgain(kind, ids, parent, signal);
    for (const waiter of waiting) {
      // Pages may shift while a list is read. Confirm a missing object before it counts as deleted.
      const remote = seen.has(waiter.id) ? seen.get(waiter.id) : await account.get(kind, waiter.id, false, signal);
      const gone = remote === undefined ? kind.get !== undefined : remote.phase === "gone";
      const settled = remote !== undefined && waiter.done(remote);
      const late = this.#options.clock.monotonic() >= (waiter.deadline ?? Number.POSITIVE_INFINITY);
      const unclear = remote?.phase === "unknown" && (this.#isSteady(waiter, remote) || late);
      if (remote?.phase !== "unknown") delete waiter.unclear;
      if (!settled && !gone && !unclear && !late) continue;
      waiters.delete(waiter);
      waiter.resolve(settled || unclear ? remote : undefined);
    }
  }

  #isSteady(waiter: Waiter, { attributes }: Remote): boolean {
    const word = JSON.stringify(attributes.status ?? null);
    const now = this.#options.clock.monotonic();
    if (waiter.unclear?.word !== word) waiter.unclear = { word, since: now };
    return now - waiter.unclear.since >= STEADY_MS;
  }
}

const firstDeadline = ({ waiters }: Queue): number =>
  Math.min(...[...waiters].map(({ deadline = Number.POSITIVE_INFINITY }) => deadline));
