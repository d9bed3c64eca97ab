// The create lock of a token in PostgreSQL: a row, and an advisory lock for each session of a living process.
import type { Turn, TurnRequest } from "./account-store.ts";
import { isRunning, processMark } from "./file-lock.ts";
import type { Row } from "./pg-connection.ts";
import type { PgIntents } from "./pg-intents.ts";
import { type PgSession, type Query, SIGNS, signOf } from "./pg-session.ts";
import type { Blocker, TurnRow } from "./turn-queue.ts";

interface PgTurnOptions {
  readonly account: string;
  /** Unique id of this process. */
  readonly process: string;
  readonly machine: string;
  readonly intents: PgIntents;
}

export class PgTurn implements TurnRow {
  readonly #session: PgSession;
  readonly #options: PgTurnOptions;
  readonly #mark = processMark();
  /** True if this process may have the lock. */
  #isTaken = false;

  constructor(session: PgSession, options: PgTurnOptions) {
    this.#session = session;
    this.#options = options;
  }

  async take({ project }: TurnRequest, frozen?: string): Promise<Turn | Blocker> {
    const { intents } = this.#options;
    this.#session.listen();
    return this.#session.run(async (query) => {
      const isFree = `(process IS NULL OR process = $2${this.#session.isSettling ? "" : " OR pg_try_advisory_xact_lock(sign)"})`;
      let epoch: number | undefined;
      let blocker: Blocker | undefined;
      // Without a holder, the lock was released between the two statements.
      while (epoch === undefined && blocker === undefined) {
        epoch = await this.#put(query, project, isFree);
        if (epoch === undefined) blocker = await this.#blocker(query);
      }
      const isTakenOver = blocker !== undefined && blocker.sign === frozen;
      if (isTakenOver) epoch = await this.#put(query, project, "epoch || ' ' || progress = $8", frozen);
      if (blocker !== undefined && epoch === undefined) return blocker;
      this.#isTaken = true;
      await intents.markUnknown(query);
      return { epoch: Number(epoch), isTakenOver, isNewerThan: await intents.newerThan(query) };
    });
  }

  /** Takes the lock on a condition. @returns its epoch. */
  async #put(
    query: Query,
    project: string,
    condition: string,
    ...more: readonly unknown[]
  ): Promise<number | undefined> {
    const { account, process: who, machine } = this.#options;
    const [row] = await query(
      `UPDATE hostform.turns SET epoch = epoch + 1, process = $2, sign = $3, pid = $4, machine = $5, project = $6, since = $7,
        progress = greatest($7, progress + 1), next = nullif(next, $2) WHERE lane = $1 AND ${condition} RETURNING epoch, ${SIGNS}`,
      [account, who, signOf(who), process.pid, `${machine} ${this.#mark}`, project, this.#session.now(), ...more],
    );
    return row && Number(row.epoch);
  }

  /** Records that this process waits, unless another living process waits. @returns the holder. */
  async #blocker(query: Query): Promise<Blocker | undefined> {
    const { account, process: who } = this.#options;
    const values = [account, who, signOf(who)];
    await query(
      `UPDATE hostform.turns SET next = $2, next_sign = $3
        WHERE lane = $1 AND process IS NOT NULL AND (next IS NULL OR next <> $2 AND pg_try_advisory_xact_lock(next_sign))`,
      values,
    );
    const [row] = await query(`SELECT *, ${SIGNS} FROM hostform.turns WHERE lane = $1`, [account]);
    return row?.process == null ? undefined : this.#holderIn(row);
  }

  /** Waits for the end of another process's create lock. */
  wait(signal?: AbortSignal): Promise<void> {
    return this.#session.wait(signal);
  }

  async beat({ epoch }: Turn): Promise<void> {
    const beat = `UPDATE hostform.turns SET progress = greatest($4, progress + 1) WHERE lane = $1 AND epoch = $2 AND process = $3`;
    const { account, process: who } = this.#options;
    await this.#session.run((query) => query(beat, [account, epoch, who, this.#session.now()]), 0);
  }

  async isAwaited(): Promise<boolean> {
    const [row] = await this.#session.run((query) =>
      query(`SELECT ${AWAITED}, ${SIGNS} FROM hostform.turns WHERE lane = $1`, [
        this.#options.account,
        this.#options.process,
      ]),
    );
    return row?.awaited === true;
  }

  async release(): Promise<boolean> {
    await this.#options.intents.settle();
    const [row] = await this.#session.run((query) =>
      query(
        `WITH freed AS (UPDATE hostform.turns SET process = NULL WHERE lane = $1 AND process = $2 RETURNING lane, next, next_sign)
          SELECT ${AWAITED}, pg_notify('hostform', lane), ${SIGNS} FROM freed`,
        [this.#options.account, this.#options.process],
      ),
    );
    this.#isTaken = false;
    return row?.awaited === true;
  }

  async withdraw(): Promise<void> {
    const { account, process: who } = this.#options;
    await this.#session.run(
      (query) =>
        query(
          `WITH freed AS (UPDATE hostform.turns SET process = nullif(process, $2), next = nullif(next, $2)
            WHERE lane = $1 AND $2 IN (process, next) RETURNING lane) SELECT pg_notify('hostform', lane) FROM freed`,
          [account, who],
        ),
      0,
    );
  }

  /** Releases the create lock if an earlier release failed. */
  async close(): Promise<void> {
    if (this.#isTaken) await this.withdraw().catch(() => {});
    this.#isTaken = false;
  }

  #holderIn(row: Row): Blocker {
    const [machine, mark = ""] = String(row.machine).split(" ");
    const isHere = machine === this.#options.machine && isRunning(mark);
    return {
      pid: isHere ? Number(row.pid) : 0,
      project: String(row.project),
      since: Number(row.since) - this.#session.offsetMs,
      who: String(row.process),
      sign: `${row.epoch} ${row.progress}`,
    };
  }
}

/** Column: a living process other than `$2` waits for the create lock. */
const AWAITED = "next <> $2 AND NOT pg_try_advisory_xact_lock(next_sign) AS awaited";
