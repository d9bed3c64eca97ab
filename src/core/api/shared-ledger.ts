/** The requests of the last minute, counted in a file that all processes of this machine share. */

import { readdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { DatabaseFile, databaseTrouble, stateFolder } from "../local/index.ts";
import type { Acceptance, Ledger, LedgerEvent, Refusal, Reservation } from "../local/ledger.ts";
import { MemoryLedger } from "../local/memory-store.ts";
import { RollingWindow } from "../local/rolling-window.ts";
import { type Diagnostic, isObject, messageOf, parsedJson, type RequestOutlook, warningOf } from "../model/index.ts";
import { isLoopback, normalizeBaseUrl } from "./address.ts";
import { accountDigest } from "./token.ts";

/** How long an answer may wait to be written down. */
const SOON_MS = 50;
/** How soon to ask again when another process is at the file. */
const ASK_AGAIN_MS = 50;
/** After so many refusals in a row, a tenth of a second each, the process that holds the file is taken for stuck. */
const PATIENCE = 40;

/**
 * `PERSIST`, because a write-ahead log does not work on network file systems, where homes may lie, and a journal that stays
 * beside the file with nothing to take back costs less than one that is removed each time. Nothing is synced: a
 * process that dies loses nothing by it, and after a power failure the minute is over. A process holds the file for
 * far less than a millisecond. One that was stopped right then is not waited for here, as that would block the process.
 */
const PRAGMAS = "PRAGMA busy_timeout = 100; PRAGMA journal_mode = PERSIST; PRAGMA synchronous = OFF";
/**
 * The window as it was after the event `serial`, and the events since. What happens costs a row, not the whole window, and
 * each process reads only the rows of the others.
 */
const SCHEMA = `CREATE TABLE requests (one INTEGER PRIMARY KEY CHECK (one = 1), serial INTEGER NOT NULL, record TEXT NOT NULL) STRICT;
  CREATE TABLE events (serial INTEGER PRIMARY KEY, event TEXT NOT NULL) STRICT`;
/** The window is written down again after so many events, or after as many as it has requests. */
const FOLD_AFTER = 200;

const prepare = (database: DatabaseSync) => ({
  /** Differs once another process has changed the file. */
  version: database.prepare("PRAGMA data_version"),
  folded: database.prepare("SELECT serial FROM requests"),
  read: database.prepare("SELECT record FROM requests"),
  since: database.prepare("SELECT serial, event FROM events WHERE serial > ? ORDER BY serial"),
  add: database.prepare("INSERT INTO events (serial, event) VALUES (?, ?)"),
  fold: database.prepare("INSERT OR REPLACE INTO requests (one, serial, record) VALUES (1, ?, ?)"),
  forget: database.prepare("DELETE FROM events WHERE serial <= ?"),
});

type Statements = ReturnType<typeof prepare>;

interface SharedLedgerOptions {
  readonly unusedMs?: number;
  readonly open?: (path: string) => DatabaseSync;
  readonly soonMs?: number;
}

/** What a process knows of an open file: the window after the event `serial`. */
interface Known {
  readonly of: Statements;
  readonly window: RollingWindow;
  readonly version: unknown;
  /** The last event that the window on disk contains. */
  folded: number;
  serial: number;
}

/**
 * A ledger for all processes of this machine that use one token, in a database file. Nothing is held between two calls, or by
 * a process that dies. When the file cannot be used, requests are counted in this process from then on, beginning with what
 * is known by then, and that is reported once.
 * @internal The published types must not need `node:sqlite`.
 */
export class SharedLedger implements Ledger {
  readonly #file: DatabaseFile<Statements>;
  readonly #who: string;
  readonly #soonMs: number;
  readonly #onWarning: (reason: unknown) => void;
  #known: Known | undefined;
  /** Instead of the file, once that cannot be used. */
  #alone: RollingWindow | undefined;
  /** What is not written down yet: answers, and what came while another process was at the file. */
  #owed: LedgerEvent[] = [];
  #written: Promise<void> | undefined;
  #refusals = 0;

  /**
   * @param place gives the file. What it throws makes the file unusable.
   * @param who this process, as none of the others is called.
   * @param onWarning called once, with what went wrong, when requests have to be counted in this process alone.
   * @param options.unusedMs how old those files beside it are that are removed.
   * @param options.open how databases are opened.
   * @param options.soonMs how long an answer may wait for the next reservation to be written down with.
   */
  constructor(
    place: () => string,
    who: string,
    onWarning: (reason: unknown) => void = () => {},
    { unusedMs, open, soonMs = SOON_MS }: SharedLedgerOptions = {},
  ) {
    this.#soonMs = soonMs;
    this.#who = who;
    this.#onWarning = onWarning;
    this.#file = new DatabaseFile(place, {
      applicationId: 0x4846_5251,
      schema: SCHEMA,
      pragmas: PRAGMAS,
      prepare,
      onOpen: (_, isNew) => {
        if (isNew) removeUnused(path.dirname(place()), unusedMs);
      },
      open,
    });
  }

  async reserve(now: number, limit: number): Promise<Reservation> {
    return this.#happen(["reserve", now, limit, this.#who]) ?? { waitMs: ASK_AGAIN_MS, left: 0 };
  }

  async refuse(refusal: Refusal): Promise<void> {
    this.#owed.push(["refuse", refusal]);
    this.#happen();
  }

  /**
   * Written down with the next reservation, or soon. If it is lost because this process is killed before, the request stays
   * booked, as one without an answer does.
   */
  accept(acceptance: Acceptance): Promise<void> {
    this.#owed.push(["accept", acceptance]);
    this.#written ??= new Promise((resolve) => {
      // No process goes on for it alone: it closes the ledger before it ends.
      setTimeout(() => resolve(this.#settle()), this.#soonMs).unref();
    });
    return this.#written;
  }

  /** Without what cannot be read now: another process may be at the file. */
  async outlook(now: number, limit: number): Promise<RequestOutlook> {
    this.#settle();
    let known = this.#alone ?? this.#known?.window;
    try {
      if (this.#alone === undefined) known = this.#file.change((statements) => this.#catchUp(statements)).window;
    } catch {
      // The next request meets the failure, and reports it.
    }
    return (known ?? new RollingWindow()).outlook(now, limit);
  }

  close(): void {
    this.#settle();
    this.#file.close();
  }

  #settle(): void {
    this.#written = undefined;
    if (this.#owed.length > 0) this.#happen();
  }

  /** @returns undefined when another process is at the file: nothing was changed, and what is owed is still owed. */
  #happen(event?: LedgerEvent): Reservation | undefined {
    const events = event === undefined ? this.#owed : [...this.#owed, event];
    let window: RollingWindow;
    try {
      window = this.#alone ?? this.#write(events);
    } catch (error) {
      this.#refusals += 1;
      if (databaseTrouble(error) === "busy" && this.#refusals < PATIENCE) return undefined;
      this.#onWarning(error);
      window = this.#alone = this.#known?.window ?? new RollingWindow();
      this.#file.close();
    }
    this.#refusals = 0;
    this.#owed = [];
    // Only now: what was not written down did not happen.
    return events.map((one) => window.apply(one)).at(-1);
  }

  /** Writes events down behind those of the others, in one step for all processes. @returns the window before them. */
  #write(events: readonly LedgerEvent[]): RollingWindow {
    const known = this.#file.change((statements) => {
      const known = this.#catchUp(statements);
      for (const [i, event] of events.entries()) statements.add.run(known.serial + 1 + i, JSON.stringify(event));
      return known;
    });
    known.serial += events.length;
    return known.window;
  }

  /** Learns what the others wrote down, and folds the events into the window when they have become many. */
  #catchUp(statements: Statements): Known {
    const version = statements.version.get()?.data_version;
    const isKnown = this.#known?.of === statements && this.#known.version === version;
    const known = isKnown && this.#known ? this.#known : readFrom(statements, version, this.#known);
    // At once: it has the window of before, which goes on.
    this.#known = known;
    if (known.serial - known.folded >= Math.max(FOLD_AFTER, known.window.size)) {
      statements.fold.run(known.serial, JSON.stringify(known.window));
      statements.forget.run(known.serial);
      known.folded = known.serial;
    }
    return known;
  }
}

/** @param before what is known of the file, or of another one. */
function readFrom(of: Statements, version: unknown, before: Known | undefined): Known {
  const folded = Number(of.folded.get()?.serial ?? 0);
  const isBehind = before?.of !== of || before.serial < folded;
  const window = isBehind ? RollingWindow.parse(String(of.read.get()?.record ?? "")) : before.window;
  let serial = isBehind ? folded : before.serial;
  for (const row of of.since.all(serial)) {
    replay(window, String(row.event));
    serial = Number(row.serial);
  }
  return { of, version, window, folded, serial };
}

/** Applies an event that was written as this text; what is not understood counts for nothing. */
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

/** What {@link ledgerFor} needs to know. */
export interface LedgerOptions {
  readonly baseUrl: string;
  readonly token: string;
  /** Where HOSTFORM_LEDGER, HOSTFORM_STATE_HOME and the user's home are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called once, if requests have to be counted in this process alone. */
  readonly onWarning?: ((warning: Diagnostic) => void) | undefined;
}

/**
 * The ledger that all processes of this user on this machine share for this token at this address (§8: the limit is
 * one of the token), in the user's state folder; with `HOSTFORM_LEDGER=memory` one for this process. No file is touched
 * before the first request.
 * @throws HostformError provider.base_url.
 */
export function ledgerFor(options: LedgerOptions): Ledger {
  const { folder, place, isSandbox, unusedMs } = accountFile(options, "requests");
  if (options.env.HOSTFORM_LEDGER === "memory" || (isSandbox && place === undefined)) return new MemoryLedger();
  const placeOrThrow = () => {
    if (place === undefined) throw new Error("no home folder is known");
    return place();
  };
  const warn = (reason: unknown) => (isSandbox ? undefined : options.onWarning?.(aloneWarning(folder, reason)));
  return new SharedLedger(placeOrThrow, crypto.randomUUID(), warn, { unusedMs });
}

/** A file about a token that nobody has used for this long holds nothing any more: tokens come and go. */
const UNUSED_MS = 30 * 24 * 3_600_000;
/** What is on a loopback address is a sandbox, with a new token each time. */
const UNUSED_OF_SANDBOX_MS = 24 * 3_600_000;

/**
 * Where something about this token at this address is kept for all processes of this user. A sandbox's is in a folder of
 * its own unless `HOSTFORM_STATE_HOME` is set, and nobody needs to be warned when it cannot be used.
 * @returns no `place` when no home folder is known. To compute it takes a millisecond.
 * @throws HostformError provider.base_url.
 */
export function accountFile({ baseUrl, token, env }: LedgerOptions, extension: string) {
  const url = normalizeBaseUrl(baseUrl, true);
  const isSandbox = isLoopback(url) && !env.HOSTFORM_STATE_HOME;
  const folder = stateFolder(env);
  const placeIn = (home: string) =>
    path.join(home, ...(isSandbox ? ["loopback"] : []), `${accountDigest(url.href, token)}.${extension}`);
  return {
    folder,
    place: folder === undefined ? undefined : () => placeIn(folder),
    isLoopback: isLoopback(url),
    isSandbox,
    unusedMs: isSandbox ? UNUSED_OF_SANDBOX_MS : UNUSED_MS,
  };
}

function aloneWarning(folder: string | undefined, reason: unknown): Diagnostic {
  const words = messageOf(reason);
  const busy = databaseTrouble(reason) === "busy";
  const what = busy ? "another process holds the file and does not release it" : words;
  return warningOf("provider.ledger", "Requests are counted in this process alone", {
    detail: `${folder === undefined ? "" : `${folder}: `}${what}. Together with others that use the token, this process may send more requests than the host allows, and then has to wait. A run with another state may create the same object at the same time.`,
    remedies: [
      "Set HOSTFORM_STATE_HOME to a folder that you may write in, or HOSTFORM_LEDGER=memory if nothing else uses the token.",
    ],
  });
}

/** A process that still has such a file open notices, and makes it again. Ages are by the clock that files are dated by. */
export function removeUnused(folder: string, unusedMs = UNUSED_MS): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!/\.(?:requests|creates)(?:\.damaged|-journal|\.lock|\.next)?$/.test(name)) continue;
      const file = path.join(folder, name);
      if (Date.now() - statSync(file).mtimeMs > unusedMs) rmSync(file, { force: true });
    }
  } catch {
    // Somebody else does it at the same time, or nobody may: the count does not depend on it.
  }
}
