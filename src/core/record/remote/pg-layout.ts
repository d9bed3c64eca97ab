import { errnoOf } from "../../model/index.ts";
import type { Database } from "./pg-connection.ts";

/** Of two programs that make the same thing at once, one is told so by one of these (unique violation, exists already). */
const MADE_MEANWHILE = new Set(["23505", "42P06", "42P07", "42710"]);
const TRIES = 5;

/** Of an absent schema or table, for who only reads. */
const ABSENT = new Set(["3F000", "42P01"]);

/** A name as it stands in SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Terraform's table of states in a schema, as it stands in SQL. */
export function statesIn(schema: string): string {
  return `${quoted(schema)}.states`;
}

/**
 * Makes what is missing of the layout of Terraform's `pg` backend, and nothing else: who finds it whole needs no right to
 * make it. Throws the server's own error.
 */
export async function makeLayout(database: Database, schema: string): Promise<void> {
  const states = statesIn(schema);
  const parts: readonly (readonly [exists: string, name: string, make: string])[] = [
    ["pg_catalog.to_regnamespace($1)", quoted(schema), `CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`],
    [
      "pg_catalog.to_regclass($1)",
      "public.global_states_id_seq",
      "CREATE SEQUENCE IF NOT EXISTS public.global_states_id_seq AS bigint",
    ],
    [
      "pg_catalog.to_regclass($1)",
      states,
      `CREATE TABLE IF NOT EXISTS ${states} (
        id bigint NOT NULL DEFAULT nextval('public.global_states_id_seq') PRIMARY KEY,
        name text UNIQUE,
        data text
      )`,
    ],
    [
      "pg_catalog.to_regclass($1)",
      `${quoted(schema)}.states_by_name`,
      `CREATE UNIQUE INDEX IF NOT EXISTS states_by_name ON ${states} (name)`,
    ],
  ];
  for (const [exists, name, make] of parts) {
    for (let left = TRIES; ; left--) {
      const [row] = await database.query(`SELECT ${exists} IS NOT NULL AS there`, [name]);
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

/** True for the error of a query on a schema or table that is not there. */
export function isAbsent(error: unknown): boolean {
  return ABSENT.has(errnoOf(error) ?? "");
}
