// Store of an account in an SQLite file. All processes of this machine share one file for each origin.
import { hash, randomUUID } from "node:crypto";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { exists, look } from "../files/file-system.ts";
import { problem, raise } from "../messages/index.ts";
import {
  attempt,
  type Clock,
  type Diagnostic,
  fileFailure,
  HostformError,
  ifExplained,
  type Json,
  messageOf,
  parsedJson,
} from "../model/index.ts";
import {
  type AccountStore,
  type EndedCreate,
  type Held,
  type HeldObject,
  type Holding,
  type HoldingQuery,
  type IntentQuery,
  type LeavingCreate,
  NOTE_KEPT_MS,
  type Note,
  type NoteOptions,
  type Place,
  type StoredCreate,
  type Turn,
  type TurnHolder,
  type TurnRequest,
} from "./account-store.ts";
import { DatabaseFile, databaseTrouble, PATIENCE_MS, whenFree } from "./database-file.ts";
import { lockingPid } from "./file-lock.ts";
import { SharedHoldings } from "./shared-holdings.ts";
import { SharedRequests } from "./shared-requests.ts";
import { SharedTurn } from "./shared-turn.ts";
import { countOf, modeOf, prepare, removeOld, SCHEMA, type StoreStatements, VERSION } from "./store-file.ts";
import { TurnQueue } from "./turn-queue.ts";

export interface SqliteStoreOptions {
  readonly account: string;
  readonly clock: Clock;
  /** Name of the process. Default: a unique one. */
  readonly process?: string;
  readonly isResettable?: boolean;
  /** Separates successive servers with the same URL, such as sandboxes. Default: one server. */
  readonly scope?: string;
  /** Opens a database. */
  readonly open?: ((path: string) => DatabaseSync) | undefined;
  /** Longest delay of an acceptance before its write, in milliseconds. */
  readonly soonMs?: number;
  /** Called once when this process begins to count requests alone. */
  onCountingAlone?(reason: unknown): void;
  /** Called when creates of this process no longer wait for other processes. Lasts until the store closes. */
  onCreatingAlone?(reason: unknown): void;
  /** Called once for each awaited process, after 5 seconds. */
  onWaiting?(holder: TurnHolder): void;
  /** Called when this process has taken the create lock from a frozen process. */
  onTakenOver?(holder: TurnHolder): void;
  /** Called when the file was corrupted. The file is kept as `FILE.damaged`. */
  onDamaged?(file: string): void;
  /** Called after a new file was created. */
  onNew?(file: string): void;
}

export class SqliteStore implements AccountStore {
  readonly account: string;
  readonly requests: SharedRequests;
  readonly habits: string;
  readonly sharing = "machine";
  readonly isResettable: boolean;
  readonly #place: () => string;
  readonly #options: SqliteStoreOptions;
  readonly #file: DatabaseFile<StoreStatements>;
  readonly #queue: TurnQueue;
  /** Unique id of this process. */
  readonly #who: string;
  #isAlone = false;
  /** Ids of the creates sent under each create lock. A create of an earlier lock may have succeeded, whatever its next attempt does. */
  readonly #left = new WeakMap<Turn, Set<string>>();
  /** True while the write-ahead log may contain removed notes. */
  #hasRemoved = false;
  readonly #turn: SharedTurn;
  readonly #holdings: SharedHoldings;
  /** Outcomes written with the next create or at the release of the create lock. No process needs an outcome earlier. */
  #ended: EndedCreate[] = [];

  get file(): string | undefined {
    return attempt(this.#place, () => undefined);
  }

  /** @param place returns the path of the file. If the call throws, the file is unusable. */
  constructor(place: () => string, options: SqliteStoreOptions) {
    this.account = options.account;
    this.habits = `habits ${options.scope ?? ""}`;
    this.isResettable = options.isResettable ?? false;
    this.#place = place;
    this.#who = options.process ?? randomUUID();
    this.#options = options;
    this.#file = new DatabaseFile(place, {
      applicationId: 0x4846_5354,
      version: VERSION,
      schema: SCHEMA,
      pragmas: "PRAGMA busy_timeout = 0; PRAGMA secure_delete = ON",
      modeOf,
      prepare,
      onOpen: (statements, isNew) => {
        this.#prepareFile(statements);
        if (isNew) options.onNew?.(place());
      },
      onDamaged: () => options.onDamaged?.(place()),
      open: options.open,
    });
    this.requests = new SharedRequests(this.#file, { ...options, who: this.#who });
    this.#turn = new SharedTurn({
      ...options,
      process: this.#who,
      place,
      digest: (text) => this.#digest(text),
      change: (action, patienceMs) => this.#change(action, patienceMs),
      read: (action, patienceMs) => this.#read(action, patienceMs),
    });
    this.#queue = new TurnQueue(this.#turn, options);
    this.#holdings = new SharedHoldings({
      scope: options.scope ?? "",
      clock: options.clock,
      exists: () => this.#exists(),
      read: (action) => this.#explained(() => this.#file.use(action)),
      change: (action) => this.#explained(() => this.#file.change(action)),
    });
  }

  refusals(): Promise<readonly Diagnostic[]> {
    return this.#change(() => {}).then(
      () => [],
      ifExplained(({ diagnostics }) => diagnostics),
    );
  }

  async count(): Promise<number> {
    this.#turn.counted = attempt(
      () => (this.#exists() ? this.#file.use(countOf) : 0),
      () => 0,
    );
    return this.#turn.counted;
  }

  withTurn<T>(request: TurnRequest, work: (turn: Turn) => Promise<T>): Promise<T> {
    return this.#queue.run(request, work);
  }

  async leave(turn: Turn, intent: LeavingCreate): Promise<void> {
    const left = this.#left.get(turn) ?? new Set();
    const isMine = await this.#change((statements) => {
      // The new file after a deletion counts epochs from 1 again.
      const row = statements.turn.get(this.account);
      if (row?.epoch !== turn.epoch || row.process !== this.#who) return false;
      if (!left.has(intent.id)) statements.keepIntent.run(intent.id);
      this.#put(statements, intent, "open");
      statements.progress.run(this.#options.clock.now(), this.account, turn.epoch);
      return true;
    });
    if (isMine === false) {
      this.#queue.lost(turn);
      raise("store.turn_lost", {});
    }
    this.#left.set(turn, left.add(intent.id));
  }

  async answer(intent: LeavingCreate): Promise<void> {
    this.#ended.push({ intent, isAnswered: true });
  }

  async unsent(intent: LeavingCreate): Promise<void> {
    this.#ended.push({ intent, isAnswered: false });
  }

  async sentBefore(at: number, count: number): Promise<void> {
    await this.#change(({ lowerTimes }) => lowerTimes.run(at, this.account, at, count));
  }

  async newest(query: IntentQuery): Promise<StoredCreate | undefined> {
    const { thing, likeness, state, after, notOf, place, intent } = query;
    // Usually no other process has created anything.
    if (this.#isAlone || !this.#turn.hasOthers || !this.#exists()) return undefined;
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
    // Only the holder of the create lock can still get a response.
    const where = [...given.map(([condition]) => condition), "(state <> 'open' OR process <> ?)"].join(" AND ");
    const order = thing === undefined ? "at DESC" : "serial DESC";
    const values = given.flatMap(([, value]) => (value === undefined ? [] : [value]));
    const row = await this.#read((of) =>
      of.newest(`${where} ORDER BY ${order}`).get(...values, this.#turn.holder(of) ?? ""),
    );
    if (row === undefined) return undefined;
    const found = row.state === "answered" ? "answered" : "unknown";
    const isOwn = row.id === intent || (own !== "" && row.place === own);
    return { serial: Number(row.serial), at: Number(row.at), state: found, isOwn };
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
        // The log still contains the earlier value.
        if (existing[i]?.length !== 0 && isDurable) this.#hasRemoved = true;
      }
      return [];
    }, isDurable);
    this.#overwriteRemoved();
    return others;
  }

  async notes(list: string, name?: string): Promise<readonly Note[]> {
    if (!this.#exists()) return [];
    // A reader needs no transaction, which could wait long for another process.
    return this.#explained(() =>
      this.#file.use(({ noteOf, notesOf }) =>
        (name === undefined ? notesOf.all(list) : [noteOf.get(list, name)]).flatMap(noteIn),
      ),
    );
  }

  async forget(notes: readonly Pick<Note, "list" | "name">[]): Promise<void> {
    await this.#orFail(({ removeNote }) => {
      for (const { list, name } of notes) removeNote.run(list, name);
    });
    this.#hasRemoved = true;
  }

  see(place: Place, run: string, holdings: readonly Holding[]): Promise<void> {
    return this.#holdings.see(place, run, holdings);
  }

  release(place: string, objects: readonly HeldObject[]): Promise<void> {
    return this.#holdings.release(place, objects);
  }

  endRun(place: string, run: string, since: number): Promise<void> {
    return this.#holdings.endRun(place, run, since);
  }

  holdings(of: HoldingQuery): Promise<readonly Held[]> {
    return this.#holdings.holdings(of);
  }

  async close(): Promise<void> {
    this.requests.settle();
    this.#queue.close();
    // Unwritten outcomes count as unknown, as after a kill.
    if (this.#ended.length > 0) await this.#change(() => {}).catch(() => {});
    await this.#turn.close();
    // The file may be usable again in the next cycle of `watch`.
    this.#isAlone = false;
    this.#overwriteRemoved();
    attempt(
      () => this.#file.close(),
      () => {},
    );
  }

  /** Empties the write-ahead log, because removed secrets may remain in the log. Retries later if another process reads the log. */
  #overwriteRemoved(): void {
    if (!this.#hasRemoved) return;
    const checkpoint = ({ database }: StoreStatements) => database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    this.#hasRemoved = attempt(
      () => this.#file.use(checkpoint)?.busy === 1,
      () => true,
    );
  }

  /** Returns true if the file exists. A reading run creates no file and needs no folder. */
  #exists(): boolean {
    return attempt(
      () => exists(this.#place()),
      () => false,
    );
  }

  #prepareFile(statements: StoreStatements): void {
    const { putIntent, meta, putMeta } = statements;
    const now = this.#options.clock.now();
    removeOld(statements, now);
    // The corrupted file may have contained creates without a response, of any token. The creator of the new file records one.
    const damaged = look(`${this.#place()}.damaged`);
    const setAside = damaged && `${damaged.inode} ${damaged.changedAt}`;
    if (setAside !== undefined && meta.get("damaged")?.value !== setAside) {
      putIntent.run("", "", randomUUID(), "", "", null, now, "unknown");
      putMeta.run("damaged", setAside);
    }
  }

  #put({ putIntent }: StoreStatements, intent: LeavingCreate, state: StoredCreate["state"] | "open"): void {
    const { id, place, thing, likeness, at } = intent;
    const names = [this.#digest(place), this.#digest(thing), likeness === undefined ? null : this.#digest(likeness)];
    putIntent.run(this.account, this.#who, id, ...names, at, state);
  }

  /** Returns the digest of a name. Must not change, because the rows of other versions contain it. */
  #digest(text: string): string {
    return text === "" ? "" : hash("sha256", `${this.account}.creates\n${text}`);
  }

  /** Reads without a transaction, because no other process writes creates while this process has the create lock. */
  #read<T>(action: (statements: StoreStatements) => T, patienceMs?: number): Promise<T | undefined> {
    return this.#unlessAlone(() => this.#file.use(action), patienceMs);
  }

  /** Runs one transaction. The transaction also writes the pending outcomes of creates. */
  #change<T>(action: (statements: StoreStatements) => T, patienceMs?: number): Promise<T | undefined> {
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
    }, patienceMs);
  }

  /** Runs an action. If the file is unusable, creates need no create lock until the store closes. @throws HostformError `store.busy`, `store.newer`, `store.unsafe`. */
  async #unlessAlone<T>(action: () => T, patienceMs?: number): Promise<T | undefined> {
    if (this.#isAlone) return undefined;
    try {
      return await whenFree(action, patienceMs);
    } catch (error) {
      const trouble = databaseTrouble(error);
      if (trouble === "busy" || trouble === "newer" || trouble === "unsafe") return this.#fail(error);
      this.#isAlone = true;
      this.#options.onCreatingAlone?.(error);
      return undefined;
    }
  }

  async #orFail<T>(action: (statements: StoreStatements) => T, isDurable = false): Promise<T> {
    const sync = (mode: "FULL" | "NORMAL") =>
      this.#file.use(({ isLog, database }) => isLog && database.exec(`PRAGMA synchronous = ${mode}`));
    return this.#explained(() => {
      if (!isDurable) return this.#file.change(action);
      sync("FULL");
      try {
        return this.#file.change(action);
      } finally {
        sync("NORMAL");
      }
    });
  }

  /** Runs an action on the file, and explains its failure. @throws HostformError `store.unwritable`, `store.busy`, `store.newer`, `store.unsafe`. */
  async #explained<T>(action: () => T): Promise<T> {
    try {
      return await whenFree(action);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): never {
    const { file = "the state folder" } = this;
    const trouble = databaseTrouble(error);
    const why =
      trouble === "busy"
        ? problem("store.busy", { place: file, seconds: PATIENCE_MS / 1000, pid: lockingPid(file) ?? 0 })
        : trouble === "newer"
          ? problem("store.newer", { place: file })
          : trouble === "unsafe"
            ? problem("store.unsafe", { place: file, reason: fileFailure(error), mode: 600 })
            : problem("store.unwritable", { place: file, reason: messageOf(error) });
    throw new HostformError([why], { cause: error });
  }
}

function noteIn(row: Record<string, unknown> | undefined): Note[] {
  if (row === undefined) return [];
  const value = parsedJson(String(row.value)) as Json | undefined;
  return value === undefined ? [] : [{ list: String(row.list), name: String(row.name), value }];
}
