// Signs of life: a file for each process, locked by the system for as long as the process lives, however it ends.
import { hash } from "node:crypto";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { attempt } from "../model/index.ts";
import { makeFolder } from "./database-file.ts";
import { type FileLock, takeFileLock } from "./file-lock.ts";

/** Nobody asks about an older sign. */
const KEPT_MS = 30 * 24 * 3_600_000;

/** Ends a sign. @param isLeft true: the next process is to find that this one has ended. */
export type EndSign = (isLeft?: true) => void;

/** Returns the path of a sign. @param of distinguishes the process from all others. */
export const signIn = (folder: string, of: string): string =>
  path.join(folder, `${hash("sha256", of).slice(0, 32)}.lock`);

/** Gives a sign of life. Where no sign can be given, there is none. */
export function beginSign(file: string): EndSign {
  let lock: FileLock | undefined = attempt(
    () => {
      makeFolder(path.dirname(file));
      sweep(path.dirname(file));
      return takeFileLock(file);
    },
    () => undefined,
  );
  return (isLeft) => {
    if (lock === undefined) return;
    lock.free();
    lock = undefined;
    if (isLeft) writeFileSync(file, "", { mode: 0o600 });
  };
}

/** Takes the sign of a process that has ended; undefined while it lives, and where it gave no sign. */
export function takeEndedSign(file: string): FileLock | undefined {
  // A file that cannot be read says nothing.
  return attempt(
    () => (existsSync(file) ? takeFileLock(file) : undefined),
    () => undefined,
  );
}

function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
    if (Date.now() - mtimeMs > KEPT_MS) takeFileLock(file)?.free();
  }
}
