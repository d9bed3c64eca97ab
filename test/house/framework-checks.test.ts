/** The table of the Terraform framework's checks names existing tests. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const TABLE = path.resolve(import.meta.dirname, "../terraform/framework-checks.md");
const LINK = /\[((?:[^[\]]|\[[^\]]*\])+)\]\(([^)]+\.test\.ts)\)/g;

const rows = readFileSync(TABLE, "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (?:---|check of the framework) /.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .map(([, check = "", here = "", test = "", end]) => ({ check, here, test, end }));

describe("each check of the framework", () => {
  it("is a row of three cells: the check, the provider's behaviour, and a test or the reason why the case cannot occur", () => {
    expect(rows.length).toBeGreaterThan(40);
    for (const { check, here, test, end } of rows) {
      expect(end, check).toBe("");
      if (test.startsWith("Cannot occur: ")) continue;
      expect(here, check).not.toBe("");
      expect([...test.matchAll(LINK)], check).not.toEqual([]);
    }
  });

  it("links existing tests", () => {
    const missing = rows.flatMap(({ check, test }) =>
      [...test.matchAll(LINK)].flatMap(([, title = "", link = ""]) => {
        const file = path.resolve(path.dirname(TABLE), link);
        return existsSync(file) && quoted(file, title) ? [] : [`${check}: ${title} (${link})`];
      }),
    );
    expect(missing).toEqual([]);
  });
});

/** Returns true if a file contains the title as a complete string. */
function quoted(file: string, title: string): boolean {
  const text = readFileSync(file, "utf8");
  return ['"', "`"].some((quote) => text.includes(`${quote}${title}${quote}`));
}
