/**
 * State of a project: the state file in Terraform's format 4, its journal, its lock, its backup. The only writer of state. In: one
 * changed resource at a time from the engine. Out: a durable state when a call resolves; other programs' parts of the file stay
 * unchanged. Must not: know kinds or the API, decide about a resource, print.
 *
 * A store (`store`) opens a session (`session`). The session holds the lock and records each change as a line of the
 * journal (`journal-lines`, `state-file`, `opening`); `recorder` writes the whole state at its end. The format
 * (`state-document`, `instance`, `state-json`) and the revisions of a document (`revise`) are pure. `Disk`, `StateLock` and
 * `StateBackend` are the seams for a simulated disk and for backends at a server. `Encryption` (own keys, or key providers of OpenTofu: `opentofu`) is between a store and its backend: all
 * code above it works with clear text.
 *
 * `remote`: the protocol of Terraform's `http` backend, the objects of its `s3` backend, and the tables and locks of its `pg` backend,
 * so that Terraform with the same backend reads the same state and respects the same lock. A remote backend has no journal: each change, including intents, writes the
 * whole state to the server before its promise resolves. Must not: read the environment, print a password, or write after another
 * process may hold the lock.
 */
export { bytesOf, Encryption, PBKDF2_ITERATIONS, type Seal } from "./encryption.ts";
export { History, linesIn, linesInFile } from "./history.ts";
export {
  createStateFileLock,
  type HeldLock,
  type StateLock,
} from "./lock.ts";
export type { StateBackend } from "./opening.ts";
export { type KeyProvider, type KeyProviders, pbkdf2Provider } from "./opentofu.ts";
export { createHttpBackend, type HttpBackendOptions } from "./remote/http.ts";
export { createPgBackend } from "./remote/pg.ts";
export { createS3Backend } from "./remote/s3.ts";
export { moveResources, Revision, selectResources, withOutputs } from "./revise.ts";
export { ALLOW_UNENCRYPTED, type Resealed, type Resealing } from "./sealed-text.ts";
export type { OpenState } from "./session.ts";
export {
  decodeState,
  emptyDocument,
  encodeState,
  taintedAddresses,
  unmanagedAddresses,
} from "./state-document.ts";
export { filesOfState, StateFile } from "./state-file.ts";
export {
  KEY_VARIABLES,
  type KeyCommand,
  type KeyVariables,
  NEW_KEY_VARIABLES,
  OLD_KEY_VARIABLES,
  once,
  readOldKeys,
  readStateKey,
  type StateKey,
  TF_ENCRYPTION,
} from "./state-key.ts";
export {
  createFileBackend,
  createFileStore,
  createStateStore,
  type StateStore,
  thisProcess,
} from "./store.ts";
