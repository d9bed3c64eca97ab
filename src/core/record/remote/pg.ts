import type { StateBackend } from "../opening.ts";
import { refuseLost, type StateText, type Verify } from "../state-file.ts";
import { type Database, interruptibly, type Row, refuseBroken, refuseQuery } from "./pg-connection.ts";
import {
  applicationName,
  CREATION_KEY,
  heldHere,
  isAbsent,
  type PgBackendOptions,
  PgStateLock,
  statesIn,
} from "./pg-lock.ts";

/** A state in a table of PostgreSQL, where Terraform's `pg` backend has it. */
export function createPgBackend(options: PgBackendOptions): StateBackend {
  const name = `workspace ${options.workspace} in schema ${options.schema} of ${options.server}`;
  const lock = new PgStateLock(name, options);
  return { text: new PgStateText(name, options, lock), lock };
}

/** The text of a state in a row of PostgreSQL. Written only in the session that holds the lock. */
class PgStateText implements StateText {
  readonly name: string;
  readonly #options: PgBackendOptions;
  readonly #lock: PgStateLock;
  readonly #states: string;
  /** The version of the row that was last read or written here (its `xmin`); undefined inside: there was none. */
  #seen: { readonly version: unknown } | undefined;

  constructor(name: string, options: PgBackendOptions, lock: PgStateLock) {
    this.name = name;
    this.#options = options;
    this.#lock = lock;
    this.#states = statesIn(options.schema);
  }

  async read(): Promise<string | undefined> {
    const { connect, contender, signal } = this.#options;
    const { database } = this.#lock;
    if (database !== undefined) return interruptibly(database, signal, () => this.#read(database));
    const own = await connect(applicationName(contender, "read"), signal);
    try {
      return await interruptibly(own, signal, () => this.#read(own));
    } finally {
      await own.end();
    }
  }

  async write(text: string, verify: Verify): Promise<void> {
    if (this.#seen === undefined) await this.read();
    await verify();
    const { database, key } = this.#lock;
    if (database === undefined || key === undefined) throw new TypeError("the state is not locked");
    try {
      const version = key === CREATION_KEY ? await this.#insert(database, text) : await this.#update(database, text);
      this.#seen = { version };
    } catch (error) {
      refuseQuery(this.name, "written", database, error);
    }
  }

  async keep(text: string): Promise<void> {
    await this.#options.keep?.(text);
  }

  async #read(database: Database): Promise<string | undefined> {
    const select = `SELECT data, xmin::text AS version FROM ${this.#states} WHERE name = $1`;
    const [row] = await database.query(select, [this.#options.workspace]).catch((error: unknown): readonly Row[] => {
      if (isAbsent(error)) return [];
      return refuseQuery(this.name, "read", database, error);
    });
    this.#seen = { version: row?.version };
    return typeof row?.data === "string" && row.data !== "" ? row.data : undefined;
  }

  /** One statement: it writes only what was seen last, and only while this session holds the lock. */
  async #update(database: Database, text: string): Promise<unknown> {
    const [row] = await database.query(
      `UPDATE ${this.#states} SET data = $2 WHERE name = $1 AND xmin::text = $3 AND ${heldHere("$4")}
       RETURNING xmin::text AS version`,
      [this.#options.workspace, text, this.#seen?.version, this.#lock.key],
    );
    return row === undefined ? this.#refuse(database) : row.version;
  }

  /**
   * The first write makes the row. Nobody sees it before its own lock is held, so the lock of creation, which keeps
   * everybody from every state without a row, can be freed right after.
   */
  async #insert(database: Database, text: string): Promise<unknown> {
    await database.query("BEGIN");
    try {
      const [row] = await database.query(
        `INSERT INTO ${this.#states} (name, data) SELECT $1, $2 WHERE ${heldHere("$3")}
         ON CONFLICT (name) DO NOTHING RETURNING id::text, xmin::text AS version`,
        [this.#options.workspace, text, CREATION_KEY],
      );
      if (row === undefined) return await this.#refuse(database);
      await database.query("SELECT pg_advisory_lock($1::bigint)", [row.id]);
      await database.query("COMMIT");
      this.#lock.key = String(row.id);
      await database.query("SELECT pg_advisory_unlock($1::bigint)", [CREATION_KEY]);
      return row.version;
    } catch (error) {
      await database.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  async #refuse(database: Database): Promise<never> {
    const [row] = await database.query(`SELECT ${heldHere("$1")} AS held`, [this.#lock.key]);
    if (row?.held !== true) {
      refuseBroken(this.name, "the session does not hold it any more; does a pooler give each statement another one?");
    }
    const detail = `${this.name}: the row is not the one that was read or written last. Was it Terraform with \`-lock=false\`?`;
    return refuseLost("The state was changed by another program while this process ran", detail);
  }
}
