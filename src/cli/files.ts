/** The files that a command is given, and those that it writes. */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { type Code, type Diagnostic, errnoOf, fail, fileFailure, HostformError, utf8 } from "../core/model/index.ts";

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

/** Returns the result of reading or moving a file; undefined when there is none. @throws Node's other errors. */
export async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The text of a file, with its byte order mark. @throws NotUtf8, and Node's errors. */
export const readText = async (file: string) => utf8(await readFile(file));

/** The same; undefined when there is no file. */
export const readIfPresent = (file: string) => ifPresent(readText(file));

/** The bytes of a file up to a limit and one more, which shows that there are more: some never end. @throws Node's errors. */
export function readUpTo(file: string, limit: number): Promise<Buffer> {
  return buffer(createReadStream(file, { end: limit }));
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
