/**
 * Files and programs outside of the state: one-time secrets out to a file, to a line of an env file or to a program, and the
 * disk under them and under the state. In: a declared place, the project's folder, the environment of programs. Out: a secret
 * that is durable at its place, or an error that never holds it. Must not: know kinds, the state or the API, or replace a file
 * that lies outside of the project without permission.
 */
export { createSynced, type Disk, isMount, type NewFile, NOT_A_FILE, replaceFile, systemDisk } from "./disk.ts";
export {
  type CaptureOptions,
  type CommandEnd,
  type CommandRunner,
  captureCommand,
  endOfErrors,
  SECRET_COMMAND_MS,
} from "./secret-command.ts";
export { appFolder, isInside, type PathStat, SecretFiles, statPath, systemSecretFiles } from "./secret-files.ts";
