/** Files that a project brings along: they lie inside of it, and are what they seem to be. */
import { lstat, readlink, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { isInside } from "../core/files/index.ts";
import { makeFolder } from "../core/local/index.ts";
import { fail, ifErrno } from "../core/model/index.ts";

/** Refuses a path below the working folder that a link of the project leads out of it. @throws HostformError `trust.file`. */
export async function refuseDetour(cwd: string, named: string): Promise<void> {
  if (!isInside(cwd, named) || isInside(await realPlace(cwd), await realPlace(named))) return;
  fail("trust.file", `${path.relative(cwd, named)} leads outside the project through a link`, {
    remedies: ["Name the target of the link on the command line."],
  });
}

/** Makes the folder that a file is to be in, which others may read as far as the umask lets them. @throws the system's error. */
export function makeParent(file: string): void {
  makeFolder(path.dirname(file), 0o777);
}

/** Whether a place, which need not be there yet, lies in one of these folders, links followed. */
export async function liesIn(folders: readonly string[], place: string): Promise<boolean> {
  const real = await realPlace(place);
  const roots = await Promise.all(folders.map(realPlace));
  return roots.some((root) => isInside(root, real));
}

/** More links than the system follows. */
const MOST_LINKS = 40;

/** The real path of a place; of one that is not there, where it would be made: what stands in its place may be a link to nothing yet. */
export async function realPlace(place: string, depth = 0): Promise<string> {
  const real = await found(realpath(place));
  if (real !== undefined) return real;
  const above = path.dirname(place);
  if (above === place) return place;
  const own = path.join(await realPlace(above, depth), path.basename(place));
  const target = depth < MOST_LINKS ? await found(readlink(own)) : undefined;
  return target === undefined ? own : realPlace(path.resolve(path.dirname(own), target), depth + 1);
}

/** What a file that a project brings along must be. */
export interface Ownership {
  /** The folders that it may lie in, absolute. */
  readonly roots: readonly string[];
  /** Whether it may be a link, to a file inside them. Default: true. */
  readonly links?: boolean;
}

/**
 * Refuses a file that a project only seems to have: by its real path it must lie inside, and be a regular file. A repository can
 * hold a link to any file, and a pipe that never ends. A file that is not there is left to the one who reads it; a link to nothing is
 * refused where links are, as what is written there would be written elsewhere.
 * @param at absolute. @param shown its path as people know it.
 * @throws HostformError `trust.file`, before anything of the file is read.
 */
export async function requireOwnFile(at: string, shown: string, { roots, links = true }: Ownership): Promise<void> {
  const refuse: (what: string, fix: string) => never = (what, fix) =>
    fail("trust.file", `${shown} ${what}`, { remedies: [fix] });
  const real = await found(realpath(at));
  if (real === undefined) {
    if (links || !(await found(lstat(at)))?.isSymbolicLink()) return;
    refuse("is a link to nothing", "Put a regular file there, or remove the link.");
  }
  const inside = await Promise.all(roots.map((root) => found(realpath(root))));
  if (!inside.some((root) => root !== undefined && isInside(root, real))) {
    const named =
      "Put the file itself there, or name it on the command line: `-f` for a declaration, `--var-file` for values.";
    const fix = links ? named : "Put the file itself into the project.";
    refuse("leads to a file outside the project, and is not read", fix);
  }
  if (!(await found(stat(real)))?.isFile()) refuse("is not a regular file", "Put a regular file there.");
  if (!links && (await found(lstat(at)))?.isSymbolicLink())
    refuse("is a link, which an untrusted project may not use", "Put the file itself there.");
}

/** The same of a folder, before its names are read. @param root absolute. @throws HostformError `trust.file`. */
export async function requireOwnFolder(at: string, shown: string, root: string): Promise<void> {
  const real = await found(realpath(at));
  const within = await found(realpath(root));
  if (real === undefined || within === undefined || isInside(within, real)) return;
  fail("trust.file", `${shown} leads to a folder outside the project, and is not read`, {
    remedies: ["Put the folder itself there."],
  });
}

/** What is found on the disk; undefined where the system refuses. */
export function found<T>(looking: Promise<T>): Promise<T | undefined> {
  return looking.catch(ifErrno(() => undefined));
}
