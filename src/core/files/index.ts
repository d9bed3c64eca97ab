/**
 * Files and programs: the only room that opens paths, the disk of the state, and the output of one-time secrets to a file, to a line of
 * an env file or to a program. In: a path with its bounds, the environment of programs. Out: contents, or an error with its reason; a
 * durable secret, or an error without the secret. Must not: know kinds, the state or the API, or write a secret readable for other
 * users.
 */
export { decrypt, encrypt, type RandomBytes } from "./cipher.ts";
export { createSynced, type Disk, isMount, type NewFile, NOT_A_FILE, replaceFile, systemDisk } from "./disk.ts";
export * from "./file-system.ts";
export { isForeignPath, isInside, isPortableName } from "./paths.ts";
export {
  browse,
  type CaptureOptions,
  type CommandEnd,
  type CommandRunner,
  captureCommand,
  endOfErrors,
  programPath,
  SECRET_COMMAND_MS,
} from "./secret-command.ts";
export { appFolder, SecretFiles, systemSecretFiles } from "./secret-files.ts";
