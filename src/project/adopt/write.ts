/** Writes the files of a declaration: all of them, or none. */
import path from "node:path";
import {
  beside,
  createSynced,
  link,
  look,
  makeParent,
  read,
  realPath,
  remove,
  rename,
  replaceFile,
  setMode,
  systemDisk,
} from "../../core/files/index.ts";
import { fail, ifErrno } from "../../core/model/index.ts";

/** A file that is to be there, or to have another text. */
export interface FileChange {
  /** Absolute. */
  readonly file: string;
  /** What it holds; undefined for a file that must not be there. */
  readonly before: string | undefined;
  readonly text: string;
}

interface Prepared extends FileChange {
  readonly temporary: string;
}

/**
 * Writes all of the files, and then does `then`. When any of it fails, every file is as it was before, and no other is left.
 * A file that has changed since it was read is not replaced.
 * @throws HostformError `usage` with the file that is in the way, and whatever `then` throws.
 */
export async function writeFiles(changes: readonly FileChange[], then: () => Promise<void>): Promise<void> {
  const prepared: Prepared[] = [];
  const done: Prepared[] = [];
  try {
    // Most of what can fail fails here: a full disk, a folder that cannot be written to.
    for (const change of changes) prepared.push(await prepare(change));
    for (const change of prepared) {
      await put(change);
      done.push(change);
    }
    await then();
  } catch (error) {
    for (const { file, before } of done.toReversed()) {
      if (before === undefined) remove(file);
      else await replaceFile(systemDisk, { path: file, temporary: beside(file) }, before);
    }
    throw error;
  } finally {
    for (const { temporary } of prepared) remove(temporary);
  }
}

async function prepare(change: FileChange): Promise<Prepared> {
  return orRefuse(change.file, async () => {
    makeParent(change.file);
    const temporary = beside(change.file);
    await createSynced(systemDisk, temporary, change.text);
    return { ...change, temporary };
  });
}

async function put({ file, before, temporary }: Prepared): Promise<void> {
  await orRefuse(file, async () => {
    // The system itself refuses a link to a name that is in use: what somebody has put there meanwhile stays.
    if (before === undefined) {
      // For people and for Git, as any file that they make.
      setMode(temporary, 0o666 & ~process.umask());
      return link(temporary, file);
    }
    if ((await read(file)).toString() !== before) refuse(file, "it has changed since it was read");
    // A link stays one, to a file of the project that was read through it.
    const target = realPath(file);
    setMode(temporary, look(target)?.mode ?? 0o666);
    rename(temporary, target);
  });
}

const orRefuse = <T>(file: string, step: () => Promise<T>): Promise<T> =>
  step().catch(ifErrno((reason) => refuse(file, reason)));

const refuse = (file: string, why: string): never =>
  fail("usage", `Nothing was written: ${path.basename(file)} cannot be: ${why}`, {
    detail: file,
    remedies: ["Remove the cause, then run the command again: hostform keeps what it read for an hour."],
  });
