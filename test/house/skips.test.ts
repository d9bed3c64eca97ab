/**
 * No test is skipped silently. `describeWith` and `itWith` handle missing programs. A test may skip only for its
 * platform or until a long run. A part of `npm run test:long` runs everything that a short run samples.
 */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { LONG, sampled } from "../reliability/support/long.ts";

const root = path.resolve(import.meta.dirname, "../..");

/**
 * Allowed conditions of `skipIf` and `runIf`. Only `npm run test:long` installs the generators; only some platforms
 * have /dev/full.
 */
const ALLOWED =
  /^(?:LONG|generators|!existsSync\(FULL\)|process\.platform [!=]== "\w+"|process\.env\.HOSTFORM_LONG(?: === "1")?)$/;

/** Returns the conditions that skip tests in a text, and `skip` for a test that never runs. */
function conditions(text: string): string[] {
  const skipped = [...text.matchAll(/\.(?:skipIf|runIf)\((.*?)\)(?=\(|\.each)/g)].map(
    ([, condition = ""]) => condition,
  );
  return [...skipped, ...[...text.matchAll(/\b(?:describe|it|test)\.(?:skip|todo)\(/g)].map(() => "skip")];
}

it("a test is skipped only for its platform or until a long run, not for a missing program", () => {
  const files = globSync("test/**/*.test.ts", { cwd: root, exclude: [path.relative(root, import.meta.filename)] });
  const wrong = files.flatMap((file) =>
    conditions(readFileSync(path.join(root, file), "utf8"))
      .filter((condition) => !ALLOWED.test(condition))
      .map((condition) => `${file}: ${condition}`),
  );
  expect(wrong).toEqual([]);
});

/** Imports of sampling functions, or the variable of long runs. */
const SAMPLES = /import [^;]*\b(?:LONG|sampled|runs)\b[^;]*"[^"]*(?:long|fc)\.ts"|HOSTFORM_LONG/;

it("a part of test:long runs all items of each sampled test", () => {
  const scripts = ["scripts/test-long.ts", "scripts/test-profiles.ts"].map((file) =>
    readFileSync(path.join(root, file), "utf8"),
  );
  const named = scripts.join("\n").matchAll(/tests: "([^"]+)"|"(test\/[^"]+\.test\.ts)"/g);
  const parts = [...named].map(([, part, file]) => part ?? file ?? "");
  const files = globSync("test/**/*.test.ts", { cwd: root, exclude: [path.relative(root, import.meta.filename)] });
  const sampling = files.filter((file) => SAMPLES.test(readFileSync(path.join(root, file), "utf8")));
  expect(sampling.length).toBeGreaterThan(40);
  expect(sampling.filter((file) => !parts.some((part) => file.includes(part)))).toEqual([]);
});

it("samples of consecutive turns begin at different items and cover all items", () => {
  const items = Array.from({ length: 11 }, (_, at) => at);
  const turns = [0, 1, 2].map((turn) => sampled(items, 3, turn));
  expect(turns[0]).toEqual(LONG ? items : [0, 3, 6, 9]);
  expect(new Set(turns.flat())).toEqual(new Set(items));
});

it("the search for skipped tests finds each way to write one", () => {
  expect(
    conditions('it.skipIf(noTerraform !== undefined)("a", f); describe.runIf(has("zsh")).each(all)("b", f);'),
  ).toEqual(["noTerraform !== undefined", 'has("zsh")']);
  expect(conditions('it.skip("a", f); test.todo("b");')).toEqual(["skip", "skip"]);
});
