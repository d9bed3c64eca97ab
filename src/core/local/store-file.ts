// The file of a store: tables, statements, and journal mode.
import path from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { fileSystemOf } from "../files/file-system.ts";
import { attempt } from "../model/index.ts";
import { HOLDING_KEPT_MS } from "./account-store.ts";
import { HOLDINGS_SCHEMA, prepareHoldings } from "./shared-holdings.ts";
import { prepareRequests, REQUESTS_SCHEMA } from "./shared-requests.ts";

/** Versions below 2 were never released. */
export const VERSION = 2;

/**
 * Tables of a store. A serial is never reused, so the count of creates only grows. State `open`: the create was sent and has no response
 * yet. `turns.progress` is the last heartbeat of the create lock's holder. Each query uses an index, because a run may create thousands
 * of objects.
 */
export const SCHEMA = `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  ${REQUESTS_SCHEMA}
  ${HOLDINGS_SCHEMA}
  CREATE TABLE intents (serial INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, account TEXT NOT NULL,
    process TEXT NOT NULL, place TEXT NOT NULL, thing TEXT NOT NULL, likeness TEXT, at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'unknown'))) STRICT;
  CREATE INDEX intents_of_thing ON intents (account, thing) WHERE thing <> '';
  CREATE INDEX intents_of_likeness ON intents (account, likeness) WHERE likeness IS NOT NULL;
  CREATE INDEX intents_without_answer ON intents (account, state) WHERE state <> 'answered';
  CREATE TABLE turns (lane TEXT PRIMARY KEY, epoch INTEGER NOT NULL, process TEXT, pid INTEGER, mark TEXT, project TEXT,
    place TEXT, since INTEGER, progress INTEGER NOT NULL, next TEXT, next_mark TEXT) STRICT;
  CREATE TABLE notes (list TEXT, name TEXT, at INTEGER NOT NULL, until INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (list, name)) STRICT, WITHOUT ROWID`;

export function prepare(database: DatabaseSync) {
  const selects = new Map<string, StatementSync>();
  return {
    ...prepareRequests(database),
    ...prepareHoldings(database),
    database,
    isLog: database.prepare("PRAGMA journal_mode").get()?.journal_mode === "wal",
    count: database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'intents'"),
    putIntent: database.prepare(
      "INSERT OR REPLACE INTO intents (account, process, id, place, thing, likeness, at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    keepIntent: database.prepare("UPDATE intents SET id = id || ' ' || serial WHERE id = ?"),
    removeIntent: database.prepare("DELETE FROM intents WHERE id = ?"),
    lowerTimes: database.prepare("UPDATE intents SET at = ? WHERE account IN (?, '') AND at > ? AND serial <= ?"),
    /** At a new create lock, marks the open creates of other processes as ended without a response. */
    markUnknown: database.prepare(
      `INSERT OR REPLACE INTO intents (account, process, id, place, thing, likeness, at, state)
        SELECT account, process, id, place, thing, likeness, at, 'unknown' FROM intents
        WHERE account = ? AND state = 'open' AND state <> 'answered' AND process <> ?`,
    ),
    lastOfOthers: database.prepare(
      "SELECT max(serial) AS last FROM intents WHERE serial > ? AND account IN (?, '') AND process <> ?",
    ),
    newest(where: string): StatementSync {
      const known = selects.get(where) ?? database.prepare(`SELECT * FROM intents WHERE ${where} LIMIT 1`);
      selects.set(where, known);
      return known;
    },
    turn: database.prepare("SELECT * FROM turns WHERE lane = ?"),
    putTurn: database.prepare(
      `INSERT OR REPLACE INTO turns (lane, process, pid, mark, project, place, since, progress, epoch, next, next_mark)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    dropNext: database.prepare("UPDATE turns SET next = NULL, next_mark = NULL WHERE lane = ? AND next = ?"),
    setNext: database.prepare("UPDATE turns SET next = ?, next_mark = ? WHERE lane = ?"),
    /** Each heartbeat differs from the last one, even after the clock was set back. */
    progress: database.prepare("UPDATE turns SET progress = max(?, progress + 1) WHERE lane = ? AND epoch = ?"),
    release: database.prepare("UPDATE turns SET process = NULL, mark = NULL WHERE lane = ? AND process = ?"),
    putNote: database.prepare("INSERT OR REPLACE INTO notes (list, name, at, until, value) VALUES (?, ?, ?, ?, ?)"),
    noteOf: database.prepare("SELECT * FROM notes WHERE list = ? AND name = ?"),
    notesOf: database.prepare("SELECT * FROM notes WHERE list = ? ORDER BY name"),
    removeNote: database.prepare("DELETE FROM notes WHERE list = ? AND name = ?"),
    meta: database.prepare("SELECT value FROM meta WHERE name = ?"),
    putMeta: database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)"),
  };
}

/** The prepared statements of an open store. */
export type StoreStatements = ReturnType<typeof prepare>;

/**
 * Types of Linux's local file systems (`statfs`): ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs. A write-ahead log is safe on
 * these file systems.
 */
const LOCAL = new Set([
  0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010, 0xca45_1a4e,
]);

function isLocal(folder: string, platform: string = process.platform): boolean {
  if (platform === "linux")
    return LOCAL.has(
      attempt(
        () => fileSystemOf(folder),
        () => 0,
      ),
    );
  return platform === "win32" ? !/^[\\/]{2}/.test(folder) : !folder.startsWith("/Volumes/");
}

/**
 * Returns the pragmas of the journal mode. The creator of the file chooses the mode: a write-ahead log, or a journal on network file
 * systems, because a log is unsafe on these. With the log, `NORMAL` syncs nothing at a commit and cannot corrupt the file.
 */
export function modeOf(database: DatabaseSync, place: string, isEmpty: boolean): string {
  const isLog = isEmpty
    ? isLocal(path.dirname(place)) && database.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode === "wal"
    : database.prepare("PRAGMA journal_mode").get()?.journal_mode === "wal";
  return isLog ? "PRAGMA synchronous = NORMAL" : "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL";
}

/** Returns the serial of the last recorded state of a create. */
export const countOf = ({ count }: StoreStatements): number => Number(count.get()?.seq ?? 0);

const DAY_MS = 24 * 3_600_000;
/** Lifetime of a create in the store. */
export const INTENT_KEPT_MS = 30 * DAY_MS;

/**
 * Removes expired rows once a day, by the time of the previous cleanup. After a jump of the clock, removes nothing for 30 days, because
 * the clock may be wrong.
 */
export function removeOld({ database, meta, putMeta, dropUnseen, dropEmpty }: StoreStatements, now: number): void {
  const last = Number(meta.get("cleaned")?.value ?? Number.POSITIVE_INFINITY);
  if (now >= last && now - last < DAY_MS) return;
  putMeta.run("cleaned", String(now));
  if (now < last || now - last > INTENT_KEPT_MS) putMeta.run("jumped", String(now));
  if (now - Number(meta.get("jumped")?.value ?? 0) < INTENT_KEPT_MS) return;
  database.prepare("DELETE FROM intents WHERE at < ?").run(last - INTENT_KEPT_MS);
  database.prepare("DELETE FROM notes WHERE until < ?").run(last);
  if (dropUnseen.run(last - HOLDING_KEPT_MS).changes > 0) dropEmpty.run();
}
