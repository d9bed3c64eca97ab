import { existsSync } from "node:fs";
import path from "node:path";
import { errnoOf, type SecretDestination } from "../model/index.ts";
import type { Disk } from "./disk.ts";

/**
 * Follows the links in every part of a path; what does not exist yet is taken as it is written. Nothing outside of the
 * project is looked at unless `outside` allows it or a link leads there.
 * @param folders the project's, absolute; the first one is the one that paths are shown relative to.
 */
export async function destinationOf(
  disk: Pick<Disk, "resolve">,
  declared: string,
  folders: readonly string[],
  outside: boolean,
): Promise<SecretDestination> {
  const real = await Promise.all(folders.map((folder) => realPath(disk, folder)));
  const among = (file: string, roots: readonly string[]) => roots.find((root) => isInside(root, file));
  const isLooked = outside || among(declared, [...folders, ...real]) !== undefined;
  const target = isLooked ? await realPath(disk, declared) : declared;
  const root = isLooked ? among(target, real) : undefined;
  const shown = root === undefined ? target : path.relative(root, target);
  const plain = folders.map((folder, i) => path.join(real[i] as string, path.relative(folder, declared)));
  const linked = target !== declared && !plain.includes(target);
  return { real: target, inside: root !== undefined, linked, shown };
}

/** Whether a path is a folder or lies in it. Both absolute, links followed. */
export function isInside(folder: string, file: string): boolean {
  const way = path.relative(folder, file);
  return way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

/** @throws the system's errors, except that something does not exist yet. */
async function realPath(disk: Pick<Disk, "resolve">, file: string): Promise<string> {
  try {
    return await disk.resolve(file);
  } catch (error) {
    const above = path.dirname(file);
    if (errnoOf(error) !== "ENOENT" || above === file) throw error;
    return path.join(await realPath(disk, above), path.basename(file));
  }
}

/**
 * The project that the folder belongs to. A stack of CDKTF is in `cdktf.out/stacks/NAME`, and its project where the app
 * has its `cdktf.json`, or beside the output folder.
 */
export function appFolder(folder: string): string {
  const output = path.resolve(folder, "..", "..");
  const isStack = path.basename(path.dirname(folder)) === "stacks" && existsSync(path.join(output, "manifest.json"));
  if (!isStack) return folder;
  const beside = path.dirname(output);
  for (let at = beside; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, "cdktf.json"))) return at;
    if (at === path.dirname(at)) return beside;
  }
}
