import { basename, dirname, join } from "node:path";
import { fail } from "../model/index.ts";
import type { Disk, NewFile } from "./disk.ts";
import type { Seal } from "./encryption.ts";
import { type JournalEntry, type JournalHead, JournalLines } from "./journal-lines.ts";
import { filesOfState, reasonOf } from "./state-file.ts";

/** What is asked right before something is written, and may refuse it by throwing. */
export type Verify = () => void | Promise<void>;

/** Where the journal of a state is kept. A place without one gets the whole state with each change. */
export interface JournalPlace {
  /** Where it is, for messages. */
  readonly name: string;
  /** Undefined when there is none. @throws HostformError `state.journal`. */
  read(): Promise<string | undefined>;
  /** Begins a journal with its first line, in place of whatever is there; durable when it resolves. */
  begin(head: string, verify: Verify): Promise<GrowingJournal>;
  /** Puts a whole journal in place of the one that is there, at once for whoever looks; durable when it resolves. */
  replace(text: string, verify: Verify): Promise<void>;
  /** Removes it, for good; before that, makes durable what takes its place. */
  remove(): Promise<void>;
}

/** A journal that this process began, and alone adds to. */
export interface GrowingJournal {
  /**
   * Adds a line; durable when it resolves. After a failure nothing must be added any more: a part of the line may be
   * there. `verify` is called before, so that nothing foreign is added to, and after, so that a writer that lost its
   * lock meanwhile does not take for recorded what the new holder may not have read.
   * @throws what `verify` throws; HostformError `state.lost_lock` when the state was written by another program; else
   * the system's own error.
   */
  append(line: string, verify: Verify): Promise<void>;
  /** Never throws. */
  close(): Promise<void>;
}

export interface JournalFileOptions {
  /** The state file, symbolic links followed. */
  readonly statePath: string;
  readonly disk: Disk;
  readonly uuid: () => string;
  /** @throws HostformError `state.lost_lock` when the state file is not the one that was read or written last. */
  readonly unchanged: Verify;
}

/** The journal as a file beside the state file, `NAME.journal`. */
export function createJournalFile({ statePath, disk, uuid, unchanged }: JournalFileOptions): JournalPlace {
  const { journal: name } = filesOfState(statePath);
  const folder = dirname(statePath);

  const remove = async () => {
    await disk.syncFolder(folder);
    await disk.remove(name);
    await disk.syncFolder(folder);
  };

  return {
    name,
    remove,
    read: async () => {
      try {
        return await disk.read(name);
      } catch (error) {
        return fail("state.journal", "The journal beside the state cannot be read", {
          detail: `${name}: ${reasonOf(error)}`,
          fix: "Check that it is a file that you may read. It holds what a run that was stopped had recorded.",
        });
      }
    },
    begin: async (head, verify) => {
      await verify();
      await unchanged();
      await disk.remove(name);
      const file = await disk.create(name);
      try {
        await file.write(head);
        await file.sync();
        await disk.syncFolder(folder);
      } catch (error) {
        await file.close().catch(() => undefined);
        throw error;
      }
      return grow(file, name, disk, unchanged);
    },
    replace: async (text, verify) => {
      // A name that the sweep of the state file knows.
      const temporary = join(folder, `.${basename(statePath)}.${uuid()}.tmp`);
      try {
        const file = await disk.create(temporary);
        try {
          await file.write(text);
          await file.sync();
        } finally {
          await file.close();
        }
        await verify();
        await unchanged();
        await disk.rename(temporary, name);
      } catch (error) {
        await disk.remove(temporary).catch(() => undefined);
        throw error;
      }
      await disk.syncFolder(folder);
    },
  };
}

async function grow(file: NewFile, name: string, disk: Disk, unchanged: Verify): Promise<GrowingJournal> {
  let identity = await disk.identity(name);
  return {
    append: async (line, verify) => {
      await verify();
      await unchanged();
      if ((await disk.identity(name)) !== identity) {
        throw new Error("the journal was moved, removed or written by another program");
      }
      await file.write(line);
      await file.sync();
      identity = await disk.identity(name);
      await verify();
    },
    close: () => file.close().catch(() => undefined),
  };
}

/** A journal that this run began: entries in, durable lines out. */
export class JournalWriter {
  readonly #lines: JournalLines;
  readonly #file: GrowingJournal;

  private constructor(lines: JournalLines, file: GrowingJournal) {
    this.#lines = lines;
    this.#file = file;
  }

  /** Takes the place of whatever journal is there. Throws as {@link JournalPlace.begin} does. */
  static async begin(
    place: JournalPlace,
    state: Pick<JournalHead, "lineage" | "serial">,
    seal: Seal | undefined,
    verify: Verify,
  ): Promise<JournalWriter> {
    const lines = new JournalLines(state, seal);
    return new JournalWriter(lines, await place.begin(lines.head(), verify));
  }

  /** Durable when it resolves. After a failure the journal must not be written to any more. */
  async append(entry: JournalEntry, verify: Verify): Promise<void> {
    await this.#file.append(this.#lines.entry(entry), verify);
  }

  /** Never throws. */
  async close(): Promise<void> {
    await this.#file.close();
  }
}
