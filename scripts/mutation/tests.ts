// Tests that can notice a change of a file: tests that import it, however indirectly.
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";

const IMPORT = /\b(?:from|import)\s*\(?\s*["'](\.[^"']+\.ts)["']/g;

/** A test at a larger distance tests something else, unless it lies in the folder of that name. */
const FAR = 3;

/**
 * Returns the tests that import one of the files in at most three steps or from `test/unit/FOLDER`; nearest first.
 * @param root folder of the project; everything else is relative to it
 */
export function testsOf(root: string, files: readonly string[]): string[] {
  const memo = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const full = path.join(root, file);
    const text = existsSync(full) ? readFileSync(full, "utf8").replace(/^import type .*$/gm, "") : "";
    return [...text.matchAll(IMPORT)].map(([, to = ""]) => path.join(path.dirname(file), to));
  };
  const near = globSync("test/unit/**/*.test.ts", { cwd: root }).map((test) => {
    const steps = new Map([[test, 0]]);
    for (const [file, at] of steps) {
      if (!memo.has(file)) memo.set(file, importsOf(file));
      for (const next of memo.get(file) ?? []) if (!steps.has(next)) steps.set(next, at + 1);
    }
    const distances = files.map((file) => {
      const distance = steps.get(file) ?? Number.POSITIVE_INFINITY;
      const own = test.startsWith(file.replace(/^src\/(\w+)\/.*/, "test/unit/$1/"));
      return own || distance <= FAR ? distance : Number.POSITIVE_INFINITY;
    });
    return { test, distance: Math.min(...distances) };
  });
  return near
    .filter(({ distance }) => Number.isFinite(distance))
    .toSorted((a, b) => a.distance - b.distance || a.test.localeCompare(b.test))
    .map(({ test }) => test);
}
