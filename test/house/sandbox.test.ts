import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const tests = path.resolve(import.meta.dirname, "..");

/** Files that start a sandbox without validation, each with the reason. */
const UNWATCHED: Readonly<Record<string, string>> = {
  "support/sandbox.ts": "starts the sandbox and validates its exchanges",
  "servers/host.ts": "generates behaviours that the document leaves open; servers/drawn.test.ts validates the rest",
  "servers/drawn.test.ts": "validates generated hosts itself",
};

/** Returns the names that a file imports from modules whose path matches `module`. */
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
  it("is validated against schemas/openapi.yaml: only listed files import the sandbox from src", () => {
    expect(starting.filter((file) => !(file in UNWATCHED))).toEqual([]);
    // The search finds at least one import.
    expect(starting).toContain("support/sandbox.ts");
  });
});
