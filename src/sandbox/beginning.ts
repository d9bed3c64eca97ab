/** Fills the store of a sandbox from a snapshot or the seed, and resets it. */
import { plantAccount } from "./account.ts";
import { CLOCK_COUNTERS } from "./clock.ts";
import type { SandboxOptions } from "./options.ts";
import { Refusal, SandboxOptionError } from "./refusal.ts";
import { plant, seedOf } from "./seed.ts";
import { readSnapshot, type Snapshot, snapshotText } from "./snapshot.ts";
import { COLLECTION_NAMES } from "./store/records.ts";
import type { RecordId } from "./store/store.ts";
import type { World } from "./world.ts";

/**
 * Fills the store from the snapshot or the seed, unless the data file contains data.
 * @throws SandboxOptionError for an unusable snapshot, and for a snapshot together with conflicting options.
 */
export function begin(world: World, options: Pick<SandboxOptions, "snapshot" | "seed">): void {
  const { store, settings } = world;
  const kept = seedOf(store) !== undefined;
  if (settings.account !== undefined && (kept || options.snapshot !== undefined || settings.frozenAt !== undefined)) {
    throw new SandboxOptionError(
      "An account fills an empty sandbox, and continues at its own time. Leave the snapshot and the clock out, or name a new data file.",
    );
  }
  if (options.snapshot === undefined) {
    if (kept) store.onCommit();
    else store.transaction(() => fill(world));
    return;
  }
  if (kept) {
    throw new SandboxOptionError("The data file already holds data. Leave the snapshot out, or name a new file.");
  }
  if (settings.frozenAt !== undefined) {
    throw new SandboxOptionError("A snapshot continues at its own time. Leave the clock or the snapshot out.");
  }
  try {
    restoreSnapshot(world, options.snapshot);
  } catch (error) {
    throw error instanceof Refusal ? new SandboxOptionError(error.message, "snapshot") : error;
  }
  if (options.seed === undefined || options.seed === settings.seed) return;
  throw new SandboxOptionError(
    `The snapshot was made from the seed "${settings.seed}", not "${options.seed}". Leave the seed out.`,
  );
}

/** Fills an empty store. Must run inside a transaction. */
function fill(world: World): void {
  if (world.settings.account === undefined) plant(world);
  else plantAccount(world, world.settings.account);
}

type Row = { id: RecordId };

/**
 * Returns the complete state as a text. The same state gives the same text. Must run inside a transaction, after the due
 * work.
 */
export function takeSnapshot({ store, clock, rate, faults, backgroundFaults }: World): string {
  // The clock's own counters depend on the system clock. The snapshot contains the current time instead.
  const isOfClock = (name: string, { id }: Row): boolean => name === "counters" && CLOCK_COUNTERS.includes(String(id));
  // Sorts by id, which is the order of creation. The order of a data file is undefined.
  const rowsOf = (name: (typeof COLLECTION_NAMES)[number]): Row[] =>
    (store.table(name).all() as Row[]).filter((row) => !isOfClock(name, row)).sort((a, b) => (a.id < b.id ? -1 : 1));
  return snapshotText({
    seed: seedOf(store) ?? "",
    clock: { now: clock.instant(), frozen: clock.frozen },
    collections: Object.fromEntries(COLLECTION_NAMES.map((name) => [name, rowsOf(name)])) as Snapshot["collections"],
    rate: rate.save(),
    faults: faults.save(),
    weather: backgroundFaults.save(),
  });
}

/**
 * Restores a snapshot with its seed, rate windows and faults. The request log restarts, and pending deliveries are dropped.
 * @throws Refusal (422) if the text is not a snapshot. Nothing is changed then.
 */
export function restoreSnapshot(world: World, text: string): void {
  const snapshot = readSnapshot(text);
  const { settings, store, clock, agenda, rate, faults, backgroundFaults, journal, sender } = world;
  store.transaction(() => {
    store.clear();
    agenda.forget();
    for (const name of COLLECTION_NAMES) {
      const table = store.table(name) as unknown as { put(row: Row): void };
      for (const row of snapshot.collections[name]) table.put(structuredClone(row));
    }
    clock.place(Date.parse(snapshot.clock.now), snapshot.clock.frozen);
    faults.load(snapshot.faults);
    sender.forget();
  });
  settings.seed = snapshot.seed;
  rate.load(snapshot.rate);
  backgroundFaults.load(snapshot.weather);
  journal.clear();
}

/**
 * Restores the seeded data, or the imported account with its time. Removes faults, the log and the clock offset, and restarts
 * the rate windows.
 */
export function reset(world: World): void {
  const { store, agenda, journal, faults, backgroundFaults, rate, sender } = world;
  sender.forget();
  store.transaction(() => {
    store.clear();
    agenda.forget();
    fill(world);
  });
  journal.clear();
  faults.load({ last: 0, faults: [] });
  backgroundFaults.clear();
  rate.clear();
}
