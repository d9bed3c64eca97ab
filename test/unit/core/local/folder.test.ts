import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../../../src/core/files/index.ts";
import { temporaryFolder } from "../../../support/folder.ts";

describe("a folder that is made", () => {
  it("has all above it, for its owner alone; one that exists stays as it is", () => {
    const top = temporaryFolder();
    const folder = path.join(top, "a", "b", "c");
    makeFolder(folder);
    makeFolder(folder);
    makeFolder("/");
    expect(existsSync(folder)).toBe(true);
    if (process.platform !== "win32") expect(statSync(path.join(top, "a")).mode & 0o777).toBe(0o700);
  });

  it("is refused below a file", () => {
    const file = path.join(temporaryFolder(), "file");
    writeFileSync(file, "");
    expect(() => makeFolder(path.join(file, "a", "b"))).toThrow(/ENOTDIR|ENOENT/);
  });

  // Node's own `mkdir` with `recursive` never returns there.
  it.skipIf(process.platform !== "linux")("is refused below /proc", () => {
    expect(() => makeFolder("/proc/nowhere/hostform")).toThrow(/ENOENT.*\/proc\/nowhere/);
  });

  it("may be made by somebody else at the same time", () => {
    const folder = path.join(temporaryFolder(), "a");
    mkdirSync(folder);
    makeFolder(folder);
    expect(existsSync(folder)).toBe(true);
  });
});
