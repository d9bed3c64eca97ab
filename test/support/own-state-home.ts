/**
 * Folders of this test run. Its commands store requests and creates outside of the user's own folder, because a new
 * sandbox may get the port and the token of an earlier sandbox, and an order would then belong to another run.
 * Temporary files are in memory if possible, because the tests write and sync 100,000 small files.
 * HOSTFORM_TEST_TERRAFORM is the path of the Terraform or OpenTofu that the tests run as `terraform`.
 */
import { accessSync, constants, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const MEMORY = "/dev/shm";
/** Minimum free space, in bytes. Sufficient for several simultaneous runs. */
const ROOM_BYTES = 4 * 2 ** 30;
/** Short prefix, because paths of sockets below it have at most 107 bytes. */
const PREFIX = "hf-";
const DAY_MS = 86_400_000;

export async function setup(): Promise<() => Promise<void>> {
  const inMemory = process.env.TMPDIR === undefined && holdsPrograms(MEMORY);
  if (inMemory) dropOld();
  const folder = await mkdtemp(path.join(inMemory ? MEMORY : tmpdir(), PREFIX));
  process.env.XDG_STATE_HOME = path.join(folder, "state");
  await mkdir(process.env.XDG_STATE_HOME);
  if (inMemory) {
    // The server of the PostgreSQL tests runs as another user, and has its own folder below.
    await chmod(folder, 0o711);
    process.env.TMPDIR = path.join(folder, "t");
    await mkdir(process.env.TMPDIR);
  }
  const engine = process.env.HOSTFORM_TEST_TERRAFORM;
  if (engine !== undefined) {
    accessSync(engine, constants.X_OK);
    await symlink(path.resolve(engine), path.join(folder, "terraform"));
    process.env.PATH = `${folder}${path.delimiter}${process.env.PATH}`;
  }
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/**
 * Returns true if a folder exists, is writable, has enough space and may contain executables. Containers often forbid
 * executables, or have little space.
 */
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

/** Removes the folders of killed runs, because they occupy memory. */
function dropOld(): void {
  for (const name of readdirSync(MEMORY).filter((one) => one.startsWith(PREFIX))) {
    const folder = path.join(MEMORY, name);
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > DAY_MS) rmSync(folder, { recursive: true, force: true });
  }
}
