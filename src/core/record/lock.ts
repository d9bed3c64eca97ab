// Lock of a state: its interface, its holder, and the lock of a state file.
import * as z from "zod";
import { create, exists, lookAt, readNow, remove, rename, setTime } from "../files/index.ts";
import { type FileLock, isAlive, NotALockFile, takeFileLock } from "../local/index.ts";
import { raise } from "../messages/index.ts";
import { attempt, type Clock, errnoOf, HostformError, messageOf, parsedJson, wakeOrEnd } from "../model/index.ts";
import { filesOfState } from "./state-file.ts";

export interface LockRequest {
  /** Command that requests the lock, for messages of other processes: `apply`. */
  readonly command: string;
  /** Longest wait for the present holder, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HeldLock {
  /** Checks the lock on this machine, before each write and request. @throws HostformError `state.lost_lock`. */
  verify(): void;
  /** Checks the lock at the server. Absent: `verify` is sufficient proof. @throws HostformError `state.lost_lock`, `state.backend`. */
  prove?(): Promise<void>;
  /** Frees the lock. Never throws. A second call does nothing. */
  release(): void | Promise<void>;
}

/** Freed lock and its former holder. */
export interface Freed {
  readonly holder: LockHolder | undefined;
  readonly alive: boolean | undefined;
  readonly fenced?: true;
}

/** Lock of one state. It excludes a second writer. */
export interface StateLock {
  /** Takes the lock. @throws HostformError `state.locked`, which names the holder; the signal's reason after an abort. */
  acquire(request: LockRequest): Promise<HeldLock>;
  /**
   * Frees the lock of any holder. `alive`: true if the holder was running; undefined if unknown. `fenced`: the former holder
   * can no longer write.
   * @param id frees only a lock with this id.
   * @throws HostformError `state.locked` if the lock has another id.
   */
  takeOver(id?: string): Promise<Freed>;
  /** Describes the present holder. Undefined if the lock is free. If this function is absent, only `acquire` can find the holder. */
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
  /** Saves a state that the server rejects to a local file. */
  readonly keep?: ((text: string) => Promise<void>) | undefined;
}

/**
 * Minimum time of attempts, also for a shorter timeout. Two simultaneous attempts can both fail on a free lock.
 */
const GRACE_MS = 200;
/** Heartbeat: the holder updates the time of its notice at this interval, while it writes and sends requests. */
const SIGN_MS = 1000;
const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 1000;

/**
 * Lock of a state file: `.NAME.lock`, locked by the operating system, and `.NAME.lock.info`, a notice with the holder in
 * Terraform's format. A notice of Terraform also locks the state.
 * @param statePath the state file, with symbolic links resolved.
 */
export function createStateFileLock(statePath: string, context: LockContext): StateLock {
  const { clock, contender } = context;
  const { lock: path, notice: noticePath } = filesOfState(statePath);
  // Factor of the pauses, from 0.5 to 1.5, so that two processes pause differently. The golden ratio spreads process numbers, which
  // often differ by 1.
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
        // Remove the notice first: after the removal of the lock file, a new holder may write its own notice.
        remove(noticePath);
        if (fileLock === undefined) remove(path);
        else fileLock.free();
        return { holder, alive: fileLock === undefined, fenced: true };
      }),
  };
}

/**
 * Repeats an attempt until it returns a value. Pauses double.
 * @returns undefined after the timeout. @throws the signal's reason.
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

/** Returns the fix for a holder that hangs. @param elsewhere the fix if the process is not on this machine. */
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

/** Holder of a lock. `pid` is 0 if the notice has no valid pid, and null for Terraform, which writes none. */
export interface LockHolder {
  readonly id: string;
  readonly command: string;
  /** User and machine: `user@host`. */
  readonly who: string;
  readonly pid: number | null;
  /** ISO 8601. */
  readonly since: string;
  /** Time of the last write, request or query (ISO 8601), if the backend reports it. */
  readonly lastAlive?: string;
}

/** Process that requests a lock. */
export interface Contender {
  readonly pid: number;
  readonly user: string;
  readonly host: string;
}

/** Fields of Terraform's lock notice, and the process id. */
const notice = z.looseObject({
  ID: z.string().min(1),
  Operation: z.string().default("unknown"),
  Who: z.string().default("unknown"),
  Created: z.string().default("unknown"),
  Pid: z.number().int().positive().optional().catch(0),
});

/** Returns this process as the holder of a new lock id. */
export function newHolder({ clock, uuid, contender: { pid, user, host } }: LockContext, command: string): LockHolder {
  return { id: uuid(), command, who: `${user}@${host}`, pid, since: new Date(clock.now()).toISOString() };
}

/** Encodes the notice of a holder in Terraform's format, so that each program can read the notices of the other. */
export function encodeHolder(holder: LockHolder, statePath: string): string {
  const { id: ID, command: Operation, who: Who, pid, since: Created } = holder;
  const fields = { ID, Operation, Info: "hostform", Who, Version: "", Created, Path: statePath, Pid: pid ?? undefined };
  return `${JSON.stringify(fields)}\n`;
}

/** The inverse of {@link encodeHolder}. Undefined for an incomplete or other text. */
export function decodeHolder(text: string): LockHolder | undefined {
  const checked = notice.safeParse(parsedJson(text));
  if (!checked.success) return undefined;
  const { ID, Operation, Who, Pid, Created } = checked.data;
  return { id: ID, command: Operation, who: Who, pid: Pid ?? null, since: Created };
}

/** Returns for example `process 4711 (apply), user@host, since 2026-01-02T03:04:05.000Z (12 s ago), last alive 3 s ago`. */
export function describeHolder(holder: LockHolder, clock: Clock): string {
  const { pid } = holder;
  const process = pid === null ? "Terraform" : pid > 0 ? `process ${pid}` : "an unknown process";
  return `${process} (${holder.command}), ${describeTimes(holder, clock)}`;
}

/** Returns for example `user@host, since 2026-01-02T03:04:05.000Z (12 s ago), last alive 3 s ago`. */
export function describeTimes({ who, since, lastAlive }: LockHolder, clock: Clock): string {
  const ago = (time: string) => `${Math.max(0, Math.round((clock.now() - Date.parse(time)) / 1000))} s ago`;
  const began = Number.isNaN(Date.parse(since)) ? "" : ` (${ago(since)})`;
  return `${who}, since ${since}${began}${lastAlive === undefined ? "" : `, last alive ${ago(lastAlive)}`}`;
}
