/** Writes all files of a declaration, or none. */
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
  setMode,
  systemDisk,
} from "../../core/files/index.ts";
import { fail, ifErrno } from "../../core/model/index.ts";

/** A new or changed file. */
export interface FileChange {
  /** Absolute path. */
  readonly file: string;
  /** Current text. Undefined for a new file. */
  readonly before: string | undefined;
  readonly text: string;
}

interface Prepared extends FileChange {
  readonly temporary: string;
}

/**
 * Writes all files, then calls `then`. After a failure, restores the old files and removes new files. Rejects a file that
 * changed since it was read.
 * @throws HostformError `usage` with the conflicting file, and the errors of `then`.
 */
export async function writeFiles(changes: readonly FileChange[], then: () => Promise<void>): Promise<void> {
  const prepared: Prepared[] = [];
  const done: Prepared[] = [];
  try {
    // Most failures happen here, before a file is replaced, for example a full disk or a read-only folder.
    for (const change of changes) prepared.push(await prepare(change));
    for (const change of prepared) {
      await put(change);
      done.push(change);
    }
    await then();
  } catch (error) {
    for (const { file, before, text } of done.toReversed()) {
      if (before === undefined) remove(file);
      else {
        const earlier = await prepare({ file, before: text, text: before });
        prepared.push(earlier);
        await put(earlier);
      }
    }
    throw error;
  } finally {
    for (const { temporary } of prepared) remove(temporary);
  }
}

async function prepare(change: FileChange): Promise<Prepared> {
  return orRefuse(change.file, async () => {
    makeParent(change.file);
    // The target of a link may be on another disk.
    const temporary = beside(realPath(change.file));
    await createSynced(systemDisk, temporary, change.text);
    return { ...change, temporary };
  });
}

async function put({ file, before, temporary }: Prepared): Promise<void> {
  await orRefuse(file, async () => {
    // A hard link to an existing name fails, so a file that was created meanwhile stays unchanged.
    if (before === undefined) {
      // Default mode of a new file.
      setMode(temporary, 0o666 & ~process.umask());
      return link(temporary, file);
    }
    if ((await read(file)).toString() !== before)
      refuse(file, "it has changed since it was read", "Run the command again.");
    // Replace the target of a symbolic link, not the link.
    const target = realPath(file);
    setMode(temporary, look(target)?.mode ?? 0o666);
    rename(temporary, target);
  });
}

const orRefuse = <T>(file: string, step: () => Promise<T>): Promise<T> =>
  step().catch(ifErrno((reason) => refuse(file, reason)));

const WRITABLE = "Make the file and its folder writable, check the free space, and run the command again.";

const refuse = (file: string, why: string, fix = WRITABLE): never =>
  fail("usage", `No file was written: ${path.basename(file)} cannot be replaced: ${why}`, {
    detail: file,
    remedies: [fix],
  });
