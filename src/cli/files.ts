/** Files that a command line names. */
import { type Reading, read } from "../core/files/index.ts";
import { type Code, type Diagnostic, errnoOf, fail, fileFailure, HostformError, utf8 } from "../core/model/index.ts";

/** Returns the result of work on a file; undefined if the file is missing. @throws Node's other errors. */
export async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads the text of a file, with its byte order mark. @throws NotUtf8, and Node's errors. */
export const readText = async (file: string, reading: Reading = { streams: true }) => utf8(await read(file, reading));

/** Reads the text of a regular file that a command replaces; undefined if it is missing. */
export const readIfPresent = (file: string) => ifPresent(readText(file, { links: false }));

/** Reads bytes of a file up to a limit, and one more byte if the file is longer. @throws Node's errors. */
export const readUpTo = (file: string, limit: number) => read(file, { limit: limit + 1, streams: true });

/** Runs work on files. @param problemFor message for an error of the file system. @throws HostformError; other errors as they are. */
export async function orRefuse<T>(work: Promise<T>, problemFor: (reason: string) => Diagnostic): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HostformError) throw error;
    throw new HostformError([problemFor(fileFailure(error))]);
  }
}

/** Runs work on files. @param what begin of the summary: `The snapshot cannot be read`. */
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
