import type { Kind, Remote } from "../kinds/kind.ts";
import { type Clock, isGap, momentOf } from "../model/index.ts";
import type { Account } from "./account.ts";

interface Waiter {
  readonly address: string;
  readonly id: string;
  readonly done: (remote: Remote) => boolean;
  readonly timeoutMs: number;
  /** End of the wait, once it is counted, by the monotonic clock. */
  deadline?: number;
  /** The status that is not understood and since when it is shown, by the same clock. */
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
  /** Default of the longest wait for a job, in milliseconds. */
  readonly timeoutMs: number;
  /** Resolves when nothing else is left to be sent: jobs are looked at, and their time is counted, only from then on. */
  readonly idle?: () => Promise<void>;
  /** Aborted: nothing is waited for any longer. */
  readonly stop: AbortSignal;
  /**
   * Asked before each look. @param isGap this process slept, was stopped, or a clock was set since the last one.
   * @returns false if nothing is waited for any longer.
   */
  mayLook?(isGap: boolean): Promise<boolean>;
  onWaiting?(addresses: readonly string[], seconds: number): void;
}

/**
 * A status that is not understood may be that of a job under way ("suspending…"). One that stays so long is where the job
 * has ended, as far as it can be seen: nothing is waited for any longer.
 */
const STEADY_MS = 10_000;
/** The last look begins at the deadline at the latest. One that takes longer than this from then on is not waited for. */
const LAST_LOOK_MS = 900;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** For each request that a poll takes the pauses are at least, and at most, so long: 60 a minute are all that there are (§8). */
const LEAST_PAUSE_EACH_MS = 500;
const LONGEST_PAUSE_EACH_MS = 1_000;

/**
 * The pause before the next look at queued jobs, in milliseconds: longer each time, and the longer the more requests a look takes.
 * @param last the one before; undefined: there was none.
 */
export function nextPause(last: number | undefined, cost: number): number {
  const grown = last === undefined ? FIRST_PAUSE_MS : last * 1.5;
  const most = Math.max(LONGEST_PAUSE_MS, cost * LONGEST_PAUSE_EACH_MS);
  return Math.min(Math.max(grown, (cost - 1) * LEAST_PAUSE_EACH_MS), most);
}

/**
 * Waits for queued jobs (§3: suspend and unsuspend are not applied synchronously). All jobs of one collection share one
 * listing per poll, which is read until all were seen, and the pauses grow: a hundred suspensions cost no more polls than one.
 */
export class JobWatch {
  readonly #options: JobWatchOptions;
  readonly #queues = new Map<string, Queue>();

  constructor(options: JobWatchOptions) {
    this.#options = options;
  }

  /**
   * @returns the object once `done` says so, or once its status is one that is not understood and stays so; undefined when
   * neither came within the time (and 0.9 s for the last look), it is gone, or the run (or, by its `stop`, this wait) was stopped.
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
        // The job continues without this poll, and the next run sees it.
        if (stop.aborted) break;
        for (const waiter of queue.waiters) waiter.reject(error);
        queue.waiters.clear();
      }
    }
    for (const waiter of queue.waiters) waiter.resolve(undefined);
    queue.running = false;
  }

  /** Looks, and ends the wait of those whose time is over before an answer comes. */
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
      // A page may have shifted while the list was read: what is missing there is confirmed before it counts as gone.
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
