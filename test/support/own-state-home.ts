/**
 * The folders of this run. What its commands note of requests and creates is not in the user's own: a sandbox of today may get the
 * port and the token of yesterday's, and then an order would be another run's. Temporary files are in memory where the system has
 * such a folder: the tests write and sync a hundred thousand small ones.
 */
import { accessSync, constants, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const MEMORY = "/dev/shm";
/** Some runs beside each other find room in it. */
const ROOM_BYTES = 4 * 2 ** 30;
/** Short: sockets lie below it, whose paths have 107 bytes at most. */
const PREFIX = "hf-";
const DAY_MS = 86_400_000;

export async function setup(): Promise<() => Promise<void>> {
  const inMemory = process.env.TMPDIR === undefined && holdsPrograms(MEMORY);
  if (inMemory) dropOld();
  const folder = await mkdtemp(path.join(inMemory ? MEMORY : tmpdir(), PREFIX));
  process.env.XDG_STATE_HOME = path.join(folder, "state");
  await mkdir(process.env.XDG_STATE_HOME);
  if (inMemory) {
    // The server of the tests of PostgreSQL is another user's, and has a folder of its own below.
    await chmod(folder, 0o711);
    process.env.TMPDIR = path.join(folder, "t");
    await mkdir(process.env.TMPDIR);
  }
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Whether a folder is there, takes files and runs them: containers often forbid the last, or have little room. */
function holdsPrograms(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    const mount = readFileSync("/proc/mounts", "utf8").match(/^\S+ \/dev\/shm \S+ (\S+)/m);
    return bavail * bsize >= ROOM_BYTES && mount !== null && !mount[1]?.split(",").includes("noexec");
  } catch {
    return false;
  }
}

/** Removes what runs left that were killed: it is memory. */
function dropOld(): void {
  for (const name of readdirSync(MEMORY).filter((one) => one.startsWith(PREFIX))) {
    const folder = path.join(MEMORY, name);
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > DAY_MS) rmSync(folder, { recursive: true, force: true });
  }
}
