import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import type { Clock } from "../model/index.ts";
import { fail, systemClock } from "../model/index.ts";
import type { Disk } from "./disk.ts";
import { systemDisk } from "./disk.ts";
import { Encryption } from "./encryption.ts";
import { reasonOf, StateFile } from "./file.ts";
import type { Contender } from "./holder.ts";
import { createJournalFile } from "./journal/index.ts";
import type { LockContext, LockRequest, StateLock } from "./lock.ts";
import { createFileLock } from "./lock.ts";
import type { StatePlace } from "./opening.ts";
import { findState, openDocuments } from "./opening.ts";
import { foldedState, pushText, removeSpent, settleJournal } from "./push.ts";
import { Recorder } from "./recorder.ts";
import type { Resealed, Resealing } from "./reseal.ts";
import { reseal } from "./reseal.ts";
import { sealPlace, unsealed } from "./sealed-text.ts";
import type { OpenState } from "./session.ts";
import { Session } from "./session.ts";

/** One state, wherever it is kept. */
export interface StateStore {
  /**
   * Opens the state; an absent one is empty. `write: true` takes the lock, which also a plan wants, so that it does not
   * look at a state in motion; without it the state can only be read. What an earlier run left in the journal is there,
   * too; at the place it stays as it is until the first change.
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
}

/** A file as the place of a state; everything but the path has a default, which is this machine. */
export interface FilePlaceOptions {
  /** The state file, `hosting.tfstate`. */
  readonly path: string;
  /** Default: without a key. */
  readonly encryption?: Encryption;
  readonly clock?: Clock;
  readonly uuid?: () => string;
  readonly disk?: Disk;
  readonly contender?: Contender;
  /** As in {@link StatePlace}: whether each change writes the whole state. */
  readonly whole?: boolean;
  /** Another lock than the operating system's, for simulations. */
  readonly lock?: (path: string, context: LockContext) => StateLock;
}

/** The store of a state file on this machine. Touches nothing before it is used. */
export function createFileStore(options: FilePlaceOptions): StateStore {
  const uuid = options.uuid ?? randomUUID;
  return createStateStore(() => createFilePlace({ ...options, uuid }), uuid, options.encryption);
}

/**
 * A store over any place.
 * @param place is asked again by each operation; the signal ends its first reading.
 * @param uuid a fresh UUID at each call; the first write takes its lineage from it.
 * @param encryption of state and journal, if they are encrypted or do not exist yet.
 */
export function createStateStore(
  place: (signal?: AbortSignal) => Promise<StatePlace>,
  uuid: () => string,
  encryption: Encryption = new Encryption({ key: undefined }),
): StateStore {
  return {
    open: async ({ write, ...request }) => {
      const at = sealPlace(await place(request.signal), encryption);
      const lock = write ? await at.lock.acquire(request) : undefined;
      try {
        if (lock !== undefined) {
          await encryption.ready();
          await at.text.sweep();
        }
        const { base, durable, recovered, spent, ...found } = await openDocuments(at);
        if (lock !== undefined && spent) await removeSpent(at, lock);
        const { text, journal, whole, sealing } = at;
        const parts = { text, journal, whole, sealing, uuid, base, durable };
        const writing = lock && { lock, recorder: new Recorder({ ...parts, lock }) };
        const warnings = [...text.warnings, ...found.warnings];
        return new Session({ document: durable, recovered, name: text.name, warnings, writing });
      } catch (error) {
        await lock?.release();
        throw error;
      }
    },
    pull: async () => {
      const at = sealPlace(await place(), encryption);
      const { stored, journal } = await findState(at);
      return journal === undefined ? stored : foldedState(await openDocuments(at));
    },
    push: async (given, { force, ...request }) => {
      const at = sealPlace(await place(), encryption, { damage: force });
      const plain = await unsealed(given, "the text given", encryption);
      const lock = await at.lock.acquire(request);
      try {
        await at.text.sweep();
        await pushText(at, { given: plain, force, lock, uuid });
        await at.text.confirm();
      } finally {
        await lock.release();
      }
    },
    reseal: async (wanted, request) => {
      // To change the form of what is in the clear is what is asked for; it has no key that could be changed.
      const at = sealPlace(await place(), encryption, wanted.to === "key" ? {} : { clear: true });
      const lock = await at.lock.acquire(request);
      try {
        await at.text.sweep();
        const opened = await openDocuments(at);
        await settleJournal(at, opened, lock, uuid);
        const { state } = opened.durable;
        const resealed = await reseal(at.text.stored, encryption, wanted, () => lock.verify());
        await at.text.confirm();
        return { found: state.lineage !== "", ...resealed, state };
      } finally {
        await lock.release();
      }
    },
    forceUnlock: async (id) => (await place()).lock.takeOver(id),
  };
}

/** The place of a state file on this machine. @throws HostformError `state.unreadable` when its folder does not exist. */
export async function createFilePlace(options: FilePlaceOptions): Promise<StatePlace> {
  const { disk = systemDisk, clock = systemClock, uuid = randomUUID, lock = createFileLock } = options;
  const contender = options.contender ?? thisProcess();
  const path = await disk.resolve(options.path).catch((error: unknown) =>
    fail("state.unreadable", "The folder of the state does not exist or cannot be entered", {
      detail: `${options.path}: ${reasonOf(error)}`,
      fix: "Create it, or name another place with `--state`.",
    }),
  );
  const text = new StateFile(path, disk, uuid);
  const journal = createJournalFile({ statePath: path, disk, uuid, unchanged: () => text.unchanged() });
  const { whole = false } = options;
  return { text, journal, whole, lock: lock(path, { clock, uuid, contender }) };
}

/** This process, as it names itself to those who find the state locked. */
export function thisProcess(): Contender {
  return { pid: process.pid, user: userName(), host: hostname() };
}

/** Containers run under user ids that have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
