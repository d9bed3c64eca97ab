/**
 * Small databases in the user's state folder, shared by the processes of this machine; locks on files; and which processes
 * are running. In: a path, a schema and what to do with it; from the environment, the folder. Out: one step at a time for all
 * processes, and nothing that a killed process holds. Must not: know what is kept in them or for whom, or import anything but
 * `model`. No type of it may stand in what `api` publishes: users of the client need no types of `node:sqlite`.
 */
export type {
  AccountStore,
  Intent,
  IntentQuery,
  Note,
  NoteOptions,
  StoredIntent,
  Turn,
  TurnHolder,
  TurnRequest,
} from "./account-store.ts";
export { DatabaseFile, databaseTrouble, makeFolder, openDatabase, stateFolder } from "./database-file.ts";
export { type EarlierFiles, entriesOf } from "./earlier-files.ts";
export { type FileLock, isRunning, NotALockFile, processMark, takeFileLock } from "./file-lock.ts";
export type { Ledger } from "./ledger.ts";
export { MemoryStore, MemoryTables } from "./memory-store.ts";
export { beginSign, type EndSign, signIn, takeEndedSign } from "./signs.ts";
export { SqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";
