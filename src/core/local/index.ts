/**
 * Facts that processes share: the store of an account, in a file (`SqliteStore`), in PostgreSQL for several machines (`PgStore`) or in memory
 * (`MemoryStore`), behind one interface (`account-store`); locks on files, heartbeats of processes, and the connection
 * to PostgreSQL. In: an account, a path, a clock. Out: facts that are
 * atomic for all processes; the system frees all locks of a killed process. Must not: know the API or kinds, or import any room
 * except `model`, `messages` and `files`. `api` publishes no type from `node:sqlite`.
 */
export type {
  AccountStore,
  Held,
  HeldObject,
  Holding,
  HoldingQuery,
  IntentQuery,
  LeavingCreate,
  Note,
  NoteOptions,
  Place,
  StoredCreate,
  Turn,
  TurnHolder,
  TurnRequest,
} from "./account-store.ts";
export { DatabaseFile, databaseTrouble, openDatabase, stateFolder } from "./database-file.ts";
export {
  beginSign,
  type EndSign,
  type FileLock,
  isAlive,
  isRunning,
  NotALockFile,
  processMark,
  signIn,
  takeEndedSign,
  takeFileLock,
} from "./file-lock.ts";
export type { Ledger } from "./ledger.ts";
export { MemoryStore, MemoryTables } from "./memory-store.ts";
export { nameOfServer, type PgServer, type PgTls, parsePgServer, requireVerified } from "./pg-address.ts";
export {
  configOf,
  connectTo,
  type Database,
  interruptibly,
  isAbsent,
  type PgModule,
  type Row,
} from "./pg-connection.ts";
export { PgStore, type PgStoreOptions } from "./pg-store.ts";
export { markOf, markOfBackend, placeOfFile, projectFolder } from "./place.ts";
export { s3Place } from "./s3-address.ts";
export { SqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";
