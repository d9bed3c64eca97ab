// What ends with a process however it ends: its locks on files, and the mark that distinguishes it from every other.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, statSync, unlinkSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { errnoOf } from "../model/index.ts";
import { openDatabase } from "./database-file.ts";

/** An exclusive hold on a file, kept by the operating system for as long as this process lives. */
export interface FileLock {
  /** False once another file (or none) stands at the path: the hold is then on something nobody else looks at. */
  isCurrent(): boolean;
  /** Lets go and removes the file. */
  free(): void;
}

/**
 * The locks that this process holds. POSIX locks belong to the process and fall when *any* of its descriptors of the
 * file is closed, so a locked file must never be opened a second time from here.
 */
const heldHere = new Set<string>();

const SQLITE_BUSY = 5;

/** What SQLite would play back, or read, beside a database of this name. */
const COMPANIONS = ["-journal", "-wal", "-shm"];

/** What stands at the path of a lock, or beside it, was not left there by a lock: the message says what it is. */
export class NotALockFile extends Error {}

/**
 * Takes the lock at a path if it is free; undefined when someone has it. Never waits.
 *
 * The lock is SQLite's exclusive lock: the system frees it when the process dies, `kill -9` included. The file is
 * removed by the process that frees it, so a contender may have opened a file that is removed before it gets the lock. That
 * is found by comparing what stands at the path with a descriptor of our own, opened first: while that is open the inode
 * cannot be given to another file, so equality proves that the very file we locked is still the one at the path.
 *
 * A lock file is empty, and nothing lies beside it. Anything else was put there, for example by a stranger's commit: SQLite would
 * play back a journal and delete the file that it names, and with a certain header the lock would exclude nobody. So it is
 * refused before SQLite opens it, and no link is followed.
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
    closeSync(pin);
  };
  const isCurrent = () => sameFile(pin, path);
  try {
    database = open(path);
    if (begin(database) && isCurrent()) {
      heldHere.add(path);
      return {
        isCurrent,
        free: () => {
          if (isCurrent()) removeQuietly(path);
          heldHere.delete(path);
          drop();
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

/** Opens the file, or makes it. @throws NotALockFile unless it is an empty regular file without companions. */
function openEmpty(path: string): number {
  for (const one of COMPANIONS.map((ending) => `${path}${ending}`))
    if (lstatSync(one, { throwIfNoEntry: false }) !== undefined)
      throw new NotALockFile(`${one} lies beside the lock file, and no lock leaves such a file`);
  // Before it is opened: a pipe or a device may act on that.
  const standing = lstatSync(path, { throwIfNoEntry: false });
  if (standing !== undefined && !standing.isFile()) throw new NotALockFile("it is not a regular file");
  const descriptor = openNotFollowing(path);
  if (fstatSync(descriptor).size === 0) return descriptor;
  closeSync(descriptor);
  throw new NotALockFile("it is not empty, and a lock file is");
}

function openNotFollowing(path: string): number {
  try {
    // Windows has no such flag; what stood there was looked at.
    return openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
  } catch (error) {
    if (errnoOf(error) === "ELOOP") throw new NotALockFile("it is a link");
    throw error;
  }
}

function begin(database: DatabaseSync): boolean {
  try {
    // Nothing is ever written, so no journal is to lie about beside the file.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;
    if (code === SQLITE_BUSY) return false;
    throw error;
  }
}

function sameFile(descriptor: number, path: string): boolean {
  const ours = fstatSync(descriptor, { bigint: true });
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  return there !== undefined && there.dev === ours.dev && there.ino === ours.ino;
}

/** A lock file that stays behind is not a lock: only what holds it is. */
function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}

/**
 * A word that distinguishes a process from every other of this machine: its number, and where the system says it, when it was
 * started, so that a number that was given out again is not taken for the old process.
 */
export function processMark(pid: number = process.pid): string {
  return `${pid}:${startOf(pid) ?? ""}`;
}

/** Whether the process with this mark is still running. One of another machine or container is not seen. */
export function isRunning(mark: string): boolean {
  const [pid = Number.NaN] = mark.split(":").map(Number);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It is there, and somebody else's.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  return processMark(pid) === mark;
}

/**
 * The 22nd field of Linux's record of a process; its name, the second, may hold blanks and parentheses. A process that has
 * ended and that nobody has asked about (state Z) has a record, too.
 */
function startOf(pid: number): string | undefined {
  try {
    const record = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = record.slice(record.lastIndexOf(")") + 2).split(" ");
    return /^[ZX]/.test(fields[0] ?? "") ? "ended" : fields[19];
  } catch {
    return undefined;
  }
}
