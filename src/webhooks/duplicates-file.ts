import { constants } from "node:fs";
import { appendFile, lstat, readFile, rename, rm, writeFile } from "node:fs/promises";
import { errnoOf, fileFailure, HostformError } from "../core/model/errors.ts";
import { type DuplicateMemory, type MemoryOptions, memoryFrom } from "./receive.ts";

export interface FileMemoryOptions extends MemoryOptions {
  /** Path of the file. Created if missing. The file must have no other use, and only one process may use it at a time. */
  readonly file: string;
}

/** First line of the file. A file with another first line is rejected and stays unchanged. */
const HEAD = "hostform webhook deliveries 1\n";

/** Line format: a digest, and its expiry time in milliseconds since the epoch. */
const LINE = /^([0-9a-f]{64}) (\d{1,16})$/;

/**
 * Returns a deduplication store that survives the process. Each handled delivery is one line of the file, and is on disk
 * before the sender gets its response. Deliveries in progress are not in the file: if the process ends, the sender retries
 * them and they are handled.
 *
 * @throws HostformError `webhooks.memory` if the file cannot be used. The file then stays unchanged.
 * @throws TypeError for a capacity or time that is not above 0
 */
export async function fileMemoryOf({ file, ...options }: FileMemoryOptions): Promise<DuplicateMemory> {
  const { capacity = 10_000, clock = Date } = options;
  const handled = await read(file, clock.now());
  const memory = memoryFrom(handled, options);
  await write(file, handled);
  let appended = 0;
  let turn: Promise<unknown> = Promise.resolve();
  /** Appends a line for each delivery. After `capacity` lines, rewrites the file without expired deliveries. */
  const keep = async (line: string) => {
    appended += 1;
    try {
      // Do not create the file here: the next start would reject a file without its first line.
      const flag = constants.O_WRONLY | constants.O_APPEND;
      if (appended <= capacity) return await appendFile(file, line, { flag, flush: true });
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw refused(file, fileFailure(error));
    }
    await write(file, handled);
    appended = 0;
  };
  return {
    claim: memory.claim,
    settle: async (identity, succeeded) => {
      if (!succeeded) return memory.settle(identity, false);
      await memory.settle(identity, true);
      const line = lineOf(identity, handled);
      const kept = turn.then(() => keep(line));
      turn = kept.catch(() => {});
      await kept;
    },
  };
}

const lineOf = (identity: string, handled: ReadonlyMap<string, number>) => `${identity} ${handled.get(identity)}\n`;

/** Reads the deliveries with their expiry times. Skips expired ones, and a line that a crash cut off. */
async function read(file: string, now: number): Promise<Map<string, number>> {
  const text = await textOf(file);
  const handled = new Map<string, number>();
  if (text === "") return handled;
  if (!text.startsWith(HEAD)) throw refused(file, "it has other contents");
  for (const line of text.slice(HEAD.length).split("\n").slice(0, -1)) {
    const [, identity = "", until = ""] = LINE.exec(line) ?? [];
    if (identity === "") throw refused(file, "it has a line that is not a delivery");
    // Keep the order of the file: the most recent delivery is last.
    handled.delete(identity);
    if (Number(until) > now) handled.set(identity, Number(until));
  }
  return handled;
}

async function textOf(file: string): Promise<string> {
  try {
    if (!(await lstat(file)).isFile()) throw refused(file, "it is not a regular file");
    return await readFile(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error instanceof HostformError ? error : refused(file, fileFailure(error));
  }
}

/** Writes the complete file atomically. After a crash, the old file remains. */
async function write(file: string, handled: ReadonlyMap<string, number>): Promise<void> {
  const temporary = `${file}.new`;
  try {
    await rm(temporary, { force: true });
    const lines = [...handled.keys()].map((identity) => lineOf(identity, handled));
    await writeFile(temporary, HEAD + lines.join(""), { flag: "wx", mode: 0o600, flush: true });
    await rename(temporary, file);
  } catch (error) {
    throw refused(file, fileFailure(error));
  }
}

function refused(file: string, why: string): HostformError {
  const summary = `Handled deliveries cannot be recorded in ${file}: ${why}`;
  const fix = "Pass a new file in a folder that you may write to.";
  return new HostformError([{ severity: "error", code: "webhooks.memory", summary, remedies: [fix] }]);
}
