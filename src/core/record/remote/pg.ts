import { type Database, interruptibly, isAbsent, type Row } from "../../local/index.ts";
import { raise } from "../../messages/index.ts";
import type { HistoryLines } from "../history.ts";
import type { StateBackend } from "../opening.ts";
import type { Verify } from "../state-file.ts";
import {
  applicationName,
  heldHere,
  ownKeyOf,
  type PgBackendOptions,
  PgStateLock,
  refuseQuery,
  refuseUnheld,
  statesIn,
  unlockCreation,
} from "./pg-lock.ts";

/** Creates the backend of a state in PostgreSQL, in the table row of Terraform's `pg` backend. Only the session with the lock writes. */
export function createPgBackend(options: PgBackendOptions): StateBackend {
  const { connect, contender, signal, schema, workspace } = options;
  const name = `workspace ${workspace} in schema ${schema} of ${options.server}`;
  const states = statesIn(options);
  const lock = new PgStateLock(name, options);
  /** Version (`xmin`) of the row after the last read or write of this process. `version` is undefined without a row. */
  let seen: { readonly version: unknown } | undefined;

  const readIn = (database: Database): Promise<string | undefined> =>
    interruptibly(database, signal, async () => {
      const select = `SELECT data, xmin::text AS version FROM ${states} WHERE name = $1`;
      const [row] = await database.query(select, [workspace]).catch((error: unknown): readonly Row[] => {
        if (isAbsent(error)) return [];
        return refuseQuery(name, "read", database, error);
      });
      seen = { version: row?.version };
      return typeof row?.data === "string" && row.data !== "" ? row.data : undefined;
    });

  const connected = async <T>(work: (database: Database) => Promise<T>) => {
    if (lock.database !== undefined) return work(lock.database);
    const own = await connect(applicationName(contender, "read"), signal);
    try {
      return await work(own);
    } finally {
      await own.end();
    }
  };
  const read = () => connected(readIn);

  const refuse = async (database: Database): Promise<never> => {
    const [row] = await database.query(`SELECT ${heldHere("$1")} AS held`, [lock.key]);
    if (row?.held !== true) refuseUnheld(name);
    return raise("state.lost_lock/changed", {
      place: `The row of ${name}`,
      hint: "Did Terraform write it with -lock=false?",
    });
  };

  /** Updates the row in one statement, only if its version is unchanged and this session holds the lock. */
  const update = async (database: Database, text: string): Promise<unknown> => {
    const [row] = await database.query(
      `UPDATE ${states} SET data = $2 WHERE name = $1 AND xmin::text = $3 AND ${heldHere("$4")}
       RETURNING xmin::text AS version`,
      [workspace, text, seen?.version, lock.key],
    );
    return row === undefined ? refuse(database) : row.version;
  };

  /**
   * Inserts the row at the first write. The session locks the row before the commit, so no other session can lock it first. Then the
   * session frees the locks of creation. These locks exclude other sessions from all states without a row.
   */
  const insert = async (database: Database, text: string): Promise<unknown> => {
    await database.query("BEGIN");
    try {
      const [row] = await database.query(
        `INSERT INTO ${states} (name, data) SELECT $1, $2 WHERE ${heldHere("$3")}
         ON CONFLICT (name) DO NOTHING RETURNING id::text, xmin::text AS version`,
        [workspace, text, lock.key],
      );
      if (row === undefined) return await refuse(database);
      await database.query("SELECT pg_advisory_lock($1::bigint)", [row.id]);
      await database.query("COMMIT");
      lock.key = String(row.id);
      await unlockCreation(database, options);
      return row.version;
    } catch (error) {
      await database.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  };

  const write = async (text: string, verify: Verify) => {
    if (seen === undefined) await read();
    await verify();
    const { database, key } = lock;
    if (database === undefined || key === undefined) throw new TypeError("the state is not locked");
    try {
      seen = { version: await (key === ownKeyOf(options) ? insert(database, text) : update(database, text)) };
    } catch (error) {
      refuseQuery(name, "written", database, error);
    }
  };

  const history = historyIn(options, name, connected, () => lock.key);
  return { text: { name, read, write, keep: async (text) => options.keep?.(text) }, lock, history };
}

/** Lines in a table beside the states, one row for each entry. Only the session with the lock writes. */
function historyIn(
  { schema, table, workspace }: PgBackendOptions,
  name: string,
  connected: <T>(work: (database: Database) => Promise<T>) => Promise<T>,
  key: () => string | undefined,
): HistoryLines {
  const rows = statesIn({ schema, table: `${table}_history` });
  const prove = async (database: Database) => {
    await database.query(
      `CREATE TABLE IF NOT EXISTS ${rows} (id bigserial PRIMARY KEY, name text NOT NULL, data text NOT NULL)`,
    );
    const [row] = await database.query(`SELECT ${heldHere("$1")} AS held`, [key()]);
    if (row?.held !== true) refuseUnheld(name);
  };
  /** Inserts lines. @param before statement that runs first, in the transaction of the insert. */
  const write = (lines: readonly string[], before = "") =>
    connected(async (database) => {
      await prove(database);
      await database.query(
        `${before} INSERT INTO ${rows} (name, data)
         SELECT $1, line FROM unnest($2::text[]) WITH ORDINALITY AS given (line, nth) ORDER BY nth`,
        [workspace, lines],
      );
    });
  return {
    name: `history of ${name}`,
    read: () =>
      connected(async (database) => {
        const select = `SELECT data FROM ${rows} WHERE name = $1 ORDER BY id`;
        const found = await database.query(select, [workspace]).catch((error: unknown): readonly Row[] => {
          if (isAbsent(error)) return [];
          throw error;
        });
        return found.map(({ data }) => String(data));
      }),
    append: (line) => write([line]),
    replace: (lines) => write(lines, `WITH gone AS (DELETE FROM ${rows} WHERE name = $1)`),
    prove: () => connected(prove),
  };
}
