import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const lock: { packages: Record<string, Locked> } = JSON.parse(read("package-lock.json"));
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

  it("settles the version and the checksum of each package", () => {
    const fetched = packages.filter(([place, { inBundle }]) => place !== "" && inBundle !== true);
    expect(fetched.length).toBeGreaterThan(100);
    const open = fetched.filter(
      ([, one]) => !/^\d+\.\d+\.\d+/.test(one.version ?? "") || !/^sha512-/.test(one.integrity ?? ""),
    );
    expect(open.map(([place]) => place)).toEqual([]);
  });

  it("has a script at installation only in the tools that SECURITY.md and allowScripts name", () => {
    const withScript = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    const names = withScript.map(([place]) => place.split("node_modules/").at(-1) ?? "").toSorted();
    const [, section = ""] = read("SECURITY.md").split("run a script when they are installed");
    const documented = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
    const { allowScripts }: { allowScripts: object } = JSON.parse(read("package.json"));
    expect(documented.toSorted()).toEqual(names);
    expect(Object.keys(allowScripts).toSorted()).toEqual(names);
    expect(withScript.filter(([, { dev }]) => dev !== true).map(([place]) => place)).toEqual([]);
  });
});
