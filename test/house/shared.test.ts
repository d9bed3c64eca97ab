import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { APART } from "../../vitest.config.ts";

const root = path.resolve(import.meta.dirname, "../..");
const text = (file: string) => readFileSync(path.join(root, file), "utf8");
const all = globSync("test/**/*.ts", { cwd: root }).map((file) => file.replaceAll(path.sep, "/"));
const isTest = (file: string) => file.endsWith(".test.ts");

it("a module that tests load has no hook: where files share a process, it would run for the first of them alone", () => {
  const hooked = all.filter((file) => !isTest(file) && /^(?:before|after)(?:Each|All)\(/m.test(text(file)));
  expect(hooked).toEqual([]);
});

it("tests that share processes leave their process as it was: what they replace is put back after the test", () => {
  const lasting =
    /\bvi\.(?:doMock|mock)\(|\bprocess\.(?:chdir|umask)\(|\bprocess\.env\.\w+ \??\??=[^=]|\bsetGlobalDispatcher\(/;
  const changing = all.filter((file) => isTest(file) && !file.startsWith("test/house/") && lasting.test(text(file)));
  expect(changing).toEqual(APART);
});

it("what the commands of a test run note is in a folder of the run, not the user's: a sandbox of today may have yesterday's address", () => {
  expect(process.env.XDG_STATE_HOME).toMatch(/[\\/]hf-\w+[\\/]state$/);
});
