/**
 * What hostform remembers of a project: the state file in Terraform's format 4, its journal, its lock, its backup. The only writer
 * of state. In: resources as the engine leaves them, one at a time. Out: a state that is durable when a call resolves,
 * and every other program's part of the file untouched. Must not: know kinds or the API, decide what happens to a
 * resource, print.
 *
 * A store (`store`) opens a session (`session`). The session holds the lock and records each change as a line of the
 * journal (`journal-lines`, `journal-file`, `journal-reading`); `recorder` writes the whole state at its end. The format
 * (`format`, `instance`, `state-json`) and the revisions of a document (`revise`) are pure. `Disk`, `StateLock` and
 * `StateBackend` are the seams for a simulated disk and for backends at a server (`remote`). `Encryption` stands between
 * a store and its backend: what is read here is in the clear, whatever is stored.
 */
export { type Disk, type NewFile, systemDisk } from "./disk.ts";
export { bytesOf, Encryption, type EncryptionOptions, type Seal } from "./encryption.ts";
export {
  decodeState,
  emptyDocument,
  encodeState,
  type Remainder,
  type StateDocument,
  taintedAddresses,
  unmanagedAddresses,
} from "./format.ts";
export {
  type Contender,
  createStateFileLock,
  type HeldLock,
  type LockContext,
  type LockHolder,
  type LockRequest,
  type StateLock,
} from "./lock.ts";
export type { StateBackend } from "./opening.ts";
export * from "./remote/index.ts";
export type { Resealed, Resealing } from "./reseal.ts";
export { type Move, moveResources, selectResources, withOutputs, withoutResources, withResource } from "./revise.ts";
export { ALLOW_UNENCRYPTED } from "./sealed-text.ts";
export {
  type CaptureOptions,
  type CommandEnd,
  type CommandRunner,
  captureCommand,
  endOfErrors,
  SECRET_COMMAND_MS,
} from "./secret-command.ts";
export { appFolder, isInside, type PathStat, SecretFiles, type SecretOutputParts, statPath } from "./secret-output.ts";
export { type OpenState, withMembers } from "./session.ts";
export { filesOfState, StateFile, type StateText } from "./state-file.ts";
export {
  KEY_VARIABLES,
  type KeyCommand,
  type KeyVariables,
  NEW_KEY_VARIABLES,
  OLD_KEY_VARIABLES,
  readOldKeys,
  readStateKey,
  type StateKey,
} from "./state-key.ts";
export {
  createFileBackend,
  createFileStore,
  createStateStore,
  type FileBackendOptions,
  type StateStore,
  thisProcess,
} from "./store.ts";
