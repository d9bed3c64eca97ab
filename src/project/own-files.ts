/** Files that a project brings along: they lie inside of it, and are what they seem to be. */
import path from "node:path";
import { type Bounds, bounded, isInside, list, PathRefused, type Reading, read } from "../core/files/index.ts";
import { attempt, fail } from "../core/model/index.ts";

/** A path of a project, as people know it, and the bounds that it keeps to. */
export interface OwnPath extends Bounds {
  readonly shown: string;
}

/** The first bytes of a file of the project. @throws HostformError `trust.file`; Node's errors. */
export const readOwn = (file: string, { shown, ...reading }: OwnPath & Reading): Promise<Buffer> =>
  read(file, reading).catch(refused(shown, reading));

/** The names in a folder of the project. @throws as {@link readOwn} does. */
export const listOwn = (folder: string, { shown, ...bounds }: OwnPath): Promise<string[]> =>
  list(folder, bounds).catch(refused(shown, bounds));

/** Does a step on a path of the project. @throws as {@link readOwn} does. */
export const onOwn = <T>({ shown, ...bounds }: OwnPath, step: (bounds: Bounds) => T): T =>
  attempt(() => step(bounds), refused(shown, bounds));

/**
 * Handles the refusal of a path. A repository can hold a link to any file, and a pipe that never ends.
 * @throws HostformError `trust.file` for it; any other error as it is.
 */
function refused(shown: string, { links = true }: Bounds) {
  return (error: unknown): never => {
    if (!(error instanceof PathRefused)) throw error;
    const refuse = (what: string, fix: string) => fail("trust.file", `${shown} ${what}`, { remedies: [fix] });
    const itself = "Put the file itself there.";
    if (error.code === "EOUTSIDE") {
      const named = `${itself} Or name it on the command line: \`-f\` for a declaration, \`--var-file\` for values.`;
      return refuse("leads outside the project, and is not read", links ? named : itself);
    }
    if (error.code === "ELINK") return refuse("is a link, which an untrusted project may not use", itself);
    return refuse("is not a regular file", "Put a regular file there.");
  };
}

/** Refuses a path below the working folder that a link of the project leads out of it. @throws HostformError `trust.file`. */
export function refuseDetour(cwd: string, named: string): void {
  if (!isInside(cwd, named)) return;
  attempt(
    () => bounded(named, { roots: [cwd] }),
    (error) => {
      if (!(error instanceof PathRefused)) throw error;
      fail("trust.file", `${path.relative(cwd, named)} leads outside the project through a link`, {
        remedies: ["Name the target of the link on the command line."],
      });
    },
  );
}
