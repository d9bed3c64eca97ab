import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { link, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const declaration = {
  project: "saved",
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", deletion_policy: "forget" } },
};
const shop = { plan_id: 11, currency: "USD", domain: "shop.acme.example", deletion_policy: "forget" };

/** Returns the text of every file in the project's folder. */
const files = ({ dir }: Project) =>
  Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name))
      .map((file) => [file, readFileSync(file, "utf8")]),
  );

/** Plans into a file. Fails unless hostform refuses before any request and keeps every file unchanged. */
async function refused(project: Project, args: readonly string[], ...words: readonly string[]): Promise<void> {
  const before = files(project);
  project.sent();
  const ran = await project.run("plan", ...args);
  expect(ran.code, ran.text).toBe(1);
  for (const word of words) expect(ran.text).toContain(word);
  expect(ran.out, "nothing is planned").toBe("");
  expect(project.sent()).toEqual([]);
  expect(files(project)).toEqual(before);
}

/** A project with every file that a state can have beside it. */
async function applied(): Promise<Project> {
  const project = await startProject({ declare: declaration });
  await project.apply();
  await project.declare({ ...declaration, services: { ...declaration.services, shop } });
  await project.apply();
  return project;
}

describe("plan --out never takes the place of", () => {
  it.each([
    ["the state", "hosting.tfstate"],
    ["the state in another spelling", "./x/../hosting.tfstate"],
    ["the state in another case, which may be the same file", "Hosting.TFState"],
    ["the backup", "hosting.tfstate.backup"],
    ["the journal, which exists only while it is needed", "hosting.tfstate.journal"],
    ["the lock", ".hosting.tfstate.lock"],
    ["the notice of the lock", ".hosting.tfstate.lock.info"],
    ["what Terraform leaves beside a state", ".terraform.tfstate.lock.info", "--state", "terraform.tfstate"],
    ["a state with a name of its own", "other.state", "--state", "other.state"],
    ["the declaration", "hosting.yaml"],
    ["a declaration that is not there yet", "new.hosting.yaml"],
    ["a declaration with a name of its own", "acme.yaml", "-f", "acme.yaml"],
  ])("%s", async (_, file, ...flags) => {
    const project = await applied();
    await mkdir(path.join(project.dir, "x"));
    await refused(
      project,
      ["--out", file, ...flags],
      `The plan cannot be saved as ${file} [usage]`,
      "Fix: Name another",
    );
  });

  it.each([
    ["the state before the first apply", "hosting.tfstate"],
    ["the lock before it", ".hosting.tfstate.lock"],
  ])("%s", async (_, file) => {
    await refused(await startProject({ declare: declaration }), ["--out", file], "hostform keeps the state");
  });

  it("the state behind a link, or a folder that is one", async () => {
    const project = await applied();
    await symlink("hosting.tfstate", path.join(project.dir, "acme.plan"));
    await refused(project, ["--out", "acme.plan"], "hostform keeps the state");
    await symlink(".", path.join(project.dir, "here"));
    await refused(project, ["--out", "here/hosting.tfstate.journal"], "hostform keeps the state");
    await symlink("hosting.tfstate.journal", path.join(project.dir, "journal.plan"));
    await refused(project, ["--out", "journal.plan"], "hostform keeps the state");
    await link(path.join(project.dir, "hosting.tfstate"), path.join(project.dir, "hard.plan"));
    await refused(project, ["--out", "hard.plan"], "is not a plan that hostform saved");
  });

  it.each([
    ["any other file", "notes.txt", "see the plan of hostform"],
    ["an empty one", "empty", ""],
    ["a plan for reading", "plan.json", '{"format_version":"1.2"}'],
    ["what only mentions a plan", "list.json", '[{"form": "hostform plan"}]'],
  ])("%s", async (_, file, text) => {
    const project = await startProject({ declare: declaration });
    await writeFile(path.join(project.dir, file), text);
    await refused(project, ["--out", file], "is not a plan that hostform saved, and would be overwritten");
  });

  it("what begins to stand there while the account is read", async () => {
    const project = await startProject({ declare: declaration });
    const file = path.join(project.dir, "acme.plan");
    project.control.addFault({ method: "GET", path: "/services", phase: "before", delayMs: 1 });
    project.onDelay = () => writeFile(file, "mine");
    const ran = await project.run("plan", "--out", "acme.plan");
    expect([ran.code, readFileSync(file, "utf8")]).toEqual([1, "mine"]);
    expect(ran.err).toContain("would be overwritten");
  });
});

describe("plan --out reports before it reads the account", () => {
  it.each([
    [
      "a folder that is not there",
      "nowhere/acme.plan",
      "cannot be written to nowhere/acme.plan: there is no such file or folder",
    ],
    [
      "a folder that is a file",
      "hosting.yaml/acme.plan",
      "cannot be written to hosting.yaml/acme.plan: a part of the path is not a folder",
    ],
    ["a folder in place of a file", ".", "It is a folder"],
    ["no name", "", "It is empty. Is a variable unset?"],
  ])("%s", async (_, file, words) => {
    await refused(await startProject({ declare: declaration }), ["--out", file], words);
  });
});

describe("plan --out", () => {
  it("writes through a link, which stays one, and again over what it saved", async () => {
    const project = await startProject({ declare: declaration });
    await mkdir(path.join(project.dir, "plans"));
    await symlink("plans/real.plan", path.join(project.dir, "acme.plan"));
    for (const _ of [1, 2]) expect((await project.run("plan", "--out", "acme.plan")).code).toBe(0);
    expect(await readdir(path.join(project.dir, "plans"))).toEqual(["real.plan"]);
    expect((await project.run("apply", "acme.plan")).code).toBe(0);
  });

  it.each([
    ["plain", ["--out", "acme.plan"]],
    ["with a space and a quote", ["--out", "my plan's.plan"]],
    ["as a command for the shell", ["--out", "$(touch pwn).plan"]],
    ["like an option", ["--out=-x.plan"]],
    ["beside another state and declaration", ["--out", "a.plan", "--state", "my state", "-f", "my decl.yaml"]],
    ["in another folder", ["--out", "a.plan", "-C", "sub dir", "--insecure-http"]],
  ])("prints a command that runs as it is printed: %s", async (_, args) => {
    const project = await startProject({ declare: declaration });
    await project.declare(declaration, "my decl.yaml");
    await mkdir(path.join(project.dir, "sub dir"));
    await project.declare(declaration, "sub dir/hosting.yaml");
    const { code, err, text } = await project.run("plan", ...args);
    expect(code, text).toBe(0);
    const printed = /exactly this plan: hostform (.+)$/m.exec(err)?.[1] ?? "";
    // A shell splits the printed command into separate words.
    const words = execFileSync("sh", ["-c", `printf '%s\\0' ${printed}`], { cwd: project.dir, encoding: "utf8" });
    expect(existsSync(path.join(project.dir, "pwn"))).toBe(false);
    const ran = await project.run(...words.split("\0").slice(0, -1));
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toContain("Apply complete! 1 added");
  });
});
