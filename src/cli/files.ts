/** The files that a command is given, and those that it writes. */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { type Code, type Diagnostic, errnoOf, fail, HostformError } from "../core/model/index.ts";

/**
 * Writes a file so that a reader finds the old one or the new one, whole. For what holds no secret: who may read it
 * follows from the umask, and from the mode that is given.
 * @throws Node's errors; nothing is left behind then.
 */
export async function writeWhole(file: string, content: string, mode = 0o666): Promise<void> {
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, content, { flag: "wx", mode });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** What comes of reading or moving a file; undefined when there is none. @throws Node's other errors. */
export async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The text of a file; undefined when there is none. @throws Node's errors. */
export const readIfPresent = (file: string) => ifPresent(readFile(file, "utf8"));

/** The bytes of a file up to a limit and one more, which shows that there are more: some never end. @throws Node's errors. */
export function readUpTo(file: string, limit: number): Promise<Buffer> {
  return buffer(createReadStream(file, { end: limit }));
}

/* Why a file could not be read or written, in words. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "its permissions do not allow it",
  EPERM: "its permissions do not allow it",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
};

/** For the end of a sentence: `it is a folder`. @throws the error itself when it is not one of the file system. */
export function fileFailure(error: unknown): string {
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  return REASONS[errno] ?? errno;
}

/**
 * What reads or writes a file, with the reason where that is not possible.
 * @param what the sentence that the reason ends: `The snapshot cannot be read`.
 * @throws HostformError `code` for errors of the file system; all others as they are.
 */
export async function orFail<T>(
  work: Promise<T>,
  code: Code,
  what: string,
  more: Pick<Diagnostic, "detail" | "remedies">,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HostformError) throw error;
    return fail(code, `${what}: ${fileFailure(error)}`, more);
  }
}
