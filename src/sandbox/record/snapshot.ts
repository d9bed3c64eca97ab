import { CLOCK_COUNTERS } from "../clock.ts";
import type { KeptFaults, KeptWeather } from "../faults.ts";
import type { KeptRates } from "../http/rate.ts";
import { PROFILE_SWITCHES } from "../profile/profile.ts";
import { Refusal } from "../refusal.ts";
import { seedOf } from "../seed.ts";
import { COLLECTION_NAMES, type CollectionName } from "../store/records.ts";
import { isSound } from "../store/sound.ts";
import type { RecordId } from "../store/store.ts";
import type { World } from "../world.ts";
import { createHash } from "node:crypto";

/**
 * Snapshots: everything that a sandbox holds, as one text, and back. What follows from the options (profile, limits,
 * delays) is not in it, nor is the log of requests. The same state gives the same bytes.
 */

const FORMAT = "hosting-sandbox-snapshot";
/** Grows when an older sandbox could not read what a newer one writes, or the other way about. */
const VERSION = 1;

type Row = { id: RecordId };

/** What a snapshot says. */
export interface Snapshot {
  seed: string;
  /** Where the sandbox's time stood. After a restoration it goes on from there, whatever the real time is. */
  clock: { now: string; frozen: boolean };
  collections: Record<CollectionName, Row[]>;
  rate: KeptRates;
  faults: KeptFaults;
  weather: KeptWeather;
}

/** Everything there is (inside a transaction, once what is due has been done). */
export function takeSnapshot({ store, clock, rate, faults, weather }: World): Snapshot {
  const collections = Object.fromEntries(
    COLLECTION_NAMES.map((name) => [
      name,
      (store.table(name).all() as Row[]).filter(({ id }) => !isOfClock(name, id)).sort(byId),
    ]),
  ) as Snapshot["collections"];
  return {
    seed: seedOf(store) ?? "",
    clock: { now: clock.instant(), frozen: clock.frozen },
    collections,
    rate: rate.save(),
    faults: faults.save(),
    weather: weather.save(),
  };
}

/** The clock's own counters depend on the clock beneath; what counts is the time that they make. */
function isOfClock(collection: CollectionName, id: RecordId): boolean {
  return collection === "counters" && CLOCK_COUNTERS.includes(String(id));
}

/** Ids grow, so this is the order of creation, whatever order a data file gave the records back in. */
function byId({ id: a }: Row, { id: b }: Row): number {
  return a < b ? -1 : 1;
}

/**
 * Puts everything back, and goes on as the sandbox of the snapshot would have: same seed, rate windows, faults. The log of
 * requests begins anew, and deliveries under way are forgotten.
 * @throws Refusal (422) for a text that is no snapshot; then nothing has changed.
 */
export function restoreSnapshot(world: World, text: string): void {
  const snapshot = readSnapshot(text);
  const { settings, store, rate, faults, weather, journal, sender } = world;
  store.transaction(() => {
    put(world, snapshot);
    // Refuses what it does not understand, before anything is committed.
    faults.load(snapshot.faults);
    sender.forget();
  });
  settings.seed = snapshot.seed;
  rate.load(snapshot.rate);
  weather.load(snapshot.weather);
  journal.clear();
}

function put({ store, clock, agenda }: World, { collections, clock: time }: Snapshot): void {
  store.clear();
  agenda.forget();
  for (const name of COLLECTION_NAMES) {
    const table = store.table(name) as unknown as { put(row: Row): void };
    for (const row of collections[name]) table.put(structuredClone(row));
  }
  clock.place(Date.parse(time.now), time.frozen);
}

/** The text of a snapshot: JSON, fields in order, a line for each record. */
export function snapshotText(snapshot: Snapshot): string {
  const { collections, ...rest } = snapshot;
  const head = { ...rest, format: FORMAT, version: VERSION, digest: digestOf(snapshot) };
  const fields = Object.entries(head).map(([name, value]): [string, string] => [name, canonical(value)]);
  fields.push(["collections", block(Object.entries(collections).map(([name, rows]) => [name, list(rows)]))]);
  return `${block(fields)}\n`;
}

function block(fields: [string, string][]): string {
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{\n${sorted.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(",\n")}\n}`;
}

function list(rows: readonly Row[]): string {
  return rows.length === 0 ? "[]" : `[\n${rows.map((row) => canonical(row)).join(",\n")}\n]`;
}

/** What the records and numbers are, whatever the spaces and line ends between them. */
function digestOf({ seed, clock, collections, rate, faults, weather }: Snapshot): string {
  const text = canonical({ seed, clock, collections, rate, faults, weather });
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Reads the text of a snapshot.
 * @throws Refusal (422) for anything else, a snapshot of another version, and one that was changed or cut short.
 */
export function readSnapshot(text: string): Snapshot {
  const said = parse(text);
  if (said === undefined || said.format !== FORMAT) {
    throw new Refusal(
      422,
      "This is not the snapshot of a sandbox. GET /snapshot of a sandbox's control port gives one.",
    );
  }
  if (said.version !== VERSION) {
    throw new Refusal(
      422,
      `This snapshot is of version ${JSON.stringify(said.version)}; this sandbox reads version ${VERSION}. ` +
        "Restore it with the release that took it, or take a new one.",
    );
  }
  const snapshot = said as unknown as Snapshot;
  const broken = said.digest === digestOf(snapshot) ? brokenPart(snapshot) : "its digest does not fit";
  if (broken !== undefined) {
    throw new Refusal(
      422,
      `This snapshot was changed after it was taken, or is not whole (${broken}). Restore the original; ` +
        "what should be different can be changed by the control afterwards.",
    );
  }
  return snapshot;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** JSON in one form: the same text for the same value, in whatever order its fields were written. */

/** Without spaces, fields in order of their names. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/**
 * Whether a snapshot can be lived in. Its digest says that nothing was changed by accident; who writes one by hand can give
 * it a digest as well.
 */

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isPair = (value: unknown): value is [unknown, unknown] => Array.isArray(value) && value.length === 2;
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type Parts = Readonly<Record<"seed" | "clock" | "collections" | "rate" | "faults" | "weather", unknown>>;

/** The part of it that cannot be, for a sentence; undefined when all can. */
export function brokenPart({ seed, clock, collections, rate, faults, weather }: Parts): string | undefined {
  if (!isText(seed)) return "its seed";
  if (!isPlain(clock) || !isSound("clock", "now_at", clock.now) || typeof clock.frozen !== "boolean")
    return "its clock";
  if (!isPlain(collections)) return "its collections";
  for (const name of COLLECTION_NAMES) {
    const broken = brokenRow(name, collections[name]);
    if (broken !== undefined) return `${broken} in ${name}`;
  }
  if (!isPlain(rate) || !isRates(rate)) return "its rate windows";
  if (!isPlain(faults) || !isCount(faults.last) || !isFaults(faults.faults)) return "its faults";
  if (!isPlain(weather) || !isText(weather.seed) || !isCount(weather.number)) return "its weather";
  const { failures } = weather;
  const isWeather =
    Array.isArray(failures) && failures.every((one) => isPair(one) && isText(one[0]) && isCount(one[1]));
  return isWeather ? undefined : "its weather";
}

function brokenRow(collection: string, rows: unknown): string | undefined {
  if (!Array.isArray(rows)) return "the records";
  const ids = new Set<unknown>();
  for (const row of rows) {
    if (!isPlain(row) || !(isText(row.id) || isCount(row.id)) || ids.has(row.id)) return "a record";
    ids.add(row.id);
    const field = Object.entries(row).find(([name, value]) => !isSound(collection, name, value));
    if (field !== undefined) return `the ${field[0]} of a record`;
  }
  return undefined;
}

function isRates({ rule, budgets }: Record<string, unknown>): boolean {
  const isKnown = (PROFILE_SWITCHES.rate as readonly unknown[]).includes(rule);
  const isKept = (kept: unknown) => Array.isArray(kept) && kept.every((one) => Number.isFinite(one));
  return isKnown && Array.isArray(budgets) && budgets.every((one) => isPair(one) && isCount(one[0]) && isKept(one[1]));
}

/** What the faults themselves say is checked where they are put back. */
function isFaults(faults: unknown): boolean {
  const isFault = (one: unknown) => isPlain(one) && [one.id, one.seen, one.fired].every(isCount);
  return Array.isArray(faults) && faults.every(isFault);
}
