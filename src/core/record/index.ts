/**
 * What hostform remembers of a project: the state file in Terraform's format 4, its journal, its lock, its backup. The only writer
 * of state. In: resources as the engine leaves them, one at a time. Out: a state that is durable when a call resolves,
 * and every other program's part of the file untouched. Must not: know kinds or the API, decide what happens to a
 * resource, print.
 *
 * A store (`createFileStore`) opens a session (`OpenState`); the session holds the lock and turns each change into a
 * line of the journal (`journal/`), and all of them into one write of the state (`Recorder`). Between the two stand pure parts, usable without any disk: the format (`decodeState`, `encodeState`) and the
 * revisions of a document (`selectResources`, `moveResources` …). `Disk`, `StateLock` and `StatePlace` are the seams
 * for a simulated disk and for remote places. `Encryption` stands between a store and its place: what is read here is
 * in the clear, whatever is stored.
 */
export { type CaptureOptions, captureCommand } from "./captured-command.ts";
export type { Disk, NewFile } from "./disk.ts";
export { systemDisk } from "./disk.ts";
export { bytesOf, Encryption, type EncryptionOptions } from "./encryption.ts";
export type { StateText } from "./file.ts";
export { filesOfState, StateFile } from "./file.ts";
export type { Remainder, StateDocument } from "./format.ts";
export { decodeState, emptyDocument, encodeState, taintedAddresses, unmanagedAddresses } from "./format.ts";
export type { Contender, LockHolder } from "./holder.ts";
export type { HeldLock, LockContext, LockRequest, StateLock } from "./lock.ts";
export { createFileLock } from "./lock.ts";
export type { StatePlace } from "./opening.ts";
export * from "./remote/index.ts";
export type { Resealed, Resealing } from "./reseal.ts";
export type { Move } from "./revise.ts";
export { moveResources, selectResources, withOutputs, withoutResources, withResource } from "./revise.ts";
export type { Seal } from "./sealing.ts";
export { type CommandEnd, type CommandRunner, endOfErrors, SECRET_COMMAND_MS } from "./secret-command.ts";
export { isInside } from "./secret-destination.ts";
export { appFolder, SecretFiles, type SecretOutputParts } from "./secret-output.ts";
export { type OpenState, withMembers } from "./session.ts";
export { type Standing, standingAt } from "./standing.ts";
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
export type { FilePlaceOptions, StateStore } from "./store.ts";
export { createFilePlace, createFileStore, createStateStore, thisProcess } from "./store.ts";
export { ALLOW_UNENCRYPTED } from "./unencrypted.ts";
