// Creates of the processes with one token, in PostgreSQL. Each record takes a serial from the row of the origin, so serials grow in the
// order of the commits.
import { hash, randomUUID } from "node:crypto";
import {
  type EndedCreate,
  HOLDING_KEPT_MS,
  type IntentQuery,
  type LeavingCreate,
  NOTE_KEPT_MS,
  type StoredCreate,
  type Turn,
} from "./account-store.ts";
import type { Row } from "./pg-connection.ts";
import { type PgSession, type Query, SIGNS } from "./pg-session.ts";
import { INTENT_KEPT_MS } from "./store-file.ts";

interface PgIntentsOptions {
  readonly account: string;
  readonly origin: string;
  /** Unique id of this process. */
  readonly process: string;
  /** Called when a backup of the database was restored, or another server took over. */
  onRestored?(): void;
}

/** Returns another text after a restore of a dump or to a point in time, and after a failover: server, timeline, database, table. */
const INCARNATION = `SELECT concat_ws(' ', system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), oid,
  'hostform.origins'::regclass::oid) AS text FROM pg_control_system(), pg_database WHERE datname = current_database()`;

export class PgIntents {
  readonly #session: PgSession;
  readonly #options: PgIntentsOptions;
  /** Outcomes written with the next create or at the release of the create lock. No process needs an outcome earlier. */
  #ended: readonly EndedCreate[] = [];
  /** Highest serial of another process, up to the serial `until`. Older rows are not read again. */
  #others: { readonly last: number; readonly until: number } | undefined;
  /** Highest known serial. A higher count was read before a backup was restored. */
  #counted = 0;

  constructor(session: PgSession, options: PgIntentsOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Returns true if another process has recorded a create, and before the first create lock. False saves a query. */
  get hasOthers(): boolean {
    return this.#others === undefined || this.#others.last > 0;
  }

  end(intent: LeavingCreate, isAnswered: boolean): void {
    this.#ended = [...this.#ended, { intent, isAnswered }];
  }

  /** Prepares the origin on a new connection: creates its row, detects a restored backup, and removes expired rows once a day. */
  async prepare(query: Query): Promise<void> {
    const { origin, account } = this.#options;
    const now = this.#session.now();
    // Some servers forbid these functions. Only running processes then detect a restored backup.
    const [is] = await query(INCARNATION).catch(() => []);
    const incarnation = String(is?.text ?? "");
    await query(
      `INSERT INTO hostform.origins VALUES ($1, 0, $2, $3)
        ON CONFLICT (origin) DO UPDATE SET incarnation = excluded.incarnation WHERE origins.incarnation = ''`,
      [origin, now, incarnation],
    );
    await query("INSERT INTO hostform.turns (lane, epoch, progress) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING", [
      account,
    ]);
    if (is !== undefined) await this.renew(query, incarnation);
    const [row] = await query("SELECT serial FROM hostform.origins WHERE origin = $1", [origin]);
    await this.#compare(query, row);
    await removeOld(query, origin, now);
  }

  /**
   * Records a create without a response for all tokens, because a restored backup lacks creates. Its serial is higher than all serials
   * that this process knows.
   * @param incarnation records the create only if another incarnation wrote the row of the origin.
   */
  async renew(query: Query, incarnation?: string): Promise<void> {
    const { origin, onRestored } = this.#options;
    const [row] = await query(
      `WITH renewed AS (UPDATE hostform.origins SET serial = greatest(serial, $2) + 1, incarnation = coalesce($5, incarnation)
          WHERE origin = $1 AND coalesce(incarnation <> $5, true) RETURNING serial)
        INSERT INTO hostform.intents (origin, serial, id, account, process, epoch, place, thing, at, state)
        SELECT $1, serial, $3, '', '', 0, '', '', $4, 'unknown' FROM renewed RETURNING serial`,
      [origin, this.#counted, randomUUID(), this.#session.now(), incarnation ?? null],
    );
    if (row === undefined) return;
    this.#counted = Number(row.serial);
    this.#others = undefined;
    onRestored?.();
  }

  /** Detects a restored backup by the serial of the origin. @returns the serial. */
  async #compare(query: Query, row: Row | undefined): Promise<number> {
    const serial = Number(row?.serial ?? 0);
    if (serial < this.#counted) await this.renew(query);
    else this.#counted = serial;
    return this.#counted;
  }

  /** Writes the unwritten outcomes. */
  async settle(waitMs?: number): Promise<void> {
    const ended = this.#ended;
    if (ended.length === 0) return;
    await this.#session.run(async (query) => {
      for (const { intent, isAnswered } of ended)
        await (isAnswered ? this.#answer(query, intent) : this.#remove(query, intent));
    }, waitMs);
    this.#ended = this.#ended.filter((one) => !ended.includes(one));
  }

  count(): Promise<number> {
    const select = `SELECT serial, ${SIGNS} FROM hostform.origins WHERE origin = $1`;
    return this.#session.run(async (query) => {
      const [row] = await query(select, [this.#options.origin]);
      return this.#compare(query, row);
    });
  }

  /**
   * Records an open create, and a heartbeat. An attempt under an earlier create lock keeps its own row: that attempt may have succeeded.
   * @returns false if this process no longer has the create lock.
   */
  async leave(intent: LeavingCreate, epoch: number): Promise<boolean> {
    await this.settle();
    const turn = `turn AS (UPDATE hostform.turns SET progress = greatest($11, progress + 1)
      WHERE lane = $3 AND epoch = $5 AND process = $4 RETURNING epoch)`;
    return this.#session.run((query) => this.#put(query, intent, "open", epoch, turn));
  }

  /** At a new create lock, marks the open creates of other processes as ended without a response. */
  async markUnknown(query: Query): Promise<void> {
    const { origin, account, process } = this.#options;
    await query(
      `WITH open AS (SELECT id, epoch, row_number() OVER (ORDER BY serial) AS nth FROM hostform.intents
          WHERE origin = $1 AND account = $2 AND state = 'open' AND state <> 'answered' AND process <> $3),
        counted AS (UPDATE hostform.origins SET serial = serial + (SELECT count(*) FROM open)
          WHERE origin = $1 AND EXISTS (SELECT FROM open) RETURNING serial - (SELECT count(*) FROM open) AS base)
        UPDATE hostform.intents SET state = 'unknown', serial = base + nth FROM open, counted
          WHERE origin = $1 AND intents.id = open.id AND intents.epoch = open.epoch AND state = 'open'`,
      [origin, account, process],
    );
  }

  /** Returns the comparison of a new create lock. */
  async newerThan(query: Query): Promise<Turn["isNewerThan"]> {
    const { origin, account, process } = this.#options;
    const { last, until: after } = this.#others ?? { last: 0, until: 0 };
    const lastOf = (owner: string) =>
      `(SELECT max(serial) FROM hostform.intents WHERE origin = $1 AND account = ${owner} AND serial > $3 AND process <> $4)`;
    const [row] = await query(
      `SELECT greatest(${lastOf("$2")}, ${lastOf("''")}) AS last, serial FROM hostform.origins WHERE origin = $1`,
      [origin, account, after, process],
    );
    const newest = Number(row?.last ?? last);
    const until = await this.#compare(query, row);
    this.#others = { last: newest, until };
    return (count) => newest > count || count > until;
  }

  /** Lowers later sending times of the creates up to a count. */
  async sentBefore(at: number, count: number): Promise<void> {
    const { origin, account } = this.#options;
    const lower = `UPDATE hostform.intents SET at = $3 WHERE origin = $1 AND account IN ($2, '') AND at > $3 AND serial <= $4`;
    await this.#session.run((query) => query(lower, [origin, account, this.#timeOf(at), count]));
  }

  async newest({
    thing,
    likeness,
    state,
    after,
    notOf,
    place,
    intent,
  }: IntentQuery): Promise<StoredCreate | undefined> {
    const own = place === undefined ? "" : this.#digest(place);
    const values: unknown[] = [this.#options.origin, this.#options.account, this.#options.process];
    const given: [condition: string, value: unknown][] = [
      ["thing <> '' AND thing =", thing && this.#digest(thing)],
      ["likeness IS NOT NULL AND likeness =", likeness && this.#digest(likeness)],
      ["state <> 'answered' AND state =", state],
      ["serial >", after],
    ];
    const conditions = given.flatMap(([condition, value]) =>
      value === undefined ? [] : [`${condition} $${values.push(value)}`],
    );
    if (notOf !== undefined) conditions.push(`(place = '' OR place <> $${values.push(this.#digest(notOf))})`);
    const where = conditions.map((condition) => ` AND ${condition}`).join("");
    // Only the living holder of the create lock can still get a response.
    const holder = "SELECT process FROM hostform.turns WHERE lane = $2 AND NOT pg_try_advisory_xact_lock(sign)";
    const select = `SELECT *, ${SIGNS} FROM hostform.intents WHERE origin = $1 AND account IN ($2, '') AND process <> $3${where}
      AND (state <> 'open' OR process <> coalesce((${holder}), '')) ORDER BY ${thing === undefined ? "at" : "serial"} DESC LIMIT 1`;
    const [row] = await this.#session.run((query) => query(select, values));
    if (row === undefined) return undefined;
    const isOwn = row.id === intent || (own !== "" && row.place === own);
    const found = row.state === "answered" ? "answered" : "unknown";
    return { serial: Number(row.serial), at: Number(row.at) - this.#session.offsetMs, state: found, isOwn };
  }

  async #answer(query: Query, intent: LeavingCreate): Promise<void> {
    const { origin } = this.#options;
    const [row] = await query("SELECT max(epoch) AS epoch FROM hostform.intents WHERE origin = $1 AND id = $2", [
      origin,
      intent.id,
    ]);
    await this.#put(query, intent, "answered", Number(row?.epoch ?? 0), "turn AS (SELECT $11::bigint)");
  }

  /** Removes the last attempt. */
  async #remove(query: Query, { id }: LeavingCreate): Promise<void> {
    await query(
      `DELETE FROM hostform.intents WHERE origin = $1 AND id = $2
        AND epoch = (SELECT max(epoch) FROM hostform.intents WHERE origin = $1 AND id = $2)`,
      [this.#options.origin, id],
    );
  }

  /** @param turn expression that returns a row if the create may be recorded. @returns true if it is recorded. */
  async #put(
    query: Query,
    intent: LeavingCreate,
    state: StoredCreate["state"] | "open",
    epoch: number,
    turn: string,
  ): Promise<boolean> {
    const { origin, account, process } = this.#options;
    const { id, place, thing, likeness, at } = intent;
    const names = [this.#digest(place), this.#digest(thing), likeness === undefined ? null : this.#digest(likeness)];
    const [row] = await query(
      `WITH ${turn},
        counted AS (UPDATE hostform.origins SET serial = serial + 1 FROM turn WHERE origin = $1 RETURNING serial)
        INSERT INTO hostform.intents (origin, id, account, process, epoch, place, thing, likeness, at, state, serial)
        SELECT $1, $2, $3, $4, $5::bigint, $6, $7, $8, $9::bigint, $10, serial FROM counted
        ON CONFLICT (origin, id, epoch) DO UPDATE SET serial = excluded.serial, process = excluded.process, state = excluded.state,
          at = excluded.at, place = excluded.place, thing = excluded.thing, likeness = excluded.likeness
        RETURNING serial, ${SIGNS}`,
      [origin, id, account, process, epoch, ...names, this.#timeOf(at), state, this.#session.now()],
    );
    // At once: after a failure, the next connection may find an older database.
    this.#counted = Math.max(this.#counted, Number(row?.serial ?? 0));
    return row !== undefined;
  }

  /** Converts a time of this machine's clock to the server's clock, because the clocks of several machines differ. */
  #timeOf = (at: number) => Math.round(at + this.#session.offsetMs);

  /** Returns the digest of a name. */
  #digest(text: string): string {
    return text === "" ? "" : hash("sha256", `${this.#options.account}.creates\n${text}`);
  }
}

const DAY_MS = 24 * 3_600_000;

/** Removes the expired rows of an origin once a day, by the server's clock. */
async function removeOld(query: Query, origin: string, now: number): Promise<void> {
  const clean = "UPDATE hostform.origins SET cleaned = $2 WHERE origin = $1 AND cleaned < $3 RETURNING cleaned";
  if ((await query(clean, [origin, now, now - DAY_MS])).length === 0) return;
  await query("DELETE FROM hostform.intents WHERE origin = $1 AND at < $2", [origin, now - INTENT_KEPT_MS]);
  await query("DELETE FROM hostform.notes WHERE origin = $1 AND until < $2", [origin, now]);
  await query("DELETE FROM hostform.windows WHERE changed < $1", [now - NOTE_KEPT_MS]);
  await query(
    `DELETE FROM hostform.holdings USING hostform.places WHERE places.origin = $1 AND holdings.origin = $1 AND mark = place
      AND seen < $2 AND (NOT firm OR ended < $2)`,
    [origin, now - HOLDING_KEPT_MS],
  );
}
