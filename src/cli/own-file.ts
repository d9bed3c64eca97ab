import { lstat, realpath, stat } from "node:fs/promises";
import { errnoOf, fail } from "../core/model/index.ts";
import { isInside } from "../core/record/index.ts";

/** What a file that a project brings along must be. */
export interface Ownership {
  /** The folders that it may lie in, absolute. */
  readonly roots: readonly string[];
  /** Whether it may be a link, to a file inside them. Default: true. */
  readonly links?: boolean;
}

/**
 * Refuses a file that a project only seems to have: by its real path it must lie inside, and be a regular file. A repository can
 * hold a link to any file, and a pipe that never ends. A file that is not there is left to the one who reads it.
 * @param at absolute. @param shown its path as people know it.
 * @throws HostformError `trust.file`, before anything of the file is read.
 */
export async function requireOwnFile(at: string, shown: string, { roots, links = true }: Ownership): Promise<void> {
  const real = await found(() => realpath(at));
  if (real === undefined) return;
  const inside = await Promise.all(roots.map((root) => found(() => realpath(root))));
  if (!inside.some((root) => root !== undefined && isInside(root, real))) {
    fail("trust.file", `${shown} leads to a file outside the project, and is not read`, {
      fix: links
        ? "Put the file itself there. If it is meant, name it on the command line: `-f` for a declaration, `--var-file` for values."
        : "Put the file itself into the project.",
    });
  }
  if (!(await found(() => stat(real)))?.isFile()) {
    fail("trust.file", `${shown} is not a regular file`, { fix: "Put a regular file there." });
  }
  if (!links && (await found(() => lstat(at)))?.isSymbolicLink()) {
    fail("trust.file", `${shown} is a link, which an untrusted project may not have in place of a file`, {
      fix: "Put the file itself there.",
    });
  }
}

/** The same of a folder, before its names are read. @param root absolute. @throws HostformError `trust.file`. */
export async function requireOwnFolder(at: string, shown: string, root: string): Promise<void> {
  const real = await found(() => realpath(at));
  const within = await found(() => realpath(root));
  if (real === undefined || within === undefined || isInside(within, real)) return;
  fail("trust.file", `${shown} leads to a folder outside the project, and is not read`, {
    fix: "Put the folder itself there.",
  });
}

async function found<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
