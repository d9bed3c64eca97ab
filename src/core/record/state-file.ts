import { basename, dirname, join } from "node:path";
import { type Disk, isMount, type NewFile, NOT_A_FILE, replaceFile } from "../files/index.ts";
import { problem, raise } from "../messages/index.ts";
import { amended, errnoOf, HostformError, messageOf } from "../model/index.ts";

/** Check right before a write. It refuses the write by throwing. */
export type Verify = () => void | Promise<void>;

/** The text of one state and how to replace it: a file here, a remote backend elsewhere. One per run. */
export interface StateText {
  /** Place of the text, for messages. */
  readonly name: string;
  /** A sentence on where an earlier text can be found, for the fix of one that is damaged. */
  readonly earlier?: string;
  /**
   * Removes what killed writers left behind, and finds out whether the text can be replaced at all. Only for the holder of
   * the lock. @throws HostformError `state.unwritable`.
   */
  prepare?(): Promise<void>;
  /** Undefined when nothing was ever written. @throws HostformError `state.unreadable`. */
  read(): Promise<string | undefined>;
  /**
   * Replaces the text; durable when it resolves. `verify` is called as late as possible before the old text goes; what
   * it throws stops the write.
   * @throws HostformError `state.lost_lock` when another program wrote in between; else the system's own error.
   */
  write(text: string, verify: Verify): Promise<void>;
  /**
   * Changes the form of the text and of each copy that stays beside it; of the old form nothing is kept. Nothing is
   * written unless every change could be made. A backend without copies can do without. Throws as `write` does.
   */
  convert?(change: Change, verify: Verify): Promise<void>;
  /** Checks that the backend has the text that it accepted. @throws as `write` does. */
  confirm?(): Promise<void>;
  /** Keeps a text that could not be written, for a backend that has no journal. Never throws. */
  keep?(text: string): Promise<void>;
  /** Begins another run: the next write keeps the present text as its backup. */
  nextRun?(): void;
}

/** Gives a text another form. @param place where the text is: the name of the state, or that of a copy. */
export type Change = (text: string, place: string) => Promise<string>;

/** The files that keep one state: its text, what stands beside it, and its lock with the notice of the holder. */
export function filesOfState(state: string) {
  const lock = join(dirname(state), `.${basename(state)}.lock`);
  return { state, backup: `${state}.backup`, journal: `${state}.journal`, lock, notice: `${lock}.info` };
}

/**
 * A state file that is only ever replaced whole. At every moment, power failure included, the path holds the old
 * content or the new one.
 * @param path the file, symbolic links followed (`Disk.resolve`), so that a link stays a link.
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
      // The backup is the state before the run, as it is for Terraform.
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
    // The copy first, durably: once the state has its new form, everything has.
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
    // A file that cannot be removed stays: it is harmless, and a broken disk shows at the next write.
    const names = await this.#disk.list(folder).catch(() => []);
    const ours = names.filter((name) => name.startsWith(`.${basename(this.name)}.`) && name.endsWith(".tmp"));
    await Promise.allSettled(ours.map((name) => this.#disk.remove(join(folder, name))));
    if (await isMount(this.#disk, { path: this.name, temporary: this.#temporary("link") }))
      raise("state.unwritable/mount", { place: this.name });
  }

  /**
   * Keeps the backup of this run and replaces the state by the same text, before the run depends on it: a state that cannot be
   * replaced (an immutable file, a folder of others, a full disk) fails here, and not after an order. Throws as `write` does.
   */
  async rehearse(verify: Verify): Promise<void> {
    if (!this.#backedUp && this.#seen?.text !== undefined) await this.write(this.#seen.text, verify);
  }

  /**
   * Puts a synced file at a path of the folder, which is not synced yet, unless another program wrote the state.
   * @returns the file's identity. @throws what `verify` and `unchanged` throw; else the system's own error.
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

  /** @throws HostformError `state.lost_lock` when the file is not the one that was read or written here last. */
  async unchanged(): Promise<void> {
    const identity = await this.#disk.identity(this.name);
    if (identity !== this.#seen?.identity) raise("state.lost_lock/changed", { place: this.name });
  }
}

/**
 * The journal as a file beside the state file, `NAME.journal`. It is only written while the state file is the one that was
 * read or written here last. A backend without one gets the whole state with each change.
 */
export class JournalFile {
  /** Place of the text, for messages. */
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
      return raise("state.journal/file", { place: this.name, reason: reasonOf(error) });
    }
  }

  /**
   * Begins a journal with its first line, in place of whatever is there; durable when it resolves. The state is replaced by
   * its own text before, because everything in the journal ends there.
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

/** The same failure with a sentence at the end of its details. */
export function withDetail(error: unknown, sentence: string): unknown {
  return amended(error, ({ detail }) => ({ detail: [detail, sentence].filter(Boolean).join("\n") }));
}

/** The same failure; of a text that is damaged, with the sentence on where an earlier one is. */
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

/** The system's code and words for a failed write: `ENOSPC: no space left on device, write`. */
export function reasonOf(error: unknown): string {
  // A host with several addresses has failed at each of them: one is enough to report.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const message = messageOf(error);
  const code = errnoOf(error);
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`;
}
