// Tables of the store in PostgreSQL, and their versions.
import { problem } from "../messages/index.ts";
import { HostformError } from "../model/index.ts";
import { type Database, isAbsent } from "./pg-connection.ts";

/** A step from one version of the tables to the next. */
interface Migration {
  readonly sql: string;
  /**
   * Oldest version of the tables that a program may know to use the migrated tables. An incompatible step renames a table, so that
   * open sessions of earlier programs fail and check the version again.
   */
  readonly minVersion: number;
}

/**
 * Times are in milliseconds since the epoch by the server's clock, except `intents.at`: that is the host's time. `origin` is the
 * digest of a URL, `account` and `lane` are digests of a URL and a token. A serial of an origin is never reused. `incarnation`
 * identifies the server, timeline, database and table of the last session.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    minVersion: 1,
    sql: `
      CREATE TABLE hostform.origins (origin text PRIMARY KEY, serial bigint NOT NULL, cleaned bigint NOT NULL,
        incarnation text NOT NULL);
      CREATE TABLE hostform.windows (account text PRIMARY KEY, version bigint NOT NULL, record text NOT NULL,
        write_id text NOT NULL, changed bigint NOT NULL);
      CREATE TABLE hostform.turns (lane text PRIMARY KEY, epoch bigint NOT NULL, process text, sign bigint, pid int,
        machine text, project text, since bigint, progress bigint NOT NULL, next text, next_sign bigint);
      CREATE TABLE hostform.intents (origin text NOT NULL, serial bigint NOT NULL, id text NOT NULL, account text NOT NULL,
        process text NOT NULL, epoch bigint NOT NULL, place text NOT NULL, thing text NOT NULL, likeness text,
        at bigint NOT NULL, state text NOT NULL CHECK (state IN ('open', 'answered', 'unknown')),
        PRIMARY KEY (origin, serial), UNIQUE (origin, id, epoch));
      CREATE INDEX intents_of_account ON hostform.intents (origin, account, serial);
      CREATE INDEX intents_of_thing ON hostform.intents (origin, thing, serial) WHERE thing <> '';
      CREATE INDEX intents_of_likeness ON hostform.intents (origin, likeness) WHERE likeness IS NOT NULL;
      CREATE INDEX intents_without_answer ON hostform.intents (origin, account, state) WHERE state <> 'answered';
      CREATE TABLE hostform.notes (origin text NOT NULL, list text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
        until bigint NOT NULL, value text NOT NULL, write_id text NOT NULL, PRIMARY KEY (origin, list, name));
      CREATE TABLE hostform.places (origin text NOT NULL, mark text NOT NULL, label text NOT NULL, ended bigint NOT NULL,
        PRIMARY KEY (origin, mark));
      CREATE TABLE hostform.holdings (origin text NOT NULL, place text COLLATE "C" NOT NULL, object text COLLATE "C" NOT NULL,
        facts text NOT NULL, intent text, firm boolean NOT NULL, first bigint NOT NULL, seen bigint NOT NULL,
        PRIMARY KEY (origin, place, object));`,
  },
];

/** Key of the lock between migrations. */
const MIGRATION_KEY = "4846535400000001";
/**
 * Creates missing tables and migrates earlier ones, in one transaction. Complete tables need no privilege to create.
 * @throws HostformError `store.newer` if this program knows no version that may use the tables; the server's own error.
 */
export async function prepareTables(database: Database, place: string, migrations = MIGRATIONS): Promise<void> {
  if ((await versionIn(database, place, migrations.length)) >= migrations.length) return;
  await database.query("BEGIN");
  try {
    await database.query("SELECT pg_advisory_xact_lock($1::bigint)", [MIGRATION_KEY]);
    const [schema] = await database.query("SELECT to_regnamespace('hostform') IS NOT NULL AS there");
    if (schema?.there !== true) await database.query("CREATE SCHEMA hostform");
    await database.query("CREATE TABLE IF NOT EXISTS hostform.meta (version int NOT NULL, min_version int NOT NULL)");
    const steps = migrations.slice(await versionIn(database, place, migrations.length));
    for (const { sql } of steps) await database.query(sql);
    const minVersion = steps.at(-1)?.minVersion;
    if (minVersion !== undefined) {
      await database.query("DELETE FROM hostform.meta");
      await database.query("INSERT INTO hostform.meta VALUES ($1, $2)", [migrations.length, minVersion]);
    }
    await database.query("COMMIT");
  } catch (error) {
    await database.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

async function versionIn(database: Database, place: string, known: number): Promise<number> {
  const [row] = await database.query("SELECT version, min_version FROM hostform.meta").catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw error;
  });
  if (Number(row?.min_version ?? 0) > known) throw new HostformError([problem("store.newer/database", { place })]);
  return Number(row?.version ?? 0);
}
