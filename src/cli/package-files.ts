import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** The folder of the hostform package that a module of it is in: an installed one, or a checkout. */
export function packageRoot(from: string = import.meta.dirname): string {
  for (let folder = from; ; folder = path.dirname(folder)) {
    if (isOurs(path.join(folder, "package.json"))) return folder;
    if (path.dirname(folder) === folder) throw new Error(`${from} is in no package of hostform`);
  }
}

function isOurs(manifest: string): boolean {
  if (!existsSync(manifest)) return false;
  const { name } = JSON.parse(readFileSync(manifest, "utf8")) as { name?: unknown };
  return name === "hostform";
}
