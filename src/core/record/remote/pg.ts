import type { StatePlace } from "../opening.ts";
import { PgStateLock } from "./pg-lock.ts";
import type { PgHold, PgPlaceOptions } from "./pg-options.ts";
import { PgStateText } from "./pg-text.ts";

/** A state in a table of PostgreSQL, where Terraform's `pg` backend has it. */
export function createPgPlace(options: PgPlaceOptions): StatePlace {
  const hold: PgHold = { database: undefined, key: undefined };
  const name = `workspace ${options.workspace} in schema ${options.schema} of ${options.server}`;
  return { text: new PgStateText(name, options, hold), lock: new PgStateLock(name, options, hold) };
}
