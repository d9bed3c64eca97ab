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
import {
  describeExchange,
  type HttpRequest,
  type HttpResponse,
  type HttpWire,
  isHeld,
  isSuccess,
  nameOfUrl,
  refuseAnswer,
  type WireOptions,
} from "./http-wire.ts";

export interface HttpLock {
  readonly address: URL;
  /** Request method, such as `LOCK`. */
  readonly method: string;
  readonly unlockAddress: URL;
  readonly unlockMethod: string;
}

export interface HttpBackendOptions extends WireOptions, ServerOptions, LockContext {
  readonly address: URL;
  /** Request method of a write, such as `POST`. */
  readonly updateMethod: string;
  readonly lock: HttpLock | undefined;
  /** True continues without a lock. */
  readonly withoutLock: boolean;
  /** Folder of the heartbeat files on this machine. Undefined: no heartbeats. */
  readonly lifeSigns?: string | undefined;
  /** Receives warnings, such as one about a lock that could not be freed. */
  readonly warn: (diagnostic: Diagnostic) => void;
}

const NO_SIGN = "The server does not show when the holder was last alive.";
const PAUSES = { firstMs: 500, longestMs: 10_000 };
/** Longest attempt of an interrupted run to free its lock, in milliseconds. */
const PARTING_MS = 3_000;

/**
 * Lock of a state at a server. The lock survives a kill of its holder, because the server cannot detect the kill. The next run on the
 * same machine detects the kill and frees the lock.
 */
export class HttpStateLock implements StateLock {
  readonly #options: HttpBackendOptions;
  readonly #lock: HttpLock;
  readonly #wire: HttpWire;
  /** Id of the held lock. Each write needs this id. */
  id: string | undefined;
  /** Evidence that another run now has the lock. */
  lost: string | undefined;

  constructor(options: HttpBackendOptions, lock: HttpLock, wire: HttpWire) {
    this.#options = options;
    this.#lock = lock;
    this.#wire = wire;
  }

  async acquire(request: LockRequest): Promise<HeldLock> {
    const { signal } = request;
    const holder = newHolder(this.#options, request.command);
    const notice = encodeHolder(holder, "");
    // Begins before the request for the lock, so that the next run detects any kill after the request.
    const sign = signOf(this.#options, holder.id);
    const end: EndSign = sign === undefined ? () => {} : beginSign(sign);
    try {
      let answer: HttpResponse | undefined;
      const taken = await poll(this.#options.clock, request, PAUSES, async () => {
        answer = await this.#ask(notice, signal);
        if (!isTaken(answer, holder) && (await this.#freeEnded(answer))) answer = await this.#ask(notice, signal);
        return isTaken(answer, holder) || undefined;
      });
      if (taken === undefined) {
        const last = answer as HttpResponse;
        const other = decodeHolder(last.text);
        const unnamed = `${describeExchange(this.#requestOf(notice), last)} The server does not name the holder.`;
        const about = other ? `Held by ${this.#describe(other)}. ${NO_SIGN}` : unnamed;
        const end = waysToEnd(other, this.#options.contender, "If the process hangs, end it.");
        raise("state.locked", { holder: about, end });
      }
      const held = this.#held(holder.id, notice, end);
      if (signal?.aborted) await held.release();
      signal?.throwIfAborted();
      return held;
    } catch (error) {
      // The interruption came before a response, so the server may have locked the state.
      if (signal?.aborted && this.#wire.mayHaveSent())
        await this.#unlock(notice, AbortSignal.timeout(PARTING_MS)).catch(() => end(true));
      end();
      throw error;
    }
  }

  /** Frees the lock of a killed process of this machine. @returns true if the lock was freed. */
  async #freeEnded({ text }: HttpResponse): Promise<boolean> {
    const holder = decodeHolder(text);
    if (holder === undefined) return false;
    const freed = await ifEnded(this.#options, holder.id, () =>
      // Another process may have freed the lock meanwhile. The next attempt then finds the new holder.
      this.#unlock(text).then(
        () => true,
        () => false,
      ),
    );
    if (freed) {
      this.#options.warn(problem("state.locked/freed", { holder: `It was held by ${this.#describe(holder)}.` }));
    }
    return freed ?? false;
  }

  /** @param id id of the lock to free, for a server that does not name the holder. */
  async takeOver(id?: string): Promise<Freed> {
    const own = newHolder(this.#options, "force-unlock");
    const notice = encodeHolder(own, "");
    const answer = await this.#ask(notice);
    if (isTaken(answer, own)) {
      await this.#unlock(notice);
      return { holder: undefined, alive: undefined };
    }
    const holder = decodeHolder(answer.text);
    if (holder === undefined && id === undefined) {
      raise("state.locked/unnamed", { exchange: describeExchange(this.#requestOf(notice), answer) });
    }
    if (holder !== undefined && id !== undefined && holder.id !== id) {
      raise("state.locked/other", { id, holder: `Held by ${this.#describe(holder)}.` });
    }
    const found = holder ?? { id: id ?? "", command: "unknown", who: "unknown", pid: null, since: "unknown" };
    // Sends the server's own description of the lock, because the server may compare more than the id.
    await this.#unlock(holder === undefined ? encodeHolder(found, "") : answer.text);
    return { holder, alive: undefined };
  }

  #requestOf(notice: string): HttpRequest {
    return { method: this.#lock.method, url: this.#lock.address, body: notice };
  }

  /** Requests the lock. Returns the response with the lock's holder. @throws HostformError `state.backend` for any other response. */
  async #ask(notice: string, signal?: AbortSignal): Promise<HttpResponse> {
    const message = this.#requestOf(notice);
    const answer = await this.#wire.ask(message, signal);
    if (isHeld(answer) || isSuccess(answer)) return answer;
    return refuseAnswer("locked", message, answer);
  }

  async #unlock(notice: string, signal?: AbortSignal): Promise<void> {
    const message: HttpRequest = { method: this.#lock.unlockMethod, url: this.#lock.unlockAddress, body: notice };
    const answer = await this.#wire.ask(message, signal);
    // The first of two attempts may have freed the lock, so that the second attempt found no lock.
    if (isSuccess(answer) || (answer.doubtful && answer.status < 500)) return;
    refuseAnswer("freed", message, answer);
  }

  #held(id: string, notice: string, end: EndSign): HeldLock {
    this.id = id;
    this.lost = undefined;
    let released = false;
    return {
      // The server checks the lock's id in each write. The protocol has no other check.
      verify: () => {
        if (released || this.lost !== undefined) raise("state.lost_lock", { holder: this.lost });
      },
      release: async () => {
        if (released) return;
        released = true;
        this.id = undefined;
        // A lost lock belongs to another run and is not freed.
        if (this.lost === undefined) await this.#unlock(notice).catch((error) => this.#warn(id, error));
        end();
      },
    };
  }

  #warn(id: string, error: unknown): void {
    this.#options.warn(problem("state.backend/unlock", { id, reason: messageOf(error) }));
  }

  /**
   * Describes the holder by these fields only: GitLab replaces the holder's other fields with those of the request, except
   * hostform's own.
   */
  #describe(holder: LockHolder): string {
    const { id, who, since, pid } = holder;
    return `${pid === null ? `${who}, since ${since}` : describeHolder(holder, this.#options.clock)}, lock ID ${id}`;
  }
}

/** Creates the replacement for the lock of a backend without lock settings. */
export function noLock({ address, withoutLock }: HttpBackendOptions): StateLock {
  const refuse = (): never => raise("state.backend/no_lock", { place: nameOfUrl(address) });
  const held = { verify: () => undefined, release: () => undefined };
  return { acquire: async () => (withoutLock ? held : refuse()), takeOver: async () => refuse() };
}

/** Returns true if this process has the lock, also if the server reports the lock under our own id: the earlier response was lost. */
function isTaken(answer: HttpResponse, { id }: LockHolder): boolean {
  return isSuccess(answer) || (isHeld(answer) && decodeHolder(answer.text)?.id === id);
}

type Signs = Pick<HttpBackendOptions, "lifeSigns" | "contender">;

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
