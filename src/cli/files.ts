/** Reads files from the command line. */
import { type Reading, read } from "../core/files/index.ts";
import { type Code, type Diagnostic, errnoOf, fail, fileFailure, HostformError, utf8 } from "../core/model/index.ts";

/** Returns the result of a file operation. Undefined if the file is missing. @throws Node's other errors. */
export async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads the text of a file and keeps its byte order mark. @throws NotUtf8, and Node's errors. */
export const readText = async (file: string, reading: Reading = { streams: true }) => utf8(await read(file, reading));

/** Reads the text of a regular file that the command will replace. Undefined if missing. */
export const readIfPresent = (file: string) => ifPresent(readText(file, { links: false }));

/** Reads a file up to a limit, plus one byte to detect a longer file. @throws Node's errors. */
export const readUpTo = (file: string, limit: number) => read(file, { limit: limit + 1, streams: true });

/**
 * Runs a file operation.
 * @param problemFor returns the message for a file system error.
 * @throws HostformError. Rethrows other errors.
 */
export async function orRefuse<T>(work: Promise<T>, problemFor: (reason: string) => Diagnostic): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HostformError) throw error;
    throw new HostformError([problemFor(fileFailure(error))]);
  }
}

/** Runs a file operation. @param what Beginning of the message, such as `The snapshot cannot be read`. */
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
