// The lock of a state in PostgreSQL, its holder, and the table of states, compatible with Terraform's backend.
import { createHash } from "node:crypto";
import { type Database, interruptibly, isAbsent, type Row } from "../../local/index.ts";
import { type Doing, raise } from "../../messages/index.ts";
import { type Clock, errnoOf, HostformError, reasonOf } from "../../model/index.ts";
import {
  type Contender,
  describeHolder,
  describeTimes,
  type Freed,
  type HeldLock,
  type LockHolder,
  type LockRequest,
  poll,
  type ServerOptions,
  type StateLock,
  waysToEnd,
} from "../lock.ts";

export interface PgBackendOptions extends ServerOptions {
  /** Opens a session. Other sessions see its name. @throws HostformError `state.backend`. */
  readonly connect: (applicationName: string, signal?: AbortSignal) => Promise<Database>;
  readonly server: string;
  /** Schema of Terraform's table. The user of OpenTofu can choose schema, table and index. */
  readonly schema: string;
  readonly table: string;
  readonly index: string;
  /** Name of the state's row: a Terraform workspace, such as `default`. */
  readonly workspace: string;
}

/** Key of Terraform's lock for states without a row. One lock covers the whole database. */
const CREATION_KEY = "-1";

/**
 * Returns the keys of the locks of creation, for a state without a row: Terraform's key, and OpenTofu's key for this table (since
 * 1.10).
 */
export function creationKeysOf({ schema, table }: Pick<PgBackendOptions, "schema" | "table">): readonly string[] {
  // FNV-1 with 32 bits.
  let sum = 0x811c_9dc5;
  for (const byte of Buffer.from(`${schema}\0${table}`)) sum = (Math.imul(sum, 0x0100_0193) ^ byte) >>> 0;
  return [CREATION_KEY, String(-sum)];
}

/**
 * Returns the key of hostform's own lock of a state without a row. Runs of hostform hold the locks of creation in shared mode, so that
 * they can create different states simultaneously. Row ids are positive, and the keys of creation are above -2^32.
 */
export function ownKeyOf({ schema, table, workspace }: Pick<PgBackendOptions, "schema" | "table" | "workspace">) {
  const digest = createHash("sha256").update([schema, table, workspace].join("\0")).digest();
  return String(-(2n ** 32n) - (digest.readBigUInt64BE() >> 2n));
}

/** Frees locks of this session. @param kind `_shared` for locks in shared mode. */
const unlock = (database: Database, keys: readonly string[], kind: "" | "_shared" = "") =>
  database.query(`SELECT pg_advisory_unlock${kind}(key) FROM unnest($1::bigint[]) AS key`, [keys]);

/** Frees the locks of a state without a row. */
export async function unlockCreation(database: Database, options: PgBackendOptions): Promise<void> {
  await unlock(database, creationKeysOf(options), "_shared");
  await unlock(database, [ownKeyOf(options)]);
}

const PAUSES = { firstMs: 250, longestMs: 5_000 };
/** Maximum wait for the end of a session, in milliseconds. `LOOK_MS`: pause between two checks. */
const ENDING = { timeoutMs: 10_000 };
const LOOK_MS = 100;

/**
 * Lock of a state in PostgreSQL: like Terraform's, an advisory lock of a session on the id of the state's row. The lock ends with the
 * session, and therefore with a killed process.
 */
export class PgStateLock implements StateLock {
  readonly #name: string;
  readonly #options: PgBackendOptions;
  /** Session with the lock. */
  database: Database | undefined;
  /** Locked key: the id of the state's row, or hostform's own key without a row. */
  key: string | undefined;

  constructor(name: string, options: PgBackendOptions) {
    this.#name = name;
    this.#options = options;
  }

  async acquire(request: LockRequest): Promise<HeldLock> {
    const { connect, contender } = this.#options;
    request.signal?.throwIfAborted();
    const database = await connect(applicationName(contender, request.command), request.signal);
    try {
      this.key = await interruptibly(database, request.signal, async () => {
        await makeLayout(database, this.#options);
        const key = await poll(this.#options.clock, request, PAUSES, () => this.#attempt(database));
        if (key !== undefined) return key;
        const holder = await this.#holder(database);
        const held = holder && `Held by ${describeSession(holder, this.#options.clock)}.`;
        const end = waysToEnd(holder, contender, "If the process hangs, end it or its database session.");
        return raise("state.locked", { holder: held ?? "The holder released it before the query for its name.", end });
      });
      this.database = database;
      return this.#held(database);
    } catch (error) {
      await database.end();
      if (request.signal?.aborted) throw error;
      return refuseQuery(this.#name, "locked", database, error);
    }
  }

  /**
   * Ends the database session with the lock. This needs the role of that session, or `pg_signal_backend`.
   * @param id id of the only session to end. Default: any holder.
   */
  async takeOver(id?: string): Promise<Freed> {
    const { connect, contender, clock } = this.#options;
    const database = await connect(applicationName(contender, "force-unlock"));
    try {
      const holder = await this.#holder(database);
      if (holder === undefined) return { holder, alive: undefined, fenced: true };
      if (id !== undefined && id !== holder.id) {
        raise("state.locked/other", { id, holder: `Held by ${describeSession(holder, clock)}.` });
      }
      await this.#terminate(database, holder);
      return { holder, alive: undefined, fenced: true };
    } catch (error) {
      return refuseQuery(this.#name, "freed", database, error);
    } finally {
      await database.end();
    }
  }

  /**
   * Tries to take the lock as Terraform and OpenTofu do. With a row: takes the lock of the row and, briefly, the locks of creation, which
   * the creator of the row may still hold. Without a row: takes the locks of creation and hostform's own lock, then checks that the row
   * is still missing. @returns the locked key, or undefined if another session has a lock.
   */
  async #attempt(database: Database): Promise<string | undefined> {
    const { workspace } = this.#options;
    const states = statesIn(this.#options);
    const keys = creationKeysOf(this.#options);
    const locks = keys.map((_, at) => `pg_try_advisory_lock_shared($${at + 2}::bigint) AS lock${at}`);
    const heldIn = (row: Row | undefined) => keys.filter((_, at) => row?.[`lock${at}`] === true);
    const [row] = await database.query(
      `SELECT id::text, pg_try_advisory_lock(id) AS mine, ${locks} FROM ${states} WHERE name = $1`,
      [workspace, ...keys],
    );
    if (row !== undefined) {
      const id = String(row.id);
      const held = heldIn(row);
      await unlock(database, held, "_shared");
      if (row.mine === true && held.length === keys.length) return id;
      if (row.mine === true) await unlock(database, [id]);
      return undefined;
    }
    const own = ownKeyOf(this.#options);
    const [creation] = await database.query(`SELECT pg_try_advisory_lock($1::bigint) AS own, ${locks}`, [own, ...keys]);
    const held = heldIn(creation);
    const isFree = creation?.own === true && held.length === keys.length;
    const [made] = isFree ? await database.query(`SELECT FROM ${states} WHERE name = $1`, [workspace]) : [];
    if (isFree && made === undefined) return own;
    await unlock(database, held, "_shared");
    if (creation?.own === true) await unlock(database, [own]);
    return isFree ? this.#attempt(database) : undefined;
  }

  #held(database: Database): HeldLock {
    let released = false;
    return {
      // A check of the server is unnecessary here, because the statement of each write checks that this session holds the lock.
      verify: () => {
        if (released) refuseBroken(this.#name, "it was freed");
        if (database.lost !== undefined) refuseBroken(this.#name, database.lost);
      },
      prove: async () => {
        const held = `SELECT ${heldHere("$1")} AS held`;
        const refuse = (error: unknown) => refuseQuery(this.#name, "locked", database, error);
        const [row] = await database.query(held, [this.key]).catch(refuse);
        if (row?.held !== true) refuseUnheld(this.#name);
      },
      release: async () => {
        if (released) return;
        released = true;
        this.database = undefined;
        // Free the locks explicitly, because the server may notice the end of the session only after this call returns.
        if (database.lost === undefined) {
          await database.query("SELECT pg_advisory_unlock_all()").catch(() => undefined);
        }
        await database.end();
      },
    };
  }

  async #holder(database: Database): Promise<LockHolder | undefined> {
    const select = `SELECT id::text FROM ${statesIn(this.#options)} WHERE name = $1`;
    const [row] = await database.query(select, [this.#options.workspace]).catch((error: unknown) => {
      if (isAbsent(error)) return [];
      throw error;
    });
    const own = await findHolder(database, row === undefined ? [ownKeyOf(this.#options)] : [String(row.id)]);
    return own ?? findHolder(database, creationKeysOf(this.#options));
  }

  async #terminate(database: Database, holder: LockHolder): Promise<void> {
    const held = `Held by ${describeSession(holder, this.#options.clock)}.`;
    try {
      await database.query("SELECT pg_terminate_backend($1::int)", [holder.id]);
    } catch (error) {
      if (errnoOf(error) !== "42501") throw error;
      raise("state.backend/terminate", { holder: held, id: holder.id });
    }
    const hasEnded = async () => (await this.#holder(database))?.id !== holder.id || undefined;
    if (await poll(this.#options.clock, ENDING, { firstMs: LOOK_MS, longestMs: LOOK_MS }, hasEnded)) return;
    raise("state.backend/session", { holder: held });
  }
}

/**
 * SQL condition on `pg_locks`: exclusive advisory locks of this database with a 64-bit key. Such a lock has `objsubid` 1 and its key in
 * two halves. Shared locks do not count, because they exclude no run of hostform.
 */
const LOCKED = `locktype = 'advisory' AND granted AND mode = 'ExclusiveLock' AND objsubid = 1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND ((classid::bigint << 32) | objid::bigint)`;

/** Returns the SQL condition that this session holds the lock with the key of a parameter. */
export function heldHere(parameter: string): string {
  return `EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND ${LOCKED} = ${parameter}::bigint)`;
}

/** Returns the name of hostform's session at the server. */
export function applicationName({ pid, user, host }: Contender, command: string): string {
  return `hostform ${pid} ${command} ${user}@${host}`;
}

/** Returns the holder of one of the keys, or undefined. Its id is the process id of the database session. */
async function findHolder(database: Database, keys: readonly string[]): Promise<LockHolder | undefined> {
  const [row] = await database.query(
    `SELECT pid::text, application_name, usename::text, host(client_addr) AS address,
       to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since,
       to_char(state_change AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS last_alive
     FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
     WHERE ${LOCKED} = ANY ($1::bigint[]) AND pid <> pg_backend_pid() LIMIT 1`,
    [keys],
  );
  return row && holderOf(row);
}

/** Describes a holder. Name and address are null if the role may not read another role's session. */
function holderOf(row: Row): LockHolder {
  const text = (name: string) => (typeof row[name] === "string" && row[name] !== "" ? row[name] : undefined);
  const lastAlive = text("last_alive");
  const [application, role, address] = [text("application_name"), text("usename"), text("address")];
  const ours = /^hostform (\d+) (.+) (\S+)$/.exec(application ?? "");
  const session = `database session ${row.pid}${address === undefined ? "" : ` from ${address}`}`;
  const name = ours?.[3] ?? (application === undefined ? "another program" : `"${application}"`);
  return {
    id: String(row.pid),
    command: ours?.[2] ?? "unknown",
    who: `${name} (${role === undefined ? "" : `role ${role}, `}${session})`,
    pid: ours === null ? null : Number(ours[1]),
    since: text("since") ?? "unknown",
    ...(lastAlive !== undefined && { lastAlive }),
  };
}

/** Returns for example `process 4711 (apply), nino@ci (role states, database session 812 from 10.0.0.7), since …`. */
function describeSession(holder: LockHolder, clock: Clock): string {
  return holder.pid === null ? describeTimes(holder, clock) : describeHolder(holder, clock);
}

/** Error codes of a part that another program created simultaneously: unique violation, duplicate object. */
const MADE_MEANWHILE = new Set(["23505", "42P06", "42P07", "42710"]);
const TRIES = 5;

/** Quotes a name for SQL. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the quoted table of states for SQL. */
export function statesIn({ schema, table }: Pick<PgBackendOptions, "schema" | "table">): string {
  return `${quoted(schema)}.${quoted(table)}`;
}

/**
 * Creates only the missing parts of the layout of Terraform's `pg` backend. A complete layout needs no privilege to create. Throws the
 * server's own error.
 */
async function makeLayout(database: Database, options: PgBackendOptions): Promise<void> {
  const { schema, index } = options;
  const states = statesIn(options);
  const sequence = "public.global_states_id_seq";
  const parts = [
    ["to_regnamespace", quoted(schema), `CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`],
    ["to_regclass", sequence, `CREATE SEQUENCE IF NOT EXISTS ${sequence} AS bigint`],
    [
      "to_regclass",
      states,
      `CREATE TABLE IF NOT EXISTS ${states} (
        id bigint NOT NULL DEFAULT nextval('${sequence}') PRIMARY KEY,
        name text UNIQUE,
        data text
      )`,
    ],
    [
      "to_regclass",
      `${quoted(schema)}.${quoted(index)}`,
      `CREATE UNIQUE INDEX IF NOT EXISTS ${quoted(index)} ON ${states} (name)`,
    ],
  ] as const;
  for (const [find, name, make] of parts) {
    for (let left = TRIES; ; left--) {
      const [row] = await database.query(`SELECT pg_catalog.${find}($1) IS NOT NULL AS there`, [name]);
      if (row?.there === true) break;
      try {
        await database.query(make);
        break;
      } catch (error) {
        if (left === 1 || !MADE_MEANWHILE.has(errnoOf(error) ?? "")) throw error;
      }
    }
  }
}

/** Throws the error about a broken connection: its lock is free. @throws HostformError `state.lost_lock`. */
export function refuseBroken(name: string, reason: string): never {
  raise("state.lost_lock/connection", { place: name, reason });
}

/** Throws the error about a live session without the lock. @throws HostformError `state.lost_lock`. */
export function refuseUnheld(name: string): never {
  refuseBroken(name, "the session no longer holds it; does a pooler run each statement in another session?");
}

/** Throws the error about a failed query. @param doing "locked", "read", "written" (`The state could not be …`). */
export function refuseQuery(name: string, doing: Doing, database: Database, error: unknown): never {
  if (error instanceof HostformError) throw error;
  if (database.lost !== undefined) refuseBroken(name, database.lost);
  const isDenied = errnoOf(error) === "42501";
  raise("state.backend/query", { doing, place: name, reason: reasonOf(error), isDenied });
}
