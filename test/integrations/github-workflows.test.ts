/** The action setup, and the workflows of integrations/github, in whole jobs: the steps of the files, with stubs of GitHub. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { VERSION } from "../../src/core/api/version.ts";
import { temporaryFolder } from "../support/folder.ts";
import { declaration, MAIN, pullRequest, repository, service } from "../support/github-repository.ts";
import { type RunOptions, WorkflowRun } from "../support/github-runner.ts";
import { listening } from "../support/listening.ts";

/** The built package as a release has it. */
const PACKAGE = execFileSync("tar", ["-czf", "-", "--transform", "s,^,package/,", "dist", "schemas", "package.json"], {
  cwd: path.dirname(path.dirname(MAIN)),
  maxBuffer: 100_000_000,
});
const digestOf = (name: string, encoding: "hex" | "base64") => createHash(name).update(PACKAGE).digest(encoding);
const DIGESTS = { digest: digestOf("sha256", "hex"), npm: `sha512-${digestOf("sha512", "base64")}` };

/** Serves the package. Returns its URL and both digests. */
async function release() {
  const server = createServer(({ url }, response) =>
    url === "/hostform.tgz" ? response.end(PACKAGE) : response.writeHead(404).end(),
  );
  return { url: `${await listening(server)}/hostform.tgz`, ...DIGESTS };
}

describe("the action setup", () => {
  const job = () => new WorkflowRun({ event: "pull_request", api: "" });

  it("installs a version by its SHA-256, or by the digest that npm prints, and runs no file of the commit", async () => {
    const { url, digest, npm } = await release();
    const run = job();
    for (const name of ["hostform", "node", "tar"])
      writeFileSync(path.join(run.workspace, name), "#!/bin/sh\necho evil\n", { mode: 0o755 });
    writeFileSync(path.join(run.workspace, ".npmrc"), "registry=http://127.0.0.1:1\n");
    for (const given of [digest, npm]) {
      const { failed, log } = await run.action("setup", { version: VERSION, url, digest: given });
      expect(failed, log).toBe(false);
      expect(log).not.toContain("evil");
    }
  });

  it.each([
    [
      "another digest",
      { digest: "0".repeat(64) },
      /^::error::The digest of \S+ is [\da-f]{64}, not 0{64}\. Nothing was installed\.$/m,
    ],
    ["no URL", { url: "" }, /^::error::The input url needs the URL of the downloaded file\.$/m],
    ["no digest", { digest: "" }, /^::error::The input digest needs sha512-/m],
    ["another version", { version: "9.9.9" }, /^::error::The archive contains hostform \d+\.\d+\.\d+, not 9\.9\.9\.$/m],
    ["a range of versions", { version: "^0.1" }, /^::error::The input version needs one exact version/m],
    ["a missing file", { path: "/missing.tgz" }, /^::error::\S+ responded 404\.$/m],
    ["no server", { origin: "http://127.0.0.1:2" }, /^::error::\S+ did not respond: connect ECONNREFUSED/m],
  ])("refuses %s", async (_, { path: file, origin, ...more }: Record<string, string>, message) => {
    const { url, digest } = await release();
    const from = new URL(file ?? new URL(url).pathname, origin ?? url).href;
    const { failed, log } = await job().action("setup", { version: VERSION, digest, url: from, ...more });
    expect(failed).toBe(true);
    expect(log).toMatch(message);
  });
});

const PROJECT = "workflows/hosting-project.yml";
const [BASE, HEAD] = ["b".repeat(40), "5".repeat(40)];

/** Jobs of one project, with the settings of docs/github-actions.md. @param files Content of the repository at a ref. */
async function workflow(
  event: string,
  payload: object,
  more: Partial<RunOptions> = {},
  files: (ref: string) => Record<string, string> = () => ({ "hosting.yaml": declaration("www") }),
) {
  const { sandbox, github, orders } = await repository();
  const { url, digest } = await release();
  const refs: string[] = [];
  const start = (also: Partial<RunOptions> = {}) =>
    new WorkflowRun({
      event,
      payload,
      api: github.url,
      vars: { HOSTING_BASE_URL: sandbox.url, HOSTFORM_ALLOWED_ORIGINS: sandbox.url },
      secrets: { HOSTING_VIEW_TOKEN: sandbox.tokens.viewer, HOSTING_TOKEN: sandbox.tokens.agency },
      inputs: { name: "hostform" },
      env: { HOSTFORM_VERSION: VERSION, HOSTFORM_URL: url, HOSTFORM_DIGEST: digest },
      checkout: (ref) => {
        refs.push(ref);
        return files(ref);
      },
      ...more,
      ...also,
    });
  return { run: start(), start, refs, github, orders, sandbox };
}

describe("the workflow of a repository", () => {
  it("plans a pull request with the state of the target branch", async () => {
    const { run, refs, github } = await workflow("pull_request", pullRequest());
    const ran = await run.job(PROJECT, "plan");
    expect(ran?.failed, ran?.log).toBe(false);
    expect(refs).toEqual([BASE, HEAD]);
    expect(github.comments[0]?.body).toContain("Orders 1 service");
    for (const job of ["save", "apply"]) expect(await run.job(PROJECT, job, { save: {} })).toBeUndefined();
  });

  it.each([
    ["a fork", pullRequest("mallory/sites"), {}],
    ["Dependabot", pullRequest(), { actor: "dependabot[bot]" }],
  ])("validates a commit of %s, which gets no secret", async (_, payload, more) => {
    const { run, github } = await workflow("pull_request", payload, { token: "ghs_read", secrets: {}, ...more });
    const ran = await run.job(PROJECT, "plan");
    expect(ran?.failed, ran?.log).toBe(false);
    expect(ran?.log).not.toContain("There is no state yet");
    expect(ran?.summary).toContain("The declaration is valid");
    expect(github.comments).toEqual([]);
  });

  it.each([
    ["a pull request of the team", "pull_request", pullRequest()],
    ["the merge queue", "merge_group", { merge_group: { base_sha: "a".repeat(40) } }],
  ])("fails for %s without the token, instead of a validation", async (_, event, payload) => {
    const { run } = await workflow(event, payload, { secrets: {} });
    const ran = await run.job(PROJECT, "plan");
    expect(ran?.failed).toBe(true);
    expect(ran?.log).toContain("::error::The environment hosting-plan has no secret HOSTING_VIEW_TOKEN.");
  });

  it("plans the commit of the merge queue", async () => {
    const { run, refs } = await workflow("merge_group", { merge_group: { base_sha: "a".repeat(40) } });
    const ran = await run.job(PROJECT, "plan");
    expect(ran?.failed, ran?.log).toBe(false);
    expect(refs).toEqual(["a".repeat(40), HEAD]);
  });

  it("saves a plan on main, applies this plan after the approval, and skips the apply without changes", async () => {
    const { run, orders } = await workflow("push", {});
    expect(await run.job(PROJECT, "plan")).toBeUndefined();
    const save = await run.job(PROJECT, "save");
    expect(save?.failed, save?.log).toBe(false);
    const apply = await run.job(PROJECT, "apply", { save: save?.outputs ?? {} });
    expect(apply?.failed, apply?.log).toBe(false);
    expect(orders()).toHaveLength(1);
    for (const changes of ["false", "unknown"])
      expect(await run.job(PROJECT, "apply", { save: { "has-changes": changes } })).toBeUndefined();
  });

  it("fails in a folder without a declaration, instead of a plan with an empty state", async () => {
    const { run } = await workflow("pull_request", pullRequest(), {}, () => ({ "sites/a/hosting.yaml": "" }));
    const ran = await run.job(PROJECT, "plan");
    expect(ran?.failed).toBe(true);
    expect(ran?.log).toContain("::error::The folder . has no hosting.yaml.");
    expect(ran?.log).not.toContain("There is no state yet");
  });

  it("plans a new project of a pull request with an empty state", async () => {
    const site = (ref: string) => ({
      "README.md": "",
      ...(ref === HEAD && { "sites/new/hosting.yaml": declaration("www") }),
    });
    const inputs = { name: "new", directory: "sites/new" };
    const { run, github } = await workflow("pull_request", pullRequest(), { inputs }, site);
    const ran = await run.job(PROJECT, "plan");
    expect(ran?.failed, ran?.log).toBe(false);
    expect(ran?.log).toContain("::notice::The target branch has no declaration in sites/new");
    expect(github.comments[0]?.body).toContain("Orders 1 service");
  });
});

describe("the workflow of a repository with two projects", () => {
  const projects = ["a", "b"].map((name) => ({ name, directory: `sites/${name}`, environment: "production" }));
  const site = (name: string) => ({
    [`sites/${name}/hosting.yaml`]: JSON.stringify({ ...JSON.parse(declaration(name)), project: name }),
    [`sites/${name}/environments/production.yaml`]: "guards: {max_orders: 2}\n",
  });

  it("plans each project in its environment of the target branch, although one project fails", async () => {
    const files = (ref: string) => ({
      ...site("a"),
      ...site("b"),
      // A pull request cannot set the URL of an environment.
      ...(ref === HEAD && {
        "sites/a/environments/production.yaml": "providers: {default: {base_url: https://evil.example}}\n",
        "sites/b/hosting.yaml": "project: [",
      }),
    });
    const { start, github } = await workflow("pull_request", pullRequest(), {}, files);
    const failed = [];
    for (const inputs of projects) failed.push((await start({ inputs }).job(PROJECT, "plan"))?.failed);
    expect(failed).toEqual([false, true]);
    expect(github.comments.map(({ body }) => body)).toEqual([
      expect.stringMatching(/^<!-- hostform action: a -->[\s\S]*Orders 1 service/),
      expect.stringMatching(/^<!-- hostform action: b -->[\s\S]*sites\/b\/hosting\.yaml/),
    ]);
  });

  it("validates a fork in the environment of the target branch", async () => {
    const fork = { token: "ghs_read", secrets: {}, inputs: projects[0] };
    const { run } = await workflow("pull_request", pullRequest("mallory/sites"), fork, () => site("a"));
    const ran = await run.job(PROJECT, "plan");
    expect(ran?.failed, ran?.log).toBe(false);
    expect(ran?.summary).toContain("The declaration is valid");
  });

  it("copies the state of the environment, and applies the plan of each project", async () => {
    const { start, orders } = await workflow("push", {}, {}, () => ({ ...site("a"), ...site("b") }));
    for (const inputs of projects) {
      const run = start({ inputs });
      const save = await run.job(PROJECT, "save");
      expect([...run.artifacts.keys()]).toEqual([inputs.name]);
      const apply = await run.job(PROJECT, "apply", { save: save?.outputs ?? {} });
      expect(apply?.failed, apply?.log).toBe(false);
      const at = path.join(inputs.directory, "hosting.production.tfstate");
      const files = { ...site("a"), ...site("b"), [at]: readFileSync(path.join(run.workspace, at), "utf8") };
      const request = start({ inputs, event: "pull_request", payload: pullRequest(), checkout: () => files });
      expect((await request.job(PROJECT, "plan"))?.summary).toContain("No changes");
    }
    expect(orders().map(({ domain }) => domain)).toEqual(["a.acme.example", "b.acme.example"]);
  });
});

describe("the workflow of the night", () => {
  it("reads a project with the abilities view and billing, and fails if a site is offline", async () => {
    const www = { ...service("www.acme.example"), grants: { "dev@acme.example": "view" } };
    const files: Record<string, string> = { "hosting.yaml": JSON.stringify({ project: "acme", services: { www } }) };
    const { run, start, sandbox } = await workflow("push", {}, {}, () => files);
    const save = await run.job(PROJECT, "save");
    const apply = await run.job(PROJECT, "apply", { save: save?.outputs ?? {} });
    expect(apply?.failed, apply?.log).toBe(false);
    files["hosting.tfstate"] = readFileSync(path.join(run.workspace, "hosting.tfstate"), "utf8");
    const { value } = sandbox.control.create("tokens", { name: "status", abilities: ["view", "billing"] });
    const night = () =>
      start({ event: "schedule", inputs: {}, secrets: { HOSTING_STATUS_TOKEN: value } }).job(
        "workflows/nightly.yml",
        "status",
      );
    const green = await night();
    expect(green?.failed, green?.log).toBe(false);
    const [site] = sandbox.control.list("services").filter(({ domain }) => domain === "www.acme.example");
    sandbox.control.suspendService(site?.id ?? 0);
    const red = await night();
    expect(red?.failed).toBe(true);
    expect(red?.summary).toContain("Exit code 4 because of --fail-on: offline");
  });
});

describe("the workflow of a release", () => {
  /** Programs that log their arguments. `npm run release` creates a release. */
  function programs() {
    const bin = temporaryFolder();
    const log = path.join(bin, "log");
    const program = (name: string, script: string) =>
      writeFileSync(path.join(bin, name), `#!/bin/bash\nset -e\necho "${name} $*" >> "${log}"\n${script}`, {
        mode: 0o755,
      });
    program("gh", "");
    program(
      "npm",
      `if [ "$1" = run ]; then mkdir release; cd release; echo 1 > hostform-0.1.0.tgz; echo 2 > terraform-provider-hosting_0.1.0_linux.zip
sha256sum hostform* > SHA256SUMS; sha256sum terraform* > terraform-provider-hosting_0.1.0_SHA256SUMS; fi`,
    );
    return { bin, lines: () => readFileSync(log, "utf8").trim().split("\n") };
  }
  const tag = (bin: string, version = "0.1.0") =>
    new WorkflowRun({ event: "push", api: "", bin, checkout: () => ({ "package.json": JSON.stringify({ version }) }) });

  it("builds the tag, and publishes the files of the build", async () => {
    const { bin, lines } = programs();
    const run = tag(bin);
    const built = await run.job("release.yml", "build");
    expect(built?.failed, built?.log).toBe(false);
    const published = await run.job("release.yml", "publish");
    expect(published?.failed, published?.log).toBe(false);
    expect(lines()).toEqual([
      "npm run release",
      expect.stringMatching(/^gh release create v0\.1\.0 --draft --verify-tag .* release\/hostform-0\.1\.0\.tgz /),
      "npm publish --provenance --access public ./release/hostform-0.1.0.tgz",
    ]);
  });

  it("publishes nothing if the tag is not the version, or if a file has changed", async () => {
    const { bin, lines } = programs();
    expect((await tag(bin, "0.2.0").job("release.yml", "build"))?.failed).toBe(true);
    const run = tag(bin);
    await run.job("release.yml", "build");
    appendFileSync(path.join(run.artifacts.get("release") ?? "", "hostform-0.1.0.tgz"), "x");
    expect((await run.job("release.yml", "publish"))?.failed).toBe(true);
    expect(lines()).toEqual(["npm run release"]);
  });
});
