/**
 * Where a state is kept when that is not a file on this machine: the protocol of Terraform's `http` backend and the
 * tables and locks of its `pg` backend, so that Terraform with the same backend sees the same state and honours the same
 * lock. In: settings that were checked, credentials, a way to the server. Out: a `StateBackend` without a journal: every
 * change, intents included, is the whole state at the server before its promise resolves. Must not: read the
 * environment, print, show a password, or go on writing once the lock may be another's.
 *
 * `http` stands on `http-lock` and `http-wire` (requests, bounded and repeated, and what their answers mean); `pg` on
 * `pg-lock`, `pg-connection` (the package `pg`, loaded when it is needed) and `pg-address` (connection strings).
 */
export { createHttpBackend } from "./http.ts";
export type { HttpBackendOptions, HttpLock } from "./http-lock.ts";
export type { HttpCredentials } from "./http-wire.ts";
export { createPgBackend } from "./pg.ts";
export { nameOfServer, type PgServer, parsePgServer } from "./pg-address.ts";
export { connectTo, type Database, interruptibly, type PgModule } from "./pg-connection.ts";
export type { PgBackendOptions } from "./pg-lock.ts";
