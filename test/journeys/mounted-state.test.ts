/**
 * State files that cannot be replaced by a rename: hostform detects them before it orders, by an errno and with a real
 * mount.
 */
import { spawnSync } from "node:child_process";
import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { itWith } from "../support/needing.ts";
import { builtProgram } from "../support/program.ts";
import { MOUNT } from "../support/programs.ts";
import { type Project, startProject } from "../support/project.ts";
import { refuse } from "../support/refusing-disk.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const GRANT = { grants: { "dev@acme.example": "view" } };
const TWO = { project: "p", services: { www: { ...SITE, ...GRANT }, shop: { ...SITE, domain: "shop.acme.example" } } };

/** A state with one site, and a declaration that orders a second site. */
async function recorded(): Promise<Project> {
  const project = await startProject({ declare: { project: "p", services: { www: SITE } } });
  await project.apply();
  await project.declare(TWO);
  project.sent();
  return project;
}

it.each([
  ["plan", "--lock"],
  ["apply", "--auto-approve"],
  ["state", "rm", "hosting_service.www"],
  ["destroy", "--auto-approve"],
])("%s sends no request while the state file is a mount of its own", async (...command) => {
  const project = await recorded();
  refuse("link", "hosting.tfstate", "EXDEV");
  const { code, text } = await project.run(...command);
  expect(code).toBe(1);
  expect(text).toContain("The state file is a mount");
  expect(text).toContain("Mount the folder in place of the file");
  expect(project.sent()).toEqual([]);
});

it("plan works while the state file is a mount of its own, because it only reads", async () => {
  const project = await recorded();
  refuse("link", "hosting.tfstate", "EXDEV");
  const { code, text } = await project.run("plan", "--detailed-exitcode");
  expect(code, text).toBe(2);
});

it.each(["EBUSY", "EPERM", "EACCES", "ENOSPC", "EDQUOT"])(
  "apply orders nothing when the system refuses to replace the state with %s, and names the refusal",
  async (errno) => {
    const project = await recorded();
    const before = project.memory();
    const allow = refuse("rename", "hosting.tfstate", errno);
    const { code, text } = await project.run("apply", "--auto-approve");
    expect(code).toBe(1);
    expect(text).toContain(errno);
    expect(project.changesSent()).toEqual([]);
    expect(project.memory().get("hosting.tfstate")).toBe(before.get("hosting.tfstate"));
    allow();
    await project.apply();
    await project.expectNoChanges();
  },
);

it("apply orders nothing when the backup cannot be written", async () => {
  const project = await recorded();
  refuse("rename", "hosting.tfstate.backup", "EBUSY");
  const { code, text } = await project.run("apply", "--auto-approve");
  expect(code).toBe(1);
  expect(text).toContain("EBUSY");
  expect(project.changesSent(), text).toEqual([]);
});

it("apply orders nothing when no file can be created beside the state", async () => {
  const project = await recorded();
  refuse("open", /\.(?:journal|tmp)$/, "ENOSPC");
  const { code, text } = await project.run("apply", "--auto-approve");
  expect(code).toBe(1);
  expect(text).toContain("ENOSPC");
  expect(project.changesSent(), text).toEqual([]);
});

it("a webhook is not created while the file for its secret is a mount of its own", async () => {
  const hook = { url: "https://hooks.acme.example/", events: ["invoice.paid"] };
  const declare = {
    project: "p",
    webhooks: { hook: { ...hook, secret_output: { env_file: { path: ".env", name: "HOOK" } } } },
  };
  const project = await startProject({ declare });
  await writeFile(path.join(project.dir, ".env"), "A=1\n", { mode: 0o600 });
  refuse("link", ".env", "EXDEV");
  const { code, text } = await project.run("apply", "--auto-approve");
  expect(code).toBe(1);
  expect(text).toContain("is a mount point, so no other file can replace it");
  expect(project.changesSent()).toEqual([]);
});

it.each([
  ["--report", "plan.html"],
  ["--out", "acme.plan"],
])("plan asks nothing of the host while the file of %s is a mount of its own", async (option, file) => {
  const project = await recorded();
  if (option === "--out") expect((await project.run("plan", option, file)).code).toBe(0);
  else await writeFile(path.join(project.dir, file), "");
  project.sent();
  refuse("link", file, "EXDEV");
  const { code, text } = await project.run("plan", option, file);
  expect(code).toBe(1);
  expect(text).toContain("Mount its folder instead");
  expect(project.sent()).toEqual([]);
});

itWith(MOUNT)("a real mount of the state file is refused by the built program before the first request", async () => {
  const project = await recorded();
  const outside = path.join(project.dir, "outside.tfstate");
  await copyFile(project.statePath, outside);
  const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
  const command = [process.execPath, await builtProgram(), "-C", project.dir, "apply", "--auto-approve"];
  const { status, stderr } = spawnSync(
    "unshare",
    ["-m", "sh", "-c", script, "sh", outside, project.statePath, ...command],
    {
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: project.dir, ...project.env },
    },
  );
  expect(stderr).toContain("The state file is a mount");
  expect(status).toBe(1);
  expect(project.sent()).toEqual([]);
  expect(await readFile(outside, "utf8")).toBe(await project.stateText());
  expect((await readdir(project.dir)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});
