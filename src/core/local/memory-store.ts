// In-memory store of an account, for one process. In tests, several stores with the same tables simulate several processes.
import { randomUUID } from "node:crypto";
import { raise } from "../messages/index.ts";
import { type Clock, type Diagnostic, type RequestOutlook, systemClock } from "../model/index.ts";
import type {
  AccountStore,
  Held,
  HeldObject,
  Holding,
  HoldingQuery,
  IntentQuery,
  LeavingCreate,
  Note,
  NoteOptions,
  Place,
  StoredCreate,
  Turn,
  TurnHolder,
  TurnRequest,
} from "./account-store.ts";
import type { Acceptance, Ledger, Refusal, Reservation } from "./ledger.ts";
import { RollingWindow } from "./rolling-window.ts";
import { isKept, nameOf, SeenObjects } from "./shared-holdings.ts";
import { type Blocker, TurnQueue } from "./turn-queue.ts";

/** A ledger for one process. */
export class MemoryLedger implements Ledger {
  readonly #window: RollingWindow;
  readonly #who: string;

  constructor(window = new RollingWindow(), who = "here") {
    this.#window = window;
    this.#who = who;
  }

  async reserve(now: number, limit: number): Promise<Reservation> {
    return this.#window.reserve(now, limit, this.#who);
  }

  async refuse(refusal: Refusal): Promise<void> {
    this.#window.refuse(refusal);
  }

  async accept(acceptance: Acceptance): Promise<void> {
    this.#window.accept(acceptance);
  }

  async outlook(now: number, limit: number): Promise<RequestOutlook> {
    return this.#window.outlook(now, limit);
  }
}

interface IntentRow extends LeavingCreate {
  readonly serial: number;
  readonly process: string;
  /** Epoch of the create lock at the time of the record. */
  readonly epoch: number;
  readonly state: StoredCreate["state"] | "open";
}

/** Rows of one token. The notes also belong to this token. In a file, notes belong to the origin of the API. */
export class MemoryTables {
  readonly window = new RollingWindow();
  readonly intents = new Map<string, IntentRow>();
  readonly notes = new Map<string, Note>();
  /** Objects by the mark of their state, then by their key. */
  readonly holdings = new Map<string, Map<string, Held>>();
  count = 0;
  epoch = 0;
  holder: (TurnHolder & { readonly process: string; beats: number }) | undefined;
  /** Process that waits for the create lock. */
  next: string | undefined;
}

interface MemoryStoreOptions {
  readonly account?: string;
  readonly isResettable?: boolean;
  readonly clock?: Clock;
  readonly tables?: MemoryTables;
  readonly sharing?: AccountStore["sharing"];
  /** Name of the process. Default: a unique one. */
  readonly process?: string;
  readonly onWaiting?: (holder: TurnHolder) => void;
  readonly onTakenOver?: (holder: TurnHolder) => void;
}

export class MemoryStore implements AccountStore {
  readonly account: string;
  readonly habits: string | undefined = "habits";
  readonly requests: Ledger;
  readonly isResettable: boolean;
  readonly sharing: AccountStore["sharing"];
  readonly #tables: MemoryTables;
  /** Unique id of this process. */
  readonly #who: string;
  readonly #queue: TurnQueue;
  readonly #clock: Clock;
  readonly #seen = new SeenObjects();

  constructor(options: MemoryStoreOptions = {}) {
    const { account = "", isResettable = false, clock = systemClock, tables = new MemoryTables() } = options;
    this.account = account;
    this.isResettable = isResettable;
    this.sharing = options.sharing;
    const who = options.process ?? randomUUID();
    this.#who = who;
    this.requests = new MemoryLedger(tables.window, who);
    this.#tables = tables;
    this.#clock = clock;
    this.#queue = new TurnQueue(
      {
        take: async (request, frozen) => this.#take(request, clock.now(), frozen),
        beat: async ({ epoch }) => this.#beat(epoch),
        isAwaited: async () => tables.next !== undefined,
        release: async () => {
          if (tables.holder?.process === who) tables.holder = undefined;
          return tables.next !== undefined;
        },
        withdraw: async () => {
          if (tables.next === who) tables.next = undefined;
        },
      },
      { ...options, clock },
    );
  }

  async refusals(): Promise<readonly Diagnostic[]> {
    return [];
  }

  async count(): Promise<number> {
    return this.#tables.count;
  }

  withTurn<T>(request: TurnRequest, work: (turn: Turn) => Promise<T>): Promise<T> {
    return this.#queue.run(request, work);
  }

  async leave(turn: Turn, intent: LeavingCreate): Promise<void> {
    const { epoch } = turn;
    if (epoch !== this.#tables.epoch) {
      this.#queue.lost(turn);
      raise("store.turn_lost", {});
    }
    this.#beat(epoch);
    const earlier = this.#tables.intents.get(intent.id);
    if (earlier !== undefined && earlier.epoch !== epoch)
      this.#tables.intents.set(`${intent.id} ${earlier.serial}`, earlier);
    this.#put(intent, "open");
  }

  async answer(intent: LeavingCreate): Promise<void> {
    this.#put(intent, "answered");
  }

  async unsent({ id }: LeavingCreate): Promise<void> {
    this.#tables.intents.delete(id);
  }

  async sentBefore(at: number, count: number): Promise<void> {
    const { intents } = this.#tables;
    for (const [id, row] of intents) if (row.at > at && row.serial <= count) intents.set(id, { ...row, at });
  }

  async newest({
    thing,
    likeness,
    state,
    after = 0,
    notOf,
    place,
    intent,
  }: IntentQuery): Promise<StoredCreate | undefined> {
    const found = this.#others().filter(
      (row) =>
        row.state !== "open" &&
        row.serial > after &&
        (thing === undefined || row.thing === thing) &&
        (likeness === undefined || row.likeness === likeness) &&
        (state === undefined || row.state === state) &&
        (notOf === undefined || row.place === "" || row.place !== notOf),
    );
    const [row] = found.sort((a, b) => (thing === undefined ? b.at - a.at : b.serial - a.serial));
    if (row === undefined || row.state === "open") return undefined;
    const isOwn = row.id === intent || (row.place !== "" && row.place === place);
    return { serial: row.serial, at: row.at, state: row.state, isOwn };
  }

  async note(notes: readonly Note[], { when }: NoteOptions = {}): Promise<readonly Note[]> {
    const known = this.#tables.notes;
    const existing = notes.flatMap((note) => known.get(keyOf(note)) ?? []);
    if (when === "absent" && existing.length > 0) return existing;
    for (const note of notes) if (when !== "present" || known.has(keyOf(note))) known.set(keyOf(note), note);
    return [];
  }

  async notes(list: string, name?: string): Promise<readonly Note[]> {
    const found = [...this.#tables.notes.values()].filter(
      (note) => note.list === list && (name === undefined || note.name === name),
    );
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async forget(notes: readonly Pick<Note, "list" | "name">[]): Promise<void> {
    for (const note of notes) this.#tables.notes.delete(keyOf(note));
  }

  async see(place: Place, run: string, holdings: readonly Holding[]): Promise<void> {
    this.#seen.add(place.mark, run, holdings);
    const known = this.#tables.holdings.get(place.mark) ?? new Map<string, Held>();
    this.#tables.holdings.set(place.mark, known);
    const now = this.#clock.now();
    if (known.values().next().value?.place.label !== place.label)
      for (const [name, one] of known) known.set(name, { ...one, place });
    for (const one of holdings) {
      const { firstSeen = now, intent } = known.get(nameOf(one)) ?? {};
      const created = one.intent ?? intent;
      known.set(nameOf(one), {
        ...one,
        ...(created !== undefined && { intent: created }),
        place,
        firstSeen,
        lastSeen: now,
        isFirm: true,
      });
    }
  }

  async release(place: string, objects: readonly HeldObject[]): Promise<void> {
    this.#seen.drop(place, objects);
    for (const one of objects) this.#tables.holdings.get(place)?.delete(nameOf(one));
  }

  async endRun(place: string, run: string, since: number): Promise<void> {
    const seen = this.#seen.end(place, run);
    const known = this.#tables.holdings.get(place) ?? new Map<string, Held>();
    for (const [name, one] of known) {
      const isSeen = seen.has(name) || (one.isFirm && one.lastSeen >= since);
      known.set(name, isSeen ? { ...one, lastSeen: this.#clock.now() } : { ...one, isFirm: false });
    }
  }

  async holdings({ place, notOf }: HoldingQuery): Promise<readonly Held[]> {
    const all = [...this.#tables.holdings.values()].flatMap((known) => [...known.values()]);
    const found = all.filter(
      (one) => (place === undefined || one.place.mark === place) && (notOf === undefined || one.place.mark !== notOf),
    );
    return found.filter(isKept(this.#clock.now()));
  }

  async close(): Promise<void> {
    this.#queue.close();
  }

  #beat(epoch: number): void {
    const { holder } = this.#tables;
    if (holder !== undefined && epoch === this.#tables.epoch) holder.beats += 1;
  }

  #take({ project }: TurnRequest, now: number, frozen: string | undefined): Turn | Blocker {
    const tables = this.#tables;
    const { holder } = tables;
    const sign = `${tables.epoch} ${holder?.beats}`;
    const isTakenOver = holder !== undefined && sign === frozen;
    if (holder !== undefined && !isTakenOver) {
      tables.next ??= this.#who;
      return { ...holder, who: holder.process, sign };
    }
    if (tables.next === this.#who) tables.next = undefined;
    tables.epoch += 1;
    tables.holder = { pid: process.pid, project, since: now, process: this.#who, beats: 0 };
    // The other processes released the lock or ended before a response, so the result of their open creates is unknown.
    for (const row of this.#others()) if (row.state === "open") this.#put(row, "unknown", row.process);
    const last = Math.max(0, ...this.#others().map(({ serial }) => serial));
    return { epoch: tables.epoch, isTakenOver, isNewerThan: (count) => last > count || tables.count < count };
  }

  /** Records a state of an intent with a new serial, so that a run with an outdated list reads the list again. */
  #put(intent: LeavingCreate, state: IntentRow["state"], who = this.#who): void {
    this.#tables.count += 1;
    this.#tables.intents.set(intent.id, {
      ...intent,
      serial: this.#tables.count,
      process: who,
      epoch: this.#tables.epoch,
      state,
    });
  }

  #others(): IntentRow[] {
    return [...this.#tables.intents.values()].filter((row) => row.process !== this.#who);
  }
}

/**
 * Returns a function that opens stores in memory. Keep the function: all its stores of an account share their facts, so the projects of
 * a program create objects one after the other. Other processes do not know these facts.
 */
export function memoryStores(): (of: { readonly account: string }) => MemoryStore {
  const known = new Map<string, MemoryTables>();
  return ({ account }) => {
    const tables = known.get(account) ?? new MemoryTables();
    known.set(account, tables);
    return new MemoryStore({ account, tables });
  };
}

const keyOf = ({ list, name }: Pick<Note, "list" | "name">): string => JSON.stringify([list, name]);
