// Small SQLite databases, shared by processes, and the user's folder of these databases.
import path from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { exists, look, PathRefused, privateFile, privateFolder, remove, rename } from "../files/file-system.ts";

interface DatabaseForm<S> {
  /** SQLite's `application_id`. A file with another id belongs to another program. */
  readonly applicationId: number;
  /** SQL that creates the tables in an empty file. */
  readonly schema: string;
  readonly pragmas: string;
  /** SQLite's `user_version`. A file with a higher version is rejected. */
  readonly version: number;
  /** Returns further pragmas for an opened file. @param isEmpty true if the tables do not exist yet. */
  modeOf?(database: DatabaseSync, place: string, isEmpty: boolean): string;
  /** Prepares the repeated statements. */
  prepare(database: DatabaseSync): S;
  /** Runs in a transaction after each opening. @param isNew true for a new file. */
  onOpen?(statements: S, isNew: boolean): void;
  /** Called after a corrupted file was renamed. */
  onDamaged?(): void;
  /** Opens the database. Default: {@link openDatabase}. */
  readonly open?: ((path: string) => DatabaseSync) | undefined;
}

/**
 * Category of a database error. `busy`: another process holds the file, and nothing changed. `damaged`: the file is corrupted or
 * belongs to another program. `moved`: the file is no longer at its path. `newer`: a newer version wrote the file. `unsafe`: another
 * user owns the file or may write to it. `other`: any other failure, such as a full disk.
 */
export type DatabaseTrouble = "busy" | "damaged" | "moved" | "newer" | "unsafe" | "other";

const TROUBLES: Readonly<Record<number, DatabaseTrouble>> = {
  // SQLITE_ERROR: hostform's statements are correct, so a table is missing or has other columns.
  1: "damaged",
  5: "busy",
  6: "busy",
  11: "damaged",
  26: "damaged",
};
/** SQLITE_READONLY_DBMOVED: SQLite detects the move before a write. */
const MOVED = 8 | (4 << 8);
/** Maximum number of attempts. After the repair of a corrupted file, another process may also have moved the file. */
const ATTEMPTS = 3;
/** Maximum wait for a busy file, in milliseconds. A transaction takes less than 1 ms, so a longer transaction is stuck. */
export const PATIENCE_MS = 4_000;
const [BUSY_AGAIN_MS, BUSY_SPREAD_MS] = [10, 40];

export function databaseTrouble(error: unknown): DatabaseTrouble {
  if (error instanceof NotAsWritten) return "damaged";
  if (error instanceof NewerVersion) return "newer";
  if (error instanceof PathRefused) return "unsafe";
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
  return code === MOVED ? "moved" : (TROUBLES[code & 0xff] ?? "other");
}

/** Suffixes of SQLite's own files beside a database. */
export const COMPANIONS = ["-journal", "-wal", "-shm"];

class NotAsWritten extends Error {}

class NewerVersion extends Error {}

interface Transactions {
  readonly database: DatabaseSync;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
}

interface Opened<S> extends Transactions {
  readonly statements: S;
  readonly place: string;
  readonly inode: bigint | undefined;
  /** Failure of `onOpen` while another process has locked the file. Until a later success, the file is only readable. */
  busy?: unknown;
}

/**
 * A small database, shared by several processes and accessible only to its owner (folder 0700, file 0600). The first use opens or
 * creates the file. A corrupted file, or the file of another program, is renamed to `NAME.damaged` and created again. A moved or
 * deleted file is opened again. No lock is held between two calls.
 */
export class DatabaseFile<S> {
  readonly #place: () => string;
  readonly #form: DatabaseForm<S>;
  #opened: Opened<S> | undefined;

  /** @param place returns the path of the file. The methods rethrow its errors. */
  constructor(place: () => string, form: DatabaseForm<S>) {
    this.#place = place;
    this.#form = form;
  }

  /**
   * Runs a repeatable action on the database.
   * @throws the system's or SQLite's own error. {@link databaseTrouble} returns its category.
   */
  use<T>(action: (statements: S) => T): T {
    for (let attempt = 1; ; attempt++) {
      try {
        return action(this.#open().statements);
      } catch (error) {
        const trouble = this.#recover(error);
        if (attempt === ATTEMPTS || (trouble !== "damaged" && trouble !== "moved")) throw error;
      }
    }
  }

  /**
   * Runs an action in one transaction.
   * @param action is called again after some failures.
   * @throws as {@link use}. The failed transaction changed nothing.
   */
  change<T>(action: (statements: S) => T): T {
    return this.use((statements) => {
      const opened = this.#open();
      if (opened.busy !== undefined) throw opened.busy;
      return inTransaction(opened, () => action(statements));
    });
  }

  close(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  #open(): Opened<S> {
    // SQLite does not detect the move of a file with a write-ahead log.
    if (this.#opened !== undefined && inodeOf(this.#opened.place) !== this.#opened.inode) this.close();
    if (this.#opened?.busy !== undefined) this.#prepare(this.#opened, false);
    if (this.#opened !== undefined) return this.#opened;
    const place = this.#place();
    privateFolder(path.dirname(place));
    if (COMPANIONS.some((ending) => exists(place + ending)) && !exists(place)) removeCompanions(place);
    // SQLite itself would create the file readable for all users and follow a link.
    const isNew = privateFile(place);
    const inode = inodeOf(place);
    let database: DatabaseSync | undefined;
    try {
      database = (this.#form.open ?? openDatabase)(place);
      database.exec(this.#form.pragmas);
      const isEmpty = applicationOf(database) !== this.#form.applicationId;
      database.exec(this.#form.modeOf?.(database, place, isEmpty) ?? "");
      makeTables(database, this.#form);
      const statements = this.#form.prepare(database);
      const opened: Opened<S> = { ...transactionsOf(database), statements, place, inode };
      this.#prepare(opened, isNew);
      return opened;
    } catch (error) {
      database?.close();
      if (databaseTrouble(error) === "damaged") this.#setAside(place, inode);
      throw error;
    }
  }

  #prepare(opened: Opened<S>, isNew: boolean): void {
    try {
      inTransaction(opened, () => this.#form.onOpen?.(opened.statements, isNew));
      opened.busy = undefined;
    } catch (error) {
      if (isNew || databaseTrouble(error) !== "busy") throw error;
      opened.busy = error;
    }
    this.#opened = opened;
  }

  #recover(error: unknown): DatabaseTrouble {
    const trouble = databaseTrouble(error);
    const opened = this.#opened;
    if (trouble !== "busy") this.close();
    if (trouble === "damaged" && opened !== undefined) this.#setAside(opened.place, opened.inode);
    return trouble;
  }

  #setAside(place: string, inode: bigint | undefined): void {
    // Another process may already have replaced the corrupted file.
    if (inodeOf(place) !== inode) return;
    // Remove the companions before the rename. After it, these files may belong to the new database of another process.
    removeCompanions(place);
    rename(place, `${place}.damaged`);
    this.#form.onDamaged?.();
  }
}

/** Runs an action on a file. Retries while another process holds the file. @param patienceMs longest wait, in milliseconds. */
export async function whenFree<T>(action: () => T, patienceMs = PATIENCE_MS): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (databaseTrouble(error) !== "busy" || performance.now() - since >= patienceMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_AGAIN_MS + Math.random() * BUSY_SPREAD_MS));
    }
  }
}

/** Removes the companions of an earlier database. SQLite would apply them to the new database. */
function removeCompanions(place: string): void {
  for (const ending of COMPANIONS) remove(place + ending);
}

function makeTables<S>(database: DatabaseSync, form: DatabaseForm<S>): void {
  const { applicationId, schema, version } = form;
  if (applicationOf(database) === applicationId) {
    if (Number(database.prepare("PRAGMA user_version").get()?.user_version) > version)
      throw new NewerVersion("a newer version of hostform wrote the file");
    // Without this check, SQLite may not detect a corrupted part of the file, and lose later writes.
    const found = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
    if (found !== "ok") throw new NotAsWritten(String(found));
    return;
  }
  inTransaction(transactionsOf(database), () => {
    // Another process may have created the tables meanwhile.
    if (applicationOf(database) === applicationId) return;
    if (database.prepare("SELECT 1 FROM sqlite_schema").get() !== undefined)
      throw new NotAsWritten("not a file of hostform");
    database.exec(`${schema}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`);
  });
}

const transactionsOf = (database: DatabaseSync): Transactions => ({
  database,
  begin: database.prepare("BEGIN IMMEDIATE"),
  commit: database.prepare("COMMIT"),
});

function inTransaction<T>({ database, begin, commit }: Transactions, action: () => T): T {
  try {
    begin.run();
    const result = action();
    commit.run();
    return result;
  } catch (error) {
    try {
      // SQLite ends some transactions itself and cannot end a transaction of a corrupted file.
      if (database.isTransaction) database.exec("ROLLBACK");
    } catch {}
    throw error;
  }
}

function applicationOf(database: DatabaseSync): unknown {
  return database.prepare("PRAGMA application_id").get()?.application_id;
}

const inodeOf = (file: string): bigint | undefined => look(file)?.inode;

type Sqlite = typeof import("node:sqlite");

let loaded: Sqlite | undefined;

/** Opens a file as an SQLite database. The first call loads the SQLite module, because most commands need no database. */
export function openDatabase(path: string): DatabaseSync {
  loaded ??= withoutWarning(process, () => process.getBuiltinModule("node:sqlite"));
  return new loaded.DatabaseSync(path);
}

/** Runs `load` without Node 22's warning "SQLite is an experimental feature". Every other warning passes. */
export function withoutWarning<T>(emitter: Pick<NodeJS.Process, "emitWarning">, load: () => T): T {
  const emit = emitter.emitWarning;
  emitter.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).includes("SQLite is an experimental feature")) {
      Reflect.apply(emit, emitter, [warning, ...rest]);
    }
  }) as typeof emit;
  try {
    return load();
  } finally {
    emitter.emitWarning = emit;
  }
}

/**
 * Returns the user's folder of stores and heartbeat files, shared by all projects: `HOSTFORM_STATE_HOME`, or the platform's folder
 * for such files. The first writer creates the folder.
 * @returns undefined without a known home folder, as in some containers.
 */
export function stateFolder(env: NodeJS.ProcessEnv, platform: string = process.platform): string | undefined {
  const places = platform === "win32" ? path.win32 : path.posix;
  if (env.HOSTFORM_STATE_HOME) return places.resolve(env.HOSTFORM_STATE_HOME);
  // The XDG specification says to ignore a relative path.
  if (env.XDG_STATE_HOME && places.isAbsolute(env.XDG_STATE_HOME)) return places.join(env.XDG_STATE_HOME, "hostform");
  if (platform === "win32") return env.LOCALAPPDATA ? places.join(env.LOCALAPPDATA, "hostform") : undefined;
  if (!env.HOME) return undefined;
  return platform === "darwin"
    ? places.join(env.HOME, "Library", "Application Support", "hostform")
    : places.join(env.HOME, ".local", "state", "hostform");
}
