// Tables of a fleet beside its queue: last result of each project, changes of the last interval, and handled deliveries.
import type { Db } from "pg-boss";
import type { DiagnosticJson, FleetProject } from "../report/index.ts";
import type { Fleet } from "./declaration.ts";
import { guardErrors } from "./once.ts";
import { type NextCheck, type Queue, SCHEMA } from "./queue.ts";

/** Last result of a project. */
export interface Recorded {
  readonly project: string;
  readonly account: string | undefined;
  /** Digest of `fleet.yaml` and its templates. */
  readonly version: string;
  /** True if the project equals its declaration. */
  readonly isGood: boolean;
  /** Number of consecutive failures of the API. */
  readonly failures: number;
  readonly report: FleetProject;
}

/** Key of the lock of the tables. */
const TABLES_KEY = "4846535400000002";
const TABLES = `
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.result (fleet text, project text, account text, version text NOT NULL,
    is_good boolean NOT NULL, failures int NOT NULL, report jsonb NOT NULL, checked timestamptz NOT NULL,
    PRIMARY KEY (fleet, project));
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.change (fleet text NOT NULL, report jsonb NOT NULL, at timestamptz NOT NULL);
  CREATE INDEX IF NOT EXISTS change_at ON ${SCHEMA}.change (fleet, at);
  CREATE TABLE IF NOT EXISTS ${SCHEMA}.delivery (fleet text, project text, identity text, at timestamptz NOT NULL,
    PRIMARY KEY (fleet, project, identity));`;

/** Time for which a delivery is known, as in the receiver of webhooks. */
const DELIVERY_KEPT = "1 day";

export class Records {
  readonly #queue: Queue;

  private constructor(queue: Queue) {
    this.#queue = queue;
  }

  static async open(queue: Queue): Promise<Records> {
    await queue.transaction(async (db) => {
      await queue.query("SELECT pg_advisory_xact_lock($1::bigint)", [TABLES_KEY], db);
      await queue.query(TABLES, [], db);
    });
    return new Records(queue);
  }

  /** Returns the last results, with their ages in seconds. @param project only this project. */
  async read(project?: string): Promise<(Recorded & { readonly age: number })[]> {
    const rows = await this.#query(
      `SELECT result.*, started_on, extract(epoch FROM now() - checked)::float AS age FROM ${SCHEMA}.result
       LEFT JOIN ${SCHEMA}.job ON name = fleet AND singleton_key = project AND state = 'active'
       WHERE fleet = $1 AND ($2::text IS NULL OR project = $2)`,
      [project ?? null],
    );
    return rows.map(({ project, account, version, is_good, failures, report, checked, started_on, age }) => ({
      project: String(project),
      account: account === null ? undefined : String(account),
      version: String(version),
      isGood: is_good === true,
      failures: Number(failures),
      report: {
        ...(report as FleetProject),
        checked_at: (checked as Date).toISOString(),
        checking_since: (started_on as Date | null)?.toISOString(),
      },
      age: Number(age),
    }));
  }

  /** Records a result and the next check together. */
  async end({ project, account, ...one }: Recorded, next: NextCheck): Promise<void> {
    await this.#queue.transaction(async (db) => {
      await this.#query(
        `INSERT INTO ${SCHEMA}.result VALUES ($1, $2, $3, $4, $5, $6, $7, now()) ON CONFLICT (fleet, project) DO UPDATE
         SET account = $3, version = $4, is_good = $5, failures = $6, report = $7, checked = now()`,
        [project, account ?? null, one.version, one.isGood, one.failures, JSON.stringify(one.report)],
        db,
      );
      await this.#queue.later([next], db);
    });
  }

  async forget(project: string): Promise<void> {
    await this.#query(`DELETE FROM ${SCHEMA}.result WHERE fleet = $1 AND project = $2`, [project]);
  }

  /**
   * Counts a plan before its apply, together with the plans that any worker applied within the interval.
   * @returns an error for each limit that the plan would exceed. The plan then does not count.
   */
  reserve(fleet: Fleet, plan: FleetProject): Promise<readonly DiagnosticJson[]> {
    return this.#queue.transaction(async (db) => {
      await this.#query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [], db);
      const since = "now() - $2::float * interval '1 ms'";
      await this.#query(`DELETE FROM ${SCHEMA}.change WHERE fleet = $1 AND at < ${since}`, [fleet.interval], db);
      const rows = await this.#query(`SELECT report FROM ${SCHEMA}.change WHERE fleet = $1`, [], db);
      const errors = guardErrors(fleet, [...rows.map(({ report }) => report as FleetProject), plan], fleet.interval);
      if (errors.length > 0) return errors;
      await this.#query(`INSERT INTO ${SCHEMA}.change VALUES ($1, $2, now())`, [JSON.stringify(plan)], db);
      return [];
    });
  }

  /** Returns the number of orders within the last interval. */
  async orders({ interval }: Fleet): Promise<number> {
    const [row] = await this.#query(
      `SELECT coalesce(sum((report->>'orders')::int), 0)::int AS orders FROM ${SCHEMA}.change
       WHERE fleet = $1 AND at > now() - $2::float * interval '1 ms'`,
      [interval],
    );
    return Number(row?.orders);
  }

  /** Records a verified delivery and a check together. A delivery that any worker has recorded causes no check. */
  deliver(project: string, identity: string): Promise<void> {
    return this.#queue.transaction(async (db) => {
      await this.#query(
        `DELETE FROM ${SCHEMA}.delivery WHERE fleet = $1 AND at < now() - interval '${DELIVERY_KEPT}'`,
        [],
        db,
      );
      const fresh = await this.#query(
        `INSERT INTO ${SCHEMA}.delivery VALUES ($1, $2, $3, now()) ON CONFLICT DO NOTHING RETURNING identity`,
        [project, identity],
        db,
      );
      if (fresh.length > 0) await this.#queue.now({ project, cause: "event", account: undefined }, db);
    });
  }

  #query(text: string, values: unknown[], db?: Db) {
    return this.#queue.query(text, [this.#queue.fleet, ...values], db);
  }
}
