/**
 * Stores the data in a SQLite file: one table of JSON rows. It is read only at the start. Later, the records are in memory,
 * and each transaction is also written to the file. So, no schema must be kept equal to `records.ts`, and reads are fast.
 */
import { closeSync, lstatSync, openSync } from "node:fs";
import { SandboxOptionError } from "../refusal.ts";
import type { Persistence, RecordId } from "./store.ts";

type Sqlite = typeof import("node:sqlite");

/** Loads `node:sqlite` without the ExperimentalWarning of Node 22. */
async function loadSqlite(): Promise<Sqlite> {
  const emitWarning = process.emitWarning;
  const quiet = (warning: string | Error, ...rest: unknown[]): void => {
    if (String(warning).includes("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  process.emitWarning = quiet as typeof process.emitWarning;
  try {
    return await import("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Opens or creates the file.
 * @throws SandboxOptionError if the file cannot be opened, is not the data of a sandbox, or is used by another process
 */
export async function openSqlite(file: string): Promise<Persistence> {
  const { DatabaseSync } = await loadSqlite();
  try {
    // A sandbox uses WAL and leaves no such journal. SQLite would delete the file that a foreign journal names.
    if (lstatSync(`${file}-journal`, { throwIfNoEntry: false }) !== undefined)
      throw new Error(`${file}-journal lies beside it, which no sandbox leaves; remove it`);
    // Only the owner may read the file with its signing secrets. SQLite's other files get the same mode.
    closeSync(openSync(file, "a", 0o600));
    const database = new DatabaseSync(file);
    // The lock prevents that two sandboxes overwrite each other's data.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;");
    database.exec("BEGIN EXCLUSIVE");
    database.exec(
      "CREATE TABLE IF NOT EXISTS records (collection TEXT NOT NULL, id TEXT NOT NULL, row TEXT NOT NULL, UNIQUE (collection, id))",
    );
    database.exec("COMMIT");
    return persistenceOf(database);
  } catch (error) {
    throw new SandboxOptionError(
      `The data file ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}. ` +
        "Use a new file, or the data file of a sandbox that is not running.",
    );
  }
}

function persistenceOf(database: InstanceType<Sqlite["DatabaseSync"]>): Persistence {
  const put = database.prepare(
    "INSERT INTO records (collection, id, row) VALUES (?, ?, ?) ON CONFLICT (collection, id) DO UPDATE SET row = excluded.row",
  );
  const remove = database.prepare("DELETE FROM records WHERE collection = ? AND id = ?");
  // Ids increase, so this is the order of creation, which the tables keep.
  const select = database.prepare("SELECT collection, row FROM records ORDER BY collection, CAST(id AS INTEGER)");
  return {
    *load() {
      for (const { collection, row } of select.iterate()) {
        yield { collection: String(collection), row: JSON.parse(String(row)) as { id: RecordId } };
      }
    },
    write(changes) {
      database.exec("BEGIN");
      try {
        for (const { collection, id, row } of changes) {
          if (row === null) remove.run(collection, String(id));
          else put.run(collection, String(id), JSON.stringify(row));
        }
        database.exec("COMMIT");
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => database.close(),
  };
}
