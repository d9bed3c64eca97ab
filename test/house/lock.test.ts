import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = path.resolve(import.meta.dirname, "../..");
const lock: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync(path.join(root, "package-lock.json"), "utf8"),
);
const packages = Object.entries(lock.packages);

describe("the lock file", () => {
  // `npm ci` refuses a lock that leaves one out, on every machine but the one that wrote it.
  it("holds the packages of every platform", () => {
    const names = new Set(packages.map(([place]) => place.split("node_modules/").at(-1)));
    const wanted = packages.flatMap(([, { optionalDependencies = {} }]) => Object.keys(optionalDependencies));
    expect(wanted.length).toBeGreaterThan(10);
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  });

  it("names no place that packages come from: that is the reader's setting", () => {
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([place]) => place)).toEqual([]);
  });
});
