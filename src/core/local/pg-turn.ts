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

  take({ project }: TurnRequest, frozen?: string): Promise<Turn | Blocker> {
    const { account, process: who, machine, intents } = this.#options;
    this.#session.listen();
    return intents.change(async (query) => {
      const select = `SELECT *, ${SIGNS} FROM hostform.turns WHERE lane = $1 FOR UPDATE`;
      let [row] = await query(select, [account]);
      if (row === undefined) {
        await query("INSERT INTO hostform.turns (lane, epoch, progress) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING", [
          account,
        ]);
        [row] = await query(select, [account]);
      }
      const isHeld = row?.process != null && row.process !== who && (await this.#isAlive(query, row.sign));
      const blocker = isHeld && row ? this.#holderIn(row) : undefined;
      const isTakenOver = blocker !== undefined && blocker.sign === frozen;
      if (blocker !== undefined && !isTakenOver) {
        if (row?.next == null || (row.next !== who && !(await this.#isAlive(query, row.next_sign))))
          await query("UPDATE hostform.turns SET next = $2, next_sign = $3 WHERE lane = $1", [
            account,
            who,
            signOf(who),
          ]);
        return blocker;
      }
      this.#isTaken = true;
      const now = this.#session.now();
      const owner = [signOf(who), process.pid, `${machine} ${this.#mark}`, project, now];
      const [taken] = await query(
        `UPDATE hostform.turns SET epoch = epoch + 1, process = $2, sign = $3, pid = $4, machine = $5, project = $6, since = $7,
          progress = greatest($7, progress + 1), next = nullif(next, $2) WHERE lane = $1 RETURNING epoch`,
        [account, who, ...owner],
      );
      await intents.markUnknown(query);
      const isNewerThan = await intents.newerThan(query);
      return { epoch: Number(taken?.epoch), isTakenOver, isNewerThan };
    });
  }

  /** Waits for the end of another process's create lock. */
  wait(signal?: AbortSignal): Promise<void> {
    return this.#session.wait(signal);
  }

  /** Records a heartbeat. @returns false if this process no longer has the lock. */
  async renew(query: Query, epoch: number): Promise<boolean> {
    const rows = await query(
      `UPDATE hostform.turns SET progress = greatest($4, progress + 1) WHERE lane = $1 AND epoch = $2 AND process = $3
        RETURNING ${SIGNS}`,
      [this.#options.account, epoch, this.#options.process, this.#session.now()],
    );
    return rows.length > 0;
  }

  async beat({ epoch }: Turn): Promise<void> {
    await this.#session.run((query) => this.renew(query, epoch), 0);
  }

  isAwaited(): Promise<boolean> {
    const select = `SELECT next, next_sign, ${SIGNS} FROM hostform.turns WHERE lane = $1`;
    return this.#session.run(async (query) => this.#isAwaited(query, await query(select, [this.#options.account])));
  }

  release(): Promise<boolean> {
    return this.#options.intents.change(async (query, writeEnded) => {
      const rows = await query(
        `UPDATE hostform.turns SET process = NULL WHERE lane = $1 AND process = $2 RETURNING next, next_sign, ${SIGNS}`,
        [this.#options.account, this.#options.process],
      );
      await writeEnded();
      await this.#notify(query);
      this.#isTaken = false;
      return this.#isAwaited(query, rows);
    });
  }

  async withdraw(): Promise<void> {
    await this.#session.change(async (query) => {
      await query(
        `UPDATE hostform.turns SET process = nullif(process, $2), next = nullif(next, $2)
          WHERE lane = $1 AND $2 IN (process, next)`,
        [this.#options.account, this.#options.process],
      );
      await this.#notify(query);
    }, 0);
  }

  /** Releases the create lock if an earlier release failed. */
  async close(): Promise<void> {
    if (this.#isTaken) await this.withdraw().catch(() => {});
    this.#isTaken = false;
  }

  async #notify(query: Query): Promise<void> {
    await query("SELECT pg_notify('hostform', $1)", [this.#options.account]);
  }

  async #isAwaited(query: Query, [row]: readonly Row[]): Promise<boolean> {
    return row?.next != null && row.next !== this.#options.process && (await this.#isAlive(query, row.next_sign));
  }

  /** Returns true while a session of the process lives, and shortly after the server was unreachable for all sessions. */
  async #isAlive(query: Query, sign: unknown): Promise<boolean> {
    if (this.#session.isSettling) return true;
    const [row] = await query("SELECT pg_try_advisory_xact_lock($1::bigint) AS free", [sign]);
    return row?.free !== true;
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
