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

/** Files of the project in the tests of the journal. */
export const statePath = "/project/hosting.tfstate";
export const journalPath = `${statePath}.journal`;
export const backupPath = `${statePath}.backup`;

const request = { command: "apply", timeoutMs: 0 };

export const storeOn = (disk: FakeDisk, uuid = countingUuids()) =>
  createFileStore({ path: statePath, disk, uuid, lock: freeLock });

export const openOn = (disk: FakeDisk, uuid = countingUuids()) => storeOn(disk, uuid).open({ ...request, write: true });

/** Opens the state as a reader without the lock. */
export const readOn = (disk: FakeDisk): Promise<OpenState> => storeOn(disk).open({ ...request, write: false });

export const pushOn = (disk: FakeDisk, text: string, force = false) =>
  storeOn(disk).push(text, { command: "state push", timeoutMs: 0, force });

/** Returns the parts of a place on a disk. A test may replace some of them. */
export function placeOn(disk: FakeDisk, more: (text: StateFile) => Partial<StateBackend> = () => ({})): StateBackend {
  const uuid = countingUuids();
  const text = new StateFile(statePath, disk, uuid);
  const journal = new JournalFile(text, disk);
  return { text, journal, lock: freeLock(), ...more(text) };
}

export const storeAt = (place: StateBackend) => createStateStore(async () => place, countingUuids());

/** Returns the id of each recorded resource, by address. */
export function idsOf({ state }: Pick<OpenState, "state">): Record<string, unknown> {
  return Object.fromEntries([...state.resources].map(([address, { attributes }]) => [address, attributes.id]));
}

export const idsOn = async (disk: FakeDisk) => idsOf(await readOn(disk));
