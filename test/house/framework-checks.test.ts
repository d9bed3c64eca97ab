/** The table of the framework's checks names tests that exist. */
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
  it("is a row of three cells, with what this provider does and a test, or the reason for which it cannot occur", () => {
    expect(rows.length).toBeGreaterThan(40);
    for (const { check, here, test, end } of rows) {
      expect(end, check).toBe("");
      if (test.startsWith("Cannot occur: ")) continue;
      expect(here, check).not.toBe("");
      expect([...test.matchAll(LINK)], check).not.toEqual([]);
    }
  });

  it("links tests that exist", () => {
    const missing = rows.flatMap(({ check, test }) =>
      [...test.matchAll(LINK)].flatMap(([, title = "", link = ""]) => {
        const file = path.resolve(path.dirname(TABLE), link);
        return existsSync(file) && quoted(file, title) ? [] : [`${check}: ${title} (${link})`];
      }),
    );
    expect(missing).toEqual([]);
  });
});

/** Returns true where a file has the title as a whole string. */
function quoted(file: string, title: string): boolean {
  const text = readFileSync(file, "utf8");
  return ['"', "`"].some((quote) => text.includes(`${quote}${title}${quote}`));
}
