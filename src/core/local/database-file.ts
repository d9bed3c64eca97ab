// Small databases (SQLite) that processes share, and the user's folder that holds them.
import path from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { exists, look, PathRefused, privateFile, privateFolder, remove, rename } from "../files/file-system.ts";

interface DatabaseForm<S> {
  /** SQLite's `application_id`: a file that carries another one is not ours. */
  readonly applicationId: number;
  /** Makes the tables, in an empty file. */
  readonly schema: string;
  readonly pragmas: string;
  /** SQLite's `user_version`: a file with a higher one is refused. */
  readonly version: number;
  /** Returns further pragmas for an opened file. @param isEmpty the tables do not exist yet. */
  modeOf?(database: DatabaseSync, place: string, isEmpty: boolean): string;
  /** The statements that are used again and again. */
  prepare(database: DatabaseSync): S;
  /** Called in a transaction when the file was opened; `isNew` when it was made. @returns a step to take after the commit. */
  onOpen?(statements: S, isNew: boolean): (() => void) | undefined;
  /** Called when a damaged file was set aside. */
  onDamaged?(): void;
  /** Opens the database. Default: {@link openDatabase}. */
  readonly open?: ((path: string) => DatabaseSync) | undefined;
}

/**
 * What an error of a database means. `busy`: another process holds it, and it was not changed. `damaged`: the file is no
 * database, or not ours. `moved`: it is no longer at its path. `newer`: a newer version wrote it. `unsafe`: another user owns it,
 * or may write it. `other`: it cannot be used (a full disk, for example).
 */
export type DatabaseTrouble = "busy" | "damaged" | "moved" | "newer" | "unsafe" | "other";

const TROUBLES: Readonly<Record<number, DatabaseTrouble>> = {
  // SQLITE_ERROR: our statements are fixed, so a table that they name is missing or is another one.
  1: "damaged",
  5: "busy",
  6: "busy",
  11: "damaged",
  26: "damaged",
};
/** SQLITE_READONLY_DBMOVED: noticed by SQLite before it writes. */
const MOVED = 8 | (4 << 8);
/** Damaged, then moved by another process: more than this does not happen by chance. */
const ATTEMPTS = 3;
/** A process that keeps a file busy for longer is stuck: a transaction takes less than a millisecond. */
export const PATIENCE_MS = 4_000;
const [BUSY_AGAIN_MS, BUSY_SPREAD_MS] = [10, 40];

export function databaseTrouble(error: unknown): DatabaseTrouble {
  if (error instanceof NotAsWritten) return "damaged";
  if (error instanceof NewerVersion) return "newer";
  if (error instanceof PathRefused) return "unsafe";
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
  return code === MOVED ? "moved" : (TROUBLES[code & 0xff] ?? "other");
}

/** Endings of the files that SQLite plays back, or reads, beside a database. */
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
  /** The failure of `onOpen`, because another process holds the file: it can be read, and not changed. */
  busy?: unknown;
}

/**
 * A small database that several processes share, readable by its owner alone (folder 0700, file 0600). It is opened, or
 * created, when it is first needed. One that is damaged, or not ours, is set aside (`NAME.damaged`) and created again; one that
 * was moved or deleted meanwhile is opened again. Nothing is held between two calls.
 */
export class DatabaseFile<S> {
  readonly #place: () => string;
  readonly #form: DatabaseForm<S>;
  #opened: Opened<S> | undefined;

  /** @param place returns the path of the file. The methods throw what it throws. */
  constructor(place: () => string, form: DatabaseForm<S>) {
    this.#place = place;
    this.#form = form;
  }

  /**
   * Does something with the database that may be done twice.
   * @throws the system's or SQLite's own error; {@link databaseTrouble} says what it means.
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
   * Does something in one step for all processes.
   * @param action may be called again when the first call failed.
   * @throws as {@link use}; nothing was changed then.
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
    // SQLite does not notice that a file with a write-ahead log was moved.
    if (this.#opened !== undefined && inodeOf(this.#opened.place) !== this.#opened.inode) this.close();
    if (this.#opened?.busy !== undefined) this.#prepare(this.#opened, false);
    if (this.#opened !== undefined) return this.#opened;
    const place = this.#place();
    privateFolder(path.dirname(place));
    if (COMPANIONS.some((ending) => exists(place + ending)) && !exists(place)) removeCompanions(place);
    // SQLite would create it readable by all, and follow a link.
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
    let end: (() => void) | undefined;
    try {
      end = inTransaction(opened, () => this.#form.onOpen?.(opened.statements, isNew));
      opened.busy = undefined;
    } catch (error) {
      if (isNew || databaseTrouble(error) !== "busy") throw error;
      opened.busy = error;
    }
    this.#opened = opened;
    end?.();
  }

  #recover(error: unknown): DatabaseTrouble {
    const trouble = databaseTrouble(error);
    const opened = this.#opened;
    if (trouble !== "busy") this.close();
    if (trouble === "damaged" && opened !== undefined) this.#setAside(opened.place, opened.inode);
    return trouble;
  }

  #setAside(place: string, inode: bigint | undefined): void {
    // Others may have found the damage, too: the file at the path may be the new one.
    if (inodeOf(place) !== inode) return;
    // In this order: after the renaming, the files may belong to the new database of another process.
    removeCompanions(place);
    rename(place, `${place}.damaged`);
    this.#form.onDamaged?.();
  }
}

/** Does something with a file; while another process uses the file, asks again. @param patienceMs for how long. */
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

/** SQLite would take the files that belong to an earlier database for those of the new one. */
function removeCompanions(place: string): void {
  for (const ending of COMPANIONS) remove(place + ending);
}

function makeTables<S>(database: DatabaseSync, form: DatabaseForm<S>): void {
  const { applicationId, schema, version } = form;
  if (applicationOf(database) === applicationId) {
    if (Number(database.prepare("PRAGMA user_version").get()?.user_version) > version)
      throw new NewerVersion("a newer version of hostform wrote the file");
    // Without the check SQLite may miss a damage inside, and lose what is written.
    const found = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
    if (found !== "ok") throw new NotAsWritten(String(found));
    return;
  }
  inTransaction(transactionsOf(database), () => {
    // Another process may have made them meanwhile.
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
      // SQLite ends some transactions itself, and cannot end those of a damaged file.
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

/** Opens a file as an SQLite database. The module loads at the first call: most commands never need it. */
export function openDatabase(path: string): DatabaseSync {
  loaded ??= withoutWarning(process, () => process.getBuiltinModule("node:sqlite"));
  return new loaded.DatabaseSync(path);
}

/**
 * Runs `load` and drops the one warning that Node 22 gives for it ("SQLite is an experimental feature"); every other
 * warning passes.
 */
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
 * The folder of what belongs to the user and this machine, and to no project: the stores, and the signs of life of
 * processes. `HOSTFORM_STATE_HOME` decides; else it is the platform's folder for such files. The
 * first writer creates it.
 * @returns undefined where no home is known, as in some containers.
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
