/** Folders for tests. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
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
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "hostform-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
