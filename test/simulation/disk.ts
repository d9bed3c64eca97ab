import { posix } from "node:path";
import type { Disk, NewFile } from "../../src/core/files/index.ts";
import { hang, type Life } from "./life.ts";
import type { World } from "./world.ts";

interface Inode {
  readonly number: number;
  content: Buffer;
  /**
   * Buffer whose first bytes are `content`. The free rest receives the next lines, so that a long journal is not
   * copied for each line.
   */
  room: Buffer;
  /** Number of bytes that survive a power failure. */
  synced: number;
  /** True after a failed sync. The system has dropped the unwritten data, and the next sync reports success. */
  dropped: boolean;
}

/** A rename or removal that is not durable until the folder is synced. */
interface Renaming {
  readonly from?: string;
  readonly to?: string;
  readonly inode: Inode;
}

const { dirname, basename } = posix;

/**
 * Disk of a machine. Only synced data is durable: contents after `sync`, names after `syncFolder`. A power failure
 * keeps a random part of the other data: a part of the appended bytes, zeroes in their place, and some of the renames.
 */
export class SimulatedDisk {
  readonly #world: World;
  #names = new Map<string, Inode>();
  #durable = new Map<string, Inode>();
  /** Renames since the last sync of the folder, oldest first. */
  #renamings: Renaming[] = [];
  #inodes = 0;

  constructor(world: World) {
    this.#world = world;
  }

  get paths(): string[] {
    return [...this.#names.keys()];
  }

  text(path: string): string | undefined {
    return this.#names.get(path)?.content.toString("utf8");
  }

  /** Removes files durably. */
  wipe(chosen: (path: string) => boolean): void {
    for (const names of [this.#names, this.#durable])
      for (const path of [...names.keys()]) if (chosen(path)) names.delete(path);
    this.#renamings = this.#renamings.filter(({ from, to }) => !chosen(to ?? from ?? ""));
  }

  /** Renames files durably. */
  moveAway(chosen: (path: string) => boolean): void {
    for (const [path, inode] of [...this.#names].filter(([name]) => chosen(name))) {
      this.wipe((name) => name === path);
      for (const names of [this.#names, this.#durable]) names.set(`${path}.${this.#inodes}.old`, inode);
      this.#inodes += 1;
    }
  }

  losePower(): void {
    const { chance } = this.#world;
    // Most file systems lose only the latest renames. They guarantee less than this.
    const orderly = chance.once(0.6) ? chance.whole(0, this.#renamings.length) : undefined;
    this.#renamings.forEach((renaming, at) => {
      if (orderly === undefined ? chance.once(0.5) : at < orderly) rename(this.#durable, renaming);
    });
    for (const inode of new Set(this.#durable.values())) {
      inode.content = this.#torn(inode);
      inode.room = inode.content;
      inode.synced = inode.content.length;
    }
    this.#names = new Map(this.#durable);
    this.#renamings = [];
    const left = [...this.#names].map(([path, { content }]) => `${path} (${content.length})`);
    this.#world.note(`the disk keeps ${left.join(", ") || "nothing"}`);
  }

  /**
   * Returns the disk of one process.
   * @param faults Probability that an operation fails: no space, or a device error.
   */
  for(life: Life, faults: number): Disk {
    const { chance } = this.#world;
    /** @param broken Effect of a failed operation. Absent for operations that never fail. */
    const operation = async <T>(
      what: string,
      act: () => T,
      broken?: () => void,
      dying: () => void = act,
    ): Promise<T> => {
      if (!life.step(`disk ${what}`, dying)) return hang();
      await this.#world.pause(chance.real() * 2);
      if (life.isHeld) await life.awake();
      if (life.dead) return hang();
      if (broken !== undefined && chance.once(faults)) {
        broken();
        const code = chance.oneOf(["ENOSPC", "EIO"]);
        this.#world.note(`${life.name} disk ${what}: ${code}`);
        throw failure(code, what);
      }
      const result = act();
      if (life.isFrozen) await life.awake();
      return life.dead ? hang() : result;
    };
    const nothing = () => undefined;
    const open = (path: string, inode: Inode): NewFile => ({
      write: (text) => {
        const bytes = Buffer.from(text, "utf8");
        const append = (length: number) => {
          const { length: start } = inode.content;
          if (start + length > inode.room.length) {
            inode.room = Buffer.alloc(2 * (start + length));
            inode.content.copy(inode.room);
          }
          bytes.copy(inode.room, start, 0, length);
          inode.content = inode.room.subarray(0, start + length);
        };
        const part = () => append(chance.whole(0, bytes.length));
        return operation(`write ${path} ${bytes.length}`, () => append(bytes.length), part, part);
      },
      sync: () => {
        const fail = () => {
          inode.dropped ||= chance.once(0.5) && inode.synced < inode.content.length;
        };
        const sync = () => {
          if (!inode.dropped) inode.synced = inode.content.length;
        };
        return operation(`sync ${path}`, sync, fail);
      },
      close: () => operation(`close ${path}`, nothing),
    });
    return {
      resolve: async (path) => path,
      read: (path) => operation(`read ${path}`, () => this.text(path)),
      create: (path) => {
        const create = () => {
          if (this.#names.has(path)) throw failure("EEXIST", path);
          const empty = Buffer.alloc(0);
          const inode: Inode = { number: ++this.#inodes, content: empty, room: empty, synced: 0, dropped: false };
          this.#rename({ to: path, inode });
          return open(path, inode);
        };
        return operation(`create ${path}`, create, nothing);
      },
      rename: (from, to) => {
        const move = () => {
          const inode = this.#names.get(from);
          if (inode === undefined) throw failure("ENOENT", from);
          this.#rename({ from, to, inode });
        };
        return operation(`rename ${from} ${to}`, move, nothing);
      },
      link: (from, to) => {
        const second = () => {
          const inode = this.#names.get(from);
          if (inode === undefined) throw failure("ENOENT", from);
          this.#rename({ to, inode });
        };
        return operation(`link ${from} ${to}`, second, nothing);
      },
      remove: (path) =>
        operation(
          `remove ${path}`,
          () => {
            const inode = this.#names.get(path);
            if (inode !== undefined) this.#rename({ from: path, inode });
          },
          nothing,
        ),
      list: (folder) =>
        operation(`list ${folder}`, () =>
          this.paths.filter((path) => dirname(path) === folder).map((path) => basename(path)),
        ),
      syncFolder: (folder) =>
        operation(
          `syncFolder ${folder}`,
          () => {
            const here = ({ from, to }: Renaming) => dirname(to ?? from ?? "") === folder;
            for (const renaming of this.#renamings.filter(here)) rename(this.#durable, renaming);
            this.#renamings = this.#renamings.filter((renaming) => !here(renaming));
          },
          nothing,
        ),
      identity: (path) =>
        operation(`identity ${path}`, () => {
          const inode = this.#names.get(path);
          return inode && `${inode.number}:${inode.content.length}`;
        }),
    };
  }

  #rename(renaming: Renaming): void {
    rename(this.#names, renaming);
    this.#renamings.push(renaming);
  }

  /**
   * Returns the content of a file after a power failure: the synced bytes, then all, none or a part of the other
   * bytes, or zeroes in their place.
   */
  #torn({ content, synced }: Inode): Buffer {
    const { chance } = this.#world;
    if (synced === content.length) return content;
    const end = chance.oneOf([content.length, synced, chance.whole(synced, content.length)]);
    const left = Buffer.from(content.subarray(0, end));
    if (chance.once(0.2))
      left.fill(0, ...inOrder(chance.whole(synced, end), chance.oneOf([end, chance.whole(synced, end)])));
    return left;
  }
}

function rename(names: Map<string, Inode>, { from, to, inode }: Renaming): void {
  if (from !== undefined) names.delete(from);
  if (to !== undefined) names.set(to, inode);
}

const failure = (code: string, what: string) => Object.assign(new Error(`${code}: simulated, ${what}`), { code });

const inOrder = (a: number, b: number): [number, number] => (a < b ? [a, b] : [b, a]);
