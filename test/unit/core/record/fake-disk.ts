import { dirname, join } from "node:path";
import type { Disk } from "../../../../src/core/files/index.ts";

/**
 * Random results of a crash: whether unsynced content survives, and which unsynced renames and removals survive. A
 * disk may reorder them.
 */
export interface Luck {
  readonly content: "kept" | "lost" | "half";
  readonly names: "kept" | "lost" | "removals" | "arrivals" | "latest";
}

export const everyLuck: readonly Luck[] = (["kept", "lost", "half"] as const).flatMap((content) =>
  (["kept", "lost", "removals", "arrivals", "latest"] as const).map((names) => ({ content, names })),
);

interface Inode {
  readonly number: number;
  text: string;
  synced: string;
}

/**
 * A disk in memory that guarantees only synced data: content after `sync`, names after `syncFolder`. The disk crashes
 * before its n-th operation, or fails it with an error code.
 */
export class FakeDisk implements Disk {
  names = new Map<string, Inode>();
  durableNames = new Map<string, Inode>();
  readonly operations: string[] = [];
  /** Bytes given to `write`, by path. */
  readonly written = new Map<string, number>();
  /** Number of files that were created and not closed. */
  openFiles = 0;
  crashAt = Number.POSITIVE_INFINITY;
  crashed = false;
  failures: { operation: string; code: string }[] = [];
  /** Runs before each operation, for actions of other programs. */
  before: (operation: string) => void = () => undefined;
  #inodes = 0;
  /** Paths of the last rename or removal. */
  #latest: readonly string[] = [];

  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const [path, text] of Object.entries(files)) this.put(path, text);
  }

  /** Writes a file durably, as another program. */
  put(path: string, text: string): void {
    const inode = { number: ++this.#inodes, text, synced: text };
    this.names.set(path, inode);
    this.durableNames.set(path, inode);
  }

  text(path: string): string | undefined {
    return this.names.get(path)?.text;
  }

  afterPowerFailure({ content, names }: Luck): FakeDisk {
    const survivor = new FakeDisk();
    for (const path of new Set([...this.durableNames.keys(), ...this.names.keys()])) {
      const [before, now] = [this.durableNames.get(path), this.names.get(path)];
      const survives = {
        kept: true,
        lost: false,
        removals: now === undefined,
        arrivals: now !== undefined,
        latest: this.#latest.includes(path),
      };
      const inode = survives[names] ? now : before;
      if (inode === undefined) continue;
      const unsynced = inode.text.slice(inode.synced.length);
      const left = { kept: unsynced, lost: "", half: unsynced.slice(0, Math.floor(unsynced.length / 2)) }[content];
      survivor.put(path, inode.synced + left);
    }
    return survivor;
  }

  resolve = async (path: string) => path;

  read = async (path: string) => {
    this.#step(`read ${path}`);
    return this.names.get(path)?.text;
  };

  create = async (path: string) => {
    this.#step(`create ${path}`);
    if (this.names.has(path)) throw failure("EEXIST");
    const inode: Inode = { number: ++this.#inodes, text: "", synced: "" };
    this.names.set(path, inode);
    this.#latest = [path];
    this.openFiles++;
    return {
      write: async (text: string) => {
        // The system writes this size in several steps, and may crash between them.
        const before = inode.text;
        inode.text = before + text.slice(0, Math.floor(text.length / 2));
        this.#step(`write ${path}`);
        inode.text = before + text;
        this.written.set(path, (this.written.get(path) ?? 0) + Buffer.byteLength(text));
      },
      sync: async () => {
        this.#step(`sync ${path}`);
        inode.synced = inode.text;
      },
      close: async () => void this.openFiles--,
    };
  };

  rename = async (from: string, to: string) => {
    this.#step(`rename ${from} ${to}`);
    const inode = this.names.get(from);
    if (inode === undefined) throw failure("ENOENT");
    this.names.delete(from);
    this.names.set(to, inode);
    this.#latest = [from, to];
  };

  link = async (from: string, to: string) => {
    this.#step(`link ${from} ${to}`);
    const inode = this.names.get(from);
    if (inode === undefined) throw failure("ENOENT");
    this.names.set(to, inode);
    this.#latest = [to];
  };

  remove = async (path: string) => {
    this.#step(`remove ${path}`);
    if (this.names.delete(path)) this.#latest = [path];
  };

  list = async (folder: string) => {
    this.#step(`list ${folder}`);
    const inside = [...this.names.keys()].filter((path) => dirname(path) === folder);
    return inside.map((path) => path.slice(join(folder, "/").length));
  };

  syncFolder = async (folder: string) => {
    this.#step(`syncFolder ${folder}`);
    this.#latest = [];
    this.durableNames = new Map(this.names);
  };

  identity = async (path: string) => {
    const inode = this.names.get(path);
    return inode && `${inode.number}:${inode.text.length}`;
  };

  #step(operation: string): void {
    if (this.operations.length >= this.crashAt) {
      this.crashed = true;
      throw new Error(`crashed before: ${operation}`);
    }
    this.before(operation);
    this.operations.push(operation);
    const failing = this.failures.findIndex((each) => operation.startsWith(each.operation));
    const [failed] = failing < 0 ? [] : this.failures.splice(failing, 1);
    if (failed !== undefined) throw failure(failed.code);
  }
}

export function failure(code: string): Error {
  return Object.assign(new Error(`${code}: the disk says so`), { code });
}

/** A lock for tests that are not about locks. */
export const freeLock = () => ({
  acquire: async () => ({ verify: () => undefined, release: () => undefined }),
  takeOver: async () => ({ holder: undefined, alive: false }),
});
