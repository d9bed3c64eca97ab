import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const tests = path.resolve(import.meta.dirname, "..");

/** Files that start a sandbox which nothing watches, and why. */
const UNWATCHED: Readonly<Record<string, string>> = {
  "support/sandbox.ts": "it is what watches",
  "servers/host.ts":
    "what is drawn by chance is what the document leaves open; servers/drawn.test.ts holds it against the rest",
  "servers/drawn.test.ts": "the same",
};

/** Every name that a file imports from a module whose path ends like this. */
function importedFrom(text: string, module: RegExp): string[] {
  const statements = [...text.matchAll(/^import\s+(?!type\b)([^;]*?)\sfrom\s+"([^"]+)"/gms)];
  return statements
    .filter(([, , from = ""]) => module.test(from))
    .flatMap(([, what = ""]) => what.replace(/[{}]/g, "").split(","))
    .map((name) => name.trim().split(/\s+as\s+/)[0] ?? "");
}

const starting = globSync("**/*.ts", { cwd: tests }).filter((file) => {
  const text = readFileSync(path.join(tests, file), "utf8");
  return importedFrom(text, /src\/sandbox\/(?:index|library)\.ts$/).includes("startSandbox");
});

describe("every sandbox of the tests", () => {
  it("is held against schemas/openapi.yaml: nothing but test/support/sandbox.ts starts the bare one", () => {
    expect(starting.filter((file) => !(file in UNWATCHED))).toEqual([]);
    // The check finds imports at all.
    expect(starting).toContain("support/sandbox.ts");
  });
});
