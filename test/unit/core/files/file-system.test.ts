import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bounded,
  create,
  isForeignPath,
  isPortableName,
  openPrivate,
  privateFile,
  privateFolder,
  programPath,
  read,
  readNow,
  replace,
  requirePrivate,
} from "../../../../src/core/files/index.ts";
import { fileFailure } from "../../../../src/core/model/index.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { watchPaths } from "../../../support/watched-paths.ts";

const isRoot = process.getuid?.() === 0;

/** Returns the error code of a rejected step, or "nothing". */
const codeOf = async (step: () => unknown): Promise<unknown> => {
  try {
    await step();
    return "nothing";
  } catch (error) {
    expect(fileFailure(error)).toMatch(/^it|^others|^another/);
    return (error as { code?: unknown }).code;
  }
};

/** Creates a project, and a file outside the project. */
function project() {
  const [dir, away] = [temporaryFolder(), temporaryFolder()];
  const at = (name: string) => path.join(dir, name);
  const outside = path.join(away, "victim");
  writeFileSync(outside, "precious");
  writeFileSync(at("own"), "own");
  mkdirSync(at("folder"));
  return { dir, away, at, outside, bounds: { roots: [dir] } };
}

describe("a path within a project", () => {
  const paths = watchPaths();
  beforeAll(paths.begin);
  afterAll(paths.end);

  it.each<[why: string, name: string, prepare: (of: ReturnType<typeof project>) => void]>([
    ["that leads up", "../victim", () => undefined],
    ["that leads up from a folder", "folder/../../victim", () => undefined],
    ["that is absolute", "/etc/hostname", () => undefined],
    ["that is a link", "link", ({ at, outside }) => symlinkSync(outside, at("link"))],
    [
      "that is a link with a relative target",
      "link",
      ({ at, outside, dir }) => symlinkSync(path.relative(dir, outside), at("link")),
    ],
    ["that is a link to nothing", "link", ({ at, away }) => symlinkSync(path.join(away, "new"), at("link"))],
    ["below a link", "link/victim", ({ at, away }) => symlinkSync(away, at("link"))],
    [
      "that is a link to a link",
      "link",
      ({ at, outside }) => {
        symlinkSync("folder/link", at("link"));
        symlinkSync(outside, at("folder/link"));
      },
    ],
  ])("%s is rejected before any file outside is read", async (_, name, prepare) => {
    const of = project();
    prepare(of);
    paths.forget();
    const file = path.isAbsolute(name) ? name : of.at(name);
    expect(await codeOf(() => read(file, of.bounds))).toBe("EOUTSIDE");
    expect(await codeOf(() => replace(file, "x", of.bounds))).toMatch(/EOUTSIDE|ELINK/);
    expect(paths.with(of.away)).toEqual([]);
    expect(paths.with(path.resolve(file)).filter((call) => !/lstat|readlink/.test(call))).toEqual([]);
    expect(readFileSync(of.outside, "utf8")).toBe("precious");
  });

  it("may be a link to a file of the project, unless links are rejected", async () => {
    const { at, bounds, dir } = project();
    symlinkSync("../own", at("folder/link"));
    symlinkSync(at("folder"), at("also"));
    expect((await read(at("also/link"), bounds)).toString()).toBe("own");
    expect(bounded(at("also/link"), bounds)).toBe(path.join(dir, "own"));
    expect(await codeOf(() => read(at("also/link"), { ...bounds, links: false }))).toBe("ELINK");
    expect(await codeOf(() => read(at("folder/link"), { ...bounds, links: false }))).toBe("ELINK");
  });

  it("may be missing, and a cycle of links ends", async () => {
    const { at, bounds } = project();
    symlinkSync("b", at("a"));
    symlinkSync("a", at("b"));
    expect(bounded(at("new/file"), bounds)).toBe(at("new/file"));
    expect(() => bounded(at("a"), bounds)).toThrow("too many links");
  });
});

describe("a file path that is read or written", () => {
  it.skipIf(process.platform === "win32")("is no pipe and no folder: neither makes the process wait", async () => {
    const { at } = project();
    execFileSync("mkfifo", [at("pipe")]);
    for (const step of [
      read,
      readNow,
      (file: string) => replace(file, "x"),
      (file: string) => openPrivate(file, "pin"),
    ])
      expect(await codeOf(() => step(at("pipe")))).toBe("ENOTREGULAR");
    for (const step of [read, readNow, (file: string) => replace(file, "x")])
      expect(await codeOf(() => step(at("folder")))).toBe("EISDIR");
  });

  it.skipIf(process.platform === "win32")("may be a pipe if the command line names it", async () => {
    const { at } = project();
    execFileSync("mkfifo", [at("pipe")]);
    const reading = read(at("pipe"), { streams: true, limit: 4 });
    writeFileSync(at("pipe"), "through");
    expect((await reading).toString()).toBe("thro");
  });

  it("is no link, and its file is replaced completely or stays", async () => {
    const { at, dir, outside } = project();
    symlinkSync(outside, at("link"));
    expect(await codeOf(() => replace(at("link"), "x"))).toBe("ELINK");
    await replace(at("own"), "new", { mode: 0o640 });
    await expect(replace(at("no/such"), "x")).rejects.toThrow("ENOENT");
    expect(() => create(at("own"), "x", 0o600)).toThrow("EEXIST");
    expect(readFileSync(at("own"), "utf8")).toBe("new");
    expect(readdirSync(dir).sort()).toEqual(["folder", "link", "own"]);
    expect(readFileSync(outside, "utf8")).toBe("precious");
  });
});

describe.skipIf(process.platform === "win32")("a file that only this user may use", () => {
  it.each<[why: string, code: string, prepare: (file: string) => void]>([
    ["that others may read", "EMODE", (file) => chmodSync(file, 0o640)],
    ["that others may write", "EMODE", (file) => chmodSync(file, 0o602)],
    ["of another user", "EOWNER", (file) => (isRoot ? chownSync(file, 65_534, 65_534) : undefined)],
  ])("is no file %s", async (_, code, prepare) => {
    const { at } = project();
    chmodSync(at("own"), 0o600);
    expect(requirePrivate(at("own"))).toMatchObject({ form: "file", mode: 0o600, isOwn: true });
    expect(privateFile(at("own"))).toBe(false);
    prepare(at("own"));
    if (code === "EOWNER" && !isRoot) return;
    expect(await codeOf(() => requirePrivate(at("own")))).toBe(code);
    expect(await codeOf(() => privateFile(at("own")))).toBe(code);
  });

  it("is no link, to a file or to a folder", async () => {
    const { at, away, outside } = project();
    symlinkSync(outside, at("link"));
    symlinkSync(away, at("home"));
    expect(await codeOf(() => privateFile(at("link")))).toBe("ELINK");
    expect(await codeOf(() => openPrivate(at("link"), "append"))).toBe("ELINK");
    expect(await codeOf(() => privateFolder(at("home")))).toBe("ELINK");
    expect(readFileSync(outside, "utf8")).toBe("precious");
  });

  it("is created with these permissions", () => {
    const { at } = project();
    privateFolder(at("a/b"));
    expect(privateFile(at("a/b/file"))).toBe(true);
    const modes = ["a", "a/b", "a/b/file"].map((name) => statSync(at(name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o600]);
  });
});

describe("a file name on Windows", () => {
  it.each(["con", "NUL.hosting", "lpt9", "a.", "a. .", "a:b", "..", "a "])("%j means something else there", (name) =>
    expect(isPortableName(name)).toBe(false),
  );

  it.each(["console", "acme", "a.b", "com", "null", "client-con"])("%j is a name", (name) =>
    expect(isPortableName(name)).toBe(true),
  );

  it.each([
    ["\\\\evil.example\\share\\x", true],
    ["//evil.example/share", true],
    ["\\\\?\\C:\\x", true],
    ["\\\\.\\pipe\\x", true],
    ["C:\\work\\NUL", true],
    ["sub/aux.yaml", true],
    ["file:stream", true],
    ["C:\\work\\a.yaml", false],
    ["..\\clients\\a.yaml", false],
  ])("%j refers to a server or a device: %s", (file, expected) => {
    expect(isForeignPath(file, "win32")).toBe(expected);
    expect(isForeignPath(file, "linux")).toBe(false);
  });
});

describe("a program without a folder", () => {
  const there = (...files: string[]) => ({ isProgram: (file: string) => files.includes(file) });

  it("is searched only on the PATH, and never in the working folder or a relative folder", () => {
    const env = { PATH: ":.:bin:/usr/bin:" };
    expect(programPath("git", env, { platform: "linux", ...there("git", "./git", "bin/git") })).toBeUndefined();
    expect(programPath("git", env, { platform: "linux", ...there("bin/git", "/usr/bin/git") })).toBe("/usr/bin/git");
    const windows = { Path: ".;C:\\git" };
    const found = there("git.exe", ".\\git.exe", "C:\\git\\git.exe");
    expect(programPath("git", windows, { platform: "win32", ...found })).toBe("C:\\git\\git.exe");
  });

  it.skipIf(process.platform === "win32")("is an executable file", () => {
    const [first, second] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(path.join(first, "tool"), "", { mode: 0o644 });
    writeFileSync(path.join(second, "tool"), "", { mode: 0o755 });
    expect(programPath("tool", { PATH: `${first}:${second}` })).toBe(path.join(second, "tool"));
  });
});
