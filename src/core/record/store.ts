// Operations on one state, in a file or at a server: open, pull, push, reseal, unlock.
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
  reasonOf,
  type State,
  systemClock,
} from "../model/index.ts";
import { Encryption } from "./encryption.ts";
import { History, linesInFile } from "./history.ts";
import {
  type Contender,
  createStateFileLock,
  type HeldLock,
  type LockContext,
  type LockRequest,
  type StateLock,
} from "./lock.ts";
import {
  decodeStored,
  findState,
  type Opened,
  openDocuments,
  refuseForeign,
  relationOf,
  type StateBackend,
} from "./opening.ts";
import { Recorder } from "./recorder.ts";
import { type Acceptance, type Resealed, type Resealing, reseal, SealedText, unsealed } from "./sealed-text.ts";
import { type OpenState, StateSession } from "./session.ts";
import { decodeState, encodeState, type StateDocument } from "./state-document.ts";
import { filesOfState, JournalFile, refuseWrite, StateFile } from "./state-file.ts";

export interface StateStore {
  /**
   * Opens the state. A missing state is empty. `write: true` takes the lock, also for a plan, so that no other run changes the state
   * meanwhile. `write: false` opens the state for reading only. The session includes the journal of an interrupted run; at the
   * backend, that journal stays unchanged until the first change.
   * @throws HostformError `state.locked`, `state.unreadable`, `state.newer`, `state.foreign`, `state.journal`, `state.key`,
   * `state.unencrypted`.
   */
  open(request: LockRequest & { readonly write: boolean }): Promise<OpenState>;
  /**
   * Returns the stored text of the state, decrypted but not decoded, or undefined without a state. After an interrupted run, returns
   * the future text of the state: with its journal folded. Takes no lock.
   */
  pull(): Promise<string | undefined>;
  /**
   * Replaces the state with the text of a state file. The text may be encrypted. It needs the same lineage and a higher serial, or the
   * same content. `force` also replaces an unrelated, newer or corrupted state. First folds the journal of an interrupted run, except if
   * the text is the base state of that journal: then the journal stays. Rejects the push if neither is possible.
   * @param request `history`: lines that continue the history. The history is checked before the write, and written after it.
   * @throws HostformError as `open` and `decodeState` do; `state.conflict`, `state.history`.
   */
  push(text: string, request: LockRequest & { force: boolean; history?: readonly string[] | undefined }): Promise<void>;
  /**
   * Encrypts or decrypts the state and its backup, or changes their key. First folds the journal of an interrupted run, so that
   * nothing remains with the old encryption.
   * @throws HostformError as `open` and `reseal` do.
   */
  reseal(wanted: Resealing, request: LockRequest): Promise<Resealed>;
  /** Frees the lock. A living holder detects this before its next write and does not write (`state.lost_lock`). */
  forceUnlock(id?: string): ReturnType<StateLock["takeOver"]>;
  /** Describes the holder of the lock, or returns undefined without a holder. `unknown`: the backend has no such query. */
  heldBy(): Promise<string | undefined>;
}

/** Callbacks for the opening of a state. */
export interface Opening {
  /** Receives each resource in the state, and each new resource before its write. */
  readonly onResource?: (resource: ResourceState) => void;
  /** Checks an opened state for a command. Returns further warnings, or throws to reject the state. */
  readonly check?: (state: State, command: string) => Promise<readonly Diagnostic[]>;
}

/** Options of a file backend. Defaults: disk, clock and process of this machine. */
interface FileBackendOptions {
  /** Path of the state file. */
  readonly path: string;
  /** Encryption of state and journal. Default: no key. */
  readonly encryption?: Encryption;
  readonly clock?: Clock;
  readonly uuid?: () => string;
  readonly disk?: Disk;
  readonly contender?: Contender;
  /** True writes the whole state at each change, as in {@link StateBackend}. */
  readonly whole?: boolean;
  /** Replacement for the operating system's lock, for simulations. */
  readonly lock?: (path: string, context: LockContext) => StateLock;
}

/** Creates the store of a state file on this machine. Reads and writes nothing before the first operation. */
export function createFileStore(options: FileBackendOptions): StateStore {
  const uuid = options.uuid ?? randomUUID;
  return createStateStore(() => createFileBackend({ ...options, uuid }), uuid, options.encryption);
}

/**
 * Creates a store on any backend.
 * @param connect opens the backend for each operation. The signal ends its first read.
 * @param uuid returns a new UUID. The first write uses one as lineage.
 * @param encryption encryption of state and journal, if these are encrypted or do not exist yet.
 */
export function createStateStore(
  connect: (signal?: AbortSignal) => Promise<StateBackend>,
  uuid: () => string,
  encryption: Encryption = new Encryption({ key: undefined }),
  { onResource = () => undefined, check = async () => [] }: Opening = {},
): StateStore {
  const convert = async (at: ReturnType<typeof sealBackend>, wanted: Resealing, lock: HeldLock): Promise<Resealed> => {
    const opened = await openDocuments(at);
    await settleJournal(at, opened, lock, uuid);
    const { state } = opened.durable;
    const resealed = await reseal(at.text.stored, encryption, wanted, () => lock.verify());
    const { encryption: next } = wanted.to === "key" ? wanted : { encryption };
    await historyOf(at)?.convert(wanted.to === "clear" ? undefined : await next.recent());
    return { found: state.lineage !== "", ...resealed, state };
  };
  /** Encrypts an accepted clear-text state before a write. */
  const encrypt = async (at: ReturnType<typeof sealBackend>, lock: HeldLock) => {
    if (encryption.acceptsClear) await at.text.read();
    const { warnings } = at.text;
    if (warnings.length === 0 || encryption.acceptsClear === "keep") return warnings;
    await convert(at, { to: "sealed" }, lock);
    at.text.nextRun();
    return warnings;
  };
  return {
    open: async ({ write, ...request }) => {
      const at = sealBackend(await connect(request.signal), encryption);
      const lock = write ? await at.lock.acquire(request) : undefined;
      try {
        await encryption.ready();
        if (lock !== undefined) await at.text.prepare();
        const accepted = lock && (await encrypt(at, lock));
        const opened = await openDocuments(at);
        if (lock !== undefined && opened.spent) await removeSpent(at, lock);
        const more = await check(opened.durable.state, request.command);
        const warnings = [...(accepted ?? at.text.warnings), ...opened.warnings, ...more];
        const writing = lock && { lock, recorder: new Recorder(at, opened, lock, uuid) };
        return new StateSession({ ...opened, warnings, history: historyOf(at) }, at.text.name, writing, onResource);
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
    push: async (given, { force, history: lines, ...request }) => {
      const at = sealBackend(await connect(), encryption, { damage: force });
      const plain = await unsealed(given, "the text given", encryption);
      await whileLocked(at, request, async (lock) => {
        await encrypt(at, lock);
        const history = lines && historyOf(at);
        const isContinued = await history?.isContinuedBy(lines ?? []);
        await pushText(at, plain, force, lock, uuid);
        if (isContinued) await history?.copy(lines ?? []);
      });
    },
    reseal: async (wanted, request) => {
      // Encryption and decryption accept a clear-text state. A change of the key needs an encrypted state.
      const at = sealBackend(await connect(), encryption, wanted.to === "key" ? {} : { clear: true });
      return whileLocked(at, request, (lock) => convert(at, wanted, lock));
    },
    forceUnlock: async (id) => (await connect()).lock.takeOver(id),
    heldBy: async () => {
      const { lock } = await connect();
      return lock.heldBy === undefined ? "unknown" : lock.heldBy();
    },
  };
}

/** Adds the encryption of state and journal to a backend. */
function sealBackend(backend: StateBackend, encryption: Encryption, accept?: Acceptance) {
  const text = new SealedText(backend.text, encryption, accept);
  return { ...backend, text, sealing: text };
}

const historyOf = ({ history, text }: ReturnType<typeof sealBackend>) => history && new History(history, text);

/** Runs work under the lock, then confirms the write at the backend. */
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

/** Creates the backend of a state file on this machine. @throws HostformError `state.unreadable` if its folder does not exist. */
export async function createFileBackend(options: FileBackendOptions): Promise<StateBackend> {
  const { disk = systemDisk, clock = systemClock, uuid = randomUUID, whole = false } = options;
  const { contender = thisProcess(), lock = createStateFileLock } = options;
  const path = await disk
    .resolve(options.path)
    .catch((error: unknown) => raise("state.unreadable/folder", { place: options.path, reason: reasonOf(error) }));
  const text = new StateFile(path, disk, uuid);
  const journal = new JournalFile(text, disk);
  const history = linesInFile(filesOfState(path).history, disk);
  return { text, journal, history, whole, lock: lock(path, { clock, uuid, contender }) };
}

/** Returns the identity of this process, for the lock of the state. */
export function thisProcess(): Contender {
  // Containers may run under user ids without a name.
  const user = attempt(
    () => userInfo().username,
    () => String(process.getuid?.() ?? "unknown"),
  );
  return { pid: process.pid, user, host: hostname() };
}

/**
 * Pushes a text as {@link StateStore.push}. Loses no change of an unfolded journal: the journal is first folded into the replaced
 * state and is then part of the backup. The journal stays if the given text is its base state.
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
    backend.text
      .write(text, () => lock.verify())
      .catch((error) => refuseWrite(name, error, "hostform replaced nothing."));
  const { stored, journaled, journal } = await findState(backend);
  if (journal === undefined) {
    // `force` rewrites an equal state, for example to replace clear text with an encrypted state.
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

/** Returns the text of the state with its journal folded. Without changes in the journal, returns the text of the state itself. */
function foldedState({ base, durable }: Opened): string {
  return encodeState(
    durable === base ? base : { ...durable, state: { ...durable.state, serial: durable.state.serial + 1 } },
  );
}

/**
 * Ends an interrupted run: folds its journal into the state. The next write to this backend begins a new run. Does nothing without a
 * journal.
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
      `${backend.journal?.name} keeps its changes. The state does not contain these changes yet.`,
    );
  }
}

/** Removes a journal without changes beyond the state. */
async function removeSpent({ journal, text }: StateBackend, lock: HeldLock): Promise<void> {
  try {
    await lock.verify();
    await journal?.remove();
  } catch (error) {
    refuseWrite(journal?.name ?? text.name, error, "The state contains all changes of the journal.");
  }
}

/** Decodes a given text. Its remedy names no backup, because a backup repairs only the stored state. */
function decodeGiven(given: string): StateDocument {
  try {
    return decodeState(given, "the text given");
  } catch (error) {
    const remedies = ["Provide a complete state file. hostform replaced nothing."];
    throw amended(error, ({ code }) => (code === "state.unreadable" ? { remedies } : {}));
  }
}

function checkSuccession(stored: State, next: State, place: string): void {
  for (const field of ["lineage", "serial"] as const) {
    const isSuccessor = field === "lineage" ? stored.lineage === next.lineage : stored.serial < next.serial;
    if (!isSuccessor) raise("state.conflict", { field, given: next[field], stored: stored[field], place });
  }
}
