import type { Clock } from "../../model/index.ts";
import type { Contender, LockHolder } from "../holder.ts";
import { describeHolder } from "../holder.ts";
import type { Database, Row } from "./pg-connection.ts";

/** Locks with one key of 64 bits have `objsubid` 1 and their key in two halves; those of another database do not count. */
const LOCKED = `locktype = 'advisory' AND granted AND objsubid = 1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND ((classid::bigint << 32) | objid::bigint)`;

/** SQL: this very session holds the lock with the key that a parameter names. */
export function heldHere(parameter: string): string {
  return `EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND ${LOCKED} = ${parameter}::bigint)`;
}

/** What others see of a session of hostform. */
export function applicationName({ pid, user, host }: Contender, command: string): string {
  return `hostform ${pid} ${command} ${user}@${host}`;
}

/** Who holds one of the keys; undefined when nobody does. The id is that of the database session. */
export async function findHolder(database: Database, keys: readonly string[]): Promise<LockHolder | undefined> {
  const [row] = await database.query(
    `SELECT pid::text, application_name, usename::text, host(client_addr) AS address,
       to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since
     FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
     WHERE ${LOCKED} = ANY ($1::bigint[]) AND pid <> pg_backend_pid() LIMIT 1`,
    [keys],
  );
  return row && holderOf(row);
}

/** A role may see of another's session neither name nor address: those are null then. */
function holderOf(row: Row): LockHolder {
  const text = (name: string) => (typeof row[name] === "string" && row[name] !== "" ? row[name] : undefined);
  const [application, role, address] = [text("application_name"), text("usename"), text("address")];
  const ours = /^hostform (\d+) (.+) (\S+)$/.exec(application ?? "");
  const session = `database session ${row.pid}${address === undefined ? "" : ` from ${address}`}`;
  const name = ours?.[3] ?? (application === undefined ? "another program" : `"${application}"`);
  return {
    id: String(row.pid),
    command: ours?.[2] ?? "unknown",
    who: `${name} (${role === undefined ? "" : `role ${role}, `}${session})`,
    pid: ours === null ? null : Number(ours[1]),
    since: text("since") ?? "unknown",
  };
}

/** `process 4711 (apply), nino@ci (role states, database session 812 from 10.0.0.7), since …`. */
export function describeSession(holder: LockHolder, clock: Clock): string {
  return holder.pid === null ? `${holder.who}, since ${holder.since}` : describeHolder(holder, clock);
}
