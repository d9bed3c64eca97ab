import type { DatabaseSync } from "node:sqlite";
import { DatabaseFile } from "../../core/local/index.ts";
import type { Note } from "./contract.ts";

/** Whose entries are meant. */
export interface JournalScope {
  /** A digest: neither address nor token can be read from it. */
  readonly account: string;
  readonly project: string;
}

export interface JournalEntry {
  readonly type: string;
  readonly name: string;
  readonly resource: Note;
}

/** What nobody asked for in this time belongs to something that was given up. */
const KEPT_MS = 90 * 24 * 3_600_000;
/** Removals are gathered: each transaction is synced, and a thousand of them would take seconds. */
const GATHERED = 200;

/**
 * `FULL`: on disk when the statement has returned; with `TRUNCATE` that holds through a power failure, too.
 * `secure_delete`: an entry may hold a secret, and is overwritten when it goes.
 */
const PRAGMAS =
  "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON";

/** A serial is never used again, so that what is removed late is what was meant, whatever another process has put there. */
const SCHEMA = `CREATE TABLE creates (
  serial INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, project TEXT NOT NULL, type TEXT NOT NULL,
  name TEXT NOT NULL, written INTEGER NOT NULL, resource TEXT NOT NULL,
  UNIQUE (account, project, type, name)) STRICT`;

const OURS = "account = ? AND project = ?";

function prepare(database: DatabaseSync) {
  return {
    put: database.prepare(
      "INSERT OR REPLACE INTO creates (account, project, type, name, written, resource) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    byName: database.prepare(`SELECT serial, resource FROM creates WHERE ${OURS} AND type = ? AND name = ?`),
    all: database.prepare(`SELECT serial, type, name, resource FROM creates WHERE ${OURS} ORDER BY type, name`),
    remove: database.prepare("DELETE FROM creates WHERE serial = ?"),
    change: database.prepare("UPDATE creates SET resource = ? WHERE serial = ?"),
    removeOld: database.prepare("DELETE FROM creates WHERE written < ?"),
    hasOld: database.prepare("SELECT 1 FROM creates WHERE written < ? LIMIT 1"),
  };
}

/**
 * The entries of one account and project in the file that all of them share. Methods throw the system's or SQLite's own
 * error, which holds no value.
 */
export class JournalFile {
  readonly #file: DatabaseFile<ReturnType<typeof prepare>>;
  readonly #scope: readonly [string, string];
  /** Serials of entries that are to go, and that nobody sees here any more. */
  readonly #leaving = new Set<number>();

  /**
   * @param now in milliseconds since the epoch, for what is too old to be kept.
   * @param onDamaged called when the file was damaged and is begun anew.
   * @param open how databases are opened.
   */
  constructor(
    place: string,
    { account, project }: JournalScope,
    now: number,
    onDamaged: () => void,
    open?: (path: string) => DatabaseSync,
  ) {
    this.#scope = [account, project];
    this.#file = new DatabaseFile(() => place, {
      applicationId: 0x4846_4a4c,
      schema: SCHEMA,
      pragmas: PRAGMAS,
      prepare,
      onOpen: ({ hasOld, removeOld }) => {
        // Serials of a file that is not there any more.
        this.#leaving.clear();
        if (hasOld.get(now - KEPT_MS) !== undefined) removeOld.run(now - KEPT_MS);
      },
      onDamaged,
      open,
    });
  }

  get(type: string, name: string): Note | undefined {
    const row = this.#file.use(({ byName }) => byName.get(...this.#scope, type, name));
    return this.#leaving.has(Number(row?.serial)) ? undefined : resourceIn(row?.resource);
  }

  /** On disk when it returns. @param now in milliseconds since the epoch. */
  put(type: string, name: string, resource: Note, now: number): void {
    const text = JSON.stringify(resource);
    this.#change(({ put }) => put.run(...this.#scope, type, name, now, text));
  }

  /** The same in one step with the look whether there is one already. @returns that; then nothing was put. */
  insert(type: string, name: string, resource: Note, now: number): Note | undefined {
    return this.#change(({ byName, put }) => {
      const other = resourceIn(byName.get(...this.#scope, type, name)?.resource);
      if (other === undefined) put.run(...this.#scope, type, name, now, JSON.stringify(resource));
      return other;
    });
  }

  /** Gone for this process at once, from the file in a while: an entry too many is noticed for what it is. */
  remove(type: string, name: string): void {
    const row = this.#file.use(({ byName }) => byName.get(...this.#scope, type, name));
    if (row === undefined) return;
    this.#leaving.add(Number(row.serial));
    if (this.#leaving.size >= GATHERED) this.#flush();
  }

  /** Notes of these, all at once, that Terraform went on after the answer. */
  answered(entries: readonly (readonly [type: string, name: string])[]): void {
    this.#file.change(({ byName, change }) => {
      for (const [type, name] of entries) {
        const row = byName.get(...this.#scope, type, name);
        const note = resourceIn(row?.resource);
        if (note) change.run(JSON.stringify({ ...note, answered: true }), Number(row?.serial));
      }
    });
  }

  list(): JournalEntry[] {
    const rows = this.#file.use(({ all }) => all.all(...this.#scope));
    return rows.flatMap(({ serial, type, name, resource: text }) => {
      const resource = resourceIn(text);
      if (resource === undefined || this.#leaving.has(Number(serial))) return [];
      return [{ type: String(type), name: String(name), resource }];
    });
  }

  close(): void {
    try {
      this.#flush();
    } finally {
      this.#file.close();
    }
  }

  #flush(): void {
    if (this.#leaving.size > 0) this.#change(() => {});
  }

  /** One step that takes along what is leaving. */
  #change<T>(action: (statements: ReturnType<typeof prepare>) => T): T {
    const result = this.#file.change((statements) => {
      for (const serial of this.#leaving) statements.remove.run(serial);
      return action(statements);
    });
    this.#leaving.clear();
    return result;
  }
}

/** Our own text again; undefined when it is not whole, or there is none. */
function resourceIn(text: unknown): Note | undefined {
  try {
    const note = JSON.parse(String(text));
    const { address, attributes, private: mark, place = "", base = {} } = note;
    const isWhole =
      [address, place].every((one) => typeof one === "string") && [attributes, mark, base].every(isObject);
    return isWhole ? note : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
