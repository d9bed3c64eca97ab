import { constants, writeFileSync } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf } from "../model/errors.ts";
import { list, look, read, realPath } from "./file-system.ts";

/**
 * File operations of the state. Each is one step of the operating system, so that a simulated disk can replace it and keep only synced
 * data. Errors are the system's own (`ENOSPC`, `EACCES`).
 */
export interface Disk {
  /** Resolves symbolic links. The last part of the path may be missing. */
  resolve(path: string): Promise<string>;
  /** Reads the whole content. Returns undefined if the file does not exist. */
  read(path: string): Promise<string | undefined>;
  /** Creates a new file, accessible only to its owner. Fails if the file exists. */
  create(path: string): Promise<NewFile>;
  /** Replaces `to` with `from`, atomically for readers. */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name. */
  link(from: string, to: string): Promise<void>;
  /** Removes a file. Does nothing if the file does not exist. */
  remove(path: string): Promise<void>;
  list(folder: string): Promise<string[]>;
  /** Syncs creations, renames and removals in a folder. */
  syncFolder(folder: string): Promise<void>;
  /**
   * Returns the identity of a file, or undefined without a file. A new file or a rewrite changes the identity. Returns
   * {@link NOT_A_FILE} for anything else.
   */
  identity(path: string): Promise<string | undefined>;
}

/**
 * A new file. The file may stay open and grow during a run: each write appends, and each sync makes all earlier writes durable.
 * Other processes may read the file meanwhile. The caller closes the file before a rename or a removal.
 */
export interface NewFile {
  /** Appends text. After a failure, the file may contain any part of the text. */
  write(text: string): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Identity of a folder, a device or a pipe. A read of a pipe or a device may never end. */
export const NOT_A_FILE = "not a file";

/** Writes and syncs a new file. After a failure, removes the incomplete file. */
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
 * Replaces the file at `path`, atomically for readers. Does not sync the folder.
 * @param temporary path in the folder of `path`. @param allow runs directly before the replacement. If it throws, the file stays.
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
 * Returns true for a mounted file (`docker run -v FILE:FILE`): its folder accepts new files, but no file can replace the mount. The
 * test creates a hard link in this folder, which fails with `EXDEV`. Returns false on a file system without links.
 * @param temporary free path in the folder of the file.
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

/** Disk of this machine. */
export const systemDisk: Disk = {
  resolve: async (path) => {
    const real = realPath(path);
    // Throws if the folder does not exist.
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
      // Synchronous: the thread pool costs more time than the write itself. Only a sync waits for the disk.
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
    // Windows cannot open a folder and needs no folder sync.
    if (process.platform === "win32") return;
    const handle = await open(folder, constants.O_RDONLY);
    try {
      await handle.sync();
    } catch (error) {
      // Some network file systems support no folder sync.
      if (errnoOf(error) !== "EINVAL") throw error;
    } finally {
      await handle.close();
    }
  },
  // Synchronous: each line of the journal calls this three times, and the thread pool would cost more time than the line.
  identity: async (path) => {
    const found = look(path);
    return found && (found.form === "file" ? found.identity : NOT_A_FILE);
  },
};
