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
/**
 * Folders with a lock file: the project, the generators and the builder of the site for contributors who use them, and
 * Node for contributors whose own Node is too old.
 */
const FOLDERS = [".", "scripts/bindings", "scripts/node", "scripts/site"];
const packagesOf = (folder: string): [place: string, Locked][] =>
  Object.entries(JSON.parse(read(path.join(folder, "package-lock.json"))).packages);
const scripted = (folder: string) => packagesOf(folder).filter(([, { hasInstallScript }]) => hasInstallScript === true);
const nameOf = (place: string) => place.split("node_modules/").at(-1) ?? "";

describe.each(FOLDERS)("the lock file of %s", (folder) => {
  const packages = packagesOf(folder);

  // `npm ci` rejects a lock file without an optional package, on every platform except the platform that wrote the
  // lock file.
  it("contains the packages of every platform", () => {
    const names = new Set(packages.map(([place]) => nameOf(place)));
    const wanted = packages.flatMap(([, { optionalDependencies = {} }]) => Object.keys(optionalDependencies));
    expect(wanted.length).toBeGreaterThan(2);
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  });

  it("names no registry, because the user configures the registry", () => {
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([place]) => place)).toEqual([]);
  });

  it("fixes the version and the checksum of each package", () => {
    const fetched = packages.filter(([place, { inBundle }]) => place !== "" && inBundle !== true);
    expect(fetched.length).toBeGreaterThan(2);
    const open = fetched.filter(
      ([, one]) => !/^\d+\.\d+\.\d+/.test(one.version ?? "") || !/^sha512-/.test(one.integrity ?? ""),
    );
    expect(open.map(([place]) => place)).toEqual([]);
  });

  it("has install scripts only in packages that allowScripts names", () => {
    const { allowScripts }: { allowScripts: object } = JSON.parse(read(path.join(folder, "package.json")));
    const withScript = scripted(folder);
    expect(Object.keys(allowScripts).toSorted()).toEqual(withScript.map(([place]) => nameOf(place)).toSorted());
    expect(withScript.filter(([, { dev }]) => dev !== true).map(([place]) => place)).toEqual([]);
  });
});

it("SECURITY.md names the packages with an install script", () => {
  const [, section = ""] = read("SECURITY.md").split("run a script when they are installed");
  const documented = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  const names = FOLDERS.flatMap(scripted).map(([place]) => nameOf(place));
  expect(documented.toSorted()).toEqual(names.toSorted());
});
