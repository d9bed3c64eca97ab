// The lock of a state at a server, and its heartbeat. With the heartbeat, the next run frees the lock of a killed run.
import { beginSign, type EndSign, signIn, takeEndedSign } from "../../local/index.ts";
import { problem, raise } from "../../messages/index.ts";
import { type Diagnostic, messageOf } from "../../model/index.ts";
import {
  decodeHolder,
  describeHolder,
  encodeHolder,
  type Freed,
  type HeldLock,
  type LockContext,
  type LockHolder,
  type LockRequest,
  newHolder,
  poll,
  type ServerOptions,
  type StateLock,
  waysToEnd,
} from "../lock.ts";

/** Response of a server to a request for the lock. */
export interface LockAnswer {
  readonly isTaken: boolean;
  /** Notice of the holder. */
  readonly notice: string;
  /** Request and response, for messages. */
  readonly exchange: string;
}

/** Requests for a lock at a server. @throws HostformError `state.backend`. */
export interface LockDoor {
  take(notice: string, signal?: AbortSignal): Promise<LockAnswer>;
  /** Frees the lock of this notice. Accepts a lock that is already free. */
  free(notice: string, signal?: AbortSignal): Promise<void>;
  /** Returns false if no request was sent. */
  mayHaveSent(): boolean;
}

export interface ServerLockOptions extends ServerOptions, LockContext {
  /** Place of the state, for the notice. */
  readonly place?: string;
  /** Folder of the heartbeat files on this machine. Undefined: no heartbeats. */
  readonly lifeSigns?: string | undefined;
  /** Receives warnings, such as one about a lock that could not be freed. */
  readonly warn: (diagnostic: Diagnostic) => void;
}

const NO_SIGN = "The server does not show when the holder was last alive.";
const PAUSES = { firstMs: 500, longestMs: 10_000 };
/** Time limit for an interrupted run to free its lock, in milliseconds. */
const PARTING_MS = 3_000;

/**
 * Lock of a state at a server. The lock survives a kill of its holder, because the server cannot detect the kill. The next run on the
 * same machine detects the kill and frees the lock.
 */
export class ServerLock implements StateLock {
  readonly #options: ServerLockOptions;
  readonly #door: LockDoor;
  /** Id of the held lock. Each write needs this id. */
  id: string | undefined;
  /** Evidence that this run has lost the lock. */
  lost: string | undefined;

  constructor(options: ServerLockOptions, door: LockDoor) {
    this.#options = options;
    this.#door = door;
  }

  async acquire(request: LockRequest): Promise<HeldLock> {
    const { signal } = request;
    const holder = newHolder(this.#options, request.command);
    const notice = this.#noticeOf(holder);
    // Begins before the request for the lock, so that the next run detects any kill after the request.
    const sign = signOf(this.#options, holder.id);
    const end: EndSign = sign === undefined ? () => {} : beginSign(sign);
    try {
      let answer: LockAnswer | undefined;
      const taken = await poll(this.#options.clock, request, PAUSES, async () => {
        answer = await this.#door.take(notice, signal);
        if (!isTaken(answer, holder) && (await this.#freeEnded(answer))) answer = await this.#door.take(notice, signal);
        return isTaken(answer, holder) || undefined;
      });
      if (taken === undefined) {
        const last = answer as LockAnswer;
        const other = decodeHolder(last.notice);
        const unnamed = `${last.exchange} The server does not name the holder.`;
        const about = other ? `Held by ${this.#describe(other)}. ${NO_SIGN}` : unnamed;
        const end = waysToEnd(other, this.#options.contender, "If the process hangs, end it.");
        raise("state.locked", { holder: about, end });
      }
      const held = this.#held(holder.id, notice, end);
      if (signal?.aborted) await held.release();
      signal?.throwIfAborted();
      return held;
    } catch (error) {
      // The run was interrupted before a response, so the server may have locked the state.
      if (signal?.aborted && this.#door.mayHaveSent())
        await this.#door.free(notice, AbortSignal.timeout(PARTING_MS)).catch(() => end(true));
      end();
      throw error;
    }
  }

  /** Frees the lock of a killed process of this machine. @returns true if the lock was freed. */
  async #freeEnded({ notice }: LockAnswer): Promise<boolean> {
    const holder = decodeHolder(notice);
    if (holder === undefined) return false;
    const freed = await ifEnded(this.#options, holder.id, () =>
      // Another process may have freed the lock meanwhile. The next attempt then finds the new holder.
      this.#door.free(notice).then(
        () => true,
        () => false,
      ),
    );
    if (freed) {
      this.#options.warn(problem("state.locked/freed", { holder: `It was held by ${this.#describe(holder)}.` }));
    }
    return freed ?? false;
  }

  /** Frees the lock of any holder. @param id id of the lock, for a server that does not name the holder. */
  async takeOver(id?: string): Promise<Freed> {
    const own = newHolder(this.#options, "force-unlock");
    const notice = this.#noticeOf(own);
    const answer = await this.#door.take(notice);
    if (isTaken(answer, own)) {
      await this.#door.free(notice);
      return { holder: undefined, alive: undefined };
    }
    const holder = decodeHolder(answer.notice);
    if (holder === undefined && id === undefined) raise("state.locked/unnamed", { exchange: answer.exchange });
    if (holder !== undefined && id !== undefined && holder.id !== id) {
      raise("state.locked/other", { id, holder: `Held by ${this.#describe(holder)}.` });
    }
    const found = holder ?? { id: id ?? "", command: "unknown", who: "unknown", pid: null, since: "unknown" };
    // Sends the server's own description of the lock, because the server may compare more than the id.
    await this.#door.free(holder === undefined ? this.#noticeOf(found) : answer.notice);
    return { holder, alive: undefined };
  }

  #noticeOf(holder: LockHolder): string {
    return encodeHolder(holder, this.#options.place ?? "");
  }

  #held(id: string, notice: string, end: EndSign): HeldLock {
    this.id = id;
    this.lost = undefined;
    let released = false;
    return {
      // The server checks the lock in each write. This machine has no other check.
      verify: () => {
        if (released || this.lost !== undefined) raise("state.lost_lock", { holder: this.lost });
      },
      release: async () => {
        if (released) return;
        released = true;
        this.id = undefined;
        // A lost lock belongs to another run and is not freed.
        if (this.lost === undefined) await this.#door.free(notice).catch((error) => this.#warn(id, error));
        end();
      },
    };
  }

  #warn(id: string, error: unknown): void {
    this.#options.warn(problem("state.backend/unlock", { id, reason: messageOf(error) }));
  }

  /**
   * Describes the holder. Uses only hostform's own fields, id, user and time: GitLab replaces all other fields by the fields of the
   * request.
   */
  #describe(holder: LockHolder): string {
    const { id, who, since, pid } = holder;
    return `${pid === null ? `${who}, since ${since}` : describeHolder(holder, this.#options.clock)}, lock ID ${id}`;
  }
}

/** Returns true if this process has the lock. After a lost response, the server reports the lock as held under our own id. */
function isTaken({ isTaken, notice }: LockAnswer, { id }: LockHolder): boolean {
  return isTaken || decodeHolder(notice)?.id === id;
}

type Signs = Pick<ServerLockOptions, "lifeSigns" | "contender">;

/**
 * Returns the path of a heartbeat file of a lock at a server. The name contains the host, because several machines with separate file
 * locks may share the folder.
 */
const signOf = ({ lifeSigns: folder, contender: { host } }: Signs, id: string): string | undefined =>
  folder && signIn(folder, `${host}\n${id}`);

/** Runs `work` if the lock's holder was a process of this machine and has ended. Only one process at a time runs `work`. */
async function ifEnded<T>(options: Signs, id: string, work: () => Promise<T>): Promise<T | undefined> {
  const file = signOf(options, id);
  const lock = file && takeEndedSign(file);
  if (!lock) return undefined;
  try {
    return await work();
  } finally {
    lock.free();
  }
}
