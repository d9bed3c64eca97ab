import { basename, dirname, join } from "node:path";
import { fail } from "../model/index.ts";
import { type Disk, type NewFile, replaceFile } from "./disk.ts";
import { filesOfState, reasonOf, type StateFile, type Verify } from "./state-file.ts";

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

/**
 * The journal as a file beside the state file, `NAME.journal`. It is only written while the state file is the one that was
 * read or written here last.
 */
export function createJournalFile(state: StateFile, disk: Disk, uuid: () => string): JournalPlace {
  const statePath = state.name;
  const unchanged = () => state.unchanged();
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
          remedies: ["Check that it is a file that you may read. It holds what a run that was stopped had recorded."],
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
      await replaceFile(disk, { path: name, temporary }, text, async () => {
        await verify();
        await unchanged();
      });
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
