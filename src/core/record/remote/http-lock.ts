import type { Clock } from "../../model/index.ts";
import { fail } from "../../model/index.ts";
import type { LockHolder } from "../holder.ts";
import { decodeHolder, describeHolder, encodeHolder } from "../holder.ts";
import type { Freed, HeldLock, LockRequest, StateLock } from "../lock.ts";
import { describeExchange, isHeld, isPage, isSuccess, refuseAnswer, unreachable } from "./http-answers.ts";
import { type EndSign, LifeSigns } from "./http-life.ts";
import type { HttpHold, HttpLock, HttpPlaceOptions } from "./http-options.ts";
import type { Answer, HttpWire, Message } from "./http-wire.ts";
import { nameOfUrl } from "./http-wire.ts";

const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 10_000;
/** So long an interrupted run tries to free what it may have locked. */
const PARTING_MS = 3_000;

/**
 * The lock of a state at a server. It stays when its holder is killed: the server cannot know. The next run on the same
 * machine does, and frees it.
 */
export class HttpStateLock implements StateLock {
  readonly #options: HttpPlaceOptions;
  readonly #wire: HttpWire;
  readonly #hold: HttpHold;
  readonly #life: LifeSigns | undefined;

  constructor(options: HttpPlaceOptions, wire: HttpWire, hold: HttpHold) {
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
  async #freeEnded(lock: HttpLock, { text }: Answer): Promise<boolean> {
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
        fix: "Nothing to do: what that run had begun is recorded, and this one goes on from there.",
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
    const { clock, contender, uuid } = this.#options;
    const who = `${contender.user}@${contender.host}`;
    const holder = { id: uuid(), command, who, pid: contender.pid, since: new Date(clock.now()).toISOString() };
    return { holder, notice: encodeHolder(holder, "") };
  }

  #messageOf({ address, method }: HttpLock, notice: string): Message {
    return { method, url: address, body: notice };
  }

  /** One answer that says whether the lock is ours or another's. @throws HostformError `state.backend` for any other. */
  async #lock(lock: HttpLock, notice: string, signal?: AbortSignal): Promise<Answer> {
    const message = this.#messageOf(lock, notice);
    const name = nameOfUrl(lock.address);
    const answer = await this.#wire.send(message, signal).catch((error: unknown) => unreachable(name, error));
    if (isHeld(answer) || (isSuccess(answer) && !isPage(answer))) return answer;
    return refuseAnswer("locked", message, answer);
  }

  async #unlock({ unlockAddress, unlockMethod }: HttpLock, notice: string, signal?: AbortSignal): Promise<void> {
    const message: Message = { method: unlockMethod, url: unlockAddress, body: notice };
    const name = nameOfUrl(unlockAddress);
    const answer = await this.#wire.send(message, signal).catch((error: unknown) => unreachable(name, error));
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
          fix: "Run plan to see where things stand.",
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
      fix: "Free it: `hostform force-unlock`. Until then, the next run finds the state locked.",
    });
  }

  #refuseWithout(): never {
    fail("state.backend", "The backend has no lock, so nothing keeps two runs apart", {
      detail: `${nameOfUrl(this.#options.address)} is declared without \`lock_address\`.`,
      fix: "Set `lock_address` and `unlock_address`: at GitLab the address with `/lock` at its end. If something else keeps runs apart, set `without_lock: true`.",
    });
  }
}

const noLock: HeldLock = { verify: () => undefined, release: () => undefined };

/** The lock is ours also when the server says that it is held under our own id: the answer to an earlier attempt was lost. */
function isTaken(answer: Answer, { id }: LockHolder): boolean {
  return isSuccess(answer) || (isHeld(answer) && decodeHolder(answer.text)?.id === id);
}

function refuseHeld(answer: Answer, message: Message, clock: Clock): never {
  const holder = decodeHolder(answer.text);
  const detail = holder
    ? `Held by ${describe(holder, clock)}.`
    : `${describeExchange(message, answer)} It does not say who.`;
  return fail("state.locked", "Another process holds the state", {
    detail,
    fix: "Wait for it (`--lock-timeout 5m`). If it was killed or hangs, end it, then `hostform force-unlock`.",
  });
}

/** GitLab repeats the asker's own fields in place of the holder's, all but these three and what only hostform sends. */
function describe(holder: LockHolder, clock: Clock): string {
  const { id, who, since, pid } = holder;
  return `${pid === null ? `${who}, since ${since}` : describeHolder(holder, clock)}, lock ID ${id}`;
}

function refuseUnnamed(message: Message, answer: Answer): never {
  return fail("state.locked", "The server does not say who holds the state", {
    detail: describeExchange(message, answer),
    fix: "Name the lock: `hostform force-unlock LOCK-ID`. The holder was told the id, and the server's log may have it.",
  });
}

function refuseOther(holder: LockHolder, id: string, clock: Clock): never {
  return fail("state.locked", "The state is held under another lock ID", {
    detail: `Given: ${id}. Held by ${describe(holder, clock)}.`,
    fix: "Look again who it is: it is not the one that you meant.",
  });
}
