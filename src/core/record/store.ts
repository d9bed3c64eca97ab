// Operations on one state, wherever it is kept: open, pull, push, reseal, unlock.
import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { type Disk, systemDisk } from "../files/index.ts";
import { raise } from "../messages/index.ts";
import {
  amended,
  attempt,
  type Clock,
  type Diagnostic,
  type ResourceState,
  type State,
  systemClock,
} from "../model/index.ts";
import { Encryption } from "./encryption.ts";
import { refuseForeign, relationOf } from "./journal-reading.ts";
import {
  type Contender,
  createStateFileLock,
  type HeldLock,
  type LockContext,
  type LockRequest,
  type StateLock,
} from "./lock.ts";
import { decodeStored, findState, type Opened, openDocuments, type StateBackend } from "./opening.ts";
import { Recorder } from "./recorder.ts";
import { type Resealed, type Resealing, reseal } from "./reseal.ts";
import { type Acceptance, SealedText, unsealed } from "./sealed-text.ts";
import { type OpenState, StateSession } from "./session.ts";
import { decodeState, encodeState, type StateDocument } from "./state-document.ts";
import { JournalFile, reasonOf, refuseWrite, StateFile } from "./state-file.ts";

export interface StateStore {
  /**
   * Opens the state; an absent one is empty. `write: true` takes the lock, which also a plan wants, so that it does not
   * look at a state in motion; without it the state can only be read. What an earlier run left in the journal is there,
   * too; at the backend it stays as it is until the first change.
   * @throws HostformError `state.locked`, `state.unreadable`, `state.newer`, `state.foreign`, `state.journal`, `state.key`,
   * `state.unencrypted`.
   */
  open(request: LockRequest & { readonly write: boolean }): Promise<OpenState>;
  /**
   * The text of the state as it is stored, decrypted but not decoded; undefined when there is none. When a run was stopped, the text
   * that the state will have once its journal is folded. Takes no lock.
   */
  pull(): Promise<string | undefined>;
  /**
   * Replaces the state by the text of a state file, which may be encrypted. It must be of the same lineage with a higher serial, or the same
   * content; `force` also replaces an unrelated, newer or damaged one. The journal of a run that was stopped is folded
   * before, or stays when the text is the state that it continues; it is refused when neither can be.
   * @throws HostformError as `open` and `decodeState` do; `state.conflict`.
   */
  push(text: string, request: LockRequest & { readonly force: boolean }): Promise<void>;
  /**
   * Encrypts or decrypts the state and its backup, or changes their key. The journal of a run that was stopped is folded
   * before, so that nothing is left in the old form.
   * @throws HostformError as `open` and `reseal` do.
   */
  reseal(wanted: Resealing, request: LockRequest): Promise<Resealed>;
  /** Frees the lock. A living holder notices before its next write and refuses it (`state.lost_lock`). */
  forceUnlock(id?: string): ReturnType<StateLock["takeOver"]>;
  /** Describes the holder of the lock; undefined if nobody holds it, `unknown` where only taking it shows that. */
  heldBy(): Promise<string | undefined>;
}

/** Callbacks of the one who opens a state. */
export interface Opening {
  /** Called with each recorded resource, and with each before it is recorded. */
  readonly onResource?: (resource: ResourceState) => void;
  /** Checks a state that was opened for a command. Returns further warnings, or throws to refuse it. */
  readonly check?: (state: State, command: string) => Promise<readonly Diagnostic[]>;
}

/** A file as the backend of a state; everything but the path has a default, which is this machine. */
interface FileBackendOptions {
  /** The state file, `hosting.tfstate`. */
  readonly path: string;
  /** Default: without a key. */
  readonly encryption?: Encryption;
  readonly clock?: Clock;
  readonly uuid?: () => string;
  readonly disk?: Disk;
  readonly contender?: Contender;
  /** Each change writes the whole state, as in {@link StateBackend}. */
  readonly whole?: boolean;
  /** Another lock than the operating system's, for simulations. */
  readonly lock?: (path: string, context: LockContext) => StateLock;
}

/** The store of a state file on this machine. Touches nothing before it is used. */
export function createFileStore(options: FileBackendOptions): StateStore {
  const uuid = options.uuid ?? randomUUID;
  return createStateStore(() => createFileBackend({ ...options, uuid }), uuid, options.encryption);
}

/**
 * A store over any backend.
 * @param connect is asked again by each operation; the signal ends its first reading.
 * @param uuid a fresh UUID at each call; the first write takes its lineage from it.
 * @param encryption of state and journal, if they are encrypted or do not exist yet.
 */
export function createStateStore(
  connect: (signal?: AbortSignal) => Promise<StateBackend>,
  uuid: () => string,
  encryption: Encryption = new Encryption({ key: undefined }),
  { onResource = () => undefined, check = async () => [] }: Opening = {},
): StateStore {
  return {
    open: async ({ write, ...request }) => {
      const at = sealBackend(await connect(request.signal), encryption);
      const lock = write ? await at.lock.acquire(request) : undefined;
      try {
        if (lock !== undefined) {
          await encryption.ready();
          await at.text.prepare();
        }
        const opened = await openDocuments(at);
        if (lock !== undefined && opened.spent) await removeSpent(at, lock);
        const more = await check(opened.durable.state, request.command);
        const warnings = [...at.text.warnings, ...opened.warnings, ...more];
        const writing = lock && { lock, recorder: new Recorder(at, opened, lock, uuid) };
        return new StateSession({ ...opened, warnings }, at.text.name, writing, onResource);
      } catch (error) {
        await lock?.release();
        throw error;
      }
    },
    pull: async () => {
      const at = sealBackend(await connect(), encryption);
      const { stored, journal } = await findState(at);
      return journal === undefined ? stored : foldedState(await openDocuments(at));
    },
    push: async (given, { force, ...request }) => {
      const at = sealBackend(await connect(), encryption, { damage: force });
      const plain = await unsealed(given, "the text given", encryption);
      await whileLocked(at, request, (lock) => pushText(at, plain, force, lock, uuid));
    },
    reseal: async (wanted, request) => {
      // The user asks to change the form of a clear text; a clear text has no key to change.
      const at = sealBackend(await connect(), encryption, wanted.to === "key" ? {} : { clear: true });
      return whileLocked(at, request, async (lock) => {
        const opened = await openDocuments(at);
        await settleJournal(at, opened, lock, uuid);
        const { state } = opened.durable;
        const resealed = await reseal(at.text.stored, encryption, wanted, () => lock.verify());
        return { found: state.lineage !== "", ...resealed, state };
      });
    },
    forceUnlock: async (id) => (await connect()).lock.takeOver(id),
    heldBy: async () => {
      const { lock } = await connect();
      return lock.heldBy === undefined ? "unknown" : lock.heldBy();
    },
  };
}

/** The backend with its state, and the journal of it, encrypted as `encryption` can. */
function sealBackend(backend: StateBackend, encryption: Encryption, accept?: Acceptance) {
  const text = new SealedText(backend.text, encryption, accept);
  return { ...backend, text, sealing: text };
}

/** Does something while the lock is held, and asks at the end whether the backend has what it took. */
async function whileLocked<T>(
  { lock, text }: StateBackend,
  request: LockRequest,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const held = await lock.acquire(request);
  try {
    await text.prepare?.();
    const result = await work(held);
    await text.confirm?.();
    return result;
  } finally {
    await held.release();
  }
}

/** A state file on this machine. @throws HostformError `state.unreadable` when its folder does not exist. */
export async function createFileBackend(options: FileBackendOptions): Promise<StateBackend> {
  const { disk = systemDisk, clock = systemClock, uuid = randomUUID, whole = false } = options;
  const { contender = thisProcess(), lock = createStateFileLock } = options;
  const path = await disk
    .resolve(options.path)
    .catch((error: unknown) => raise("state.unreadable/folder", { place: options.path, reason: reasonOf(error) }));
  const text = new StateFile(path, disk, uuid);
  const journal = new JournalFile(text, disk);
  return { text, journal, whole, lock: lock(path, { clock, uuid, contender }) };
}

/** This process, as it names itself to those who find the state locked. */
export function thisProcess(): Contender {
  // Containers run under user ids that have no name.
  const user = attempt(
    () => userInfo().username,
    () => String(process.getuid?.() ?? "unknown"),
  );
  return { pid: process.pid, user, host: hostname() };
}

/**
 * As {@link StateStore.push}. What an unfolded journal holds is never lost by it: such a journal is first folded into the state
 * that is replaced, and stands in its backup; or, when the text given is the very state that it continues, it stays.
 */
async function pushText(
  backend: StateBackend,
  given: string,
  force: boolean,
  lock: HeldLock,
  uuid: () => string,
): Promise<void> {
  const next = decodeGiven(given);
  const text = encodeState(next);
  const { name } = backend.text;
  const write = () =>
    backend.text.write(text, () => lock.verify()).catch((error) => refuseWrite(name, error, "Nothing was replaced."));
  const { stored, journaled, journal } = await findState(backend);
  if (journal === undefined) {
    // By force also in another form: a state in the clear, of the same content, gives way to an encrypted one.
    if (text === stored && !force) return;
    if (stored !== undefined && !force) checkSuccession(decodeStored(stored, backend.text).state, next.state, name);
    if (journaled) await removeSpent(backend, lock);
    return write();
  }
  const unlessForced = (error: unknown) => {
    if (!force) throw error;
    return undefined;
  };
  const there = stored === undefined ? undefined : attempt(() => decodeStored(stored, backend.text), unlessForced);
  const relation = relationOf(journal, stored === undefined || !there ? undefined : { ...there.state, text: stored });
  if (relation !== "foreign" && (stored === undefined || there !== undefined)) {
    const opened = await openDocuments(backend);
    const folded = foldedState(opened);
    if (!force && text !== folded) checkSuccession(decodeState(folded, name).state, next.state, name);
    await settleJournal(backend, opened, lock, uuid);
    return text === folded ? undefined : write();
  }
  if (relationOf(journal, { ...next.state, text }) === "foreign") {
    refuseForeign(journal, name, there?.state ?? (stored === undefined ? "absent" : "unreadable"));
  }
  if (there !== undefined && !force) checkSuccession(there.state, next.state, name);
  await write();
}

/** The text that a state will have once its journal is folded; the state's own when there is nothing to fold. */
function foldedState({ base, durable }: Opened): string {
  return encodeState(
    durable === base ? base : { ...durable, state: { ...durable.state, serial: durable.state.serial + 1 } },
  );
}

/**
 * Ends the run that was stopped: its journal goes into the state, and the next write to this backend begins another run.
 * Nothing happens where no journal is.
 * @throws HostformError `state.unwritable`, `state.lost_lock`.
 */
async function settleJournal(backend: StateBackend, opened: Opened, lock: HeldLock, uuid: () => string): Promise<void> {
  if (opened.spent) return removeSpent(backend, lock);
  try {
    await new Recorder(backend, opened, lock, uuid).settle();
  } catch (error) {
    refuseWrite(
      backend.text.name,
      error,
      `What ${backend.journal?.name} holds is not in the state yet, and stays there.`,
    );
  }
}

/** Removes a journal that holds nothing that the state does not have. */
async function removeSpent({ journal, text }: StateBackend, lock: HeldLock): Promise<void> {
  try {
    await lock.verify();
    await journal?.remove();
  } catch (error) {
    refuseWrite(journal?.name ?? text.name, error, "Everything that it holds is in the state.");
  }
}

/** A backup does not repair a text that a user gives. */
function decodeGiven(given: string): StateDocument {
  try {
    return decodeState(given, "the text given");
  } catch (error) {
    const remedies = ["Give the text of a whole state file. Nothing was replaced."];
    throw amended(error, ({ code }) => (code === "state.unreadable" ? { remedies } : {}));
  }
}

function checkSuccession(stored: State, next: State, place: string): void {
  for (const field of ["lineage", "serial"] as const) {
    const isSuccessor = field === "lineage" ? stored.lineage === next.lineage : stored.serial < next.serial;
    if (!isSuccessor) raise("state.conflict", { field, given: next[field], stored: stored[field], place });
  }
}
