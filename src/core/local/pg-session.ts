// Session of this process at a store in PostgreSQL: one connection, which reconnects, and the offset of the server's clock.
import { hash } from "node:crypto";
import { problem, raise } from "../messages/index.ts";
import { amended, type Clock, errnoOf, HostformError, hasCode, messageOf, reasonOf } from "../model/index.ts";
import { type Database, isAbsent, type Row } from "./pg-connection.ts";

export type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface PgSessionOptions {
  /** Opens a connection. @param onNotification receives the payload of each notification. */
  connect(onNotification: (payload: string) => void): Promise<Database>;
  /** Database and its server in messages: `db.example:5432/hostform`. */
  readonly place: string;
  readonly clock: Clock;
  /** Unique id of this process. */
  readonly process: string;
  /** Payload of the notifications for this process. */
  readonly lane: string;
  /** Prepares a new connection. */
  prepare(query: Query, database: Database): Promise<void>;
  /** Longest wait for a lost connection, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** Called once at the beginning of each wait for the database. */
  onLost?(reason: string): void;
}

/** Default of the longest wait for a lost connection, in milliseconds. */
const WAIT_MS = 60_000;
/** Pause before the next attempt to connect, in milliseconds. */
const AGAIN_MS = 500;
/** Longest pause between two attempts to take the create lock, if no notification arrives. */
const POLL_MS = 1_000;
/** Time after a reconnection in which the sessions of other processes may still be missing, because they reconnect as well. */
const SETTLE_MS = 5_000;

/** Columns of a statement that measure the server's clock and identify the session. */
export const SIGNS = "(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS clock, pg_backend_pid() AS session";

/**
 * Error codes that pass: connection, shutdown, lack of resources, a standby before its promotion, serialization, a timeout of a lock or
 * statement, and another version of the tables.
 */
const PASSING = /^(?:08|53|57|25006|25P03|40001|40P01|42703|55P03)/;

/** Returns the key of the advisory lock that a process holds in shared mode while a session of the process lives. */
export const signOf = (process: string): string =>
  String((1n << 62n) | (BigInt(`0x${hash("sha256", process).slice(0, 16)}`) >> 2n));

/**
 * Runs the statements of this process one after the other. After a lost connection, it reconnects and repeats the interrupted work, so
 * each work is repeatable after a commit without an acknowledgement.
 */
export class PgSession {
  readonly #options: PgSessionOptions;
  #database: Database | undefined;
  #isReady = false;
  #session: unknown;
  #offset: number | undefined;
  #connectedAt: number | undefined;
  #isReconnected = false;
  /** Error of a wait that ended in vain: further work fails with the same error at the first failure. */
  #down: HostformError | undefined;
  #isReported = false;
  #isFreed = false;
  readonly #waiting = new Set<AbortController>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PgSessionOptions) {
    this.#options = options;
  }

  /** Milliseconds by which the server's clock is ahead of this machine's clock. */
  get offsetMs(): number {
    return this.#offset ?? 0;
  }

  /** Current time by the server's clock. */
  now(): number {
    return Math.round(this.#options.clock.now() + this.offsetMs);
  }

  /** Returns true if sessions of living processes may be missing, because the server was unreachable a moment ago. */
  get isSettling(): boolean {
    const { clock } = this.#options;
    return this.#isReconnected && clock.monotonic() - (this.#connectedAt ?? 0) < SETTLE_MS;
  }

  /**
   * Runs repeatable work on the connection.
   * @param waitMs longest wait for a lost connection.
   * @throws HostformError `store.unreachable`, `store.newer`, `store.unwritable`.
   */
  run<T>(work: (query: Query) => Promise<T>, waitMs = this.#options.waitMs ?? WAIT_MS): Promise<T> {
    const done = this.#last.then(() => this.#repeat(work, waitMs));
    this.#last = done.catch(() => {});
    return done;
  }

  /** Runs repeatable work in one transaction. */
  change<T>(work: (query: Query) => Promise<T>, waitMs?: number): Promise<T> {
    return this.run(async (query) => {
      await query("BEGIN");
      try {
        const result = await work(query);
        await query("COMMIT");
        return result;
      } catch (error) {
        await query("ROLLBACK").catch(() => {});
        throw error;
      }
    }, waitMs);
  }

  /** Begins to count notifications for {@link wait}. */
  listen(): void {
    this.#isFreed = false;
  }

  /** Waits for a notification since {@link listen}, or for a moment. */
  async wait(signal?: AbortSignal): Promise<void> {
    if (this.#isFreed) return;
    const over = new AbortController();
    this.#waiting.add(over);
    const end = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
    await this.#options.clock.sleep(POLL_MS, end).catch(() => signal?.throwIfAborted());
    this.#waiting.delete(over);
  }

  /** Ends the connection. The next work opens it again. */
  async close(): Promise<void> {
    await this.#last;
    await this.#drop();
    this.#connectedAt = undefined;
    this.#down = undefined;
  }

  async #repeat<T>(work: (query: Query) => Promise<T>, waitMs: number): Promise<T> {
    const { clock, place, onLost } = this.#options;
    const since = clock.monotonic();
    const longestMs = this.#down ? 0 : waitMs;
    for (let failures = 1; ; failures++) {
      try {
        const result = await work(await this.#connected());
        this.#down = undefined;
        this.#isReported = false;
        return result;
      } catch (error) {
        const reason = this.#passing(error);
        if (this.#database?.lost !== undefined || isOutdated(error)) await this.#drop();
        const waited = clock.monotonic() - since;
        if (waited >= longestMs) {
          const seconds = Math.round(waited / 1000);
          const failure = this.#down ?? new HostformError([problem("store.unreachable", { place, reason, seconds })]);
          // A heartbeat never waits, so its failure says nothing about the next work.
          if (waitMs > 0) this.#down = failure;
          throw failure;
        }
        // A first failure may be the end of an idle connection.
        if (failures === 1 && this.#database === undefined && this.#connectedAt !== undefined) continue;
        if (!this.#isReported && this.#database === undefined) onLost?.(reason);
        this.#isReported ||= this.#database === undefined;
        await clock.sleep(AGAIN_MS);
      }
    }
  }

  /** Returns the reason of a failure that may pass. @throws HostformError for any other failure. */
  #passing(error: unknown): string {
    if (error instanceof HostformError && error.cause === undefined)
      throw hasCode(error, "state.backend") ? amended(error, () => ({ code: "store.unreachable" })) : error;
    if (error instanceof HostformError) return messageOf(error.cause);
    const code = errnoOf(error);
    if (this.#database === undefined || this.#database.lost !== undefined) return reasonOf(error);
    if (code !== undefined && (PASSING.test(code) || isAbsent(error))) return reasonOf(error);
    if (!(error instanceof Error) || code === undefined) throw error;
    const about = { place: this.#options.place, reason: reasonOf(error), isDenied: code === "42501" };
    throw new HostformError([problem("store.unwritable/database", about)], { cause: error });
  }

  async #connected(): Promise<Query> {
    if (this.#isReady && this.#database?.lost === undefined) return this.#queryOn(this.#database as Database);
    await this.#drop();
    const database = await this.#options.connect((payload) => this.#wake(payload));
    this.#database = database;
    this.#session = undefined;
    const query = this.#queryOn(database);
    await query(`SELECT ${SIGNS}`);
    await this.#options.prepare(query, database);
    await query("SELECT pg_advisory_lock_shared($1::bigint)", [signOf(this.#options.process)]);
    await query("LISTEN hostform");
    this.#isReady = true;
    this.#isReconnected = this.#connectedAt !== undefined;
    this.#connectedAt = this.#options.clock.monotonic();
    return query;
  }

  #queryOn(database: Database): Query {
    const { clock, place } = this.#options;
    return async (sql, values) => {
      const sent = clock.now();
      const rows = await database.query(sql, values);
      const { clock: server, session } = rows[0] ?? {};
      if (typeof server === "number") this.#measure(server, sent, clock.now());
      if (session === undefined) return rows;
      this.#session ??= session;
      if (session !== this.#session) raise("store.unreachable/pooler", { place });
      return rows;
    };
  }

  /** Keeps the offset within the precision of a measurement, so that a booking and its answer have the same offset. */
  #measure(server: number, sent: number, received: number): void {
    const offset = server - (sent + received) / 2;
    if (this.#offset === undefined || Math.abs(offset - this.#offset) > (received - sent) / 2 + 1)
      this.#offset = offset;
  }

  async #drop(): Promise<void> {
    this.#isReady = false;
    await this.#database?.end();
    this.#database = undefined;
  }

  #wake(payload: string): void {
    if (payload !== this.#options.lane) return;
    this.#isFreed = true;
    for (const over of this.#waiting) over.abort();
  }
}

/** Returns true for an error that other tables than the expected ones cause. */
const isOutdated = (error: unknown): boolean => isAbsent(error) || errnoOf(error) === "42703";
