import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/**
 * Returns the path prefix of a new folder, for `mkdtemp`. The folder is in memory if possible, because each change of
 * a state is synced, which takes milliseconds on a disk. Only for small files that are not executed.
 */
export const quickFolder = (name: string): string =>
  path.join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), `hostform-${name}-`);

/** Creates an empty folder. The test removes the folder at its end. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "hostform-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
