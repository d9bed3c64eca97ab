// The queue of a fleet: pg-boss in the schema `hostform_fleet` of the database in HOSTFORM_STORE. One job for each project.
import type { Db, Job, PgBoss } from "pg-boss";
import { type Diagnostic, type EnvVars, HostformError, messageOf } from "../core/model/index.ts";
import { storeDatabase, storeIn } from "../project/store-database.ts";
import { raise, troubleOf, whyOf } from "./messages.ts";

export const SCHEMA = "hostform_fleet";

/** Causes of a check. A person comes before an event, and an event before the schedule. */
const PRIORITIES = { schedule: 0, reload: 1, event: 2, person: 3 } as const;
export type Cause = keyof typeof PRIORITIES;

export interface Check {
  readonly project: string;
  readonly cause: Cause;
  /** True if the project was moved to the group of its account. */
  readonly isGrouped?: boolean;
}

export interface NextCheck extends Check {
  /** Digest of the account. The queue runs one check of a group at the same time. */
  readonly account: string | undefined;
  /** Pause before the check, in seconds. */
  readonly seconds: number;
}

/** Time without a sign of a worker after which its checks go to other workers, in seconds. */
const HEARTBEAT_SECONDS = 20;
/** Pause between two searches for such checks, in seconds. */
const SUPERVISE_SECONDS = 5;
/** Longest duration of a check, in seconds. A check with a living worker may last long: it waits for the host. */
const EXPIRE_SECONDS = 82_800;
/** A check ends with a result, so only the end of its worker repeats a check. The pause grows to one hour. */
const RETRIES = { retryLimit: 10_000, retryDelay: 5, retryBackoff: true, retryDelayMax: 3_600 };
/** Pause between two searches for a check of each free place, in seconds. */
const POLL_SECONDS = 2;
const CONNECTIONS = 4;
const DONE_SECONDS = 3_600;
/** Longest wait for running checks after Ctrl-C. An apply waits 30 seconds for its requests. */
const STOP_MS = 60_000;

/**
 * Opens the queue, and creates its tables if they are missing.
 * @param onTrouble receives errors of the database between two checks. The queue connects again.
 * @throws HostformError `fleet.queue`, `state.backend`.
 */
export async function openQueue(
  fleet: string,
  env: EnvVars,
  isWorker: boolean,
  onTrouble: (trouble: readonly Diagnostic[]) => void,
): Promise<Queue> {
  if (storeIn(env) !== "postgres") raise("fleet.queue/store", {});
  const { PgBoss } = await import("pg-boss").catch((error: unknown) =>
    raise("fleet.queue/package", { why: messageOf(error) }),
  );
  const { place, ...database } = await storeDatabase(env, "hostform fleet");
  const boss = new PgBoss({
    ...(database as object),
    schema: SCHEMA,
    max: CONNECTIONS,
    schedule: false,
    supervise: isWorker,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: DONE_SECONDS,
    registerInstance: false,
  });
  boss.on("error", (error) => onTrouble(troubleOf(error)));
  try {
    await boss.start();
    const options = { heartbeatSeconds: HEARTBEAT_SECONDS, expireInSeconds: EXPIRE_SECONDS, ...RETRIES };
    // Stately: at most one waiting and one active job for each project.
    await boss.createQueue(fleet, { policy: "stately", deleteAfterSeconds: DONE_SECONDS, ...options });
    return new Queue(boss, fleet);
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => undefined);
    if (error instanceof HostformError) throw error;
    return raise("fleet.queue/database", { place, why: whyOf(error) });
  }
}

export class Queue {
  readonly #boss: PgBoss;
  readonly fleet: string;

  /** @param fleet name of the fleet. */
  constructor(boss: PgBoss, fleet: string) {
    this.#boss = boss;
    this.fleet = fleet;
  }

  /** Checks projects after their pauses. A waiting check stays. */
  async later(checks: readonly NextCheck[], db?: Db): Promise<void> {
    const jobs = checks.map(({ project, account, seconds, ...data }) => ({
      ...jobOf({ project, account, ...data }),
      data: { project, ...data },
      startAfter: Math.round(seconds),
    }));
    if (jobs.length > 0) await this.#boss.insert(this.fleet, jobs, db && { db });
  }

  /** Checks a project as soon as a worker is free, instead of its waiting check. */
  async now({ account, ...check }: Omit<NextCheck, "seconds">, db?: Db): Promise<void> {
    const options = { ...jobOf({ account, ...check }), startAfter: 0, ...(db && { db }) };
    await this.#boss.upsert(this.fleet, check, options);
  }

  /** Runs checks, at most `parallelism` at the same time. */
  async work(parallelism: number, run: (check: Check, account: string | undefined) => Promise<void>): Promise<void> {
    const options = {
      localConcurrency: parallelism,
      groupConcurrency: 1,
      pollingIntervalSeconds: POLL_SECONDS,
      // Take the next check at once.
      burstWhenBatchFull: true,
    };
    await this.#boss.work<Check>(this.fleet, options, async ([job]: Job<Check>[]) => {
      if (job !== undefined) await run(job.data, job.groupId ?? undefined);
    });
  }

  /** Returns true if the database responds. */
  responds(): Promise<boolean> {
    return this.query("SELECT 1").then(
      () => true,
      () => false,
    );
  }

  /** Runs one statement. */
  async query(text: string, values: unknown[] = [], db: Db = this.#boss.getDb()) {
    return (await db.executeSql(text, values)).rows as Record<string, unknown>[];
  }

  async transaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const transaction = await this.#boss.getDb().beginTransaction?.();
    if (transaction === undefined) throw new TypeError("the pool of pg-boss has transactions");
    try {
      const result = await work(transaction.db);
      await transaction.commit();
      return result;
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  /** Takes no more checks, waits for the running ones, and ends the connections. */
  close(): Promise<void> {
    return this.#boss.stop({ graceful: true, timeout: STOP_MS });
  }
}

const jobOf = ({ project, cause, account }: Omit<NextCheck, "seconds">) => ({
  singletonKey: project,
  priority: PRIORITIES[cause],
  ...(account !== undefined && { group: { id: account } }),
});
