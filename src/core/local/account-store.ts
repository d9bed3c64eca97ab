/**
 * The store of one account: the facts that the processes of this machine share about one token at one origin of the API.
 * Processes with other tokens of the origin use the same file: an intent belongs to its token, a note belongs to its list.
 */
import type { Diagnostic, Json } from "../model/index.ts";
import type { Ledger } from "./ledger.ts";

/** Each method is asynchronous, and atomic for all processes. */
export interface AccountStore {
  /** Digest of the token and its address. A list of notes names it if its facts belong to one account. */
  readonly account: string;
  /** Counts the requests of the token. It never rejects: if the file is unusable, it counts in memory. */
  readonly requests: Ledger;
  /** List of the notes about habits of the host. Absent: each run learns them again. */
  readonly habits?: string | undefined;
  /** The server is a sandbox: a reset may have removed the objects of earlier runs. */
  readonly isResettable: boolean;
  /** The file that processes share. Absent: there is none, or its folder is unknown. */
  readonly file?: string | undefined;

  /** Returns the reasons why no create can be recorded: `store.busy`, `store.newer`. Ask before a run changes anything. */
  refusals(): Promise<readonly Diagnostic[]>;
  /** Returns a number that grows with each create of any process. Take it before you read a list. 0 if it is unknown. */
  count(): Promise<number>;
  /**
   * Runs `work` while no other process creates anything with the token. Creates of this process run side by side in its turn.
   * If the file is unusable, runs `work` without a turn and warns once.
   * A process that gives no sign of life for a minute loses its turn to this one.
   * @throws the reason of the signal, if it ends the wait; HostformError `store.turn` when the wait is over, `store.busy` if a process
   *   has held the file for a minute. `work` did not begin.
   */
  withTurn<T>(request: TurnRequest, work: (turn: Turn) => Promise<T>): Promise<T>;
  /**
   * Records that a create leaves now, or leaves again. A kill keeps the record; a power failure may take it, so the caller has
   * synced a record of its own. Until {@link answer} or {@link unsent} the outcome is unknown.
   * @throws HostformError `store.turn_lost` if another process has the turn by now, `store.busy`, `store.newer`: the request must
   *   not leave.
   */
  leave(turn: Turn, intent: LeavingCreate): Promise<void>;
  /** Records that the object exists. Needs no turn. May be written with the next {@link leave} or at the end of the turn. */
  answer(intent: LeavingCreate): Promise<void>;
  /** Records that the create certainly created nothing. May be written as late as {@link answer}. */
  unsent(intent: LeavingCreate): Promise<void>;
  /** Returns the newest create of another process with this token that matches. Before a create, call it in a turn. */
  newest(of: IntentQuery): Promise<StoredCreate | undefined>;

  /**
   * Writes notes in one step. On disk when it returns, unless the options say otherwise.
   * @returns the notes that `absent` found in place of the given ones. Then nothing was written.
   * @throws HostformError `store.unwritable`, `store.busy` or `store.newer`.
   */
  note(notes: readonly Note[], options?: NoteOptions): Promise<readonly Note[]>;
  /** Returns the notes of a list, by name; or one of them. @throws as {@link note}. */
  notes(list: string, name?: string): Promise<readonly Note[]>;
  /** Removes notes. A removed secret is overwritten. @throws as {@link note}. */
  forget(notes: readonly Pick<Note, "list" | "name">[]): Promise<void>;

  /**
   * Records objects that a run found in a state. They are firm from now on. An object that is recorded as given is not written again.
   * A file syncs nothing: a power failure may take it back. @throws as {@link note}.
   */
  see(place: Place, run: string, holdings: readonly Holding[]): Promise<void>;
  /** Removes objects that a state no longer holds. @param place mark of the state. @throws as {@link note}. */
  release(place: string, objects: readonly HeldObject[]): Promise<void>;
  /**
   * Records that a run that read a whole state has ended in order: objects that it did not {@link see} are no longer firm, unless
   * they were recorded after `since`, by another process. Call it on the store that saw them.
   * @param since moment at which the run began to read the state. @throws as {@link note}.
   */
  endRun(place: string, run: string, since: number): Promise<void>;
  /** Returns the objects of one state, of all others, or of all states. @throws as {@link note}. */
  holdings(of: HoldingQuery): Promise<readonly Held[]>;

  /** Writes what it still owes, and closes. Never throws. The next call opens the store again. */
  close(): Promise<void>;
}

/** The run that asks for a turn. Another process that waits reports its project. */
export interface TurnRequest {
  readonly project: string;
  /** Mark of the state that the run writes; empty if unknown. */
  readonly place: string;
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for other processes, in milliseconds. Default: until they give the turn back. */
  readonly timeoutMs?: number | undefined;
}

/** A turn, shared by the creates of this process that run side by side. */
export interface Turn {
  /** Grows each time a process takes the turn. */
  readonly epoch: number;
  /** The process that had it before gave no sign of life for a minute. */
  readonly isTakenOver?: boolean;
  /** Returns true if another process created something after this count, or may have. Lists that were read before are outdated. */
  isNewerThan(count: number): boolean;
}

/** The process that has the turn, or holds the file of the store. */
export interface TurnHolder {
  /** 0: unknown. */
  readonly pid: number;
  /** Empty if unknown. */
  readonly project: string;
  /** In milliseconds since the epoch. */
  readonly since: number;
  /** The file of the store, if the process holds that. */
  readonly file?: string | undefined;
}

/** A create. Names are kept as digests. */
export interface LeavingCreate {
  readonly id: string;
  /** Mark of the state that it is created for; empty if unknown. */
  readonly place: string;
  /** Kind, parent and natural key; empty if nothing distinguishes the object from others of its kind. */
  readonly thing: string;
  /** Features that the object shares with others of its kind, if a list shows only these. */
  readonly likeness?: string | undefined;
  /** Moment at which it leaves, in milliseconds since the epoch. */
  readonly at: number;
}

/** Selects creates of other processes. A create that is still under way matches nothing. */
export interface IntentQuery {
  readonly thing?: string;
  readonly likeness?: string;
  readonly state?: StoredCreate["state"];
  /** Only those that were recorded after this count. */
  readonly after?: number;
  /** Not those of this state, which knows its own creates. */
  readonly notOf?: string;
  /** Mark of the asking state, for {@link StoredCreate.isOwn}. */
  readonly place?: string;
  /** Id of the intent that the asking state records, for the same: a state may move to another place. */
  readonly intent?: string | undefined;
}

/** A create as another process recorded it. */
export interface StoredCreate {
  /** Its count, as {@link AccountStore.count} counts. */
  readonly serial: number;
  /** Moment at which it left, in milliseconds since the epoch. */
  readonly at: number;
  /** `unknown`: its process ended, or gave the turn back, without an answer. */
  readonly state: "answered" | "unknown";
  /** It was begun for the state that asks. */
  readonly isOwn: boolean;
}

/** A fact, by its list and its name in the list. */
export interface Note {
  readonly list: string;
  readonly name: string;
  readonly value: Json;
}

export interface NoteOptions {
  /** `absent`: write the notes only if none of them exists. `present`: write only those that exist. Default: write all. */
  readonly when?: "absent" | "present";
  /** The store removes the notes after this time, in milliseconds. Default: 90 days. */
  readonly keptMs?: number;
  /** False: a power failure may take the notes back. Default: true. */
  readonly isDurable?: boolean;
}

/** A note that nobody writes again for this long belongs to an abandoned project. */
export const NOTE_KEPT_MS = 90 * 24 * 3_600_000;

/** A state, as this machine knows it. */
export interface Place {
  /** Name that differs from the names of all other states. Lock, plan and apply of a state give the same one. */
  readonly mark: string;
  /** Words of messages: "hosting.tfstate in /srv/acme". */
  readonly label: string;
}

/** Identity of an object at a host. */
export interface HeldObject {
  readonly type: string;
  /** Id of the parent; empty if the kind has none. */
  readonly parent: string;
  readonly id: string;
}

/** An object that a state holds. */
export interface Holding extends HeldObject {
  /** Natural key, folded, as text. */
  readonly name?: string | undefined;
  readonly generation?: number | undefined;
  /** Id of the intent that created it. A run that does not know it leaves the recorded one. */
  readonly intent?: string | undefined;
  /** Terraform sends a provider no address. */
  readonly address?: string | undefined;
  /** Addresses of the state that hold the object, as the run counted them: normally 1. */
  readonly instances: number;
}

/** A recorded holding. Times are in milliseconds since the epoch. */
export interface Held extends Holding {
  readonly place: Place;
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** False: a later run of the state did not see it. It excludes no candidate and refuses no import. */
  readonly isFirm: boolean;
  /** The file of the state no longer exists. */
  readonly isRemoved?: true;
}

/** Selects a state, or all but one, by mark. */
export interface HoldingQuery {
  readonly place?: string | undefined;
  readonly notOf?: string | undefined;
}

/** The store removes an object that no run has seen for this long. */
export const HOLDING_KEPT_MS = NOTE_KEPT_MS;
/** A holding is written again after this long, although it is the same, so that its time stays true. */
export const HOLDING_RENEWED_MS = 24 * 3_600_000;
