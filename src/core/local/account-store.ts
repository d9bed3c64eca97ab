/**
 * Store of one account: facts about one token at one origin of the API, shared by the processes of this machine (a file), or of several
 * machines (PostgreSQL). All tokens of the origin use one file or the same rows. An intent belongs to its token, a note to its list.
 */
import type { Diagnostic, Json } from "../model/index.ts";
import type { Ledger } from "./ledger.ts";

/** Each method is asynchronous and atomic for all processes. */
export interface AccountStore {
  /** Digest of the token and its URL. Part of the name of each list of notes about one account. */
  readonly account: string;
  /** Counts the requests of the token. If a file is unusable, the ledger counts in memory. @throws HostformError `store.unreachable` in PostgreSQL. */
  readonly requests: Ledger;
  /** List of the notes about habits of the host. Absent: each run learns the habits again. */
  readonly habits?: string | undefined;
  /** True if the server is a sandbox. A reset of the sandbox may have removed the objects of earlier runs. */
  readonly isResettable: boolean;
  /** Path of the shared file, or the database with its server. Absent: the store is in memory, or its folder is unknown. */
  readonly file?: string | undefined;
  /** Processes that share the notes: those of this machine, or of all machines. Absent: the notes are in memory. */
  readonly sharing?: "machine" | "machines" | undefined;

  /** Returns the reasons why no create can be recorded: `store.busy`, `store.newer`. Call this before a run changes the account. */
  refusals(): Promise<readonly Diagnostic[]>;
  /** Returns a number that grows with each create of any process. 0: unknown. Call this before the read of a list. */
  count(): Promise<number>;
  /**
   * Runs `work` with the create lock of the token: no other process creates anything meanwhile. Creates of this process run
   * simultaneously under one lock. If the file is unusable, runs `work` without the lock and warns once.
   * A process without a heartbeat for one minute loses the lock to this process.
   * @throws before `work` begins: the signal's reason if the signal ends the wait; HostformError `store.turn` after the timeout,
   *   `store.busy` if a process has held the file for one minute.
   */
  withTurn<T>(request: TurnRequest, work: (turn: Turn) => Promise<T>): Promise<T>;
  /**
   * Records that a create is about to be sent, or sent again. The record survives a kill but not every power failure, so the caller
   * syncs its own record first. The outcome is unknown until {@link answer} or {@link unsent}.
   * @throws HostformError `store.turn_lost` if another process now has the create lock, `store.busy`, `store.newer`. The request must
   *   then not be sent.
   */
  leave(turn: Turn, intent: LeavingCreate): Promise<void>;
  /** Records that the object exists. Needs no create lock. The store may write this with the next {@link leave} or at the release. */
  answer(intent: LeavingCreate): Promise<void>;
  /** Records that the create certainly created nothing. The store may write this as late as {@link answer}. */
  unsent(intent: LeavingCreate): Promise<void>;
  /**
   * Lowers the sending times of the creates up to a count to at most `at`, because a wrong clock may have recorded later times. Call this
   * after a wait for the list lag since `at`. @throws as {@link leave}.
   */
  sentBefore(at: number, count: number): Promise<void>;
  /** Returns the newest matching create of another process with this token. Before a create, call this under the create lock. */
  newest(of: IntentQuery): Promise<StoredCreate | undefined>;

  /**
   * Writes notes in one transaction. By default the notes are on disk when the promise resolves.
   * @returns with `absent`: the existing notes. If a note exists, nothing was written.
   * @throws HostformError `store.unwritable`, `store.busy` or `store.newer`.
   */
  note(notes: readonly Note[], options?: NoteOptions): Promise<readonly Note[]>;
  /** Returns the notes of a list, sorted by name, or only the named note. @throws as {@link note}. */
  notes(list: string, name?: string): Promise<readonly Note[]>;
  /** Removes notes. A removed secret is overwritten. @throws as {@link note}. */
  forget(notes: readonly Pick<Note, "list" | "name">[]): Promise<void>;

  /**
   * Records the objects of a state, as a run read them, and marks them as firm. Writes only changed objects.
   * The file is not synced, so a power failure may undo the record. @throws as {@link note}.
   */
  see(place: Place, run: string, holdings: readonly Holding[]): Promise<void>;
  /** Removes objects that are no longer in a state. @param place mark of the state. @throws as {@link note}. */
  release(place: string, objects: readonly HeldObject[]): Promise<void>;
  /**
   * Records the normal end of a run over a whole state. Objects without a {@link see} in this run are no longer firm, unless another
   * process recorded them after `since`. Call this on the store of the {@link see} calls.
   * @param since beginning of the run's first read of the state. @throws as {@link note}.
   */
  endRun(place: string, run: string, since: number): Promise<void>;
  /** Returns the objects of one state, of all others, or of all states. @throws as {@link note}. */
  holdings(of: HoldingQuery): Promise<readonly Held[]>;

  /** Writes pending records and closes the store. Never throws. The next call opens the store again. */
  close(): Promise<void>;
}

/** Run that requests the create lock. Other waiting processes report its project. */
export interface TurnRequest {
  readonly project: string;
  /** Mark of the state that the run writes; empty if unknown. */
  readonly place: string;
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for other processes, in milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** Create lock, shared by the simultaneous creates of this process. */
export interface Turn {
  /** Grows each time a process takes the create lock. */
  readonly epoch: number;
  /** True if the previous holder had no heartbeat for one minute. */
  readonly isTakenOver?: boolean;
  /** Returns true if another process may have created something after this count. Lists of an earlier read are then outdated. */
  isNewerThan(count: number): boolean;
}

/** Holder of the create lock or of the store's file. */
export interface TurnHolder {
  /** Process id. 0: unknown. */
  readonly pid: number;
  /** Name of the project. Empty if unknown. */
  readonly project: string;
  /** Start of the lock, in milliseconds since the epoch. */
  readonly since: number;
  /** File of the store, if the process has locked the file. */
  readonly file?: string | undefined;
}

/** A create. The store keeps its names as digests. */
export interface LeavingCreate {
  readonly id: string;
  /** Mark of the state of the new object; empty if unknown. */
  readonly place: string;
  /** Kind, parent and natural key. Empty if the object is indistinguishable from others of its kind. */
  readonly thing: string;
  /** Features shared with other objects of the kind, if a list returns only these features. */
  readonly likeness?: string | undefined;
  /** Time of sending, in milliseconds since the epoch. */
  readonly at: number;
}

/** Outcome of a create that a store has not yet written. */
export interface EndedCreate {
  readonly intent: LeavingCreate;
  readonly isAnswered: boolean;
}

/** Selects creates of other processes. Creates in progress never match. */
export interface IntentQuery {
  readonly thing?: string;
  readonly likeness?: string;
  readonly state?: StoredCreate["state"];
  /** Selects creates after this count ({@link AccountStore.count}). */
  readonly after?: number;
  /** Excludes the creates of the state with this mark, because a state knows its own creates. */
  readonly notOf?: string;
  /** Mark of the asking state, for {@link StoredCreate.isOwn}. */
  readonly place?: string;
  /** Id of the intent in the asking state, also for {@link StoredCreate.isOwn}. It stays the same if the state moves. */
  readonly intent?: string | undefined;
}

/** A create as another process recorded it. */
export interface StoredCreate {
  /** Count of the create, as {@link AccountStore.count} counts. */
  readonly serial: number;
  /** Time of sending, in milliseconds since the epoch. */
  readonly at: number;
  /** `unknown`: the process ended, or released the create lock, without a response. */
  readonly state: "answered" | "unknown";
  /** True if the create belongs to the asking state. */
  readonly isOwn: boolean;
}

/** A fact with its list and its name in the list. */
export interface Note {
  readonly list: string;
  readonly name: string;
  readonly value: Json;
}

export interface NoteOptions {
  /** `absent`: writes the notes only if none exists. `present`: writes only the existing notes. Default: writes all. */
  readonly when?: "absent" | "present";
  /** Lifetime of the notes in the store, in milliseconds. Default: 90 days. */
  readonly keptMs?: number;
  /** False: a power failure may undo the write. Default: true. */
  readonly isDurable?: boolean;
}

/** Default lifetime of a note, in milliseconds. An older note belongs to an abandoned project. */
export const NOTE_KEPT_MS = 90 * 24 * 3_600_000;

/** Location of a state on this machine or at a backend. */
export interface Place {
  /** Unique name of the state, equal in lock, plan and apply. */
  readonly mark: string;
  /** Name for messages: "hosting.tfstate in /srv/acme". */
  readonly label: string;
}

/** Identity of an object at a host. */
export interface HeldObject {
  readonly type: string;
  /** Id of the parent; empty if the kind has none. */
  readonly parent: string;
  readonly id: string;
}

/** An object in a state. */
export interface Holding extends HeldObject {
  /** Folded natural key as a string. */
  readonly name?: string | undefined;
  readonly generation?: number | undefined;
  /** Id of the create's intent. If absent, the stored id stays. */
  readonly intent?: string | undefined;
  /** Resource address. Absent in the provider, because Terraform sends no address. */
  readonly address?: string | undefined;
  /** Number of addresses with this object in the state. Normally 1. */
  readonly instances: number;
}

/** A recorded holding. Times are in milliseconds since the epoch. */
export interface Held extends Holding {
  readonly place: Place;
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** False: a later run of the state did not find the object. The holding then excludes no candidate and blocks no import. */
  readonly isFirm: boolean;
  /** Set if the file of the state no longer exists. */
  readonly isRemoved?: true;
}

/** Selects one state, or all states except one, by mark. */
export interface HoldingQuery {
  readonly place?: string | undefined;
  readonly notOf?: string | undefined;
}

/** Lifetime of a holding without a run that finds it, in milliseconds. */
export const HOLDING_KEPT_MS = NOTE_KEPT_MS;
/** Age at which the store rewrites an unchanged holding to renew its time, in milliseconds. */
export const HOLDING_RENEWED_MS = 24 * 3_600_000;
