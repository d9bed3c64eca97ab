import { constants, writeFileSync } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf } from "../model/errors.ts";
import { list, look, read, realPath } from "./file-system.ts";

/**
 * The operations on files that recording needs, each one step of the operating system, so that a simulated disk (which
 * keeps only what was synced) can stand in its place. Errors are the system's own (`ENOSPC`, `EACCES`).
 */
export interface Disk {
  /** The path with symbolic links followed; its last part need not exist. */
  resolve(path: string): Promise<string>;
  /** The whole content; undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
  /** Creates a file that must not exist yet, readable and writable by its owner alone. */
  create(path: string): Promise<NewFile>;
  /** Replaces `to` by `from`, atomically for readers. */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name. */
  link(from: string, to: string): Promise<void>;
  /** Removes a file; it is no error when there is none. */
  remove(path: string): Promise<void>;
  list(folder: string): Promise<string[]>;
  /** Makes creations, renames and removals in a folder durable. */
  syncFolder(folder: string): Promise<void>;
  /** A text that differs once another file is at the path, or its content was rewritten; undefined without a file, {@link NOT_A_FILE} for anything else. */
  identity(path: string): Promise<string | undefined>;
}

/**
 * A file that was just created. It may stay open for the length of a run and grow: each write appends, each sync makes
 * everything that was written so far durable. Others may read it meanwhile. It is closed before it is renamed or removed.
 */
export interface NewFile {
  /** Appends. When it fails, any part of the text may be there. */
  write(text: string): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The identity of a folder, a device, a pipe: reading one may never end. */
export const NOT_A_FILE = "not a file";

/** Writes a new, synced file. What is left of one that could not be written is removed. */
export async function createSynced(disk: Disk, path: string, text: string): Promise<void> {
  try {
    const file = await disk.create(path);
    try {
      await file.write(text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await disk.remove(path).catch(() => undefined);
    throw error;
  }
}

/**
 * Puts a file with the text in place of the one at `path`, atomically for readers; the folder is not synced yet.
 * @param temporary a path in the same folder. @param allow is asked right before, and may refuse by throwing.
 * @returns the identity of the new file.
 */
export async function replaceFile(
  disk: Disk,
  { path, temporary }: { readonly path: string; readonly temporary: string },
  text: string,
  allow: () => void | Promise<void> = () => undefined,
): Promise<string | undefined> {
  await createSynced(disk, temporary, text);
  try {
    const identity = await disk.identity(temporary);
    await allow();
    await disk.rename(temporary, path);
    return identity;
  } catch (error) {
    await disk.remove(temporary).catch(() => undefined);
    throw error;
  }
}

/**
 * Returns true for a file that is a mount of its own (`docker run -v FILE:FILE`): its folder takes new files, and none can
 * replace it. A second name in the same folder shows this without a change; where a file system has no links, it stays unknown.
 * @param temporary a free path in the same folder.
 */
export async function isMount(
  disk: Disk,
  { path, temporary }: { readonly path: string; readonly temporary: string },
): Promise<boolean> {
  try {
    await disk.link(path, temporary);
    await disk.remove(temporary);
  } catch (error) {
    return errnoOf(error) === "EXDEV";
  }
  return false;
}

/** The disk of this machine. */
export const systemDisk: Disk = {
  resolve: async (path) => {
    const real = realPath(path);
    // Its folder exists, or this throws.
    await list(dirname(real));
    return real;
  },
  read: async (path) => {
    try {
      return (await read(path)).toString("utf8");
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  },
  create: async (path) => {
    const file = await open(path, "wx", 0o600);
    return {
      // A write through the pool of threads costs more than the write itself; only a sync waits for the disk.
      write: async (text) => writeFileSync(file.fd, text),
      sync: () => file.sync(),
      close: () => file.close(),
    };
  },
  rename: (from, to) => rename(from, to),
  link: (from, to) => link(from, to),
  remove: (path) => rm(path, { force: true }),
  list: (folder) => list(folder),
  syncFolder: async (folder) => {
    // Windows cannot open a folder, and needs no sync of it.
    if (process.platform === "win32") return;
    const handle = await open(folder, constants.O_RDONLY);
    try {
      await handle.sync();
    } catch (error) {
      // Some network file systems have no such operation; nothing more can be done there.
      if (errnoOf(error) !== "EINVAL") throw error;
    } finally {
      await handle.close();
    }
  },
  // Each line of the journal asks three times: through the pool of threads that costs more than the line.
  identity: async (path) => {
    const found = look(path);
    return found && (found.form === "file" ? found.identity : NOT_A_FILE);
  },
};
