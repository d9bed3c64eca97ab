import { dirname } from "node:path";
import { fail } from "../model/index.ts";
import type { Disk, NewFile } from "./disk.ts";
import { filesOfState, reasonOf, type StateFile, type Verify } from "./state-file.ts";

/**
 * The journal as a file beside the state file, `NAME.journal`. It is only written while the state file is the one that was
 * read or written here last. A backend without one gets the whole state with each change.
 */
export class JournalFile {
  /** Where it is, for messages. */
  readonly name: string;
  readonly #state: StateFile;
  readonly #disk: Disk;
  /** The journal that this process began, and alone adds to. */
  #grown: { readonly file: NewFile; identity: string | undefined } | undefined;

  constructor(state: StateFile, disk: Disk) {
    this.name = filesOfState(state.name).journal;
    this.#state = state;
    this.#disk = disk;
  }

  /** Undefined when there is none. @throws HostformError `state.journal`. */
  async read(): Promise<string | undefined> {
    try {
      return await this.#disk.read(this.name);
    } catch (error) {
      return fail("state.journal", "The journal beside the state cannot be read", {
        detail: `${this.name}: ${reasonOf(error)}`,
        remedies: ["Check that it is a file that you may read. It holds what a run that was stopped had recorded."],
      });
    }
  }

  /** Begins a journal with its first line, in place of whatever is there; durable when it resolves. */
  async begin(head: string, verify: Verify): Promise<void> {
    await verify();
    await this.#state.unchanged();
    await this.#disk.remove(this.name);
    const file = await this.#disk.create(this.name);
    try {
      await file.write(head);
      await file.sync();
      await this.#syncFolder();
      this.#grown = { file, identity: await this.#disk.identity(this.name) };
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
  }

  /**
   * Adds a line to the journal that was begun; durable when it resolves. After a failure nothing must be added any more: a
   * part of the line may be there. `verify` is called before, so that nothing foreign is added to, and after, so that a
   * writer that lost its lock meanwhile does not take for recorded what the new holder may not have read.
   * @throws what `verify` throws; HostformError `state.lost_lock` when the state was written by another program; else
   * the system's own error.
   */
  async append(line: string, verify: Verify): Promise<void> {
    await verify();
    await this.#state.unchanged();
    if (this.#grown === undefined || (await this.#disk.identity(this.name)) !== this.#grown.identity) {
      throw new Error("the journal was moved, removed or written by another program");
    }
    await this.#grown.file.write(line);
    await this.#grown.file.sync();
    this.#grown.identity = await this.#disk.identity(this.name);
    await verify();
  }

  /** Nothing is added any more. Never throws. */
  async close(): Promise<void> {
    await this.#grown?.file.close().catch(() => undefined);
    this.#grown = undefined;
  }

  /** Puts a whole journal in place of the one that is there, atomically for readers; durable when it resolves. */
  async replace(text: string, verify: Verify): Promise<void> {
    await this.#state.replace(this.name, text, verify);
    await this.#syncFolder();
  }

  /** Removes it, for good; before that, makes durable what takes its place. */
  async remove(): Promise<void> {
    await this.#syncFolder();
    await this.#disk.remove(this.name);
    await this.#syncFolder();
  }

  #syncFolder(): Promise<void> {
    return this.#disk.syncFolder(dirname(this.name));
  }
}
