/** The requests of the last minute, counted in a file that all processes of this machine share. */

import { readdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { DatabaseFile, databaseTrouble, stateFolder } from "../local/index.ts";
import type { Diagnostic } from "../model/index.ts";
import { isLoopback, normalizeBaseUrl } from "./address.ts";
import { type Ledger, MemoryLedger, type Reservation, RollingWindow } from "./ledger.ts";
import { accountDigest } from "./token.ts";

/** How soon to ask again when another process is at the file. */
const ASK_AGAIN_MS = 50;
/** So often in a row, with a tenth of a second each time, and the one who holds the file is not going to let go. */
const PATIENCE = 40;

/**
 * A ledger for all processes of this machine that use one token. Nothing is held between two calls, or by a process that
 * dies. When the file cannot be used, requests are counted in this process from then on, beginning with what is known by
 * then, and that is said once.
 */
export class SharedLedger implements Ledger {
  readonly #keeper: WindowKeeper;
  readonly #who: string;
  readonly #onWarning: (reason: unknown) => void;
  /** Instead of the file, once that cannot be used. */
  #alone: RollingWindow | undefined;
  /** What could not be written down yet because another process was at the file. */
  #owed: ((window: RollingWindow) => void)[] = [];
  #refusals = 0;

  /**
   * @param who this process, as none of the others is called.
   * @param onWarning called once, with what went wrong, when requests have to be counted in this process alone.
   */
  constructor(keeper: WindowKeeper, who: string, onWarning: (reason: unknown) => void = () => {}) {
    this.#keeper = keeper;
    this.#who = who;
    this.#onWarning = onWarning;
  }

  async reserve(now: number, limit: number): Promise<Reservation> {
    return this.#change((window) => window.reserve(now, limit, this.#who)) ?? { waitMs: ASK_AGAIN_MS, left: 0 };
  }

  async pause(until: number): Promise<void> {
    this.#owe((window) => window.pause(until));
  }

  async lower(now: number, limit: number, left: number, until: number): Promise<void> {
    this.#owe((window) => window.lower(now, limit, left, until));
  }

  /** Lets go of the file. It is opened again when it is needed. */
  close(): void {
    this.#keeper.close();
  }

  #owe(change: (window: RollingWindow) => void): void {
    this.#owed.push(change);
    this.#change(() => undefined);
  }

  /** @returns undefined when another process is at the file: nothing was changed. */
  #change<T>(change: (window: RollingWindow) => T): T | undefined {
    const all = (window: RollingWindow) => {
      for (const owed of this.#owed) owed(window);
      return change(window);
    };
    let result: T;
    try {
      result = this.#alone === undefined ? this.#keeper.update(all) : all(this.#alone);
    } catch (error) {
      this.#refusals += 1;
      if (databaseTrouble(error) === "busy" && this.#refusals < PATIENCE) return undefined;
      this.#onWarning(error);
      this.#alone = this.#keeper.last();
      this.#keeper.close();
      result = all(this.#alone);
    }
    this.#refusals = 0;
    this.#owed = [];
    return result;
  }
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
 * one of the token), in the user's state folder. With `HOSTFORM_LEDGER=memory`, or for a server on this very machine
 * unless `HOSTFORM_STATE_HOME` is set, one for this process: what is on a loopback address is a sandbox, with a new token
 * each time. No file is touched before the first request.
 * @throws HostformError provider.base_url.
 */
export function ledgerFor({ baseUrl, token, env, onWarning }: LedgerOptions): Ledger & { close?(): void } {
  const url = normalizeBaseUrl(baseUrl, true);
  const local = isLoopback(url) && !env.HOSTFORM_STATE_HOME;
  if (env.HOSTFORM_LEDGER === "memory" || local) return new MemoryLedger();
  const folder = stateFolder(env);
  const place = () => {
    if (folder === undefined) throw new Error("no home folder is known");
    return path.join(folder, `${accountDigest(url.href, token)}.requests`);
  };
  const warn = (reason: unknown) => onWarning?.(aloneWarning(folder, reason));
  return new SharedLedger(windowFile(place), crypto.randomUUID(), warn);
}

function aloneWarning(folder: string | undefined, reason: unknown): Diagnostic {
  const words = reason instanceof Error ? reason.message : String(reason);
  const busy = databaseTrouble(reason) === "busy";
  const what = busy ? "another process is at the file and does not let go of it" : words;
  return {
    severity: "warning",
    code: "provider.ledger",
    summary: "Requests are counted in this process alone",
    detail: `${folder === undefined ? "" : `${folder}: `}${what}. Together with others that use the token it may send more than the host allows, and is then made to wait; and another run with another state may make the same thing at the same time.`,
    remedies: [
      "Set HOSTFORM_STATE_HOME to a folder that you may write in, or HOSTFORM_LEDGER=memory if nothing else uses the token.",
    ],
  };
}

/** A file that nobody has used for this long holds nothing any more: tokens come and go. */
const UNUSED_MS = 30 * 24 * 3_600_000;

/**
 * `TRUNCATE`, because a write-ahead log does not work on network file systems, where homes may lie. Nothing is synced: a
 * process that dies loses nothing by it, and after a power failure the minute is over. A process holds the file for
 * far less than a millisecond. One that was stopped right then is not waited for here, as that would block the process.
 */
const PRAGMAS = "PRAGMA busy_timeout = 100; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF";
const SCHEMA = "CREATE TABLE requests (one INTEGER PRIMARY KEY CHECK (one = 1), record TEXT NOT NULL) STRICT";

/**
 * A window in a database file of its own.
 * @param place gives the file. What it throws, `update` throws.
 * @param open how databases are opened.
 * @internal The published types must not need `node:sqlite`.
 */
export function windowFile(place: () => string, open?: (path: string) => DatabaseSync): WindowKeeper {
  const file = new DatabaseFile(place, {
    applicationId: 0x4846_5251,
    schema: SCHEMA,
    pragmas: PRAGMAS,
    prepare: (database) => ({
      read: database.prepare("SELECT record FROM requests WHERE one = 1"),
      write: database.prepare("INSERT OR REPLACE INTO requests (one, record) VALUES (1, ?)"),
    }),
    onOpen: (_, isNew) => {
      if (isNew) removeUnused(path.dirname(place()));
    },
    open,
  });
  let last = "";
  return {
    update: (change) => {
      const [result, text] = file.change(({ read, write }) => {
        const window = RollingWindow.parse(String(read.get()?.record ?? ""));
        const result = change(window);
        const text = JSON.stringify(window);
        write.run(text);
        return [result, text];
      });
      last = text;
      return result;
    },
    last: () => RollingWindow.parse(last),
    close: () => file.close(),
  };
}

/** A process that still has such a file open notices, and makes it again. Ages are by the clock that files are dated by. */
export function removeUnused(folder: string, unusedMs = UNUSED_MS): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!/\.(?:requests|creates)(?:\.damaged|-journal|\.lock)?$/.test(name)) continue;
      const file = path.join(folder, name);
      if (Date.now() - statSync(file).mtimeMs > unusedMs) rmSync(file, { force: true });
    }
  } catch {
    // Somebody else does it at the same time, or nobody may: the count does not depend on it.
  }
}

/** What a window is kept in. The published types refer to it, and must not need `node:sqlite`. */
interface WindowKeeper {
  /**
   * Reads the window, lets it be changed, and writes it down, in one step for all processes.
   * @param change may be called again when the first time came to nothing, with another window.
   * @throws the system's or SQLite's own error; nothing was changed then.
   */
  update<T>(change: (window: RollingWindow) => T): T;
  /** As it was written last from here. */
  last(): RollingWindow;
  close(): void;
}
