// The requests of the last minute of one token, counted in the store that all processes of this machine share.
import type { DatabaseSync } from "node:sqlite";
import { isObject, parsedJson, type RequestOutlook } from "../model/index.ts";
import { type DatabaseFile, databaseTrouble, PATIENCE_MS } from "./database-file.ts";
import type { Acceptance, Ledger, LedgerEvent, Refusal, Reservation } from "./ledger.ts";
import { RollingWindow } from "./rolling-window.ts";

/** Longest time that an answer waits for the next reservation to be written with. */
const SOON_MS = 50;
/** Pause before the next attempt while another process uses the file, in ms. */
const ASK_AGAIN_MS = 50;

/**
 * The window as it was after the event `serial`, and the events since. Each event costs a row, not the whole window, and each
 * process reads only the rows of the others.
 */
export const REQUESTS_SCHEMA = `
  CREATE TABLE windows (account TEXT PRIMARY KEY, serial INTEGER NOT NULL, record TEXT NOT NULL) STRICT;
  CREATE TABLE events (account TEXT, serial INTEGER, event TEXT NOT NULL, PRIMARY KEY (account, serial)) STRICT, WITHOUT ROWID;`;
/** The window is written again after so many events, or after as many as it has requests. */
const FOLD_AFTER = 200;

export const prepareRequests = (database: DatabaseSync) => ({
  /** Differs once another process has changed the file. */
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
  /** This process, as no other is called. */
  readonly who: string;
  /** Called once, with the reason, when requests have to be counted in this process alone. */
  onCountingAlone?(reason: unknown): void;
  readonly soonMs?: number | undefined;
}

/** The window of an open file after the event `serial`. */
interface Known {
  readonly of: Statements;
  readonly window: RollingWindow;
  readonly version: unknown;
  /** The last event that the window on disk contains. */
  folded: number;
  serial: number;
}

/**
 * Counts the requests of all processes that use one token. Nothing is held between two calls. When the file cannot be used,
 * requests are counted in this process from then on, beginning with what is known by then.
 */
export class SharedRequests implements Ledger {
  readonly #file: Pick<DatabaseFile<Statements>, "change">;
  readonly #options: SharedRequestsOptions;
  #known: Known | undefined;
  /** Replaces the file once that cannot be used. */
  #alone: RollingWindow | undefined;
  /** Events that are not written yet: answers, and those that another process's use of the file delayed. */
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

  /** If this process is killed before the answer is written, the request stays booked, as one without an answer does. */
  accept(acceptance: Acceptance): Promise<void> {
    this.#owed.push(["accept", acceptance]);
    this.#written ??= new Promise((resolve) => {
      // The timer keeps no process alive: it closes the store before it ends.
      setTimeout(() => resolve(this.settle()), this.#options.soonMs ?? SOON_MS).unref();
    });
    return this.#written;
  }

  /** Leaves out events that cannot be read now: another process may use the file. */
  async outlook(now: number, limit: number): Promise<RequestOutlook> {
    this.settle();
    let known = this.#alone ?? this.#known?.window;
    try {
      if (this.#alone === undefined) known = this.#file.change((statements) => this.#catchUp(statements)).window;
    } catch {
      // The next request meets the failure, and reports it.
    }
    return (known ?? new RollingWindow()).outlook(now, limit);
  }

  /** Writes the owed events. */
  settle(): void {
    this.#written = undefined;
    if (this.#owed.length > 0) this.#apply();
  }

  /** @returns undefined while another process uses the file: nothing changed, and the owed events are still owed. */
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
    // Only now: an event that was not written did not happen.
    return events.map((one) => window.apply(one)).at(-1);
  }

  /** Writes events behind those of the others, in one step for all processes. @returns the window before them. */
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

  /** Applies the events of the others, and folds the events into the window when they have become many. */
  #catchUp(statements: Statements): Known {
    const { account } = this.#options;
    const version = statements.version.get()?.data_version;
    const isKnown = this.#known?.of === statements && this.#known.version === version;
    const known = isKnown && this.#known ? this.#known : readFrom(statements, account, version, this.#known);
    // At once: it has the window of before, which goes on.
    this.#known = known;
    if (known.serial - known.folded >= Math.max(FOLD_AFTER, known.window.size)) {
      statements.fold.run(account, known.serial, JSON.stringify(known.window));
      statements.drop.run(account, known.serial);
      known.folded = known.serial;
    }
    return known;
  }
}

/** @param before the known window of this file, or of an earlier one. */
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

/** Applies an event that was written as this text. An event that cannot be read counts for nothing. */
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
