// Import of the files of versions without the store, at each opening of the store. Supported for one minor version.
import type { DatabaseSync } from "node:sqlite";
import { exists, look } from "../files/file-system.ts";
import { NOTE_KEPT_MS } from "./account-store.ts";
import { openDatabase } from "./database-file.ts";
import type { StoreStatements } from "./store-file.ts";

/** Paths of the creates of one token, and of the journal of all tokens. */
export interface EarlierFiles {
  readonly creates: string;
  readonly journal: string;
}

/** Returns the list of the Terraform provider's notes about objects of one type. */
export const entriesOf = (account: string, project: string, type: string): string =>
  JSON.stringify(["entries", account, project, type]);

export const hasEarlierFiles = ({ creates, journal }: EarlierFiles): boolean => exists(creates) || exists(journal);

/**
 * Imports creates and journal of a token in the caller's transaction. A second import changes nothing.
 * @returns a step for after the commit. It removes the imported entries from the journal, because entries may contain secrets.
 */
export function importEarlierFiles(
  statements: StoreStatements,
  account: string,
  files: EarlierFiles,
): (() => void) | undefined {
  importCreates(statements, account, files);
  return importJournal(statements, account, files);
}

/** Imports the creates, again after each write by an earlier version. */
function importCreates(statements: StoreStatements, account: string, { creates }: EarlierFiles): void {
  const { database, putIntent, removeIntent } = statements;
  readIfNew(statements, `creates ${account}`, creates, 0x4846_4354, (earlier) => {
    const prefix = `creates ${account} `;
    const known = new Set(
      database
        .prepare("SELECT id FROM intents WHERE account = ? AND id LIKE 'creates %'")
        .all(account)
        .map(({ id }) => String(id)),
    );
    for (const { serial, process, owner, thing, at, outcome } of earlier
      .prepare("SELECT * FROM creates ORDER BY serial")
      .all()) {
      const id = `${prefix}${serial}`;
      if (known.delete(id)) continue;
      const state = outcome === "made" ? "answered" : outcome === "begun" ? "open" : "unknown";
      // A row holds the digest of a thing or of a likeness. The two digests differ.
      const names = [String(owner), String(thing), thing === "" ? null : String(thing)];
      putIntent.run(account, String(process), id, ...names, Number(at), state);
    }
    for (const id of known) removeIntent.run(id);
  });
}

function importJournal(
  statements: StoreStatements,
  account: string,
  { journal }: EarlierFiles,
): (() => void) | undefined {
  const { database, addNote, meta, putMeta } = statements;
  const mark = `journal serial ${account}`;
  let last = 0;
  readIfNew(statements, `journal ${account}`, journal, 0x4846_4a4c, (earlier) => {
    const rows = earlier
      .prepare("SELECT * FROM creates WHERE account = ? AND serial > ? ORDER BY serial")
      .all(account, Number(meta.get(mark)?.value ?? 0));
    for (const { serial, project, type, name, written, resource } of rows) {
      const at = Number(written);
      addNote.run(
        entriesOf(account, String(project), String(type)),
        String(name),
        at,
        at + NOTE_KEPT_MS,
        String(resource),
      );
      last = Number(serial);
      putMeta.run(mark, String(last));
    }
  });
  if (last === 0) return undefined;
  return () => {
    // Sync the imported notes before the removal.
    database.exec("PRAGMA wal_checkpoint(FULL)");
    const earlier = openDatabase(journal);
    try {
      earlier.exec("PRAGMA busy_timeout = 1000; PRAGMA secure_delete = ON; PRAGMA synchronous = FULL");
      earlier.prepare("DELETE FROM creates WHERE account = ? AND serial <= ?").run(account, last);
    } catch {
      // The recorded serial prevents a second import of the remaining entries.
    } finally {
      earlier.close();
    }
  };
}

/** Reads a file if its content changed since the last read. */
function readIfNew(
  { meta, putMeta }: StoreStatements,
  name: string,
  file: string,
  applicationId: number,
  read: (database: DatabaseSync) => void,
): void {
  const version = look(file)?.identity;
  if (version === undefined) return;
  if (meta.get(name)?.value === version) return;
  if (readEarlier(file, applicationId, read)) putMeta.run(name, version);
}

/** Reads a file of an earlier version. @returns false if the file is unreadable or belongs to another program. */
function readEarlier(file: string, applicationId: number, read: (database: DatabaseSync) => void): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = openDatabase(file);
    database.exec("PRAGMA busy_timeout = 1000");
    if (database.prepare("PRAGMA application_id").get()?.application_id !== applicationId) return false;
    read(database);
    return true;
  } catch (error) {
    // The earlier version could not use a corrupted file either.
    if (error instanceof Error && "errcode" in error) return false;
    throw error;
  } finally {
    database?.close();
  }
}
