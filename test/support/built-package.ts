/** Builds the published package without its type declarations and constructs, so that tests run the files of users. */
import { copyFile, cp } from "node:fs/promises";
import path from "node:path";
import { buildDist } from "../../scripts/build/dist.ts";
import { builtOnce, ROOT } from "./built-once.ts";

/** Sources of the package. A change of any byte builds another package. */
export const SOURCES = [
  "src/**/*.ts",
  "schemas/*",
  "scripts/build/{dist,man,notices,parts}.ts",
  "scripts/build/licenses/*",
  "package.json",
  "LICENSE",
];

/** Folder inside the checkout, so that `pg` resolves to the checkout's packages. */
const SHELF = path.join(ROOT, "node_modules/.cache/hostform-program");

let built: Promise<string> | undefined;

/**
 * Builds the package once for all tests with the same sources.
 * @returns The package's folder.
 */
export function builtPackage(): Promise<string> {
  built ??= builtOnce(SHELF, SOURCES, async (folder) => {
    for (const name of ["package.json", "LICENSE"]) await copyFile(path.join(ROOT, name), path.join(folder, name));
    await cp(path.join(ROOT, "schemas"), path.join(folder, "schemas"), { recursive: true });
    await buildDist(path.join(folder, "dist"));
  });
  return built;
}
