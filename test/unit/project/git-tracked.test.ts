import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { trackedFiles } from "../../../src/project/git-tracked.ts";
import { quickFolder } from "../../support/folder.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const environment = {
  PATH: process.env.PATH ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@acme.example",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@acme.example",
};
const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, env: environment, stdio: "pipe" });

/** A repository with some files. git tracks the files in `tracked`. */
function repository(tracked: readonly string[], init: readonly string[] = [], version = "2"): string {
  const top = realpathSync(mkdtempSync(quickFolder("git")));
  folders.push(top);
  git(top, "init", "--quiet", ...init);
  git(top, "config", "index.version", version);
  for (const file of [...tracked, "untracked.tfstate"]) {
    mkdirSync(path.dirname(path.join(top, file)), { recursive: true });
    writeFileSync(path.join(top, file), file);
  }
  git(top, "add", "--", ...tracked);
  git(top, "commit", "--quiet", "-m", "x");
  return top;
}

const NAMES = ["hosting.tfstate", "hosting.tfstate.backup", "hosting.tfstate.journal", "untracked.tfstate"];
const files = ["a", "hosting.tf", "hosting.tfstate", "hosting.tfstate.journal", "ü/hosting.tfstate.backup", "ü/z"];

describe("the files that git tracks", () => {
  it.each<[string, string[], string]>([
    ["version 2", [], "2"],
    ["version 4, whose names share their beginnings", [], "4"],
    ["SHA-256", ["--object-format=sha256"], "2"],
  ])("are read from the index: %s", (_, init, version) => {
    const top = repository(files, init, version);
    expect(trackedFiles(top, NAMES)).toEqual(["hosting.tfstate", "hosting.tfstate.journal"]);
    expect(trackedFiles(path.join(top, "ü"), NAMES)).toEqual(["hosting.tfstate.backup"]);
    git(top, "add", "--intent-to-add", "untracked.tfstate");
    expect(trackedFiles(top, NAMES), "version 3").toHaveLength(3);
    git(top, "rm", "--cached", "--quiet", "-r", ".");
    expect(trackedFiles(top, NAMES)).toEqual([]);
  });

  it("are read in a worktree", () => {
    const top = repository(["hosting.tfstate"], ["--object-format=sha256"]);
    git(top, "worktree", "add", "--quiet", "tree");
    expect(trackedFiles(path.join(top, "tree"), NAMES)).toEqual(["hosting.tfstate"]);
  });

  it("are read beside names of any bytes", () => {
    const top = repository(["hosting.tfstate"], [], "4");
    const blob = git(top, "hash-object", "hosting.tfstate").toString().trim();
    const input = Buffer.concat([Buffer.from(`100644 ${blob}\thosting.a`), Buffer.from([0xe9, 0xff, 0])]);
    execFileSync("git", ["update-index", "-z", "--index-info"], { cwd: top, env: environment, input });
    expect(trackedFiles(top, NAMES)).toEqual(["hosting.tfstate"]);
  });

  it("are none if the system refuses the read", () => {
    const top = repository(["hosting.tfstate"]);
    rmSync(path.join(top, ".git"), { recursive: true });
    symlinkSync(".git", path.join(top, ".git"));
    expect(trackedFiles(top, NAMES)).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("are none for a pipe in place of the index", () => {
    const top = repository(["hosting.tfstate"]);
    rmSync(path.join(top, ".git/index"));
    execFileSync("mkfifo", [path.join(top, ".git/index")]);
    expect(trackedFiles(top, NAMES)).toEqual([]);
  });

  it("are none without a repository, and with an unreadable index", () => {
    const top = repository(["hosting.tfstate"]);
    for (const text of ["", "DIRC", "DIRC\0\0\0\u0002\0\0\0\u0009", "x".repeat(200)]) {
      writeFileSync(path.join(top, ".git/index"), text);
      expect(trackedFiles(top, NAMES)).toEqual([]);
    }
    rmSync(path.join(top, ".git"), { recursive: true });
    expect(trackedFiles(top, NAMES)).toEqual([]);
    writeFileSync(path.join(top, ".git"), "gitdir: nowhere\n");
    expect(trackedFiles(top, NAMES)).toEqual([]);
  });
});
