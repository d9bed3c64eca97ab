import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { APART } from "../../vitest.config.ts";

const root = path.resolve(import.meta.dirname, "../..");
const text = (file: string) => readFileSync(path.join(root, file), "utf8");
const all = globSync("test/**/*.ts", { cwd: root }).map((file) => file.replaceAll(path.sep, "/"));
const isTest = (file: string) => file.endsWith(".test.ts");

it("a module that tests import has no hook, because in a shared process the hook would run only for the first test file", () => {
  const hooked = all.filter((file) => !isTest(file) && /^(?:before|after)(?:Each|All)\(/m.test(text(file)));
  expect(hooked).toEqual([]);
});

it("tests in a shared process restore everything that they replace", () => {
  const lasting =
    /\bvi\.(?:doMock|mock)\(|\bprocess\.(?:chdir|umask)\(|\bprocess\.env\.\w+ \??\??=[^=]|\bsetGlobalDispatcher\(/;
  const changing = all.filter((file) => isTest(file) && !file.startsWith("test/house/") && lasting.test(text(file)));
  expect(changing).toEqual(APART);
});

it("the store of a test run is in its own folder, because a new sandbox may reuse an old URL", () => {
  expect(process.env.XDG_STATE_HOME).toMatch(/[\\/]hf-\w+[\\/]state$/);
});
