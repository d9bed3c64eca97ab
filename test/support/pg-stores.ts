/** Stores of several processes in one PostgreSQL database, with a clock of the server that a test controls. */
import { onTestFinished } from "vitest";
import { connectTo, type Database, PgStore, type PgStoreOptions, parsePgServer } from "../../src/core/local/index.ts";
import type { Clock } from "../../src/core/model/index.ts";

export interface PgStoreParts extends Partial<Omit<PgStoreOptions, "connect" | "clock">> {
  /** Clock of the process. `server`: clock of the server; default: the real one. */
  readonly clock: Clock;
  readonly server?: Clock;
  /** Changes a connection. */
  readonly through?: (database: Database) => Database;
}

/** Opens the store of a process in the database of a connection string. The test closes it. */
export function openPgStore(connection: string, { server, through, ...options }: PgStoreParts): PgStore {
  const at = parsePgServer({ PG_CONN_STR: connection }, "nobody");
  const timed = (database: Database): Database => {
    const query: Database["query"] = async (sql, values) => {
      const rows = await database.query(sql, values);
      // Several statements have no rows.
      return (rows ?? []).map((row) => ("clock" in row && server ? { ...row, clock: server.now() } : row));
    };
    return Object.defineProperty({ ...database, query }, "lost", { get: () => database.lost });
  };
  const store = new PgStore({
    account: "a",
    origin: "origin",
    place: "db.example:5432/hostform",
    soonMs: 0,
    ...options,
    connect: async (onNotification) => {
      const database = timed(await connectTo(at, "hostform test", { onNotification, timeoutMs: 10_000 }));
      return through?.(database) ?? database;
    },
  });
  onTestFinished(() => store.close());
  return store;
}
