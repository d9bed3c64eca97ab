import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { PROFILE_SETS, PROFILE_SWITCHES } from "../../../src/sandbox/index.ts";

const page = readFileSync(path.resolve(import.meta.dirname, "../../../docs/sandbox.md"), "utf8");
const section = page.slice(page.indexOf("\n## Profiles\n"));
const code = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
const rows = section.split("\n").filter((line) => /^\| `/.test(line));

test("docs/sandbox.md contains every switch with its values, in order, and every set", () => {
  const cells = rows.map((row) => row.split(" | "));
  const switches = cells.filter(({ length }) => length === 3);
  const documented = switches.map(([name = "", values = ""]) => [code(name)[0], code(values)]);
  expect(Object.fromEntries(documented)).toEqual(PROFILE_SWITCHES);
  expect(documented.map(([name]) => name)).toEqual(Object.keys(PROFILE_SWITCHES));
  const sets = cells.filter(({ length }) => length === 2).map(([name = ""]) => code(name)[0]);
  expect(sets).toEqual(Object.keys(PROFILE_SETS));
});
