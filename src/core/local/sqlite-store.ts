// The store of an account in one SQLite file for each origin, which all processes of this machine share.
import { hash, randomUUID } from "node:crypto";
import { existsSync, statfsSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { attempt, type Clock, fail, messageOf } from "../model/index.ts";
import {
  type AccountStore,
  type Intent,
  type IntentQuery,
  NOTE_KEPT_MS,
  type Note,
  type NoteOptions,
  type StoredIntent,
  type Turn,
  type TurnHolder,
  type TurnRequest,
} from "./account-store.ts";
import { DatabaseFile, databaseTrouble } from "./database-file.ts";
import { type EarlierFiles, hasEarlierFiles, importCreates, importEarlierFiles } from "./earlier-files.ts";
import { type FileLock, isRunning, processMark, takeFileLock } from "./file-lock.ts";
import type { Ledger } from "./ledger.ts";
import { prepareRequests, REQUESTS_SCHEMA, SharedRequests } from "./shared-requests.ts";
import { TurnQueue } from "./turn-queue.ts";

/** A process that keeps the file busy for longer is stuck: a transaction takes less than a millisecond. */
const PATIENCE_MS = 4_000;
const [BUSY_AGAIN_MS, BUSY_SPREAD_MS] = [10, 40];
/** Nobody asks about an older create. */
const INTENT_KEPT_MS = 30 * 24 * 3_600_000;

/**
 * A serial is never used again, so that the count only grows. State `open`: the create left and has no answer yet. A run may
 * create thousands: no question about one create reads all of them. `turns.progress` is for the takeover of a turn.
 */
const SCHEMA = `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  ${REQUESTS_SCHEMA}
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

function prepare(database: DatabaseSync) {
  const selects = new Map<string, StatementSync>();
  return {
    ...prepareRequests(database),
    database,
    isLog: database.prepare("PRAGMA journal_mode").get()?.journal_mode === "wal",
    count: database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'intents'"),
    putIntent: database.prepare(
      "INSERT OR REPLACE INTO intents (account, process, id, place, thing, likeness, at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    removeIntent: database.prepare("DELETE FROM intents WHERE id = ?"),
    left: database.prepare(
      "SELECT * FROM intents WHERE account = ? AND state = 'open' AND state <> 'answered' AND process <> ?",
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
    progress: database.prepare("UPDATE turns SET progress = ? WHERE lane = ? AND epoch = ?"),
    release: database.prepare("UPDATE turns SET process = NULL, mark = NULL WHERE lane = ? AND process = ?"),
    putNote: database.prepare("INSERT OR REPLACE INTO notes (list, name, at, until, value) VALUES (?, ?, ?, ?, ?)"),
    noteOf: database.prepare("SELECT * FROM notes WHERE list = ? AND name = ?"),
    notesOf: database.prepare("SELECT * FROM notes WHERE list = ? ORDER BY name"),
    addNote: database.prepare("INSERT OR IGNORE INTO notes (list, name, at, until, value) VALUES (?, ?, ?, ?, ?)"),
    removeNote: database.prepare("DELETE FROM notes WHERE list = ? AND name = ?"),
    meta: database.prepare("SELECT value FROM meta WHERE name = ?"),
    putMeta: database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)"),
  };
}

/** The prepared statements of an open store. */
export type StoreStatements = ReturnType<typeof prepare>;

/** Local file systems of Linux (`statfs`), where a write-ahead log is safe: ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs. */
const LOCAL = new Set([
  0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010, 0xca45_1a4e,
]);

function isLocal(folder: string, platform: string = process.platform): boolean {
  if (platform === "linux")
    return LOCAL.has(
      attempt(
        () => statfsSync(folder).type,
        () => 0,
      ),
    );
  return platform === "win32" ? !/^[\\/]{2}/.test(folder) : !folder.startsWith("/Volumes/");
}

/**
 * Decides how the file is written. The creator decides, and the file keeps it: a write-ahead log, or on network file systems,
 * where that is not safe, a journal. With the log, `NORMAL` syncs nothing at a commit and cannot damage the file.
 */
function modeOf(database: DatabaseSync, place: string, isEmpty: boolean): string {
  const isLog = isEmpty
    ? isLocal(path.dirname(place)) && database.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode === "wal"
    : database.prepare("PRAGMA journal_mode").get()?.journal_mode === "wal";
  return isLog ? "PRAGMA synchronous = NORMAL" : "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL";
}

export interface SqliteStoreOptions {
  readonly account: string;
  readonly clock: Clock;
  /** Name of the process. Default: a unique one. */
  readonly process?: string;
  readonly isResettable?: boolean;
  /** The files of versions before the store. */
  readonly earlier?: EarlierFiles | undefined;
  /** How databases are opened. */
  readonly open?: ((path: string) => DatabaseSync) | undefined;
  /** How long an answer may wait to be written with the next reservation. */
  readonly soonMs?: number;
  /** Called once, when requests are counted in this process alone. */
  onCountingAlone?(reason: unknown): void;
  /** Called once, when creates of this process no longer wait for those of others. */
  onCreatingAlone?(reason: unknown): void;
  /** Called once for each long wait for the turn. */
  onWaiting?(holder: TurnHolder): void;
  /** Called when the file was damaged. It is kept as `FILE.damaged`. */
  onDamaged?(file: string): void;
  /** Called when a new file was created. */
  onNew?(file: string): void;
}

/** The turn of a process that cannot use the file: it knows nothing of others. */
const ALONE: Turn = { epoch: 0, isNewerThan: () => false };

interface Others {
  readonly of: StoreStatements | undefined;
  readonly last: number;
  readonly until: number;
}

/** How a create ended, until that is written. */
interface Ended {
  readonly intent: Intent;
  readonly isAnswered: boolean;
}

export class SqliteStore implements AccountStore {
  readonly account: string;
  readonly requests: Ledger;
  readonly isResettable: boolean;
  readonly #place: () => string;
  readonly #options: SqliteStoreOptions;
  readonly #file: DatabaseFile<StoreStatements>;
  readonly #requests: SharedRequests;
  readonly #queue: TurnQueue;
  /** This process, as no other is called. */
  readonly #who: string;
  readonly #mark = processMark();
  #isAlone = false;
  /** Removed notes are in the log until it is truncated. */
  #hasRemoved = false;
  /** The lock by which versions before the store make creates in turn. */
  #earlierLock: FileLock | undefined;
  /** The highest serial of another process up to the serial `until`: the rows of this process are not read again. */
  #others: Others = { of: undefined, last: 0, until: 0 };
  /** The count when it was last taken. A higher one is that of a file that was replaced. */
  #counted = 0;
  /** Nobody asks how a create ended before the turn ends. It is written with the next create, or when the turn ends. */
  #ended: Ended[] = [];

  /** @param place returns the file. If it throws, the file is unusable. */
  constructor(place: () => string, options: SqliteStoreOptions) {
    this.account = options.account;
    this.isResettable = options.isResettable ?? false;
    this.#place = place;
    this.#who = options.process ?? randomUUID();
    this.#options = options;
    let isDamaged = false;
    this.#file = new DatabaseFile(place, {
      applicationId: 0x4846_5354,
      version: 1,
      schema: SCHEMA,
      pragmas: "PRAGMA busy_timeout = 0; PRAGMA secure_delete = ON",
      modeOf,
      prepare,
      onOpen: (statements, isNew) => {
        const end = this.#prepareFile(statements, isDamaged);
        isDamaged = false;
        if (isNew) options.onNew?.(place());
        return end;
      },
      onDamaged: () => {
        isDamaged = true;
        options.onDamaged?.(place());
      },
      open: options.open,
    });
    const { account, soonMs, onCountingAlone = () => {} } = options;
    this.#requests = new SharedRequests(this.#file, { account, who: this.#who, soonMs, onAlone: onCountingAlone });
    this.requests = this.#requests;
    const row = {
      take: (request: TurnRequest) => this.#take(request),
      isAwaited: async () => (await this.#read((statements) => this.#isAwaited(statements))) ?? false,
      release: () => this.#release(),
      withdraw: async () => {
        await this.#change(({ release, dropNext }) => {
          release.run(this.account, this.#who);
          dropNext.run(this.account, this.#who);
        });
      },
    };
    this.#queue = new TurnQueue(row, { clock: options.clock, onWaiting: (holder) => options.onWaiting?.(holder) });
  }

  async count(): Promise<number> {
    // A run that only reads creates no file.
    this.#counted = attempt(
      () => (this.#exists() ? this.#file.use(countOf) : 0),
      () => 0,
    );
    return this.#counted;
  }

  withTurn<T>(request: TurnRequest, work: (turn: Turn) => Promise<T>): Promise<T> {
    return this.#queue.run(request, work);
  }

  async leave(turn: Turn, intent: Intent): Promise<void> {
    const isMine = await this.#change((statements) => {
      if (statements.turn.get(this.account)?.epoch !== turn.epoch) return false;
      this.#put(statements, intent, "open");
      statements.progress.run(this.#options.clock.now(), this.account, turn.epoch);
      return true;
    });
    if (isMine === false) {
      fail("store.turn_lost", "Another process has the turn to create by now", {
        detail: "The request was not sent.",
        remedies: ["Run the command again: it reads the account first."],
      });
    }
  }

  async answer(intent: Intent): Promise<void> {
    this.#ended.push({ intent, isAnswered: true });
  }

  async unsent(intent: Intent): Promise<void> {
    this.#ended.push({ intent, isAnswered: false });
  }

  async newest({ thing, likeness, state, after, notOf, place }: IntentQuery): Promise<StoredIntent | undefined> {
    // Most often no other process has created anything.
    if (this.#isAlone || this.#others.last === 0) return undefined;
    const own = place === undefined ? "" : this.#digest(place);
    const conditions: [string, SQLInputValue | undefined][] = [
      ["account IN (?, '')", this.account],
      ["process <> ?", this.#who],
      ["thing <> '' AND thing = ?", thing && this.#digest(thing)],
      ["likeness IS NOT NULL AND likeness = ?", likeness && this.#digest(likeness)],
      ["state <> 'answered' AND state = ?", state],
      ["serial > ?", after],
      ["(place = '' OR place <> ?)", notOf === undefined ? undefined : this.#digest(notOf)],
    ];
    const given = conditions.filter(([, value]) => value !== undefined);
    const where = [...given.map(([condition]) => condition), "state <> 'open'"].join(" AND ");
    const order = thing === undefined ? "at DESC" : "serial DESC";
    const values = given.flatMap(([, value]) => (value === undefined ? [] : [value]));
    const row = await this.#read((of) => of.newest(`${where} ORDER BY ${order}`).get(...values));
    if (row === undefined) return undefined;
    const found = row.state === "answered" ? "answered" : "unknown";
    return { serial: Number(row.serial), at: Number(row.at), state: found, isOwn: own !== "" && row.place === own };
  }

  async note(notes: readonly Note[], options: NoteOptions = {}): Promise<readonly Note[]> {
    const { when, keptMs = NOTE_KEPT_MS, isDurable = true } = options;
    const now = this.#options.clock.now();
    const others = await this.#orFail((statements) => {
      const { noteOf, putNote } = statements;
      const existing = notes.map(({ list, name }) => noteIn(noteOf.get(list, name)));
      if (when === "absent" && existing.some(([one]) => one !== undefined)) return existing.flat();
      for (const [i, { list, name, value }] of notes.entries()) {
        if (when === "present" && existing[i]?.length === 0) continue;
        putNote.run(list, name, now, now + keptMs, JSON.stringify(value));
        // The log still has the value that was there.
        if (existing[i]?.length !== 0 && isDurable) this.#hasRemoved = true;
      }
      return [];
    }, isDurable);
    this.#overwriteRemoved();
    return others;
  }

  async notes(list: string, name?: string): Promise<readonly Note[]> {
    // A run that only reads creates no file, and needs no folder.
    const exists = attempt(
      () => this.#exists(),
      () => false,
    );
    if (!exists) return [];
    return this.#orFail(({ noteOf, notesOf }) =>
      (name === undefined ? notesOf.all(list) : [noteOf.get(list, name)]).flatMap(noteIn),
    );
  }

  async forget(notes: readonly Pick<Note, "list" | "name">[]): Promise<void> {
    await this.#orFail(({ removeNote }) => {
      for (const { list, name } of notes) removeNote.run(list, name);
    });
    this.#hasRemoved = true;
  }

  async close(): Promise<void> {
    this.#requests.settle();
    // What cannot be written now is as after a kill.
    if (this.#ended.length > 0) await this.#change(() => {}).catch(() => {});
    this.#overwriteRemoved();
    attempt(
      () => this.#file.close(),
      () => {},
    );
  }

  /** Empties the write-ahead log, which may hold removed secrets. While another process reads it, that is left for later. */
  #overwriteRemoved(): void {
    if (!this.#hasRemoved) return;
    const checkpoint = ({ database }: StoreStatements) => database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    this.#hasRemoved = attempt(
      () => this.#file.use(checkpoint)?.busy === 1,
      () => true,
    );
  }

  #exists(): boolean {
    return existsSync(this.#place()) || (this.#options.earlier !== undefined && hasEarlierFiles(this.#options.earlier));
  }

  #prepareFile(statements: StoreStatements, isDamaged: boolean): (() => void) | undefined {
    const { database, putIntent } = statements;
    const now = this.#options.clock.now();
    database.prepare("DELETE FROM intents WHERE at < ?").run(now - INTENT_KEPT_MS);
    database.prepare("DELETE FROM notes WHERE until < ?").run(now);
    // The damaged file may have held creates without an answer, of any token.
    if (isDamaged) putIntent.run("", "", randomUUID(), "", "", null, now, "unknown");
    return this.#options.earlier && importEarlierFiles(statements, this.account, this.#options.earlier);
  }

  /** Takes the row, then the lock of earlier versions. While one of those creates, this process keeps the row. */
  async #take({ project, place }: TurnRequest): Promise<Turn | TurnHolder> {
    const now = this.#options.clock.now();
    const answer = await this.#change((statements): Turn | TurnHolder => {
      const { turn, setNext, putTurn } = statements;
      const row = turn.get(this.account);
      const isHeld = row?.process != null && row.process !== this.#who && isRunning(String(row.mark));
      if (row !== undefined && isHeld) {
        if (!isRunning(String(row.next_mark ?? ""))) setNext.run(this.#who, this.#mark, this.account);
        return { pid: Number(row.pid), project: String(row.project), since: Number(row.since) };
      }
      const next =
        row === undefined || row.next === this.#who ? [null, null] : [row.next ?? null, row.next_mark ?? null];
      const epoch = Number(row?.epoch ?? 0) + 1;
      const owner = [this.#who, process.pid, this.#mark, project, this.#digest(place), now, now];
      putTurn.run(this.account, ...owner, epoch, ...next);
      if (this.#options.earlier) importCreates(statements, this.account, this.#options.earlier);
      this.#markUnknown(statements);
      return this.#turn(statements, epoch);
    });
    if (answer === undefined) return ALONE;
    if (!("epoch" in answer) || this.#takeEarlierLock()) return answer;
    return { pid: 0, project: "", since: now };
  }

  /** Takes the lock by which versions before the store make creates in turn. @returns false while one of those creates. */
  #takeEarlierLock(): boolean {
    const { earlier } = this.#options;
    if (earlier === undefined) return true;
    // The row keeps other processes of this version out, if there can be no such lock.
    const lock = attempt<FileLock | undefined, "none">(
      () => this.#earlierLock ?? takeFileLock(`${earlier.creates}.lock`),
      () => "none",
    );
    if (lock !== "none") this.#earlierLock = lock;
    return lock !== undefined;
  }

  async #release(): Promise<boolean> {
    attempt(
      () => this.#earlierLock?.free(),
      () => {},
    );
    this.#earlierLock = undefined;
    const isAwaited = await this.#change((statements) => {
      statements.release.run(this.account, this.#who);
      return this.#isAwaited(statements);
    }).catch(() => false);
    return isAwaited ?? false;
  }

  #isAwaited({ turn }: StoreStatements): boolean {
    const row = turn.get(this.account);
    return row?.next != null && row.next !== this.#who && isRunning(String(row.next_mark));
  }

  #markUnknown({ left, putIntent }: StoreStatements): void {
    for (const { process, id, place, thing, likeness, at } of left.all(this.account, this.#who))
      putIntent.run(
        this.account,
        process ?? "",
        id ?? "",
        place ?? "",
        thing ?? "",
        likeness ?? null,
        at ?? 0,
        "unknown",
      );
  }

  #turn(of: StoreStatements, epoch: number): Turn {
    const { until, last } = this.#others.of === of ? this.#others : { until: 0, last: 0 };
    const newest = Number(of.lastOfOthers.get(until, this.account, this.#who)?.last ?? last);
    this.#others = { of, until: countOf(of), last: newest };
    this.#counted = this.#others.until;
    return { epoch, isNewerThan: (count) => newest > count || count > this.#counted };
  }

  #put({ putIntent }: StoreStatements, intent: Intent, state: StoredIntent["state"] | "open"): void {
    const { id, place, thing, likeness, at } = intent;
    const names = [this.#digest(place), this.#digest(thing), likeness === undefined ? null : this.#digest(likeness)];
    putIntent.run(this.account, this.#who, id, ...names, at, state);
  }

  /** A name that does not show what it stands for. Versions before the store make the same. */
  #digest(text: string): string {
    return text === "" ? "" : hash("sha256", `${this.account}.creates\n${text}`);
  }

  /** For one statement: nobody else writes about creates while this process has the turn. */
  #read<T>(action: (statements: StoreStatements) => T): Promise<T | undefined> {
    return this.#unlessAlone(() => this.#file.use(action));
  }

  /** One step, with the ends of creates that are not written yet. */
  #change<T>(action: (statements: StoreStatements) => T): Promise<T | undefined> {
    return this.#unlessAlone(() => {
      const result = this.#file.change((statements) => {
        for (const { intent, isAnswered } of this.#ended) {
          if (isAnswered) this.#put(statements, intent, "answered");
          else statements.removeIntent.run(intent.id);
        }
        return action(statements);
      });
      this.#ended = [];
      return result;
    });
  }

  /** Once the file is unusable, this process creates without turns. @throws HostformError `store.busy` or `store.newer`. */
  async #unlessAlone<T>(action: () => T): Promise<T | undefined> {
    if (this.#isAlone) return undefined;
    try {
      return await whenFree(action);
    } catch (error) {
      const trouble = databaseTrouble(error);
      if (trouble === "busy" || trouble === "newer") return this.#fail(error);
      this.#isAlone = true;
      this.#options.onCreatingAlone?.(error);
      return undefined;
    }
  }

  async #orFail<T>(action: (statements: StoreStatements) => T, isDurable = false): Promise<T> {
    const sync = (mode: "FULL" | "NORMAL") =>
      this.#file.use(({ isLog, database }) => isLog && database.exec(`PRAGMA synchronous = ${mode}`));
    try {
      return await whenFree(() => {
        if (!isDurable) return this.#file.change(action);
        sync("FULL");
        try {
          return this.#file.change(action);
        } finally {
          sync("NORMAL");
        }
      });
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): never {
    const file = attempt(
      () => this.#place(),
      () => "the state folder",
    );
    const trouble = databaseTrouble(error);
    if (trouble === "busy")
      fail("store.busy", "Another process holds the store and does not release it", {
        detail: `${file}: busy for ${PATIENCE_MS / 1000} seconds. No request was sent.`,
        remedies: ["End the process that hangs, and run the command again."],
      });
    if (trouble === "newer")
      fail("store.newer", "A newer version of hostform wrote the store", {
        detail: `${file}. No request was sent.`,
        remedies: ["Use the newer version, or set HOSTFORM_STATE_HOME to another folder."],
      });
    fail("store.unwritable", "The store in the state folder cannot be used", {
      detail: `${file}: ${messageOf(error)}`,
      remedies: ["Set HOSTFORM_STATE_HOME to a folder that you may write in."],
    });
  }
}

const countOf = ({ count }: StoreStatements): number => Number(count.get()?.seq ?? 0);

function noteIn(row: Record<string, unknown> | undefined): Note[] {
  if (row === undefined) return [];
  const value = attempt(
    () => JSON.parse(String(row.value)),
    () => undefined,
  );
  return value === undefined ? [] : [{ list: String(row.list), name: String(row.name), value }];
}

/** Does something with the file; while another process uses the file, asks again. */
async function whenFree<T>(action: () => T): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (databaseTrouble(error) !== "busy" || performance.now() - since > PATIENCE_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_AGAIN_MS + Math.random() * BUSY_SPREAD_MS));
    }
  }
}
