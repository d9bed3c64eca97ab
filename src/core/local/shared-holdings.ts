// Objects in the states of this machine, kept in the shared store.
import type { DatabaseSync } from "node:sqlite";
import { type Clock, parsedJson } from "../model/index.ts";
import {
  type Held,
  type HeldObject,
  HOLDING_KEPT_MS,
  HOLDING_RENEWED_MS,
  type Holding,
  type HoldingQuery,
  type Place,
} from "./account-store.ts";
import { isRemoved } from "./place.ts";

/**
 * Tables of the holdings. `seen`: time of a holding's last change. `ended`: end of the last run over the whole state. A firm holding was
 * last found at the later of both times. `scope` separates successive servers with the same URL.
 */
export const HOLDINGS_SCHEMA = `
  CREATE TABLE places (scope TEXT, mark TEXT, label TEXT NOT NULL, ended INTEGER NOT NULL,
    PRIMARY KEY (scope, mark)) STRICT, WITHOUT ROWID;
  CREATE TABLE holdings (scope TEXT, place TEXT, object TEXT, facts TEXT NOT NULL, intent TEXT, firm INTEGER NOT NULL,
    first INTEGER NOT NULL, seen INTEGER NOT NULL, PRIMARY KEY (scope, place, object)) STRICT, WITHOUT ROWID;`;

export const prepareHoldings = (database: DatabaseSync) => ({
  placeOf: database.prepare("SELECT label, ended FROM places WHERE scope = ? AND mark = ?"),
  places: database.prepare("SELECT mark, label, ended FROM places WHERE scope = ?"),
  putPlace: database.prepare(
    `INSERT INTO places (scope, mark, label, ended) VALUES (?, ?, ?, 0)
      ON CONFLICT DO UPDATE SET label = excluded.label`,
  ),
  endPlace: database.prepare("UPDATE places SET ended = ? WHERE scope = ? AND mark = ?"),
  putHolding: database.prepare(
    `INSERT INTO holdings (scope, place, object, facts, intent, firm, first, seen) VALUES (?, ?, ?, ?, ?, 1, ?, ?)
      ON CONFLICT DO UPDATE SET facts = excluded.facts, intent = coalesce(excluded.intent, intent), firm = 1,
        seen = excluded.seen`,
  ),
  loosen: database.prepare(
    "UPDATE holdings SET firm = 0, seen = max(seen, ?) WHERE scope = ? AND place = ? AND object = ?",
  ),
  removeHolding: database.prepare("DELETE FROM holdings WHERE scope = ? AND place = ? AND object = ?"),
  holding: database.prepare(
    "SELECT object, facts, intent, firm, seen FROM holdings WHERE scope = ? AND place = ? AND object = ?",
  ),
  holdingsOf: database.prepare("SELECT object, facts, intent, firm, seen FROM holdings WHERE scope = ? AND place = ?"),
  countFirm: database.prepare("SELECT count(*) AS firm FROM holdings WHERE scope = ? AND place = ? AND firm = 1"),
  holdings: database.prepare(
    `SELECT * FROM holdings WHERE scope = ?1 AND (?2 IS NULL OR place = ?2) AND (?3 IS NULL OR place <> ?3)
      ORDER BY place, object`,
  ),
  dropUnseen: database.prepare(
    `DELETE FROM holdings WHERE seen < ?1
      AND (firm = 0 OR (SELECT ended FROM places WHERE scope = holdings.scope AND mark = place) < ?1)`,
  ),
  dropEmpty: database.prepare(
    "DELETE FROM places WHERE NOT EXISTS (SELECT 1 FROM holdings WHERE scope = places.scope AND place = mark)",
  ),
});

type Statements = ReturnType<typeof prepareHoldings>;

type Row = readonly [object: string, facts: string, intent: string | null];

interface HoldingStore {
  readonly scope: string;
  readonly clock: Clock;
  /** Returns true if the file exists. A reading run creates no file. */
  exists(): boolean;
  read<T>(action: (statements: Statements) => T): Promise<T>;
  /** Runs one transaction. */
  change<T>(action: (statements: Statements) => T): Promise<T>;
}

export class SharedHoldings {
  readonly #of: HoldingStore;
  readonly #seen = new SeenObjects();

  constructor(of: HoldingStore) {
    this.#of = of;
  }

  async see({ mark, label }: Place, run: string, holdings: readonly Holding[]): Promise<void> {
    this.#seen.add(mark, run, holdings);
    if (holdings.length === 0) return;
    const { scope } = this.#of;
    const now = this.#of.clock.now();
    const given = holdings.map((one): Row => [nameOf(one), factsOf(one), one.intent ?? null]);
    const { known, changed } = this.#of.exists()
      ? await this.#of.read((of) => ({
          known: of.placeOf.get(scope, mark),
          changed: this.#changed(of, mark, given, now),
        }))
      : { known: undefined, changed: given };
    if (changed.length === 0 && known?.label === label) return;
    await this.#of.change(({ putPlace, putHolding }) => {
      putPlace.run(scope, mark, label);
      for (const row of changed) putHolding.run(scope, mark, ...row, now, now);
    });
  }

  async release(place: string, objects: readonly HeldObject[]): Promise<void> {
    this.#seen.drop(place, objects);
    if (objects.length === 0 || !this.#of.exists()) return;
    const { scope } = this.#of;
    const isHeld = ({ holding }: Statements) =>
      objects.filter((one) => holding.get(scope, place, nameOf(one)) !== undefined);
    const held = await this.#of.read(isHeld);
    if (held.length === 0) return;
    await this.#of.change(({ removeHolding }) => {
      for (const one of held) removeHolding.run(scope, place, nameOf(one));
    });
  }

  async endRun(place: string, run: string, since: number): Promise<void> {
    const seen = this.#seen.end(place, run);
    if (!this.#of.exists()) return;
    const { scope, clock } = this.#of;
    const now = clock.now();
    await this.#of.change(({ placeOf, countFirm, holdingsOf, loosen, endPlace }) => {
      const before = placeOf.get(scope, place);
      if (before === undefined) return;
      // All objects of the run are firm. If no other object is firm, the run found every object.
      const isAll = countFirm.get(scope, place)?.firm === seen.size;
      // A wrong clock wrote a time in the future.
      for (const { object, firm, seen: at } of isAll ? [] : holdingsOf.all(scope, place))
        if (firm === 1 && !seen.has(String(object)) && (Number(at) < since || Number(at) > now + HOLDING_RENEWED_MS))
          loosen.run(Number(before.ended), scope, place, String(object));
      endPlace.run(now, scope, place);
    });
  }

  async holdings({ place, notOf }: HoldingQuery): Promise<readonly Held[]> {
    if (!this.#of.exists()) return [];
    const { scope, clock } = this.#of;
    return this.#of.read(({ places, holdings }) => {
      const labels = new Map(
        places.all(scope).map(({ mark, label, ended }) => {
          const isGone = isRemoved({ mark: String(mark), label: String(label) });
          return [mark, { label, ended, ...(isGone && { isRemoved: true as const }) }];
        }),
      );
      return holdings.all(scope, place ?? null, notOf ?? null).flatMap((row) => {
        const { label, ended, ...removed } = labels.get(row.place) ?? { label: "", ended: 0 };
        const isFirm = row.firm === 1;
        return heldIn(String(row.object), String(row.facts), {
          ...(row.intent !== null && { intent: String(row.intent) }),
          place: { mark: String(row.place), label: String(label) },
          firstSeen: Number(row.first),
          lastSeen: Math.max(Number(row.seen), isFirm ? Number(ended) : 0),
          isFirm,
          ...removed,
        }).filter(isKept(clock.now()));
      });
    });
  }

  #changed({ placeOf, holding }: Statements, place: string, given: readonly Row[], now: number): readonly Row[] {
    const { scope } = this.#of;
    const known = placeOf.get(scope, place);
    if (known === undefined) return given;
    const isRecent = (seen: unknown) => Math.max(Number(seen), Number(known.ended)) > now - HOLDING_RENEWED_MS;
    return given.filter(([object, facts, intent]) => {
      const row = holding.get(scope, place, object);
      return row?.facts !== facts || (intent ?? row.intent) !== row.intent || row.firm !== 1 || !isRecent(row.seen);
    });
  }
}

/** Objects found by the runs of this process. Key: state and run. */
export class SeenObjects {
  readonly #runs = new Map<string, Set<string>>();

  add(place: string, run: string, objects: readonly HeldObject[]): void {
    const key = JSON.stringify([place, run]);
    const seen = this.#runs.get(key) ?? new Set();
    this.#runs.set(key, seen);
    for (const one of objects) seen.add(nameOf(one));
  }

  drop(place: string, objects: readonly HeldObject[]): void {
    for (const [key, seen] of this.#runs)
      if (key.startsWith(`[${JSON.stringify(place)},`)) for (const one of objects) seen.delete(nameOf(one));
  }

  end(place: string, run: string): ReadonlySet<string> {
    const key = JSON.stringify([place, run]);
    const seen = this.#runs.get(key) ?? new Set();
    this.#runs.delete(key);
    return seen;
  }
}

export const nameOf = ({ type, parent, id }: HeldObject): string => JSON.stringify([type, parent, id]);

/** Returns true if a run found the holding in the last 90 days. */
export const isKept =
  (now: number) =>
  ({ lastSeen }: Held): boolean =>
    lastSeen > now - HOLDING_KEPT_MS;

export const factsOf = ({ name, generation, address, instances }: Holding): string =>
  JSON.stringify([name ?? null, generation ?? null, address ?? null, instances]);

/** Reads a row. Ignores an unreadable row. */
export function heldIn(
  object: string,
  facts: string,
  seen: Pick<Held, "intent" | Exclude<keyof Held, keyof Holding>>,
): Held[] {
  const [names, values] = [parsedJson(object), parsedJson(facts)];
  if (!Array.isArray(names) || !Array.isArray(values)) return [];
  const [type, parent, id] = names.map(String);
  const [name, generation, address, instances] = values;
  if (type === undefined || parent === undefined || id === undefined) return [];
  return [
    {
      type,
      parent,
      id,
      ...(typeof name === "string" && { name }),
      ...(typeof generation === "number" && { generation }),
      ...(typeof address === "string" && { address }),
      instances: Number(instances),
      ...seen,
    },
  ];
}
