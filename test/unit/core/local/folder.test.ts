import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../../../src/core/files/index.ts";
import { temporaryFolder } from "../../../support/folder.ts";

describe("a created folder", () => {
  it("gets its missing parents, accessible only to their owner; an existing folder stays unchanged", () => {
    const top = temporaryFolder();
    const folder = path.join(top, "a", "b", "c");
    makeFolder(folder);
    makeFolder(folder);
    makeFolder("/");
    expect(existsSync(folder)).toBe(true);
    if (process.platform !== "win32") expect(statSync(path.join(top, "a")).mode & 0o777).toBe(0o700);
  });

  it("is rejected below a file", () => {
    const file = path.join(temporaryFolder(), "file");
    writeFileSync(file, "");
    expect(() => makeFolder(path.join(file, "a", "b"))).toThrow(/ENOTDIR|ENOENT/);
  });

  // Below /proc, Node's `mkdir` with `recursive` never returns.
  it.skipIf(process.platform !== "linux")("is refused below /proc", () => {
    expect(() => makeFolder("/proc/nowhere/hostform")).toThrow(/ENOENT.*\/proc\/nowhere/);
  });

  it("may be created by another process at the same time", () => {
    const folder = path.join(temporaryFolder(), "a");
    mkdirSync(folder);
    makeFolder(folder);
    expect(existsSync(folder)).toBe(true);
  });
});
