import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import type { Clock } from "../model/index.ts";
import { fail, HostformError, systemClock } from "../model/index.ts";
import type { Disk } from "./disk.ts";
import { systemDisk } from "./disk.ts";
import type { StateText } from "./file.ts";
import { reasonOf, StateFile, unwritable } from "./file.ts";
import { decodeState, emptyDocument, encodeState } from "./format.ts";
import type { Contender, LockHolder } from "./holder.ts";
import type { LockContext, LockRequest, StateLock } from "./lock.ts";
import { createFileLock } from "./lock.ts";
import type { OpenState } from "./session.ts";
import { Session } from "./session.ts";

/** One state, wherever it is kept. */
export interface StateStore {
  /**
   * Opens the state; an absent one is empty. `write: true` takes the lock, which also a plan wants, so that it does not
   * look at a state in motion; without it the state can only be read.
   * @throws HostformError `state.locked`, `state.unreadable`, `state.newer`, `state.foreign`.
   */
  open(request: LockRequest & { readonly write: boolean }): Promise<OpenState>;
  /** The text of the state as it is stored, not decoded; undefined when there is none. Takes no lock. */
  pull(): Promise<string | undefined>;
  /**
   * Replaces the state by the text of a state file. It must be of the same lineage with a higher serial, or the same
   * content; `force` also replaces an unrelated, newer or damaged one.
   * @throws HostformError as `open` and `decodeState` do; `state.conflict`.
   */
  push(text: string, request: LockRequest & { readonly force: boolean }): Promise<void>;
  /** Frees the lock. A living holder notices before its next write and refuses it (`state.lost_lock`). */
  forceUnlock(): Promise<{ readonly holder: LockHolder | undefined; readonly alive: boolean }>;
}

/** Where a state is kept: its text and the lock of it. The seam for remote backends and for the simulated disk. */
export interface StatePlace {
  readonly text: StateText;
  readonly lock: StateLock;
}

/** A file as the place of a state; everything but the path has a default, which is this machine. */
export interface FilePlaceOptions {
  /** The state file, `hosting.tfstate`. */
  readonly path: string;
  readonly clock?: Clock;
  readonly uuid?: () => string;
  readonly disk?: Disk;
  readonly contender?: Contender;
  /** Another lock than the operating system's, for simulations. */
  readonly lock?: (path: string, context: LockContext) => StateLock;
}

/** The store of a state file on this machine. Touches nothing before it is used. */
export function createFileStore(options: FilePlaceOptions): StateStore {
  const uuid = options.uuid ?? randomUUID;
  return createStateStore(() => filePlace({ ...options, uuid }), uuid);
}

/**
 * A store over any place.
 * @param place is asked anew by each operation.
 * @param uuid a fresh UUID at each call; the first write takes its lineage from it.
 */
export function createStateStore(place: () => Promise<StatePlace>, uuid: () => string): StateStore {
  return {
    open: async ({ write, ...request }) => {
      const { text, lock } = await place();
      const held = write ? await lock.acquire(request) : undefined;
      try {
        if (held !== undefined) await text.sweep();
        const stored = await text.read();
        const document = stored === undefined ? emptyDocument() : decodeState(stored, text.name);
        return new Session({ document, text, lock: held, uuid });
      } catch (error) {
        await held?.release();
        throw error;
      }
    },
    pull: async () => (await place()).text.read(),
    push: async (given, { force, ...request }) => {
      const next = decodeState(given, "the text given");
      const { text, lock } = await place();
      const held = await lock.acquire(request);
      try {
        await text.sweep();
        const stored = await text.read();
        if (stored !== undefined && encodeState(next) === stored) return;
        if (stored !== undefined && !force) checkSuccession(stored, next.state, text.name);
        await text.write(encodeState(next), () => held.verify()).catch((error) => refuse(error, text.name));
      } finally {
        await held.release();
      }
    },
    forceUnlock: async () => (await place()).lock.takeOver(),
  };
}

function checkSuccession(stored: string, next: { lineage: string; serial: number }, name: string): void {
  const { state } = decodeState(stored, name);
  const fix = "Pull the current state, redo the change there and push again; `--force` overrides.";
  if (state.lineage !== next.lineage) {
    fail("state.conflict", "The state given belongs to another project", {
      detail: `Its lineage is ${next.lineage}, that of ${name} is ${state.lineage}.`,
      fix,
    });
  }
  if (state.serial >= next.serial) {
    fail("state.conflict", "The state given is not newer than the one stored", {
      detail: `Its serial is ${next.serial}, that of ${name} is ${state.serial}.`,
      fix,
    });
  }
}

function refuse(error: unknown, name: string): never {
  if (error instanceof HostformError) throw error;
  throw new HostformError([unwritable(name, error, "Nothing was replaced.")], { cause: error });
}

async function filePlace(options: FilePlaceOptions & { readonly uuid: () => string }): Promise<StatePlace> {
  const { disk = systemDisk, clock = systemClock, uuid, contender = thisProcess(), lock = createFileLock } = options;
  const path = await disk.resolve(options.path).catch((error: unknown) =>
    fail("state.unreadable", "The folder of the state does not exist or cannot be entered", {
      detail: `${options.path}: ${reasonOf(error)}`,
      fix: "Create it, or name another place with `--state`.",
    }),
  );
  return { text: new StateFile(path, disk, uuid), lock: lock(path, { clock, uuid, contender }) };
}

function thisProcess(): Contender {
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
