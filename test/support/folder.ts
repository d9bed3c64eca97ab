/** Folders for tests. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/**
 * The beginning of the path of a new folder, for `mkdtemp`: in memory where the system has a file system there, since every
 * change of a state is synced, and a disk takes milliseconds for it. For small files, and nothing that is to be run.
 */
export const quickFolder = (name: string): string =>
  path.join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), `hostform-${name}-`);

/** An empty folder that is removed after the test. */
export async function folder(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), "hostform-test-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
