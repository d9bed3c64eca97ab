// Shared ledger: counts the requests of one token, in the last minute, for all processes of this machine.
import type { DatabaseSync } from "node:sqlite";
import { isObject, parsedJson, type RequestOutlook } from "../model/index.ts";
import { type DatabaseFile, databaseTrouble, PATIENCE_MS } from "./database-file.ts";
import type { Acceptance, Ledger, LedgerEvent, Refusal, Reservation } from "./ledger.ts";
import { RollingWindow } from "./rolling-window.ts";

/** Longest delay of an acceptance before its write, in milliseconds. The next reservation writes it sooner. */
const SOON_MS = 50;
/** Pause before the next attempt while another process uses the file, in milliseconds. */
const ASK_AGAIN_MS = 50;

/**
 * Tables of the windows. `windows` contains a window that includes all events up to `serial`, and `events` contains the later events.
 * A new event adds one row and need not rewrite the window. A process reads only the new rows of other processes.
 */
export const REQUESTS_SCHEMA = `
  CREATE TABLE windows (account TEXT PRIMARY KEY, serial INTEGER NOT NULL, record TEXT NOT NULL) STRICT;
  CREATE TABLE events (account TEXT, serial INTEGER, event TEXT NOT NULL, PRIMARY KEY (account, serial)) STRICT, WITHOUT ROWID;`;
/** Minimum number of events before the window is rewritten. A window with more requests waits for as many events. */
const FOLD_AFTER = 200;

export const prepareRequests = (database: DatabaseSync) => ({
  /** Changes with each change of the file by another process. */
  version: database.prepare("PRAGMA data_version"),
  folded: database.prepare("SELECT serial FROM windows WHERE account = ?"),
  read: database.prepare("SELECT record FROM windows WHERE account = ?"),
  since: database.prepare("SELECT serial, event FROM events WHERE account = ? AND serial > ? ORDER BY serial"),
  add: database.prepare("INSERT INTO events (account, serial, event) VALUES (?, ?, ?)"),
  fold: database.prepare("INSERT OR REPLACE INTO windows (account, serial, record) VALUES (?, ?, ?)"),
  drop: database.prepare("DELETE FROM events WHERE account = ? AND serial <= ?"),
});

type Statements = ReturnType<typeof prepareRequests>;

interface SharedRequestsOptions {
  readonly account: string;
  /** Unique id of this process. */
  readonly who: string;
  /** Called once when the file becomes unusable and this process begins to count alone. */
  onCountingAlone?(reason: unknown): void;
  readonly soonMs?: number | undefined;
}

/** Window of an open file after the event `serial`. */
interface Known {
  readonly of: Statements;
  readonly window: RollingWindow;
  readonly version: unknown;
  /** Serial of the last event in the window on disk. */
  folded: number;
  serial: number;
}

/**
 * Counts the requests of all processes with one token. No lock is held between two calls. If the file becomes unusable, the ledger
 * counts in this process from then on and starts with the last known window.
 */
export class SharedRequests implements Ledger {
  readonly #file: Pick<DatabaseFile<Statements>, "change">;
  readonly #options: SharedRequestsOptions;
  #known: Known | undefined;
  /** Window of this process alone, after the file became unusable. */
  #alone: RollingWindow | undefined;
  /** Unwritten events: acceptances and refusals, delayed by {@link SOON_MS} or by a busy file. */
  #owed: LedgerEvent[] = [];
  #written: Promise<void> | undefined;
  #busySince: number | undefined;

  constructor(file: Pick<DatabaseFile<Statements>, "change">, options: SharedRequestsOptions) {
    this.#file = file;
    this.#options = options;
  }

  async reserve(now: number, limit: number): Promise<Reservation> {
    return this.#apply(["reserve", now, limit, this.#options.who]) ?? { waitMs: ASK_AGAIN_MS, left: 0 };
  }

  async refuse(refusal: Refusal): Promise<void> {
    this.#owed.push(["refuse", refusal]);
    this.#apply();
  }

  /** Records an accepted request with a delay. After a kill before the write, the request stays booked like one without a response. */
  accept(acceptance: Acceptance): Promise<void> {
    this.#owed.push(["accept", acceptance]);
    this.#written ??= new Promise((resolve) => {
      // The timer does not keep the process alive: a process closes its store before its end.
      setTimeout(() => resolve(this.settle()), this.#options.soonMs ?? SOON_MS).unref();
    });
    return this.#written;
  }

  /** Forecasts reservations. Ignores events in a busy file. */
  async outlook(now: number, limit: number): Promise<RequestOutlook> {
    this.settle();
    let known = this.#alone ?? this.#known?.window;
    try {
      if (this.#alone === undefined) known = this.#file.change((statements) => this.#catchUp(statements)).window;
    } catch {
      // The next request reports this failure.
    }
    return (known ?? new RollingWindow()).outlook(now, limit);
  }

  /** Writes the unwritten events. */
  settle(): void {
    this.#written = undefined;
    if (this.#owed.length > 0) this.#apply();
  }

  /** Writes and applies events. @returns undefined while another process uses the file. Nothing changed then. */
  #apply(event?: LedgerEvent): Reservation | undefined {
    const events = event === undefined ? this.#owed : [...this.#owed, event];
    let window: RollingWindow;
    try {
      window = this.#alone ?? this.#write(events);
    } catch (error) {
      this.#busySince ??= performance.now();
      if (databaseTrouble(error) === "busy" && performance.now() - this.#busySince < PATIENCE_MS) return undefined;
      this.#options.onCountingAlone?.(error);
      window = this.#alone = this.#known?.window ?? new RollingWindow();
    }
    this.#busySince = undefined;
    this.#owed = [];
    // After the write, because an unwritten event does not count.
    return events.map((one) => window.apply(one)).at(-1);
  }

  /** Appends events in one transaction. @returns the window before these events. */
  #write(events: readonly LedgerEvent[]): RollingWindow {
    const known = this.#file.change((statements) => {
      const known = this.#catchUp(statements);
      for (const [i, event] of events.entries())
        statements.add.run(this.#options.account, known.serial + 1 + i, JSON.stringify(event));
      return known;
    });
    known.serial += events.length;
    return known.window;
  }

  /** Applies the events of other processes. Folds events into the window on disk when they reach the threshold. */
  #catchUp(statements: Statements): Known {
    const { account } = this.#options;
    const version = statements.version.get()?.data_version;
    const isKnown = this.#known?.of === statements && this.#known.version === version;
    const known = isKnown && this.#known ? this.#known : readFrom(statements, account, version, this.#known);
    // Set at once, because `known` shares the changed window.
    this.#known = known;
    if (known.serial - known.folded >= Math.max(FOLD_AFTER, known.window.size)) {
      statements.fold.run(account, known.serial, JSON.stringify(known.window));
      statements.drop.run(account, known.serial);
      known.folded = known.serial;
    }
    return known;
  }
}

/** Reads the window. @param before the known window of this file or of an earlier file. */
function readFrom(of: Statements, account: string, version: unknown, before: Known | undefined): Known {
  const folded = Number(of.folded.get(account)?.serial ?? 0);
  const isBehind = before?.of !== of || before.serial < folded;
  const window = isBehind ? RollingWindow.parse(String(of.read.get(account)?.record ?? "")) : before.window;
  let serial = isBehind ? folded : before.serial;
  for (const row of of.since.all(account, serial)) {
    replay(window, String(row.event));
    serial = Number(row.serial);
  }
  return { of, version, window, folded, serial };
}

/** Applies an event in JSON. Ignores an unreadable event. */
export function replay(window: RollingWindow, text: string): void {
  const event = eventIn(text);
  if (event !== undefined) window.apply(event);
}

function eventIn(text: string): LedgerEvent | undefined {
  const event = parsedJson(text);
  if (!Array.isArray(event)) return undefined;
  const [what, first, limit, who] = event;
  const times = what === "reserve" ? [first, limit] : isObject(first) ? [first.now, first.sentAt, first.limit] : [text];
  if (!times.every(Number.isFinite)) return undefined;
  if (what === "reserve") return [what, first, limit, String(who)];
  return what === "refuse" || what === "accept" ? [what, first] : undefined;
}
