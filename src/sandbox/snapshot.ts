/**
 * Converts the state of a sandbox to a text and back. The same state gives the same bytes. A snapshot omits the values of
 * options (profile, limits, delays) and the request log.
 */
import { createHash } from "node:crypto";
import type { KeptBackgroundFaults, KeptFaults } from "./faults.ts";
import type { KeptRates } from "./http/rate.ts";
import { content } from "./http/request.ts";
import { unprocessable } from "./refusal.ts";
import type { CollectionName } from "./store/records.ts";
import { isObject } from "./store/sound.ts";
import type { RecordId } from "./store/store.ts";

const FORMAT = "hosting-sandbox-snapshot";
/** Version of the format. Other versions cannot be read. */
const VERSION = 1;

export interface Snapshot {
  seed: string;
  /** Time of the sandbox, at which the clock continues after a restore. */
  clock: { now: string; frozen: boolean };
  collections: Record<CollectionName, { id: RecordId }[]>;
  rate: KeptRates;
  faults: KeptFaults;
  /** Background faults, under the name of their profile switch. */
  weather: KeptBackgroundFaults;
}

/** Returns the text of a snapshot: JSON with sorted fields and one line per record. */
export function snapshotText(snapshot: Snapshot): string {
  const { collections, ...rest } = snapshot;
  const head = { ...rest, format: FORMAT, version: VERSION, digest: digestOf(snapshot) };
  const fields = Object.entries(head).map(([name, value]): [string, string] => [name, canonical(value)]);
  const list = (rows: readonly unknown[]): string =>
    rows.length === 0 ? "[]" : `[\n${rows.map((row) => canonical(row)).join(",\n")}\n]`;
  fields.push(["collections", block(Object.entries(collections).map(([name, rows]) => [name, list(rows)]))]);
  return `${block(fields)}\n`;
}

function block(fields: [string, string][]): string {
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{\n${sorted.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(",\n")}\n}`;
}

/** Returns a digest of the content, whatever its white space and line ends. */
function digestOf({ seed, clock, collections, rate, faults, weather }: Snapshot): string {
  const text = canonical({ seed, clock, collections, rate, faults, weather });
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Reads a snapshot.
 * @throws Refusal (422) for any other text, another version, and a changed or truncated snapshot
 */
export function readSnapshot(text: string): Snapshot {
  const said = content(text).body;
  if (!isObject(said) || said.format !== FORMAT) {
    throw unprocessable(
      "This is not the snapshot of a sandbox. GET /snapshot of a sandbox's control port returns one.",
    );
  }
  if (said.version !== VERSION) {
    throw unprocessable(
      `This snapshot is of version ${JSON.stringify(said.version)}; this sandbox reads version ${VERSION}. ` +
        "Restore it with the release that took it, or take a new one.",
    );
  }
  const snapshot = said as unknown as Snapshot;
  if (said.digest === digestOf(snapshot)) return snapshot;
  throw unprocessable(
    "This snapshot was changed after it was taken, or is incomplete: its digest does not match. Restore the original, " +
      "and change records with the control afterwards.",
  );
}

/** Returns JSON without spaces, with fields sorted by name. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
