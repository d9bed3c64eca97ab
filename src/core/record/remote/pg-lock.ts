import { errnoOf, fail } from "../../model/index.ts";
import type { LockHolder } from "../holder.ts";
import type { Freed, HeldLock, LockRequest, StateLock } from "../lock.ts";
import { type Database, interruptibly } from "./pg-connection.ts";
import { refuseLost, refuseQuery } from "./pg-failure.ts";
import { applicationName, describeSession, findHolder } from "./pg-holder.ts";
import { isAbsent, makeLayout, statesIn } from "./pg-layout.ts";
import type { PgHold, PgPlaceOptions } from "./pg-options.ts";
import { CREATION_KEY } from "./pg-options.ts";

const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 5_000;
/** How often, and at what interval, it is looked whether a session that was told to end has done so. */
const LOOKS = 100;
const LOOK_MS = 100;

/**
 * The lock of a state in PostgreSQL: an advisory lock on the id of its row, held by a session, as Terraform does it. It
 * is free when the session ends, so it does not outlive a process that is killed.
 */
export class PgStateLock implements StateLock {
  readonly #name: string;
  readonly #options: PgPlaceOptions;
  readonly #hold: PgHold;

  constructor(name: string, options: PgPlaceOptions, hold: PgHold) {
    this.#name = name;
    this.#options = options;
    this.#hold = hold;
  }

  async acquire(request: LockRequest): Promise<HeldLock> {
    const { connect, contender, schema } = this.#options;
    request.signal?.throwIfAborted();
    const database = await connect(applicationName(contender, request.command), request.signal);
    try {
      this.#hold.key = await interruptibly(database, request.signal, async () => {
        await makeLayout(database, schema);
        return this.#wait(database, request);
      });
      this.#hold.database = database;
      return this.#held(database);
    } catch (error) {
      await database.end();
      if (request.signal?.aborted) throw error;
      return refuseQuery(this.#name, "locked", database, error);
    }
  }

  /**
   * Ends the database session that holds the lock, which needs the same role or `pg_signal_backend`.
   * @param id of the session that is meant, when it is to be that one only.
   */
  async takeOver(id?: string): Promise<Freed> {
    const { connect, contender, clock } = this.#options;
    const database = await connect(applicationName(contender, "force-unlock"));
    try {
      const holder = await this.#holder(database);
      if (holder === undefined) return { holder, alive: undefined, fenced: true };
      if (id !== undefined && id !== holder.id) {
        fail("state.locked", "The state is held by another database session", {
          detail: `Given: ${id}. Held by ${describeSession(holder, clock)}.`,
          fix: "Look again who it is: it is not the one that you meant.",
        });
      }
      await this.#terminate(database, holder);
      return { holder, alive: undefined, fenced: true };
    } catch (error) {
      return refuseQuery(this.#name, "freed", database, error);
    } finally {
      await database.end();
    }
  }

  /** The key of the lock, once it is held. */
  async #wait(database: Database, { timeoutMs, signal }: LockRequest): Promise<string> {
    const { clock } = this.#options;
    const start = clock.now();
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
      signal?.throwIfAborted();
      const key = await this.#attempt(database);
      if (key !== undefined) return key;
      const left = start + timeoutMs - clock.now();
      if (left <= 0) return this.#refuse(await this.#holder(database));
      await clock.sleep(Math.min(pause, left), signal);
    }
  }

  /**
   * As Terraform does it: the row and, for an instant, the lock of creation, which whoever made the row may hold still.
   * Without a row, the lock of creation alone; then the row must still be missing.
   */
  async #attempt(database: Database): Promise<string | undefined> {
    const { schema, workspace } = this.#options;
    const states = statesIn(schema);
    const unlock = (key: string) => database.query("SELECT pg_advisory_unlock($1::bigint)", [key]);
    const [row] = await database.query(
      `SELECT id::text, pg_try_advisory_lock(id) AS mine, pg_try_advisory_lock(${CREATION_KEY}) AS creation
       FROM ${states} WHERE name = $1`,
      [workspace],
    );
    if (row !== undefined) {
      const id = String(row.id);
      if (row.creation === true) await unlock(CREATION_KEY);
      if (row.mine === true && row.creation === true) return id;
      if (row.mine === true) await unlock(id);
      return undefined;
    }
    const [creation] = await database.query(`SELECT pg_try_advisory_lock(${CREATION_KEY}) AS mine`);
    if (creation?.mine !== true) return undefined;
    const [made] = await database.query(`SELECT FROM ${states} WHERE name = $1`, [workspace]);
    if (made === undefined) return CREATION_KEY;
    await unlock(CREATION_KEY);
    return this.#attempt(database);
  }

  #held(database: Database): HeldLock {
    let released = false;
    return {
      // Each write asks the server in the same statement whether this session still holds the lock.
      verify: () => {
        if (released) refuseLost(this.#name, "it was freed");
        if (database.lost !== undefined) refuseLost(this.#name, database.lost);
      },
      release: async () => {
        if (released) return;
        released = true;
        const { key } = this.#hold;
        this.#hold.database = undefined;
        // Ending the session frees it as well; this way it is free when this returns.
        if (database.lost === undefined) {
          await database.query("SELECT pg_advisory_unlock($1::bigint)", [key]).catch(() => undefined);
        }
        await database.end();
      },
    };
  }

  async #holder(database: Database): Promise<LockHolder | undefined> {
    const { schema, workspace } = this.#options;
    const select = `SELECT id::text FROM ${statesIn(schema)} WHERE name = $1`;
    const [row] = await database.query(select, [workspace]).catch((error: unknown) => {
      if (isAbsent(error)) return [];
      throw error;
    });
    const own = row && (await findHolder(database, [String(row.id)]));
    return own ?? findHolder(database, [CREATION_KEY]);
  }

  async #terminate(database: Database, holder: LockHolder): Promise<void> {
    try {
      await database.query("SELECT pg_terminate_backend($1::int)", [holder.id]);
    } catch (error) {
      if (errnoOf(error) !== "42501") throw error;
      fail("state.backend", "This role may not end the database session that holds the state", {
        detail: `Held by ${describeSession(holder, this.#options.clock)}.`,
        fix: `Let its own role or an administrator do it: \`SELECT pg_terminate_backend(${holder.id})\`.`,
      });
    }
    for (let look = 0; look < LOOKS; look++) {
      if ((await this.#holder(database))?.id !== holder.id) return;
      await this.#options.clock.sleep(LOOK_MS);
    }
    fail("state.backend", "The database session that holds the state does not end", {
      detail: `Held by ${describeSession(holder, this.#options.clock)}.`,
      fix: "Look for it in pg_stat_activity.",
    });
  }

  #refuse(holder: LockHolder | undefined): never {
    fail("state.locked", "Another process holds the state", {
      detail: holder
        ? `Held by ${describeSession(holder, this.#options.clock)}.`
        : "It was free again when it was looked who it is.",
      fix: "Wait for it (`--lock-timeout 5m`). If it hangs, end it, or its database session with `hostform force-unlock`.",
    });
  }
}
