import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileLock, makeFolder, takeFileLock } from "../../local/index.ts";
import { type Clock, type Diagnostic, fail } from "../../model/index.ts";
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
  type StateLock,
} from "../lock.ts";
import {
  describeExchange,
  type HttpRequest,
  type HttpResponse,
  type HttpWire,
  isHeld,
  isPage,
  isSuccess,
  nameOfUrl,
  refuseAnswer,
  type WireOptions,
} from "./http-wire.ts";

/** How the state is locked and freed. */
export interface HttpLock {
  readonly address: URL;
  /** `LOCK`, or what the server wants. */
  readonly method: string;
  readonly unlockAddress: URL;
  readonly unlockMethod: string;
}

export interface HttpBackendOptions extends WireOptions, LockContext {
  readonly address: URL;
  /** `POST`, or what the server wants. */
  readonly updateMethod: string;
  readonly lock: HttpLock | undefined;
  /** Go on although there is no lock. */
  readonly withoutLock: boolean;
  /** Where processes of this machine see that one of them was killed that held a lock; undefined: nowhere. */
  readonly lifeSigns?: string | undefined;
  /** Ends the first reading of the state. */
  readonly signal?: AbortSignal | undefined;
  /** Told what the user should know although nothing failed: a lock that could not be freed. */
  readonly warn: (diagnostic: Diagnostic) => void;
  /** Keeps a state that the server does not take where the user finds it. */
  readonly keep?: ((text: string) => Promise<void>) | undefined;
}

/** What text and lock of one place share: the lock that is held at the server. */
export interface HttpHold {
  /** The id of the lock, which each write has to name. */
  id: string | undefined;
  /** Why it is known that the lock is another's now. */
  lost: string | undefined;
}

const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 10_000;
/** So long an interrupted run tries to free what it may have locked. */
const PARTING_MS = 3_000;

/**
 * The lock of a state at a server. It stays when its holder is killed: the server cannot know. The next run on the same
 * machine does, and frees it.
 */
export class HttpStateLock implements StateLock {
  readonly #options: HttpBackendOptions;
  readonly #wire: HttpWire;
  readonly #hold: HttpHold;
  readonly #life: LifeSigns | undefined;

  constructor(options: HttpBackendOptions, wire: HttpWire, hold: HttpHold) {
    this.#options = options;
    this.#wire = wire;
    this.#hold = hold;
    const { lifeSigns, contender } = options;
    this.#life = lifeSigns === undefined ? undefined : new LifeSigns(lifeSigns, contender.host);
  }

  async acquire({ command, timeoutMs, signal }: LockRequest): Promise<HeldLock> {
    const { lock, clock, withoutLock } = this.#options;
    if (lock === undefined) return withoutLock ? noLock : this.#refuseWithout();
    const { holder, notice } = this.#notice(command);
    // Before the lock is asked for: killed at any moment after it, this process is known to be gone.
    const end = this.#life?.begin(holder.id) ?? (() => undefined);
    try {
      const start = clock.now();
      for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
        signal?.throwIfAborted();
        let answer = await this.#lock(lock, notice, signal);
        if (!isTaken(answer, holder) && (await this.#freeEnded(lock, answer)))
          answer = await this.#lock(lock, notice, signal);
        if (isTaken(answer, holder)) return await this.#taken(lock, notice, { holder, signal, end });
        const left = start + timeoutMs - clock.now();
        if (left <= 0) return refuseHeld(answer, this.#messageOf(lock, notice), clock);
        await clock.sleep(Math.min(pause, left), signal);
      }
    } catch (error) {
      // Interrupted while the server had not answered: it may have locked the state all the same.
      if (signal?.aborted) await this.#unlock(lock, notice, AbortSignal.timeout(PARTING_MS)).catch(() => end(true));
      end();
      throw error;
    }
  }

  /** Frees the lock of a process of this machine that was killed. @returns whether it did. */
  async #freeEnded(lock: HttpLock, { text }: HttpResponse): Promise<boolean> {
    const holder = decodeHolder(text);
    if (holder === undefined || this.#life === undefined) return false;
    let freed = false;
    await this.#life.ifEnded(holder.id, async () => {
      // Somebody may have freed it meanwhile; then the next attempt shows who has it.
      freed = await this.#unlock(lock, text).then(
        () => true,
        () => false,
      );
    });
    if (freed) {
      this.#options.warn({
        severity: "warning",
        code: "state.locked",
        summary: "The lock of an earlier run on this machine, which was killed, was freed",
        detail: `It was held by ${describe(holder, this.#options.clock)}.`,
        remedies: ["Nothing to do: what that run had begun is recorded, and this one goes on from there."],
      });
    }
    return freed;
  }

  /** @param id of the lock to free, for a server that does not say who holds it. */
  async takeOver(id?: string): Promise<Freed> {
    const { lock } = this.#options;
    if (lock === undefined) return this.#refuseWithout();
    const { holder: own, notice } = this.#notice("force-unlock");
    const answer = await this.#lock(lock, notice);
    if (isTaken(answer, own)) {
      await this.#unlock(lock, notice);
      return { holder: undefined, alive: undefined };
    }
    const holder = decodeHolder(answer.text);
    if (holder === undefined && id === undefined) return refuseUnnamed(this.#messageOf(lock, notice), answer);
    if (holder !== undefined && id !== undefined && holder.id !== id)
      return refuseOther(holder, id, this.#options.clock);
    const found = holder ?? { id: id ?? "", command: "unknown", who: "unknown", pid: null, since: "unknown" };
    // The server's own words about the lock, where it has some: it may compare more of them than the id.
    await this.#unlock(lock, holder === undefined ? encodeHolder(found, "") : answer.text);
    return { holder, alive: undefined };
  }

  #notice(command: string): { readonly holder: LockHolder; readonly notice: string } {
    const holder = newHolder(this.#options, command);
    return { holder, notice: encodeHolder(holder, "") };
  }

  #messageOf({ address, method }: HttpLock, notice: string): HttpRequest {
    return { method, url: address, body: notice };
  }

  /** One answer that says whether the lock is ours or another's. @throws HostformError `state.backend` for any other. */
  async #lock(lock: HttpLock, notice: string, signal?: AbortSignal): Promise<HttpResponse> {
    const message = this.#messageOf(lock, notice);
    const answer = await this.#wire.ask(message, signal);
    if (isHeld(answer) || (isSuccess(answer) && !isPage(answer))) return answer;
    return refuseAnswer("locked", message, answer);
  }

  async #unlock({ unlockAddress, unlockMethod }: HttpLock, notice: string, signal?: AbortSignal): Promise<void> {
    const message: HttpRequest = { method: unlockMethod, url: unlockAddress, body: notice };
    const answer = await this.#wire.ask(message, signal);
    // The first of two attempts may have freed it, and the second found nothing to free.
    if ((isSuccess(answer) && !isPage(answer)) || (answer.doubtful && answer.status < 500)) return;
    refuseAnswer("freed", message, answer);
  }

  async #taken(
    lock: HttpLock,
    notice: string,
    { holder: { id }, signal, end }: { holder: LockHolder; signal: AbortSignal | undefined; end: EndSign },
  ): Promise<HeldLock> {
    this.#hold.id = id;
    this.#hold.lost = undefined;
    let released = false;
    const held: HeldLock = {
      // The server says so with each write, as that names the lock. There is no other way to ask.
      verify: () => {
        if (!released && this.#hold.lost === undefined) return;
        fail("state.lost_lock", "The lock on the state was taken over while this process ran", {
          ...(this.#hold.lost !== undefined && { detail: this.#hold.lost }),
          remedies: ["Run plan to see where things stand."],
        });
      },
      release: async () => {
        if (released) return;
        released = true;
        this.#hold.id = undefined;
        // What is another's is not to be freed.
        if (this.#hold.lost === undefined) await this.#unlock(lock, notice).catch((error) => this.#warn(id, error));
        end();
      },
    };
    if (signal?.aborted) {
      await held.release();
      signal.throwIfAborted();
    }
    return held;
  }

  #warn(id: string, error: unknown): void {
    this.#options.warn({
      severity: "warning",
      code: "state.backend",
      summary: "The lock on the state could not be freed",
      detail: `Lock ID ${id}: ${error instanceof Error ? error.message : String(error)}`,
      remedies: ["Free it: `hostform force-unlock`. Until then, the next run finds the state locked."],
    });
  }

  #refuseWithout(): never {
    fail("state.backend", "The backend has no lock, so nothing keeps two runs apart", {
      detail: `${nameOfUrl(this.#options.address)} is declared without \`lock_address\`.`,
      remedies: [
        "Set `lock_address` and `unlock_address`: at GitLab the address with `/lock` at its end. If something else keeps runs apart, set `without_lock: true`.",
      ],
    });
  }
}

const noLock: HeldLock = { verify: () => undefined, release: () => undefined };

/** The lock is ours also when the server says that it is held under our own id: the answer to an earlier attempt was lost. */
function isTaken(answer: HttpResponse, { id }: LockHolder): boolean {
  return isSuccess(answer) || (isHeld(answer) && decodeHolder(answer.text)?.id === id);
}

function refuseHeld(answer: HttpResponse, message: HttpRequest, clock: Clock): never {
  const holder = decodeHolder(answer.text);
  const detail = holder
    ? `Held by ${describe(holder, clock)}.`
    : `${describeExchange(message, answer)} It does not say who.`;
  return fail("state.locked", "Another process holds the state", {
    detail,
    remedies: ["Wait for it (`--lock-timeout 5m`). If it was killed or hangs, end it, then `hostform force-unlock`."],
  });
}

/** GitLab repeats the asker's own fields in place of the holder's, all but these three and what only hostform sends. */
function describe(holder: LockHolder, clock: Clock): string {
  const { id, who, since, pid } = holder;
  return `${pid === null ? `${who}, since ${since}` : describeHolder(holder, clock)}, lock ID ${id}`;
}

function refuseUnnamed(message: HttpRequest, answer: HttpResponse): never {
  return fail("state.locked", "The server does not say who holds the state", {
    detail: describeExchange(message, answer),
    remedies: [
      "Name the lock: `hostform force-unlock LOCK-ID`. The holder was told the id, and the server's log may have it.",
    ],
  });
}

function refuseOther(holder: LockHolder, id: string, clock: Clock): never {
  return fail("state.locked", "The state is held under another lock ID", {
    detail: `Given: ${id}. Held by ${describe(holder, clock)}.`,
    remedies: ["Look again who it is: it is not the one that you meant."],
  });
}

/** A sign that nobody has asked about for so long stands for a lock that was freed otherwise. */
const KEPT_MS = 30 * 24 * 3_600_000;

/** Ends a sign. @param locked the lock may be held at the server all the same: the next process is to free it. */
export type EndSign = (locked?: true) => void;

/**
 * Signs of life of the processes of this machine that hold a lock at a server, which itself cannot know: a file for each,
 * locked by the system for as long as the process lives, however it ends. A process that finds the lock taken asks whether its
 * holder was a process of this machine that has ended.
 */
export class LifeSigns {
  readonly #folder: string;
  readonly #host: string;

  /** @param host its name: a folder may be shared by several machines whose locks on files do not see each other. */
  constructor(folder: string, host: string) {
    this.#folder = folder;
    this.#host = host;
  }

  /**
   * Gives a sign for a lock that is about to be asked for.
   * @returns ends it. Where no sign can be given there is none: the lock then stays when this process is killed.
   */
  begin(id: string): EndSign {
    const file = this.#fileOf(id);
    let fileLock: FileLock | undefined;
    try {
      makeFolder(this.#folder);
      this.#sweep();
      fileLock = takeFileLock(file);
    } catch {
      // A state folder that cannot be used is said by the ledger.
    }
    return (locked) => {
      if (fileLock === undefined) return;
      fileLock.free();
      fileLock = undefined;
      if (locked) writeFileSync(file, "", { mode: 0o600 });
    };
  }

  /** Does `work` if the lock was held by a process of this machine that has ended; for one process at a time. */
  async ifEnded(id: string, work: () => Promise<void>): Promise<boolean> {
    const fileLock = this.#leftBy(id);
    if (fileLock === undefined) return false;
    try {
      await work();
      return true;
    } finally {
      fileLock.free();
    }
  }

  #leftBy(id: string): FileLock | undefined {
    const file = this.#fileOf(id);
    try {
      return existsSync(file) ? takeFileLock(file) : undefined;
    } catch {
      return undefined;
    }
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${createHash("sha256").update(`${this.#host}\n${id}`).digest("hex").slice(0, 32)}.lock`);
  }

  #sweep(): void {
    for (const name of readdirSync(this.#folder)) {
      const file = join(this.#folder, name);
      const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
      if (Date.now() - mtimeMs > KEPT_MS) takeFileLock(file)?.free();
    }
  }
}
