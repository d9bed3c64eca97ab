import { constants } from "node:fs";
import { appendFile, lstat, readFile, rename, rm, writeFile } from "node:fs/promises";
import { errnoOf, fileFailure, HostformError } from "../core/model/errors.ts";
import { type DuplicateMemory, type MemoryOptions, memoryFrom } from "./receive.ts";

export interface FileMemoryOptions extends MemoryOptions {
  /** A file for nothing else, created when it does not exist. One process at a time may use it. */
  readonly file: string;
}

/** The first line: nothing else is ever written over. */
const HEAD = "hostform webhook deliveries 1\n";

/** A digest, and when it is forgotten, in milliseconds since the epoch. */
const LINE = /^([0-9a-f]{64}) (\d{1,16})$/;

/**
 * A memory that outlives the process: each delivery that was handled is a line of the file, on the disk before the sender
 * is answered. What was under way when the process ended is not in it, and is handled when it is sent again.
 *
 * @throws HostformError `webhooks.memory` when the file cannot be used; it is left as it is then
 * @throws TypeError for a capacity or time that is not above 0
 */
export async function fileMemoryOf({ file, ...options }: FileMemoryOptions): Promise<DuplicateMemory> {
  const { capacity = 10_000, clock = Date } = options;
  const handled = await read(file, clock.now());
  const memory = memoryFrom(handled, options);
  await write(file, handled);
  let appended = 0;
  let turn: Promise<unknown> = Promise.resolve();
  /** The file grows by a line a delivery, and is written afresh when most of it is forgotten. */
  const keep = async (line: string) => {
    appended += 1;
    try {
      // This flag creates no file: the next start would refuse a file without its first line.
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

/** Identity -> expiry. Skips expired deliveries, and a line that a crash cut off. */
async function read(file: string, now: number): Promise<Map<string, number>> {
  const text = await textOf(file);
  const handled = new Map<string, number>();
  if (text === "") return handled;
  if (!text.startsWith(HEAD)) throw refused(file, "it has other contents");
  for (const line of text.slice(HEAD.length).split("\n").slice(0, -1)) {
    const [, identity = "", until = ""] = LINE.exec(line) ?? [];
    if (identity === "") throw refused(file, "it has a line that is not a delivery");
    // The most recent delivery is the last one.
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

/** Puts a whole file in its place; a crash leaves the old one. */
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
  const fix = "Give a new file, in a folder that you may write to.";
  return new HostformError([{ severity: "error", code: "webhooks.memory", summary, remedies: [fix] }]);
}
