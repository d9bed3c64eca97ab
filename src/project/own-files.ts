/** Reads files of a project. Accepts only regular files inside its folders. */
import path from "node:path";
import { type Bounds, bounded, isInside, list, PathRefused, type Reading, read } from "../core/files/index.ts";
import { attempt } from "../core/model/index.ts";
import { raise } from "./messages.ts";

/** A path for messages, and its bounds. */
export interface OwnPath extends Bounds {
  readonly shown: string;
}

/** Reads a file of the project. @throws HostformError `trust.file`; errors of Node. */
export const readOwn = (file: string, { shown, ...reading }: OwnPath & Reading): Promise<Buffer> =>
  read(file, reading).catch(refused(shown, reading));

/** Lists a folder of the project. @throws as {@link readOwn} does. */
export const listOwn = (folder: string, { shown, ...bounds }: OwnPath): Promise<string[]> =>
  list(folder, bounds).catch(refused(shown, bounds));

/** Runs a step with a path of the project. @throws as {@link readOwn} does. */
export const onOwn = <T>({ shown, ...bounds }: OwnPath, step: (bounds: Bounds) => T): T =>
  attempt(() => step(bounds), refused(shown, bounds));

/** Returns the handler for a rejected path. @throws HostformError `trust.file`; rethrows any other error. */
function refused(file: string, { links = true }: Bounds) {
  return (error: unknown): never => {
    if (!(error instanceof PathRefused)) throw error;
    if (error.code === "EOUTSIDE") return raise("trust.file/outside", { file, isNamable: links });
    return raise(error.code === "ELINK" ? "trust.file/link" : "trust.file/irregular", { file });
  };
}

/**
 * Rejects a path below the working folder that leads outside through a link of the project.
 * @throws HostformError `trust.file`.
 */
export function refuseDetour(cwd: string, named: string): void {
  if (!isInside(cwd, named)) return;
  attempt(
    () => bounded(named, { roots: [cwd] }),
    (error) => {
      if (!(error instanceof PathRefused)) throw error;
      raise("trust.file/detour", { file: path.relative(cwd, named) });
    },
  );
}
