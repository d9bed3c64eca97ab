import { existsSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { normalizeBaseUrl } from "../../core/api/address.ts";
import { accountDigest } from "../../core/api/token.ts";
import { DatabaseFile } from "../../core/local/index.ts";
import type { Clock, Diagnostic } from "../../core/model/index.ts";
import type { Journal, Note } from "./index.ts";

/** Where the journal is, whose it is, and who is notified when it cannot be kept. */
export interface JournalOptions {
  /** The user's state folder; undefined where there is none. */
  readonly folder: string | undefined;
  readonly baseUrl: string;
  readonly token: string;
  readonly project: string | undefined;
  readonly clock: Clock;
  /** Called at most once for each thing that can go wrong. No value of a resource is ever in it. */
  readonly onWarning: (warning: Diagnostic) => void;
}

/** A journal whose entries can be listed. */
export interface OpenJournal extends Journal {
  /** What is noted of this account and project, by type and name. */
  list(): readonly JournalEntry[];
}

/** No type holds a NUL. */
const keyOf = (type: string, name: string) => `${type}\0${name}`;

/**
 * Opens the journal of an account and project: `creates.journal` in the state folder, one for all of them. It is made
 * when something is first noted, and read only when it is there, so that a run that creates nothing leaves no trace.
 * When it cannot be read or written, this process remembers what it notes, and says that it is not durable.
 * @throws HostformError provider.base_url.
 */
export function openJournal({ folder, baseUrl, token, project, clock, onWarning }: JournalOptions): OpenJournal {
  const url = normalizeBaseUrl(baseUrl, true).href;
  const scope = (): JournalScope => ({ account: accountDigest(url, token), project: project ?? "" });
  const place = folder === undefined ? undefined : path.join(folder, "creates.journal");
  return new AccountJournal(place, scope, clock, onWarning);
}

class AccountJournal implements OpenJournal {
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

  constructor(
    place: string | undefined,
    scope: () => JournalScope,
    clock: Clock,
    onWarning: (warning: Diagnostic) => void,
  ) {
    this.#place = place;
    this.#scope = scope;
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
      this.#warn("What the Terraform provider creates is not noted durably", error);
    }
  }

  insert(type: string, name: string, resource: Note): Note | undefined {
    try {
      const other = this.#open().insert(type, name, resource, this.#clock.now());
      if (other === undefined) this.#mine.set(keyOf(type, name), [type, name]);
      return other;
    } catch {
      // Whatever keeps it from being written, put() says.
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
      // What could not be removed is removed by a later run.
    }
  }

  /** Does something with the file if there is one. */
  #read<T>(action: (file: JournalFile) => T, otherwise: T): T {
    if (this.#place === undefined || !existsSync(this.#place)) return otherwise;
    try {
      return action(this.#open());
    } catch (error) {
      this.#warn("What the Terraform provider has noted of its creates cannot be read", error);
      return otherwise;
    }
  }

  #open(): JournalFile {
    if (this.#place === undefined) throw new Error("no home folder is known");
    this.#file ??= new JournalFile(this.#place, this.#scope(), this.#clock.now(), () => this.#damaged());
    return this.#file;
  }

  #damaged(): void {
    this.#say({
      summary: "What the Terraform provider had noted of its creates was damaged, and is begun anew",
      detail: `${this.#place}.damaged is what was there.`,
      remedies: ["Look at the account for what an apply that was stopped may have made; `terraform import` adopts it."],
    });
  }

  #warn(summary: string, error: unknown): void {
    this.#say({
      summary,
      detail: `${this.#place ?? "The journal"}: ${error instanceof Error ? error.message : String(error)}. If Terraform is killed before it has written its state, the next apply has to find out by looking at the account, and one-time secrets may be lost.`,
      remedies: ["Set HOSTFORM_STATE_HOME to a folder that you may write in."],
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
