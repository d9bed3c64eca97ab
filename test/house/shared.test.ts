import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { PURE } from "../../vitest.config.ts";

const root = path.resolve(import.meta.dirname, "../..");
const HOOK = /^(?:before|after)(?:Each|All)\(/m;

/** A file and the files of the tests that it loads. */
function loaded(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file) || !file.startsWith(path.join(root, "test")) || !existsSync(file)) return known;
  known.add(file);
  for (const [, to = ""] of readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)"/g))
    loaded(path.resolve(path.dirname(file), to), known);
  return known;
}

it("tests that share processes load no module with a hook: it would run for the first file alone", () => {
  const tests = globSync(PURE, { cwd: root }).map((file) => path.join(root, file));
  expect(tests.length).toBeGreaterThan(100);
  const hooked = tests.flatMap((test) =>
    [...loaded(test)].filter((file) => file !== test && HOOK.test(readFileSync(file, "utf8"))),
  );
  expect([...new Set(hooked)].map((file) => path.relative(root, file))).toEqual([]);
});
