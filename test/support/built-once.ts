/** Cache of build results for tests. Keeps each result for one day after its last use. */
import { createHash } from "node:crypto";
import { existsSync, globSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdtemp, rename, rm, utimes } from "node:fs/promises";
import path from "node:path";

export const ROOT = path.resolve(import.meta.dirname, "../..");
const DAY_MS = 86_400_000;

/**
 * Builds once for each set of sources, in a folder of the shelf whose name is a digest of the sources. Several
 * processes may call it at the same time.
 * @param shelf Folder that only this user may write to, because its content is executed.
 * @param sources Glob patterns, relative to the project root.
 * @returns Path of the complete folder.
 * @throws Errors of `make`; Error if the shelf belongs to another user, or other users may write to it.
 */
export async function builtOnce(
  shelf: string,
  sources: readonly string[],
  make: (folder: string) => Promise<void>,
): Promise<string> {
  ownFolder(shelf);
  dropOld(shelf);
  const folder = path.join(shelf, digestOf(sources));
  if (existsSync(folder)) {
    // A use keeps the folder for another day.
    await utimes(folder, new Date(), new Date());
    return folder;
  }
  const draft = await mkdtemp(path.join(shelf, "draft-"));
  try {
    await make(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process has created the same folder first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function digestOf(sources: readonly string[]): string {
  // The name includes the path of Node, because a launcher contains this path.
  const hash = createHash("sha256").update(process.execPath);
  for (const file of globSync([...sources, "package-lock.json"], { cwd: ROOT }).sort())
    hash.update(`\0${file}\0`).update(readFileSync(path.join(ROOT, file)));
  return hash.digest("hex").slice(0, 24);
}

function ownFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(folder);
  const own = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
  if (!own) throw new Error(`${folder} belongs to somebody else, or others may write to it: remove it`);
}

function dropOld(shelf: string): void {
  for (const name of readdirSync(shelf)) {
    const entry = path.join(shelf, name);
    const { mtimeMs } = statSync(entry, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > DAY_MS) rmSync(entry, { recursive: true, force: true });
  }
}
