import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, unlinkSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
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

/**
 * Takes the lock at a path if it is free; undefined when someone has it. Never waits.
 *
 * The lock is SQLite's exclusive lock: the system frees it when the process dies, `kill -9` included. The file is
 * removed by whoever frees it, so a contender may have opened a file that is removed before it gets the lock. That is
 * found by comparing what stands at the path with a descriptor of our own, opened first: while that is open the inode
 * cannot be given to another file, so equality proves that the very file we locked is still the one at the path.
 *
 * @param open how the database is opened; between the descriptor and the lock lies the instant that matters.
 * @throws the system's own error when the file cannot be made, SQLite's when it is not a lock file.
 */
export function takeFileLock(path: string, open: (path: string) => DatabaseSync = openDatabase): FileLock | undefined {
  if (heldHere.has(path)) return undefined;
  const pin = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
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
 * A word that tells a process from every other of this machine: its number, and where the system says it, when it was
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
