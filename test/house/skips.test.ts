/** No test is skipped silently: `describeWith` and `itWith` decide about programs, and a test knows the platform and the long runs only. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");

/** Conditions of `skipIf` and `runIf` that name no program. The generators belong to `npm run test:long`, /dev/full to the platform. */
const ALLOWED =
  /^(?:LONG|generators|!existsSync\(FULL\)|process\.platform [!=]== "\w+"|process\.env\.HOSTFORM_LONG(?: === "1")?)$/;

/** @returns the conditions by which a text skips tests, and `skip` for a test that never runs. */
function conditions(text: string): string[] {
  const skipped = [...text.matchAll(/\.(?:skipIf|runIf)\((.*?)\)(?=\(|\.each)/g)].map(
    ([, condition = ""]) => condition,
  );
  return [...skipped, ...[...text.matchAll(/\b(?:describe|it|test)\.(?:skip|todo)\(/g)].map(() => "skip")];
}

it("a test is skipped for its platform or until a long run, never for want of a program", () => {
  const files = globSync("test/**/*.test.ts", { cwd: root, exclude: [path.relative(root, import.meta.filename)] });
  const wrong = files.flatMap((file) =>
    conditions(readFileSync(path.join(root, file), "utf8"))
      .filter((condition) => !ALLOWED.test(condition))
      .map((condition) => `${file}: ${condition}`),
  );
  expect(wrong).toEqual([]);
});

it("the search for skipped tests finds each way to write one", () => {
  expect(
    conditions('it.skipIf(noTerraform !== undefined)("a", f); describe.runIf(has("zsh")).each(all)("b", f);'),
  ).toEqual(["noTerraform !== undefined", 'has("zsh")']);
  expect(conditions('it.skip("a", f); test.todo("b");')).toEqual(["skip", "skip"]);
});
