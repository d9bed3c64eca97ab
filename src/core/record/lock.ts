// Mutual exclusion of the writers of one state: what every lock promises, who holds it, and the lock of a state file.
import * as z from "zod";
import { create, exists, lookAt, readNow, remove, rename, setTime } from "../files/index.ts";
import { type FileLock, isAlive, NotALockFile, takeFileLock } from "../local/index.ts";
import { raise } from "../messages/index.ts";
import { attempt, type Clock, errnoOf, HostformError, messageOf, parsedJson, wakeOrEnd } from "../model/index.ts";
import { filesOfState } from "./state-file.ts";

export interface LockRequest {
  /** The command that asks, for the one that finds the lock taken: `apply`. */
  readonly command: string;
  /** Wait for the present holder, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HeldLock {
  /** Checks what shows on this machine, right before each write and request. @throws HostformError `state.lost_lock`. */
  verify(): void;
  /** Asks the server of the state, too. Absent: `verify` is proof. @throws HostformError `state.lost_lock`, `state.backend`. */
  prove?(): Promise<void>;
  /** Never throws; releasing twice is no error. */
  release(): void | Promise<void>;
}

/** A lock that was freed, and what is known of the one who had it. */
export interface Freed {
  readonly holder: LockHolder | undefined;
  readonly alive: boolean | undefined;
  readonly fenced?: true;
}

/** Mutual exclusion of writers of one state. */
export interface StateLock {
  /** @throws HostformError `state.locked` naming the holder; the signal's reason when aborted. */
  acquire(request: LockRequest): Promise<HeldLock>;
  /**
   * Frees the lock, no matter who holds it. `alive` says whether it was taken from a living process; undefined where that cannot
   * be known. `fenced`: whether the former holder certainly cannot write any more.
   * @param id of the lock that is meant, when another is not to be freed.
   * @throws HostformError `state.locked` when the lock has another id.
   */
  takeOver(id?: string): Promise<Freed>;
  /** Describes the present holder, and keeps nothing from anybody; undefined if nobody holds it. Absent: only `acquire` shows it. */
  heldBy?(): string | undefined;
}

export interface LockContext {
  readonly clock: Clock;
  /** A fresh UUID at each call. */
  readonly uuid: () => string;
  readonly contender: Contender;
}

/** Common options of the backends at a server. */
export interface ServerOptions extends Omit<LockContext, "uuid"> {
  readonly signal?: AbortSignal | undefined;
  /** Keeps a state that the server does not take where the user finds it. */
  readonly keep?: ((text: string) => Promise<void>) | undefined;
}

/**
 * Contenders disturb each other for an instant while they try; this long a free lock is tried again before it is
 * called taken, whatever the timeout.
 */
const GRACE_MS = 200;
/** The holder dates its notice again this often, while it writes and sends. */
const SIGN_MS = 1000;
const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 1000;

/**
 * The lock of a state file: `.NAME.lock` beside it, held by the operating system, and `.NAME.lock.info`, a notice that
 * names the holder and has Terraform's form and place. A notice of Terraform's own is respected.
 * @param statePath the state file, symbolic links followed.
 */
export function createStateFileLock(statePath: string, context: LockContext): StateLock {
  const { clock, contender } = context;
  const { lock: path, notice: noticePath } = filesOfState(statePath);
  // Two that disturbed each other would do so again after the same pause. They are processes of one machine, so that their
  // numbers differ, often by one: multiplied by the golden ratio, neighbours end up far apart. From 0.5 to 1.5.
  const spread = 0.5 + ((contender.pid * 0.618_033_988_75) % 1);

  const readNotice = (): LockHolder | undefined => {
    try {
      const notice = lookAt(noticePath);
      const holder = decodeHolder(readNow(noticePath, { links: false }).toString());
      // Terraform writes its notice once.
      if (notice === undefined || holder?.pid === null) return holder;
      return holder && { ...holder, lastAlive: new Date(notice.writtenAt).toISOString() };
    } catch {
      return undefined;
    }
  };

  const take = (command: string): HeldLock | undefined => {
    const fileLock = takeFileLock(path);
    if (fileLock === undefined) return undefined;
    try {
      if (readNotice()?.pid === null) {
        fileLock.free();
        return undefined;
      }
      const holder = newHolder(context, command);
      const temporary = `${noticePath}.${holder.id}`;
      create(temporary, encodeHolder(holder, statePath), 0o600);
      rename(temporary, noticePath);
      return hold(fileLock, holder);
    } catch (error) {
      fileLock.free();
      throw error;
    }
  };

  const hold = (fileLock: FileLock, holder: LockHolder): HeldLock => {
    let released = false;
    let shownAt = clock.now();
    const showLife = (at: number) => {
      if (at - shownAt < SIGN_MS) return;
      shownAt = at;
      const quietly = () => undefined;
      attempt(() => setTime(noticePath, at), quietly);
    };
    return {
      verify: () => {
        const now = readNotice();
        if (!released && fileLock.isCurrent() && (now === undefined || now.id === holder.id))
          return showLife(clock.now());
        raise("state.lost_lock", { holder: now && `Now: ${describeHolder(now, clock)}.` });
      },
      release: () => {
        if (released) return;
        released = true;
        if (readNotice()?.id === holder.id) remove(noticePath);
        fileLock.free();
      },
    };
  };

  return {
    heldBy: () => {
      const holder = readNotice();
      const isTerraform = holder?.pid === null;
      const free = isTerraform || !exists(path) ? undefined : takeFileLock(path);
      free?.free();
      if (!isTerraform && (free !== undefined || !exists(path))) return undefined;
      return holder === undefined ? "an unknown process" : describeHolder(holder, clock);
    },
    acquire: async ({ command, timeoutMs, signal }) => {
      const pauses = { firstMs: FIRST_POLL_MS * spread, longestMs: LONGEST_POLL_MS * spread };
      const request = { timeoutMs: Math.max(timeoutMs, GRACE_MS), signal };
      const held = await poll(clock, request, pauses, () => explained(path, () => take(command)));
      return held ?? refuse(readNotice(), context, noticePath);
    },
    takeOver: async (id) =>
      explained(path, () => {
        const holder = readNotice();
        if (id !== undefined && id !== holder?.id) {
          const held = holder && `Held under ${holder.id} by ${describeHolder(holder, clock)}.`;
          raise("state.locked/other", { id, holder: held ?? "The holder is unknown." });
        }
        const fileLock = takeFileLock(path);
        // The notice first: a new holder may appear the moment the lock file is gone, and its notice must stay.
        remove(noticePath);
        if (fileLock === undefined) remove(path);
        else fileLock.free();
        return { holder, alive: fileLock === undefined, fenced: true };
      }),
  };
}

/**
 * Tries until something comes of it, with pauses that double.
 * @returns undefined when the time is over. @throws the signal's reason.
 */
export async function poll<T>(
  clock: Clock,
  { timeoutMs, signal }: Pick<LockRequest, "timeoutMs" | "signal">,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
  attempt: () => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  const start = clock.monotonic();
  for (let pause = firstMs; ; pause = Math.min(pause * 2, longestMs)) {
    signal?.throwIfAborted();
    const found = await attempt();
    if (found !== undefined) return found;
    const left = start + timeoutMs - clock.monotonic();
    if (left <= 0) return undefined;
    await clock.sleep(Math.min(pause, left), signal);
  }
}

function refuse(holder: LockHolder | undefined, { clock, contender }: LockContext, noticePath: string): never {
  if (holder?.pid === null) {
    raise("state.locked/terraform", { holder: `Held by ${describeHolder(holder, clock)}.`, place: noticePath });
  }
  const held = holder ? `Held by ${describeHolder(holder, clock)}.` : "The holder has not written its name yet.";
  const end = waysToEnd(holder, contender, "If the process hangs, end it on its machine.");
  raise("state.locked", { holder: held, end });
}

/** Sentence that says how to end a holder. @param elsewhere the sentence for a process that has no number on this machine. */
export function waysToEnd(holder: LockHolder | undefined, { host }: Contender, elsewhere: string): string {
  const { who = "", pid } = holder ?? {};
  const isHere = who.split(" ")[0]?.endsWith(`@${host}`) === true && typeof pid === "number" && isAlive(pid);
  return wakeOrEnd(isHere ? pid : 0, elsewhere);
}

function explained<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof HostformError) throw error;
    const about = { place: path, reason: messageOf(error) };
    if (error instanceof NotALockFile) raise("state.lock_file", about);
    return raise(errnoOf(error) === "ENOENT" ? "state.unwritable/folder" : "state.unwritable/lock", about);
  }
}

/** Holder of a lock. `pid` is 0 where the notice has no valid one, and null for a holder that is not hostform: Terraform does not say which process it is. */
export interface LockHolder {
  readonly id: string;
  readonly command: string;
  /** `user@host`. */
  readonly who: string;
  readonly pid: number | null;
  /** ISO 8601. */
  readonly since: string;
  /** Time of its latest sign of life (ISO 8601), if the backend shows one: a write, a request, or a query. */
  readonly lastAlive?: string;
}

/** The process that asks for a lock. */
export interface Contender {
  readonly pid: number;
  readonly user: string;
  readonly host: string;
}

/** The fields of Terraform's own lock notice, and the process id that it lacks. */
const notice = z.looseObject({
  ID: z.string().min(1),
  Operation: z.string().default("unknown"),
  Who: z.string().default("unknown"),
  Created: z.string().default("unknown"),
  Pid: z.number().int().positive().optional().catch(0),
});

/** This process as the holder of a lock with a fresh id. */
export function newHolder({ clock, uuid, contender: { pid, user, host } }: LockContext, command: string): LockHolder {
  return { id: uuid(), command, who: `${user}@${host}`, pid, since: new Date(clock.now()).toISOString() };
}

/** The notice that stands beside a locked state, in Terraform's form, so that either program can read the other's. */
export function encodeHolder(holder: LockHolder, statePath: string): string {
  const { id: ID, command: Operation, who: Who, pid, since: Created } = holder;
  const fields = { ID, Operation, Info: "hostform", Who, Version: "", Created, Path: statePath, Pid: pid ?? undefined };
  return `${JSON.stringify(fields)}\n`;
}

/** The inverse of {@link encodeHolder}; undefined for a notice that is torn or not one. */
export function decodeHolder(text: string): LockHolder | undefined {
  const checked = notice.safeParse(parsedJson(text));
  if (!checked.success) return undefined;
  const { ID, Operation, Who, Pid, Created } = checked.data;
  return { id: ID, command: Operation, who: Who, pid: Pid ?? null, since: Created };
}

/** `process 4711 (apply), user@host, since 2026-01-02T03:04:05.000Z (12 s ago), last alive 3 s ago`. */
export function describeHolder(holder: LockHolder, clock: Clock): string {
  const { pid } = holder;
  const process = pid === null ? "Terraform" : pid > 0 ? `process ${pid}` : "an unknown process";
  return `${process} (${holder.command}), ${describeTimes(holder, clock)}`;
}

/** `user@host, since 2026-01-02T03:04:05.000Z (12 s ago), last alive 3 s ago`. */
export function describeTimes({ who, since, lastAlive }: LockHolder, clock: Clock): string {
  const ago = (time: string) => `${Math.max(0, Math.round((clock.now() - Date.parse(time)) / 1000))} s ago`;
  const began = Number.isNaN(Date.parse(since)) ? "" : ` (${ago(since)})`;
  return `${who}, since ${since}${began}${lastAlive === undefined ? "" : `, last alive ${ago(lastAlive)}`}`;
}
