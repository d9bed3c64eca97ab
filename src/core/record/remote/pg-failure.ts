import { errnoOf, fail, HostformError } from "../../model/index.ts";
import { reasonOf } from "../file.ts";
import type { Database } from "./pg-connection.ts";

/** A connection that broke took the lock with it. @throws HostformError `state.lost_lock`. */
export function refuseLost(name: string, reason: string): never {
  fail("state.lost_lock", "The connection to the database was lost, and the lock on the state with it", {
    detail: `${name}: ${reason}`,
    fix: "Run plan to see where things stand.",
  });
}

/** Explains the failure of a query. @param doing "locked", "read", "written": `The state could not be …`. */
export function refuseQuery(name: string, doing: string, database: Database, error: unknown): never {
  if (error instanceof HostformError) throw error;
  if (database.lost !== undefined) refuseLost(name, database.lost);
  const denied = errnoOf(error) === "42501";
  fail("state.backend", `The state could not be ${doing}: the database refuses`, {
    detail: `${name}: ${reasonOf(error)}`,
    fix: denied
      ? "Give the role of PG_CONN_STR the rights on schema, table and sequence; or let a role that has them run the first plan, which makes what is missing."
      : "Look into the server's log.",
  });
}
