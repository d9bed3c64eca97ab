// Which tests can notice a change of a file: those that import it, however indirectly.
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";

const TESTS = ["test/unit/**/*.test.ts"];

const IMPORT = /\b(?:from|import)\s*\(?\s*["'](\.[^"']+\.ts)["']/g;

/** A test that is further away than this tests something else, unless it is in the folder of that name. */
const FAR = 3;

/**
 * The tests that import one of the files in at most three steps or from `test/unit/FOLDER`; nearest first.
 * @param root the folder of the project; everything else is relative to it.
 */
export function testsOf(root: string, files: readonly string[]): string[] {
  const memo = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = memo.get(file);
    if (known !== undefined) return known;
    const full = path.join(root, file);
    const text = existsSync(full) ? readFileSync(full, "utf8").replace(/^import type .*$/gm, "") : "";
    const found = [...text.matchAll(IMPORT)].map(([, to = ""]) => path.join(path.dirname(file), to));
    memo.set(file, found);
    return found;
  };
  /** How many steps it is from a test to each file that it loads. */
  const distances = (test: string): Map<string, number> => {
    const found = new Map([[test, 0]]);
    for (const [file, steps] of found)
      for (const next of importsOf(file)) if (!found.has(next)) found.set(next, steps + 1);
    return found;
  };
  const loaded = TESTS.flatMap((glob) => globSync(glob, { cwd: root })).map((test) => [test, distances(test)] as const);
  const near = new Map<string, number>();
  for (const file of files) {
    const steps = ([, from]: (typeof loaded)[number]) => from.get(file) ?? Number.POSITIVE_INFINITY;
    const folder = file.replace(/^src\/(\w+)\/.*/, "test/unit/$1/");
    for (const one of loaded.filter((test) => steps(test) <= (test[0].startsWith(folder) ? 99 : FAR)))
      near.set(one[0], Math.min(steps(one), near.get(one[0]) ?? 99));
  }
  return [...near.keys()]
    .filter((test) => Number.isFinite(near.get(test)))
    .toSorted((a, b) => (near.get(a) ?? 0) - (near.get(b) ?? 0) || a.localeCompare(b));
}
