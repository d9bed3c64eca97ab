/** The files that a command is given, and those that it writes. */
import { type Reading, read } from "../core/files/index.ts";
import { type Code, type Diagnostic, errnoOf, fail, fileFailure, HostformError, utf8 } from "../core/model/index.ts";

/** Returns the result of reading or moving a file; undefined when there is none. @throws Node's other errors. */
export async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The text of a file that the command line names, with its byte order mark. @throws NotUtf8, and Node's errors. */
export const readText = async (file: string, reading: Reading = { streams: true }) => utf8(await read(file, reading));

/** The same of a regular file, which a command writes; undefined when there is none. */
export const readIfPresent = (file: string) => ifPresent(readText(file, { links: false }));

/** The bytes of a file up to a limit and one more, which shows that there are more: some never end. @throws Node's errors. */
export const readUpTo = (file: string, limit: number) => read(file, { limit: limit + 1, streams: true });

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
