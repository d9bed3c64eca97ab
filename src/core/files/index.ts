/**
 * Files and programs: the one place that opens paths, the disk under the state, and one-time secrets out to a file, to a line of an
 * env file or to a program. In: a path and the bounds that it keeps to, the environment of programs. Out: what is there, or a
 * refusal that says why; a secret that is durable at its place, or an error that never holds it. Must not: know kinds, the state
 * or the API, or write a secret where another user could read it.
 */
export { createSynced, type Disk, isMount, type NewFile, NOT_A_FILE, replaceFile, systemDisk } from "./disk.ts";
export * from "./file-system.ts";
export { isForeignPath, isInside, isPortableName } from "./paths.ts";
export {
  type CaptureOptions,
  type CommandEnd,
  type CommandRunner,
  captureCommand,
  endOfErrors,
  programPath,
  SECRET_COMMAND_MS,
} from "./secret-command.ts";
export { appFolder, SecretFiles, systemSecretFiles } from "./secret-files.ts";
