import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { errnoOf } from "../../../core/model/index.ts";
import type { PackageFile } from "./package.ts";

/** What stands where a package is to go: nothing of use, the same, another build of the same version. */
export type Standing = "nothing" | "same" | "other";

/** Compares what stands in a folder with a package. @throws Node's errors. */
export async function standingIn(folder: string, files: readonly PackageFile[]): Promise<Standing> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (names === undefined || names.length === 0) return "nothing";
  if (names.length !== files.length) return "other";
  let runnable = true;
  for (const { name, content, mode } of files) {
    const file = path.join(folder, name);
    if (!names.includes(name) || Buffer.compare(await readFile(file), content) !== 0) return "other";
    // A copy by other tools may have lost it; it is no part of what Terraform makes its hash from.
    runnable &&= (mode & 0o100) === 0 || ((await stat(file)).mode & 0o100) !== 0;
  }
  return runnable ? "same" : "nothing";
}

/**
 * Puts a package into a mirror: made beside it and moved there whole, so that no Terraform finds half of it.
 * @param mirror where nothing but the new folder is touched. @param folder of the package, in it.
 * @throws Node's errors; what stood there still stands then.
 */
export async function placePackage(mirror: string, folder: string, files: readonly PackageFile[]): Promise<void> {
  const mark = randomUUID();
  const [fresh, former] = [path.join(mirror, `.hostform-${mark}`), path.join(mirror, `.hostform-${mark}.old`)];
  await mkdir(path.dirname(folder), { recursive: true });
  try {
    await mkdir(fresh);
    for (const { name, content, mode } of files) {
      await writeFile(path.join(fresh, name), content, { mode });
      // The umask does not decide whether it can be run.
      await chmod(path.join(fresh, name), mode);
    }
    const before = await moved(folder, former);
    try {
      await rename(fresh, folder);
    } catch (error) {
      if (before) await rename(former, folder);
      throw error;
    }
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(former, { recursive: true, force: true });
  }
}

/** Moves a folder away; false when there is none. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}
