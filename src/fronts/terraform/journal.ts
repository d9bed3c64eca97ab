import { existsSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { normalizeBaseUrl } from "../../core/api/address.ts";
import { accountDigest } from "../../core/api/token.ts";
import { DatabaseFile } from "../../core/local/index.ts";
import { type Clock, type Diagnostic, isObject } from "../../core/model/index.ts";
import type { Journal, Note } from "./index.ts";

/** The place of the journal, its account, and who is notified when it cannot be written. */
export interface JournalOptions {
  /** The user's state folder; undefined where there is none. */
  readonly folder: string | undefined;
  readonly baseUrl: string;
  readonly token: string;
  readonly project: string | undefined;
  readonly clock: Clock;
  /** Called at most once for each kind of failure. A warning holds no value of a resource. */
  readonly onWarning: (warning: Diagnostic) => void;
}

/** No type holds a NUL. */
const keyOf = (type: string, name: string) => `${type}\0${name}`;

/**
 * Opens the journal of an account and project: `creates.journal` in the state folder, which all of them share. The first entry
 * creates the file, so that a run without creates leaves no trace. If it cannot be read or written, this process keeps its
 * entries in memory, and warns that they are not durable.
 * @throws HostformError provider.base_url.
 */
export function openJournal(options: JournalOptions): AccountJournal {
  return new AccountJournal(options);
}

/** The calls of a journal as promises. */
export const asynchronous = (journal: () => AccountJournal): Journal => ({
  get: async (type, name) => journal().get(type, name),
  all: async (of) =>
    new Map(
      journal()
        .list()
        .flatMap(({ type, name, resource }) => (type === of ? [[name, resource] as const] : [])),
    ),
  put: async (type, name, note) => journal().put(type, name, note),
  insert: async (type, name, note) => journal().insert(type, name, note),
  remove: async (type, name) => journal().remove(type, name),
  answered: async () => journal().answered(),
  close: async () => journal().close(),
});

class AccountJournal {
  readonly #place: string | undefined;
  readonly #scope: () => JournalScope;
  readonly #clock: Clock;
  readonly #onWarning: (warning: Diagnostic) => void;
  readonly #warned = new Set<string>();
  #file: JournalFile | undefined;
  /** Type and name of what this process has put. */
  readonly #mine = new Map<string, readonly [type: string, name: string]>();
  /** What could not be written to the file. */
  readonly #own = new Map<string, JournalEntry>();

  constructor({ folder, baseUrl, token, project, clock, onWarning }: JournalOptions) {
    const url = normalizeBaseUrl(baseUrl, true).href;
    this.#place = folder === undefined ? undefined : path.join(folder, "creates.journal");
    this.#scope = () => ({ account: accountDigest(url, token), project: project ?? "" });
    this.#clock = clock;
    this.#onWarning = onWarning;
  }

  get(type: string, name: string): Note | undefined {
    const own = this.#own.get(keyOf(type, name));
    if (own !== undefined) return own.resource;
    return this.#read((file) => file.get(type, name), undefined);
  }

  put(type: string, name: string, resource: Note): void {
    const key = keyOf(type, name);
    this.#mine.set(key, [type, name]);
    try {
      this.#open().put(type, name, resource, this.#clock.now());
      this.#own.delete(key);
    } catch (error) {
      this.#own.set(key, { type, name, resource });
      this.#warn("The Terraform provider cannot write its journal", error);
    }
  }

  insert(type: string, name: string, resource: Note): Note | undefined {
    try {
      const other = this.#open().insert(type, name, resource, this.#clock.now());
      if (other === undefined) this.#mine.set(keyOf(type, name), [type, name]);
      return other;
    } catch {
      // put() reports why it cannot be written.
      this.put(type, name, resource);
      return undefined;
    }
  }

  remove(type: string, name: string): void {
    this.#own.delete(keyOf(type, name));
    this.#mine.delete(keyOf(type, name));
    this.#read((file) => file.remove(type, name), undefined);
  }

  answered(): void {
    const mine = [...this.#mine.values()];
    this.#mine.clear();
    if (mine.length > 0) this.#read((file) => file.answered(mine), undefined);
  }

  /** Returns the entries of this account and project, by type and name. */
  list(): readonly JournalEntry[] {
    const entries = new Map(
      this.#read((file) => file.list(), []).map((entry) => [keyOf(entry.type, entry.name), entry] as const),
    );
    for (const [key, entry] of this.#own) entries.set(key, entry);
    return [...entries.values()];
  }

  close(): void {
    try {
      this.#file?.close();
    } catch {
      // A later run removes the rest.
    }
  }

  /** Does something with the file if there is one. */
  #read<T>(action: (file: JournalFile) => T, otherwise: T): T {
    if (this.#place === undefined || !existsSync(this.#place)) return otherwise;
    try {
      return action(this.#open());
    } catch (error) {
      this.#warn("The Terraform provider cannot read its journal", error);
      return otherwise;
    }
  }

  #open(): JournalFile {
    if (this.#place === undefined) throw new Error("there is no home folder");
    this.#file ??= new JournalFile(this.#place, this.#scope(), this.#clock.now(), () => this.#damaged());
    return this.#file;
  }

  #damaged(): void {
    this.#say({
      summary: "The journal of the Terraform provider was damaged, and is started again",
      detail: `The damaged file is ${this.#place}.damaged.`,
      remedies: [
        "Look in the account for objects that an interrupted apply may have created; `terraform import` adopts them.",
      ],
    });
  }

  #warn(summary: string, error: unknown): void {
    this.#say({
      summary,
      detail: `${this.#place ?? "The journal"}: ${error instanceof Error ? error.message : String(error)}. If Terraform is killed before it writes its state, the next apply can only look in the account, and one-time secrets may be lost.`,
      remedies: ["Set HOSTFORM_STATE_HOME to a folder that you can write to."],
    });
  }

  #say(words: Pick<Diagnostic, "summary" | "detail" | "remedies">): void {
    if (this.#warned.has(words.summary)) return;
    this.#warned.add(words.summary);
    this.#onWarning({ severity: "warning", code: "provider.journal", ...words });
  }
}

/** Whose entries are meant. */
interface JournalScope {
  /** A digest: neither address nor token can be read from it. */
  readonly account: string;
  readonly project: string;
}

interface JournalEntry {
  readonly type: string;
  readonly name: string;
  readonly resource: Note;
}

/** An entry that is not used for this long belongs to an abandoned project. */
const KEPT_MS = 90 * 24 * 3_600_000;
/** Removals are batched: each transaction is synced, and a thousand of them would take seconds. */
const GATHERED = 200;

/**
 * `FULL`: on disk when the statement has returned; with `TRUNCATE` also after a power failure.
 * `secure_delete`: an entry may hold a secret, and is overwritten when it is removed.
 */
const PRAGMAS =
  "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON";

/** A serial is never reused, so that a late removal removes the right entry, whatever another process has put since. */
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
 * The entries of one account and project in the shared file. Methods throw the error of the system or of SQLite, which holds no
 * value.
 */
export class JournalFile {
  readonly #file: DatabaseFile<ReturnType<typeof prepare>>;
  readonly #scope: readonly [string, string];
  /** Serials of entries to remove, which this process no longer returns. */
  readonly #leaving = new Set<number>();

  /**
   * @param now in milliseconds since the epoch, to remove old entries.
   * @param onDamaged called when the file was damaged and is started again.
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
        // They are serials of an earlier file.
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

  /** Puts an entry if there is none, in one step. @returns the existing one; then nothing was put. */
  insert(type: string, name: string, resource: Note, now: number): Note | undefined {
    return this.#change(({ byName, put }) => {
      const other = resourceIn(byName.get(...this.#scope, type, name)?.resource);
      if (other === undefined) put.run(...this.#scope, type, name, now, JSON.stringify(resource));
      return other;
    });
  }

  /** Removed for this process at once, from the file later: a leftover entry does no harm. */
  remove(type: string, name: string): void {
    const row = this.#file.use(({ byName }) => byName.get(...this.#scope, type, name));
    if (row === undefined) return;
    this.#leaving.add(Number(row.serial));
    if (this.#leaving.size >= GATHERED) this.#flush();
  }

  /** Marks entries, all at once, after Terraform has received their answers. */
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

  /** One step, with the removals that wait. */
  #change<T>(action: (statements: ReturnType<typeof prepare>) => T): T {
    const result = this.#file.change((statements) => {
      for (const serial of this.#leaving) statements.remove.run(serial);
      return action(statements);
    });
    this.#leaving.clear();
    return result;
  }
}

/** An entry from its text; undefined when it is incomplete, or there is none. */
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
