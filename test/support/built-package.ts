/** The package as it is published, except its type declarations and its constructs: tests run the files that users run. */
import { copyFile, cp } from "node:fs/promises";
import path from "node:path";
import { buildDist } from "../../scripts/build/dist.ts";
import { builtOnce, ROOT } from "./built-once.ts";

/** Everything that the package is made of. Another byte means another package. */
export const SOURCES = [
  "src/**/*.ts",
  "schemas/*",
  "scripts/build/{dist,man,notices}.ts",
  "scripts/build/licenses/*",
  "package.json",
  "LICENSE",
];

/** Below the checkout's own packages, so that `pg` is found from there. */
const SHELF = path.join(ROOT, "node_modules/.cache/hostform-program");

let built: Promise<string> | undefined;

/** Builds the package once for all tests that run the same sources. @returns its folder. */
export function builtPackage(): Promise<string> {
  built ??= builtOnce(SHELF, SOURCES, async (folder) => {
    for (const name of ["package.json", "LICENSE"]) await copyFile(path.join(ROOT, name), path.join(folder, name));
    await cp(path.join(ROOT, "schemas"), path.join(folder, "schemas"), { recursive: true });
    await buildDist(path.join(folder, "dist"));
  });
  return built;
}
