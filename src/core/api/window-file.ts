import { readdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { DatabaseFile } from "../local/index.ts";
import { RollingWindow } from "./rolling-window.ts";
import type { WindowKeeper } from "./window-keeper.ts";

/** A file that nobody has used for this long holds nothing any more: tokens come and go. */
const UNUSED_MS = 30 * 24 * 3_600_000;

/**
 * `TRUNCATE`, because a write-ahead log does not work on network file systems, where homes may lie. Nothing is synced: a
 * process that dies loses nothing by it, and after a power failure the minute is over. Whoever has the file has it for
 * far less than a millisecond. One that was stopped right then is not waited for here, as that would block the process.
 */
const PRAGMAS = "PRAGMA busy_timeout = 100; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF";
const SCHEMA = "CREATE TABLE requests (one INTEGER PRIMARY KEY CHECK (one = 1), record TEXT NOT NULL) STRICT";

/** The file of an account's requests in a folder. */
export function windowPath(folder: string, digest: string): string {
  return path.join(folder, `${digest}.requests`);
}

/**
 * A window in a database file of its own.
 * @param place tells the file. What it throws, `update` throws.
 * @param open how databases are opened.
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

/** A process that still has such a file open notices, and makes it anew. Ages are by the clock that files are dated by. */
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
