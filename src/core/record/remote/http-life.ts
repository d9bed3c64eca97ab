import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Grip, makeFolder, takeGrip } from "../../local/index.ts";

/** A sign that nobody has asked about for so long stands for a lock that was freed otherwise. */
const KEPT_MS = 30 * 24 * 3_600_000;

/** Ends a sign. @param locked the lock may be held at the server all the same: the next process is to free it. */
export type EndSign = (locked?: true) => void;

/**
 * Signs of life of the processes of this machine that hold a lock at a server, which itself cannot know: a file for each,
 * locked by the system for as long as the process lives, however it ends. A process that finds the lock taken asks whether its
 * holder was a process of this machine that has ended.
 */
export class LifeSigns {
  readonly #folder: string;
  readonly #host: string;

  /** @param host its name: a folder may be shared by several machines whose locks on files do not see each other. */
  constructor(folder: string, host: string) {
    this.#folder = folder;
    this.#host = host;
  }

  /**
   * Gives a sign for a lock that is about to be asked for.
   * @returns ends it. Where no sign can be given there is none: the lock then stays when this process is killed.
   */
  begin(id: string): EndSign {
    const file = this.#fileOf(id);
    let grip: Grip | undefined;
    try {
      makeFolder(this.#folder);
      this.#sweep();
      grip = takeGrip(file);
    } catch {
      // A state folder that cannot be used is said by the ledger.
    }
    return (locked) => {
      if (grip === undefined) return;
      grip.free();
      grip = undefined;
      if (locked) writeFileSync(file, "", { mode: 0o600 });
    };
  }

  /** Does `work` if the lock was held by a process of this machine that has ended; for one process at a time. */
  async ifEnded(id: string, work: () => Promise<void>): Promise<boolean> {
    const grip = this.#leftBy(id);
    if (grip === undefined) return false;
    try {
      await work();
      return true;
    } finally {
      grip.free();
    }
  }

  #leftBy(id: string): Grip | undefined {
    const file = this.#fileOf(id);
    try {
      return existsSync(file) ? takeGrip(file) : undefined;
    } catch {
      return undefined;
    }
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${createHash("sha256").update(`${this.#host}\n${id}`).digest("hex").slice(0, 32)}.lock`);
  }

  #sweep(): void {
    for (const name of readdirSync(this.#folder)) {
      const file = join(this.#folder, name);
      const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
      if (Date.now() - mtimeMs > KEPT_MS) takeGrip(file)?.free();
    }
  }
}
