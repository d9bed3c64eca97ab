// File locks, heartbeats (locked files) and marks of processes. They end with their process.
import { hash } from "node:crypto";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import {
  create,
  exists,
  listNow,
  look,
  lookAt,
  type OpenFile,
  openPrivate,
  PathRefused,
  privateFolder,
  remove,
  textNow,
} from "../files/file-system.ts";
import { attempt, errnoOf, fileFailure } from "../model/index.ts";
import { COMPANIONS, databaseTrouble, openDatabase } from "./database-file.ts";

/** An exclusive lock on a file. The operating system frees the lock when this process ends. */
export interface FileLock {
  /** Returns false once the locked file is no longer at the path. The lock then excludes no other process. */
  isCurrent(): boolean;
  /** Frees the lock and removes the file. */
  free(): void;
}

/**
 * Paths of the locks of this process. POSIX frees the locks of a process on a file when the process closes *any* descriptor of the
 * file. Therefore this process never opens a locked file a second time.
 */
const heldHere = new Set<string>();

/** The file at the path, or a file beside it, is not a lock file. The message describes the file. */
export class NotALockFile extends Error {}

/**
 * Takes the lock at a path. Returns undefined if another holder has the lock. Never waits.
 *
 * The lock is SQLite's exclusive lock. The system frees the lock when the process ends, also after `kill -9`. The holder removes the
 * file when it frees the lock, so a contender may lock a removed file. To detect this, the function first opens its own descriptor.
 * While the descriptor is open, no other file can get its inode. If the inode at the path is still the same, the locked file is the
 * file at the path.
 *
 * A lock file is empty and has no companions. Any other file comes from elsewhere, for example from a stranger's commit. SQLite would
 * replay its journal and delete the file named there, and some headers disable the lock. The function rejects such a file before
 * SQLite opens it, and follows no link.
 *
 * @param open opens the database. Tests act here, between the descriptor and the lock.
 * @throws NotALockFile; the system's own error if the file cannot be created.
 */
export function takeFileLock(path: string, open: (path: string) => DatabaseSync = openDatabase): FileLock | undefined {
  if (heldHere.has(path)) return undefined;
  const pin = openEmpty(path);
  let database: DatabaseSync | undefined;
  const drop = () => {
    // Close the database first: POSIX frees the lock when the descriptor closes.
    database?.close();
    pin.close();
  };
  const isCurrent = () => pin.isAt(path);
  try {
    database = open(path);
    if (begin(database) && isCurrent()) {
      heldHere.add(path);
      return {
        isCurrent,
        free: () => {
          try {
            // A leftover lock file locks nothing.
            if (isCurrent())
              attempt(
                () => remove(path),
                () => undefined,
              );
          } finally {
            heldHere.delete(path);
            drop();
          }
        },
      };
    }
  } catch (error) {
    drop();
    throw error;
  }
  drop();
  return undefined;
}

/** Opens the file, or creates it. @throws NotALockFile unless it is an empty regular file without companions. */
function openEmpty(path: string): OpenFile {
  for (const one of COMPANIONS.map((ending) => `${path}${ending}`))
    if (lookAt(one) !== undefined)
      throw new NotALockFile(`${one} lies beside the lock file, and no lock leaves such a file`);
  const pin = attempt(
    () => openPrivate(path, "pin"),
    (error) => {
      const isOther = error instanceof PathRefused || errnoOf(error) === "EISDIR";
      throw isOther ? new NotALockFile(fileFailure(error)) : error;
    },
  );
  if (pin.size === 0) return pin;
  pin.close();
  throw new NotALockFile("it is not empty, and a lock file is");
}

function begin(database: DatabaseSync): boolean {
  try {
    // hostform never writes to the file, so the file needs no journal.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (databaseTrouble(error) === "busy") return false;
    throw error;
  }
}

/** Returns a unique mark of a process on this machine: its number and, on Linux, its start time. Systems reuse numbers. */
export function processMark(pid: number = process.pid): string {
  return `${pid}:${startOf(pid) ?? ""}`;
}

/** Returns true while the process with this mark runs. False for processes of other machines and containers. */
export function isRunning(mark: string): boolean {
  const [pid = Number.NaN] = mark.split(":").map(Number);
  return isAlive(pid) && processMark(pid) === mark;
}

/** Returns true while a process with this number runs on this machine. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists and belongs to another user.
    return errnoOf(error) === "EPERM";
  }
}

/**
 * Returns the start time of a process: field 22 of Linux's `stat` record. Field 2, the name, may contain spaces and parentheses. A
 * zombie process (state Z) still has a record and counts as ended.
 */
function startOf(pid: number): string | undefined {
  const record = textNow(`/proc/${pid}/stat`);
  const fields = record?.slice(record.lastIndexOf(")") + 2).split(" ") ?? [];
  return /^[ZX]/.test(fields[0] ?? "") ? "ended" : fields[19];
}

/** Offset of the writer's lock in the `-shm` file of a database with a write-ahead log. */
const LOG_WRITE_BYTE = 120;

/** Returns the number of the process with the write lock of a database. Only on Linux. */
export function lockingPid(file: string): number | undefined {
  const inodeOf = (path: string) => look(path)?.inode;
  return attempt(
    () => {
      const [main, log] = [inodeOf(file), inodeOf(`${file}-shm`)];
      for (const line of (textNow("/proc/locks") ?? "").split("\n")) {
        // 7: POSIX  ADVISORY  WRITE 4711 08:01:131 120 120
        const words = /^\d+: POSIX +\w+ +WRITE (\d+) \w+:\w+:(\d+) (\d+) (\w+)/.exec(line)?.slice(1) ?? [];
        const [pid = 0, , from = 0, to = 0] = words.map(Number);
        const inode = words[1] === undefined ? undefined : BigInt(words[1]);
        const isWriter = inode === main || (inode === log && from <= LOG_WRITE_BYTE && !(to < LOG_WRITE_BYTE));
        if (inode !== undefined && isWriter && pid > 0 && pid !== process.pid) return pid;
      }
      return undefined;
    },
    () => undefined,
  );
}

/** Lifetime of a heartbeat file. */
const KEPT_MS = 30 * 24 * 3_600_000;

/** Ends a heartbeat. @param isLeft true: leaves an unlocked file, so that the next process detects the end of this process. */
export type EndSign = (isLeft?: true) => void;

/** Returns the path of a heartbeat file. @param of unique name of the process. */
export const signIn = (folder: string, of: string): string => join(folder, `${hash("sha256", of).slice(0, 32)}.lock`);

/** Begins a heartbeat: locks its file until the end. Does nothing if the file cannot be locked. */
export function beginSign(file: string): EndSign {
  let lock: FileLock | undefined = attempt(
    () => {
      privateFolder(dirname(file));
      sweep(dirname(file));
      return takeFileLock(file);
    },
    () => undefined,
  );
  return (isLeft) => {
    if (lock === undefined) return;
    lock.free();
    lock = undefined;
    if (isLeft) create(file, "", 0o600);
  };
}

/** Takes the lock of an ended process's heartbeat file. Undefined while the process runs, or without such a file. */
export function takeEndedSign(file: string): FileLock | undefined {
  // An unreadable file is no proof that the process has ended.
  return attempt(
    () => (exists(file) ? takeFileLock(file) : undefined),
    () => undefined,
  );
}

function sweep(folder: string): void {
  for (const name of listNow(folder)) {
    const file = join(folder, name);
    if (Date.now() - (look(file)?.writtenAt ?? Number.POSITIVE_INFINITY) > KEPT_MS) takeFileLock(file)?.free();
  }
}
