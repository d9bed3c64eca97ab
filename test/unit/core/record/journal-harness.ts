import {
  createFileStore,
  createStateStore,
  type OpenState,
  type StateBackend,
  StateFile,
} from "../../../../src/core/record/index.ts";
import { JournalFile } from "../../../../src/core/record/state-file.ts";
import { countingUuids } from "./builders.ts";
import { type FakeDisk, freeLock } from "./fake-disk.ts";

/** The files of the project that the tests of the journal work on. */
export const statePath = "/project/hosting.tfstate";
export const journalPath = `${statePath}.journal`;
export const backupPath = `${statePath}.backup`;

const request = { command: "apply", timeoutMs: 0 };

export const storeOn = (disk: FakeDisk, uuid = countingUuids()) =>
  createFileStore({ path: statePath, disk, uuid, lock: freeLock });

export const openOn = (disk: FakeDisk, uuid = countingUuids()) => storeOn(disk, uuid).open({ ...request, write: true });

/** What a reader without the lock finds. */
export const readOn = (disk: FakeDisk): Promise<OpenState> => storeOn(disk).open({ ...request, write: false });

export const pushOn = (disk: FakeDisk, text: string, force = false) =>
  storeOn(disk).push(text, { command: "state push", timeoutMs: 0, force });

/** The parts of a place over a disk, for tests that replace one of them. */
export function placeOn(disk: FakeDisk, more: (text: StateFile) => Partial<StateBackend> = () => ({})): StateBackend {
  const uuid = countingUuids();
  const text = new StateFile(statePath, disk, uuid);
  const journal = new JournalFile(text, disk);
  return { text, journal, lock: freeLock(), ...more(text) };
}

export const storeAt = (place: StateBackend) => createStateStore(async () => place, countingUuids());

/** Address -> id, of everything recorded. */
export function idsOf({ state }: Pick<OpenState, "state">): Record<string, unknown> {
  return Object.fromEntries([...state.resources].map(([address, { attributes }]) => [address, attributes.id]));
}

export const idsOn = async (disk: FakeDisk) => idsOf(await readOn(disk));
