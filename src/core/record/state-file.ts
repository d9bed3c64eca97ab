import { basename, dirname, join } from "node:path";
import { type Disk, isMount, type NewFile, NOT_A_FILE, replaceFile } from "../files/index.ts";
import { problem, raise } from "../messages/index.ts";
import { amended, HostformError, messageOf, reasonOf } from "../model/index.ts";

/** Check before a write. Throws to prevent the write. */
export type Verify = () => void | Promise<void>;

/** Text of one state, in a file or at a server. One instance per run. */
export interface StateText {
  /** Place of the text, for messages. */
  readonly name: string;
  /** Sentence about the place of an earlier text, for the fix of a corrupted text. */
  readonly earlier?: string;
  /**
   * Removes temporary files of killed processes, and checks that the text can be replaced. Only for the holder of the lock.
   * @throws HostformError `state.unwritable`.
   */
  prepare?(): Promise<void>;
  /** Returns undefined if no text exists. @throws HostformError `state.unreadable`. */
  read(): Promise<string | undefined>;
  /**
   * Replaces the text. The text is durable when the promise resolves. Calls `verify` directly before the replacement. An error of
   * `verify` prevents the write.
   * @throws HostformError `state.lost_lock` if another program wrote the text; otherwise the error of the system.
   */
  write(text: string, verify: Verify): Promise<void>;
  /**
   * Converts the text and its copies, so that no text remains in the old form. Writes only after all conversions succeeded. Absent for
   * a backend without copies. Throws as `write` does.
   */
  convert?(change: Change, verify: Verify): Promise<void>;
  /** Checks that the backend stored the accepted text. @throws as `write` does. */
  confirm?(): Promise<void>;
  /** Saves an unwritten text, for a backend without a journal. Never throws. */
  keep?(text: string): Promise<void>;
  /** Begins another run: the next write saves the present text as the backup. */
  nextRun?(): void;
}

/** Converts a text. @param place name of the state or of a copy. */
export type Change = (text: string, place: string) => Promise<string>;

/** Returns the paths of a state: text, backup, journal, history, lock, and notice of the lock holder. */
export function filesOfState(state: string) {
  const lock = join(dirname(state), `.${basename(state)}.lock`);
  return {
    state,
    backup: `${state}.backup`,
    journal: `${state}.journal`,
    history: `${state}.history`,
    lock,
    notice: `${lock}.info`,
  };
}

/**
 * State file that is always replaced as a whole. At each moment, also after a power failure, the path has the old or the new
 * content.
 * @param path the file, with symbolic links resolved (`Disk.resolve`), so that a link stays a link.
 */
export class StateFile implements StateText {
  readonly name: string;
  readonly earlier = "The file beside it that ends in `.backup` is from before the last run.";
  readonly #disk: Disk;
  readonly #uuid: () => string;
  /** Content of the path at the last read or write of this process. */
  #seen: { readonly identity: string | undefined; readonly text: string | undefined } | undefined;
  #backedUp = false;

  constructor(path: string, disk: Disk, uuid: () => string) {
    this.name = path;
    this.#disk = disk;
    this.#uuid = uuid;
  }

  async read(): Promise<string | undefined> {
    try {
      const identity = await this.#disk.identity(this.name);
      if (identity === NOT_A_FILE) throw new Error("it is not a regular file");
      const text = await this.#disk.read(this.name);
      this.#seen = { identity, text };
      return text;
    } catch (error) {
      return raise("state.unreadable/file", { place: this.name, reason: messageOf(error) });
    }
  }

  async write(text: string, verify: Verify): Promise<void> {
    if (this.#seen === undefined) await this.read();
    if (!this.#backedUp && this.#seen?.text !== undefined) {
      // As in Terraform, the backup is the state before the run.
      await this.replace(filesOfState(this.name).backup, this.#seen.text, verify);
    }
    this.#backedUp = true;
    const identity = await this.replace(this.name, text, verify);
    this.#seen = { identity, text };
    await this.#disk.syncFolder(dirname(this.name));
  }

  async convert(change: Change, verify: Verify): Promise<void> {
    const { backup } = filesOfState(this.name);
    const copy = await this.#disk.read(backup);
    const text = await this.read();
    const newCopy = copy === undefined ? undefined : await change(copy, backup);
    const newText = text === undefined ? undefined : await change(text, this.name);
    // Write the backup first. If the state has the new form, the backup then has the new form, too.
    if (newCopy !== undefined && newCopy !== copy) {
      await this.replace(backup, newCopy, verify);
      await this.#disk.syncFolder(dirname(this.name));
    }
    this.#backedUp = true;
    if (newText !== undefined && newText !== text) await this.write(newText, verify);
    else await this.#disk.syncFolder(dirname(this.name));
  }

  async prepare(): Promise<void> {
    const folder = dirname(this.name);
    // A file that cannot be removed is harmless. The next write reports a broken disk.
    const names = await this.#disk.list(folder).catch(() => []);
    const ours = names.filter((name) => name.startsWith(`.${basename(this.name)}.`) && name.endsWith(".tmp"));
    await Promise.allSettled(ours.map((name) => this.#disk.remove(join(folder, name))));
    if (await isMount(this.#disk, { path: this.name, temporary: this.#temporary("link") }))
      raise("state.unwritable/mount", { place: this.name });
  }

  /**
   * Writes the backup, and replaces the state by its own text. A state that cannot be replaced (immutable file, folder without
   * write permission, full disk) fails here, before the first request. Throws as `write` does.
   */
  async rehearse(verify: Verify): Promise<void> {
    if (!this.#backedUp && this.#seen?.text !== undefined) await this.write(this.#seen.text, verify);
  }

  /**
   * Replaces a file in the folder by a synced file, unless another program wrote the state. Does not sync the folder.
   * @returns identity of the file. @throws errors of `verify` and `unchanged`; otherwise the error of the system.
   */
  replace(path: string, text: string, verify: Verify): Promise<string | undefined> {
    return replaceFile(this.#disk, { path, temporary: this.#temporary(this.#uuid()) }, text, async () => {
      await verify();
      await this.unchanged();
    });
  }

  nextRun(): void {
    this.#backedUp = false;
  }

  #temporary(own: string): string {
    return join(dirname(this.name), `.${basename(this.name)}.${own}.tmp`);
  }

  /** Checks that the file is unchanged since the last read or write of this process. @throws HostformError `state.lost_lock`. */
  async unchanged(): Promise<void> {
    const identity = await this.#disk.identity(this.name);
    if (identity !== this.#seen?.identity) raise("state.lost_lock/changed", { place: this.name });
  }
}

/**
 * Journal file `NAME.journal`. A write fails if another program replaced the state file. A backend without a journal writes the
 * whole state at each change.
 */
export class JournalFile {
  /** Place of the text, for messages. */
  readonly name: string;
  readonly #state: StateFile;
  readonly #disk: Disk;
  /** Journal of this process. */
  #grown: { readonly file: NewFile; identity: string | undefined } | undefined;

  constructor(state: StateFile, disk: Disk) {
    this.name = filesOfState(state.name).journal;
    this.#state = state;
    this.#disk = disk;
  }

  /** Returns undefined if no journal exists. @throws HostformError `state.journal`. */
  async read(): Promise<string | undefined> {
    try {
      return await this.#disk.read(this.name);
    } catch (error) {
      return raise("state.journal/file", { place: this.name, reason: reasonOf(error) });
    }
  }

  /**
   * Begins a new journal with its first line, after a rehearsal of the state's write. The journal is durable when the promise resolves.
   */
  async begin(head: string, verify: Verify): Promise<void> {
    await verify();
    await this.#state.unchanged();
    await this.#state.rehearse(verify);
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
   * Appends a line, which is durable when the promise resolves. After a failure, the caller must append no further line, because a part
   * of the failed line may be on disk.
   * Calls `verify` before and after the write: the new holder of a lost lock may not have read this line.
   * @throws errors of `verify`; HostformError `state.lost_lock` if another program wrote the state; otherwise the error of the
   * system.
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

  /** Closes the file. Never throws. */
  async close(): Promise<void> {
    await this.#grown?.file.close().catch(() => undefined);
    this.#grown = undefined;
  }

  /** Replaces the journal atomically. The journal is durable when the promise resolves. */
  async replace(text: string, verify: Verify): Promise<void> {
    await this.#state.replace(this.name, text, verify);
    await this.#syncFolder();
  }

  /** Removes the journal after the state is durable. */
  async remove(): Promise<void> {
    await this.#syncFolder();
    await this.#disk.remove(this.name);
    await this.#syncFolder();
  }

  #syncFolder(): Promise<void> {
    return this.#disk.syncFolder(dirname(this.name));
  }
}

/** Returns the error with a sentence at the end of its detail. */
export function withDetail(error: unknown, sentence: string): unknown {
  return amended(error, ({ detail }) => ({ detail: [detail, sentence].filter(Boolean).join("\n") }));
}

/** Returns the error. A corrupted text gets a remedy with the place of an earlier text. */
export function withEarlier(error: unknown, { earlier }: Pick<StateText, "earlier">): unknown {
  return amended(error, ({ code, remedies = [] }) =>
    code === "state.unreadable" && earlier !== undefined ? { remedies: [...remedies, earlier] } : {},
  );
}

/** Throws a HostformError as is, and another error as `state.unwritable`. @param consequence a sentence about the unrecorded changes. */
export function refuseWrite(place: string, error: unknown, consequence: string): never {
  if (error instanceof HostformError) throw error;
  const diagnostic = problem("state.unwritable", { place, reason: reasonOf(error), consequence });
  throw new HostformError([diagnostic], { cause: error });
}
