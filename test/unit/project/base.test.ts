// `--base REF`: the changes since a commit, and protection against code that git would run.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { captureCommand } from "../../../src/project/programs.ts";
import { type Project, startProject } from "../../support/project.ts";

const environment = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@acme.example",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@acme.example",
};
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env: environment, stdio: "pipe", encoding: "utf8" });

const site = (name: string, more: object = {}) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.example`,
  deletion_policy: "forget",
  grants: { "dev@acme.example": "view" },
  ...more,
});
const BEFORE = { project: "agency", services: { www: site("www"), shop: site("shop"), old: site("old") } };

/** A project whose declaration is committed and applied, then replaced by this document. */
async function changed(document: object): Promise<Project> {
  const project = await startProject({ declare: BEFORE });
  project.env.PATH = process.env.PATH;
  project.env.HOME = "/nonexistent";
  // The environment's settings are the same for both commits.
  project.env.HOSTING_MONEY_SCALE = "2";
  project.onCapture = captureCommand;
  git(project.dir, "init", "-q", "-b", "main");
  git(project.dir, "add", "hosting.yaml");
  git(project.dir, "commit", "-q", "-m", "before");
  await project.apply();
  await project.declare(document);
  project.sent();
  return project;
}

const { www, shop, old } = BEFORE.services;

describe("the plan of a base", () => {
  it("has changed, new and removed blocks, and the resources that refer to them", async () => {
    const fresh = site("new");
    const services = { www: { ...www, suspended: true }, shop, fresh };
    const project = await changed({ project: "agency", services });
    const { changes, base } = await project.plan({ base: "main" });
    expect(changes.map(({ address, actions }) => `${actions.join()} ${address}`)).toEqual([
      'create hosting_grant.fresh["dev@acme.example"]',
      'delete hosting_grant.old["dev@acme.example"]',
      'no-op hosting_grant.www["dev@acme.example"]',
      "create hosting_service.fresh",
      "forget hosting_service.old",
      "update hosting_service.www",
    ]);
    expect(base).toEqual({ ref: "main", commit: git(project.dir, "rev-parse", "main").trim(), not_planned: 2 });
    const { out } = await project.run("plan", "--base", "main");
    expect(out).toMatch(/Planned what changed since main \([0-9a-f]{12}\): 6 resources; not planned: 2\./);
    const json = JSON.parse((await project.run("plan", "--base", "HEAD~0", "--json")).out);
    expect(json.hostform.base).toMatchObject({ ref: "HEAD~0", not_planned: 2 });
    expect((await project.apply("--base", "main")).out).toContain("2 added");
  });

  it("is empty for the same blocks in another order, layout, or with another limit", async () => {
    const project = await changed(BEFORE);
    for (const document of [
      BEFORE,
      { services: { old, shop, www }, project: "agency" },
      { ...BEFORE, guards: { max_orders: 0 } },
    ]) {
      await project.declare(document);
      const { changes, base, requests } = await project.plan({ base: "main" });
      expect([changes, base?.not_planned, requests.read]).toEqual([[], 6, 0]);
    }
    expect((await project.run("plan", "--base", "main")).out).toContain("No changes in what was planned.");
  });

  it("compares client, account and references", async () => {
    const project = await changed(BEFORE);
    const { services } = BEFORE;
    for (const [document, count] of [
      [{ ...BEFORE, services: { ...services, www: { ...www, client: "acme" } } }, 2],
      [{ ...BEFORE, providers: { default: { status_words: { herbst: "live" } } } }, 6],
      [{ ...BEFORE, services: { ...services, www: { ...www, depends_on: ["hosting_service.shop"] } } }, 3],
    ] as const) {
      await project.declare(document);
      expect((await project.plan({ base: "main" })).changes).toHaveLength(count);
    }
  });

  it("has moved and forgotten records", async () => {
    const project = await changed(BEFORE);
    await project.declare({
      project: "agency",
      services: { web: www, shop },
      moved: [
        { from: "hosting_service.www", to: "hosting_service.web" },
        { from: "hosting_grant.www", to: "hosting_grant.web" },
      ],
      removed: [
        { from: "hosting_service.old", destroy: false },
        { from: "hosting_grant.old", destroy: false },
      ],
    });
    const { changes, diagnostics } = await project.plan({ base: "main" });
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(changes.map(({ address, actions }) => `${actions.join()} ${address}`)).toEqual([
      'forget hosting_grant.old["dev@acme.example"]',
      'no-op hosting_grant.web["dev@acme.example"]',
      "forget hosting_service.old",
      "no-op hosting_service.web",
    ]);
  });

  it("compares included files of both versions", async () => {
    const { services, project: name } = BEFORE;
    const project = await changed(BEFORE);
    mkdirSync(path.join(project.dir, "clients"));
    const own = { services: { old: services.old } };
    await project.declare({ project: name, include: "clients/*.yaml", services: { www, shop } });
    await project.declare(own, "clients/old.yaml");
    git(project.dir, "add", "hosting.yaml", "clients");
    git(project.dir, "commit", "-q", "-m", "in files");
    const changes = async (ref: string) =>
      (await project.plan({ base: ref })).changes.map(({ address, actions }) => `${actions.join()} ${address}`);
    expect(await changes("HEAD~1")).toEqual([]);
    await project.declare({ services: { old: { ...old, grants: {} } } }, "clients/old.yaml");
    await project.declare({ services: {} }, "clients/more.yaml");
    expect(await changes("main")).toEqual(['delete hosting_grant.old["dev@acme.example"]']);
  });

  it("has everything without an earlier declaration, and reads all files of a folder", async () => {
    const project = await changed(BEFORE);
    const folder = path.join(project.dir, "clients", "grün");
    mkdirSync(folder, { recursive: true });
    const two = { project: "agency", services: { www } };
    writeFileSync(path.join(folder, "hosting.yaml"), JSON.stringify(two));
    const run = async () =>
      JSON.parse(
        (await project.run("plan", "-C", "clients/grün", "--state", project.statePath, "--base", "main", "--json")).out,
      );
    expect((await run()).hostform.base.not_planned).toBe(4);
    git(project.dir, "add", ".");
    git(project.dir, "commit", "-q", "-m", "two");
    writeFileSync(path.join(folder, "b.hosting.yaml"), JSON.stringify({ services: { shop } }));
    expect((await run()).resource_changes.map(({ address }: { address: string }) => address)).toContain(
      "hosting_service.shop",
    );
  });
});

describe("a base is refused", () => {
  it("for a name that no commit has", async () => {
    const project = await changed(BEFORE);
    for (const [ref, says] of [
      ["--upload-pack=touch x", "is not the name of a commit"],
      ["main:hosting.yaml", "is not the name of a commit"],
      ["main\nx", "is not the name of a commit"],
      ["nobody", "is not a commit of this repository"],
      ["HEAD~99", "is not a commit of this repository"],
    ]) {
      const ran = await project.run("plan", `--base=${ref}`);
      expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(String(says))]);
    }
    expect(project.sent()).toEqual([]);
  });

  it("for a folder outside of git, a shallow clone, a declaration with mistakes, a missing git", async () => {
    const project = await changed(BEFORE);
    const first = git(project.dir, "rev-parse", "main").trim();
    git(project.dir, "commit", "-q", "--allow-empty", "-m", "second");
    const clone = path.join(project.dir, "clone");
    git(project.dir, "clone", "-q", "--depth=1", `file://${project.dir}`, clone);
    const of = async (...args: string[]) => (await project.run("plan", ...args)).err;
    expect(await of("-C", "clone", "--base", first)).toContain("which is a shallow clone");
    writeFileSync(path.join(project.dir, "hosting.yaml"), "project: [");
    git(project.dir, "commit", "-q", "-a", "-m", "mistakes");
    await project.declare(BEFORE);
    expect(await of("--base", "HEAD")).toContain("The base HEAD has a declaration with mistakes");
    project.onCapture = async () => ({ failure: "could not be found", stdout: "", stderr: "" });
    expect(await of("--base", "HEAD")).toContain("cannot be read: git could not be found");
    project.onCapture = captureCommand;
    rmSync(path.join(project.dir, ".git"), { recursive: true });
    expect(await of("--base", "HEAD")).toContain("git finds no repository");
  });

  it("for targets, a removal, a stack and an untrusted declaration, without a start of git", async () => {
    const project = await changed(BEFORE);
    project.onCapture = async () => Promise.reject(new Error("git was started"));
    const of = async (...args: string[]) => (await project.run(...args, "--base", "main")).err;
    expect(await of("plan", "--target", "hosting_service.www")).toContain("A base cannot be combined with targets");
    expect(await of("plan", "--destroy")).toContain("combined with the removal of everything");
    expect(await of("plan", "--untrusted")).toContain("combined with an untrusted declaration");
    await project.declare(
      { resource: { hosting_webhook: { a: { url: "https://a.example", events: ["invoice.paid"] } } } },
      "main.tf.json",
    );
    expect(await of("plan", "--stack", ".")).toContain("this project is a stack");
  });
});

describe("git", () => {
  it("gets no credential, and runs no program of the repository's configuration", async () => {
    const project = await changed({ ...BEFORE, services: { www, shop } });
    const ran = path.join(project.dir, "ran");
    const hook = path.join(project.dir, "hook");
    writeFileSync(hook, `#!/bin/sh\ntouch '${ran}'\ncat\n`, { mode: 0o755 });
    for (const name of [
      "core.fsmonitor",
      "diff.x.textconv",
      "filter.x.smudge",
      "filter.x.clean",
      "core.pager",
      "core.sshCommand",
    ])
      git(project.dir, "config", name, hook);
    git(project.dir, "config", "alias.cat-file", `!${hook}`);
    git(project.dir, "config", "core.hooksPath", project.dir);
    writeFileSync(path.join(project.dir, ".git", "info", "attributes"), "* diff=x filter=x\n");
    const given: Readonly<Record<string, string | undefined>>[] = [];
    project.env.GIT_DIR = "/nonexistent";
    project.env.GIT_EXTERNAL_DIFF = hook;
    project.onCapture = (command, options) => {
      given.push(options.env);
      return captureCommand(command, options);
    };
    expect((await project.plan({ base: "main" })).changes).toHaveLength(2);
    expect(existsSync(ran)).toBe(false);
    const names = new Set(given.flatMap((env) => Object.keys(env)));
    expect([...names].filter((name) => /HOSTING|TOKEN|GIT_DIR|EXTERNAL/.test(name))).toEqual([]);
  });

  it("fetches no missing object of a partial clone", async () => {
    const project = await changed(BEFORE);
    const ran = path.join(project.dir, "ran");
    const blob = git(project.dir, "rev-parse", "main:hosting.yaml").trim();
    rmSync(path.join(project.dir, ".git", "objects", blob.slice(0, 2), blob.slice(2)), { force: true });
    const helper = path.join(project.dir, "helper");
    writeFileSync(helper, `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
    git(project.dir, "config", "core.repositoryFormatVersion", "1");
    git(project.dir, "config", "remote.origin.url", `ext::${helper}`);
    git(project.dir, "config", "remote.origin.promisor", "true");
    git(project.dir, "config", "protocol.ext.allow", "always");
    git(project.dir, "config", "extensions.partialClone", "origin");
    const { code, err } = await project.run("plan", "--base", "main");
    expect([code, err]).toEqual([1, expect.stringContaining("which this clone lacks")]);
    expect(existsSync(ran)).toBe(false);
  });

  it("does not use a bare repository in a folder of the project", async () => {
    const project = await changed(BEFORE);
    const ran = path.join(project.dir, "ran");
    const inner = path.join(project.dir, "inner");
    git(project.dir, "init", "-q", "--bare", inner);
    git(inner, "config", "core.fsmonitor", `touch ${ran}`);
    writeFileSync(path.join(inner, "hosting.yaml"), JSON.stringify(BEFORE));
    const { code, err } = await project.run("plan", "-C", "inner", "--state", project.statePath, "--base", "main");
    expect([code, err]).toEqual([1, expect.stringContaining("git finds no repository")]);
    expect(existsSync(ran)).toBe(false);
  });
});
