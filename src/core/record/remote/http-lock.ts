// The lock of a state at a server, and the signs of life by which the next run frees that of one that was killed.
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
  /** `LOCK`, or what the server wants. */
  readonly method: string;
  readonly unlockAddress: URL;
  readonly unlockMethod: string;
}

export interface HttpBackendOptions extends WireOptions, ServerOptions, LockContext {
  readonly address: URL;
  /** `POST`, or what the server wants. */
  readonly updateMethod: string;
  readonly lock: HttpLock | undefined;
  /** Go on although there is no lock. */
  readonly withoutLock: boolean;
  /** Folder in which processes of this machine see that a lock's holder was killed. Undefined: none. */
  readonly lifeSigns?: string | undefined;
  /** Receives what the user should know although nothing failed: a lock that could not be freed. */
  readonly warn: (diagnostic: Diagnostic) => void;
}

const NO_SIGN = "The server does not show when the holder was last alive.";
const PAUSES = { firstMs: 500, longestMs: 10_000 };
/** Time in which an interrupted run tries to free its lock. */
const PARTING_MS = 3_000;

/**
 * The lock of a state at a server. It stays when its holder is killed: the server cannot know. The next run on the same
 * machine does, and frees it.
 */
export class HttpStateLock implements StateLock {
  readonly #options: HttpBackendOptions;
  readonly #lock: HttpLock;
  readonly #wire: HttpWire;
  /** The id of the lock that is held, which each write has to name. */
  id: string | undefined;
  /** Why it is known that the lock is another's now. */
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
    // Before the lock is asked for: killed at any moment after it, this process is known to be gone.
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
      // Interrupted while the server had not answered: it may have locked the state all the same.
      if (signal?.aborted && this.#wire.mayHaveSent())
        await this.#unlock(notice, AbortSignal.timeout(PARTING_MS)).catch(() => end(true));
      end();
      throw error;
    }
  }

  /** Frees the lock of a process of this machine that was killed. @returns whether it did. */
  async #freeEnded({ text }: HttpResponse): Promise<boolean> {
    const holder = decodeHolder(text);
    if (holder === undefined) return false;
    const freed = await ifEnded(this.#options, holder.id, () =>
      // Another process may have freed it meanwhile; then the next attempt shows who has it.
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

  /** @param id of the lock to free, for a server that does not say who holds it. */
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
    // The server's own words about the lock, where it has some: it may compare more of them than the id.
    await this.#unlock(holder === undefined ? encodeHolder(found, "") : answer.text);
    return { holder, alive: undefined };
  }

  #requestOf(notice: string): HttpRequest {
    return { method: this.#lock.method, url: this.#lock.address, body: notice };
  }

  /** One answer that says whether the lock is ours or another's. @throws HostformError `state.backend` for any other. */
  async #ask(notice: string, signal?: AbortSignal): Promise<HttpResponse> {
    const message = this.#requestOf(notice);
    const answer = await this.#wire.ask(message, signal);
    if (isHeld(answer) || isSuccess(answer)) return answer;
    return refuseAnswer("locked", message, answer);
  }

  async #unlock(notice: string, signal?: AbortSignal): Promise<void> {
    const message: HttpRequest = { method: this.#lock.unlockMethod, url: this.#lock.unlockAddress, body: notice };
    const answer = await this.#wire.ask(message, signal);
    // The first of two attempts may have freed it, and the second found nothing to free.
    if (isSuccess(answer) || (answer.doubtful && answer.status < 500)) return;
    refuseAnswer("freed", message, answer);
  }

  #held(id: string, notice: string, end: EndSign): HeldLock {
    this.id = id;
    this.lost = undefined;
    let released = false;
    return {
      // The server says so with each write, as that names the lock. There is no other way to ask.
      verify: () => {
        if (released || this.lost !== undefined) raise("state.lost_lock", { holder: this.lost });
      },
      release: async () => {
        if (released) return;
        released = true;
        this.id = undefined;
        // Never free the lock of another run.
        if (this.lost === undefined) await this.#unlock(notice).catch((error) => this.#warn(id, error));
        end();
      },
    };
  }

  #warn(id: string, error: unknown): void {
    this.#options.warn(problem("state.backend/unlock", { id, reason: messageOf(error) }));
  }

  /** GitLab repeats the asker's own fields in place of the holder's, all but these three and what only hostform sends. */
  #describe(holder: LockHolder): string {
    const { id, who, since, pid } = holder;
    return `${pid === null ? `${who}, since ${since}` : describeHolder(holder, this.#options.clock)}, lock ID ${id}`;
  }
}

/** In place of the lock of a backend that is declared without one. */
export function noLock({ address, withoutLock }: HttpBackendOptions): StateLock {
  const refuse = (): never => raise("state.backend/no_lock", { place: nameOfUrl(address) });
  const held = { verify: () => undefined, release: () => undefined };
  return { acquire: async () => (withoutLock ? held : refuse()), takeOver: async () => refuse() };
}

/** The lock is ours also when the server says that it is held under our own id: the answer to an earlier attempt was lost. */
function isTaken(answer: HttpResponse, { id }: LockHolder): boolean {
  return isSuccess(answer) || (isHeld(answer) && decodeHolder(answer.text)?.id === id);
}

type Signs = Pick<HttpBackendOptions, "lifeSigns" | "contender">;

/**
 * The sign of life of a process of this machine that holds a lock at a server, which itself cannot know. The name contains the
 * host: a folder may be shared by several machines whose locks on files do not see each other.
 */
const signOf = ({ lifeSigns: folder, contender: { host } }: Signs, id: string): string | undefined =>
  folder && signIn(folder, `${host}\n${id}`);

/** Does `work` if the lock was held by a process of this machine that has ended; for one process at a time. */
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
