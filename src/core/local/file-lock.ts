// Things that end with a process, however it ends: its locks on files, its sign of life (a locked file of its own), and its mark.
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

/** An exclusive lock on a file, which the operating system keeps for as long as this process lives. */
export interface FileLock {
  /** False once another file, or none, is at the path: nobody else looks at the locked one then. */
  isCurrent(): boolean;
  /** Frees the lock and removes the file. */
  free(): void;
}

/**
 * The locks that this process holds. POSIX locks belong to the process and fall when *any* of its descriptors of the
 * file is closed, so a locked file must never be opened a second time from here.
 */
const heldHere = new Set<string>();

/** No lock made the file at its path, or one beside it: the message says what it is. */
export class NotALockFile extends Error {}

/**
 * Takes the lock at a path if it is free; undefined when another holder has it. Never waits.
 *
 * The lock is SQLite's exclusive lock: the system frees it when the process dies, `kill -9` included. The file is
 * removed by the process that frees it, so a contender may have opened a file that is removed before it gets the lock. That
 * is found by comparing what is at the path with a descriptor of our own, opened first: while that is open the inode
 * cannot be given to another file, so equality proves that the very file we locked is still the one at the path.
 *
 * A lock file is empty, and has no companions. Anything else comes from elsewhere, for example from a stranger's commit: SQLite
 * would play back a journal and delete the file that it names, and with a certain header the lock would exclude nobody. So it
 * is refused before SQLite opens it, and no link is followed.
 *
 * @param open how the database is opened; between the descriptor and the lock lies the instant that matters.
 * @throws NotALockFile; the system's own error when the file cannot be made.
 */
export function takeFileLock(path: string, open: (path: string) => DatabaseSync = openDatabase): FileLock | undefined {
  if (heldHere.has(path)) return undefined;
  const pin = openEmpty(path);
  let database: DatabaseSync | undefined;
  const drop = () => {
    // The database first: closing the descriptor before would drop the lock under it.
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
            // A lock file that remains locks nothing.
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
    // Nothing is ever written, so that the file needs no journal.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (databaseTrouble(error) === "busy") return false;
    throw error;
  }
}

/**
 * A text that distinguishes a process from every other of this machine: its number, and where the system says it, its start,
 * since numbers are used again.
 */
export function processMark(pid: number = process.pid): string {
  return `${pid}:${startOf(pid) ?? ""}`;
}

/** Returns true while the process with this mark runs. Processes of other machines or containers are invisible. */
export function isRunning(mark: string): boolean {
  const [pid = Number.NaN] = mark.split(":").map(Number);
  return isAlive(pid) && processMark(pid) === mark;
}

/** Returns true for the number of a process that runs on this machine. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It exists, and belongs to another user.
    return errnoOf(error) === "EPERM";
  }
}

/**
 * The 22nd field of Linux's record of a process; its name, the second, may hold blanks and parentheses. A process that has
 * ended, and whose parent has not collected it (state Z), has a record, too.
 */
function startOf(pid: number): string | undefined {
  const record = textNow(`/proc/${pid}/stat`);
  const fields = record?.slice(record.lastIndexOf(")") + 2).split(" ") ?? [];
  return /^[ZX]/.test(fields[0] ?? "") ? "ended" : fields[19];
}

/** The byte that a writer locks in the `-shm` file of a database with a write-ahead log. */
const LOG_WRITE_BYTE = 120;

/** Returns the process that keeps a database locked for writing, where the system says it (Linux). */
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

/** Nobody asks about an older sign. */
const KEPT_MS = 30 * 24 * 3_600_000;

/** Ends a sign. @param isLeft true: the next process is to find that this one has ended. */
export type EndSign = (isLeft?: true) => void;

/** Returns the path of a sign. @param of distinguishes the process from all others. */
export const signIn = (folder: string, of: string): string => join(folder, `${hash("sha256", of).slice(0, 32)}.lock`);

/** Gives a sign of life. Where no sign can be given, there is none. */
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

/** Takes the sign of a process that has ended; undefined while it lives, and where it gave no sign. */
export function takeEndedSign(file: string): FileLock | undefined {
  // A file that cannot be read says nothing.
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
