import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { FleetReport } from "../../src/report/index.ts";
import { type Project, startProject } from "../support/project.ts";

const service = (domain: string) => ({ plan_id: 11, currency: "USD", domain, deletion_policy: "forget" });
const declaration = (name: string, more: object = {}) =>
  JSON.stringify({ project: name, services: { www: service(`www.${name}.example`) }, ...more });

/** Writes a fleet of these projects below `customers/`. */
async function fleetOf(names: readonly string[], more: object = {}): Promise<Project> {
  const project = await startProject();
  for (const name of names) {
    await mkdir(path.join(project.dir, "customers", name), { recursive: true });
    await project.declare(declaration(name), `customers/${name}/hosting.yaml`);
  }
  await project.declare({ fleet: "agency", projects: [{ path: "customers/*" }], ...more }, "fleet.yaml");
  return project;
}

const reportOf = (out: string) => JSON.parse(out) as FleetReport;
const results = ({ projects }: FleetReport) => Object.fromEntries(projects.map(({ name, result }) => [name, result]));
const sites = ({ control }: Project) =>
  control.list("services").flatMap(({ domain }) => (/^www\..\.example$/.test(String(domain)) ? [domain] : []));

describe("a fleet", () => {
  it("plans, applies and reports all projects, and needs no second apply", async () => {
    const project = await fleetOf(["a", "b", "c"]);
    const planned = await project.run("fleet", "plan", "--json", "--detailed-exitcode");
    expect(planned.code, planned.text).toBe(2);
    expect(reportOf(planned.out)).toMatchObject({
      fleet: "agency",
      totals: { add: 3, change: 0, destroy: 0, orders: 3, spend: { USD: 1350 } },
    });
    expect(project.changesSent()).toEqual([]);

    const applied = await project.run("fleet", "apply", "--auto-approve");
    expect(applied.code, applied.text).toBe(0);
    expect(applied.out).toContain("customers/a  applied: 1 to add, 0 to change, 0 to destroy; 1 order:");
    expect(sites(project)).toHaveLength(3);
    project.clock.advance(60_000);

    const again = await project.run("fleet", "plan", "--detailed-exitcode");
    expect(again.code, again.text).toBe(0);
    expect(again.out).toContain("3 projects: 3 no changes.");
    const status = await project.run("fleet", "status");
    expect(status.out, status.text).toContain("customers/b  no changes:");
  });

  it("asks once, and applies nothing without a yes", async () => {
    const project = await fleetOf(["a", "b"]);
    project.answer = () => "no";
    const ran = await project.run("fleet", "apply");
    expect(ran.code, ran.text).toBe(1);
    expect(project.changesSent()).toEqual([]);
  });

  it("does not start the waves after a failure", async () => {
    const project = await fleetOf(["a", "b", "c", "d"], { waves: [1, 2], parallelism: 1 });
    project.control.addFault({ method: "POST", path: "/services", phase: "before", status: 422, nth: 2 });
    const ran = await project.run("fleet", "apply", "--auto-approve", "--json");
    expect(ran.code, ran.text).toBe(1);
    const { "customers/d": last, ...others } = results(reportOf(ran.out));
    expect(Object.values(others).sort()).toEqual(["applied", "applied", "failed"]);
    expect(last).toBe("not_started");
    expect(sites(project)).toHaveLength(2);
  });

  it("starts no later wave if a project of the first wave cannot be planned", async () => {
    const project = await fleetOf(["a", "b", "c"], { waves: [1] });
    await project.declare("project: a\nservices: {www: {plan: 11}}\n", "customers/a/hosting.yaml");
    const ran = await project.run("fleet", "apply", "--auto-approve", "--json");
    expect(results(reportOf(ran.out))).toEqual({
      "customers/a": "failed",
      "customers/b": "not_started",
      "customers/c": "not_started",
    });
    expect(project.changesSent()).toEqual([]);
  });

  it("is refused as a whole above a limit over all projects", async () => {
    const project = await fleetOf(["a", "b"], { guards: { max_orders: 1, max_spend: { USD: 500 } } });
    const planned = await project.run("fleet", "plan");
    expect([planned.code, planned.out]).toEqual([1, expect.stringContaining("the limit is 1 [fleet.guard]")]);
    const ran = await project.run("fleet", "apply", "--auto-approve", "--format", "markdown");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.out).toContain("The plans of the fleet would order 2; the limit is 1");
    expect(ran.out).toContain("would spend 900 (USD, API's unit); the limit is 500 (USD, API's unit)");
    expect(project.changesSent()).toEqual([]);
  });

  it("goes on with the other projects after the mistake of one", async () => {
    const project = await fleetOf(["a", "b"]);
    await project.declare("project: b\nservices: {www: {plan: 11}}\n", "customers/b/hosting.yaml");
    const ran = await project.run("fleet", "apply", "--auto-approve", "--json");
    expect(ran.code, ran.text).toBe(1);
    expect(results(reportOf(ran.out))).toEqual({ "customers/a": "applied", "customers/b": "failed" });
    expect(sites(project)).toEqual(["www.a.example"]);
  });

  it("selects projects and clients", async () => {
    const project = await fleetOf(["a", "b"]);
    const ran = await project.run("fleet", "plan", "--project", "customers/b", "--json");
    expect(Object.keys(results(reportOf(ran.out)))).toEqual(["customers/b"]);
    const none = await project.run("fleet", "plan", "--project", "customer/*");
    expect(none.code).toBe(1);
    expect(none.err).toContain("No project of the fleet matches [fleet.project]");
  });

  it.each([
    [{ fleet: "x", projects: [{ path: "../y" }] }, "projects[0].path: expected a path inside the folder"],
    [{ fleet: "x", projects: [{ path: "a", branch: "main" }] }, "`branch` and `signers` need `git`"],
    [{ fleet: "x", projects: [{ git: "https://ana:pw@git.example/x" }] }, "expected a URL without credentials"],
    [{ fleet: "x", projects: [{ git: "ext::sh -c id" }] }, "projects[0].git: expected an https or ssh URL"],
    [
      { fleet: "x", projects: [{ git: "https://git.example/x", branch: "-u" }] },
      "projects[0].branch: expected a branch",
    ],
    [{ fleet: "x", projects: [{ path: "a" }], wave: [1] }, '"wave" is not known. Did you mean "waves"?'],
    [{ fleet: "x", projects: [{ path: "a" }], interval: "5s" }, "interval: expected a time of at least 1m"],
    [{ fleet: "x", projects: [{ path: "a" }], interval: 60 }, "interval: expected a time with its unit, such as 10m"],
    [{ projects: [{ path: "a" }] }, "fleet: it is missing"],
    [{ fleet: "x", projects: [{ path: "a" }], waves: 5 }, "waves: expected list, received number"],
    [{ fleet: "x", projects: [{ path: "a" }], guards: 3 }, "guards: expected map, received number"],
    [{ fleet: "x", projects: [{ path: "a" }], parallelism: 99 }, "parallelism: at most 50"],
    [
      { fleet: "x", projects: [{ path: "a" }], notify: [{ url: "http://hooks.example" }] },
      "notify[0].url: expected an https URL",
    ],
    ["fleet: x\nprojects:\n  - path: a\n    interval: 5m\n", 'projects[0]: "interval" belongs at the top of the file'],
    ["fleet: x\nprojects:\n  - path: a\n    interval: 5m\n", "fleet.yaml:4:5"],
    ["# nothing\n", "Error: fleet.yaml: the file is empty"],
  ])("names a mistake in its file: %j", async (file, why) => {
    const project = await startProject();
    await project.declare(file, "fleet.yaml");
    const ran = await project.run("fleet", "plan");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(why);
    expect(ran.err.match(/\[fleet\.invalid\]/g)).toHaveLength(1);
    expect(ran.err).toContain("fleet.yaml:");
  });

  it("applies no project that two entries select, reports it once, and goes on with the others", async () => {
    const project = await fleetOf(["a", "b"], {
      projects: [{ path: "customers/a" }, { path: "./customers/a" }, { path: "customers/*" }],
    });
    const ran = await project.run("fleet", "apply", "--auto-approve", "--json");
    expect(ran.code, ran.text).toBe(1);
    expect(reportOf(ran.out).projects.map(({ name, result }) => [name, result])).toEqual([
      ["customers/a", "failed"],
      ["customers/b", "applied"],
    ]);
    expect(ran.out).toContain("fleet.yaml: two entries select the project customers/a");
    expect(sites(project)).toEqual(["www.b.example"]);
  });

  it("puts a canary before a pattern that also selects it", async () => {
    const project = await fleetOf(["a", "b", "c"], { projects: [{ path: "customers/c" }, { path: "customers/*" }] });
    const ran = await project.run("fleet", "plan", "--json");
    expect(ran.code, ran.text).toBe(0);
    expect(reportOf(ran.out).projects.map(({ name }) => name)).toEqual(["customers/c", "customers/a", "customers/b"]);
    const projects = [{ path: "customers/*" }, { path: "customers/c", stack: "missing" }];
    await project.declare({ fleet: "agency", projects }, "fleet.yaml");
    const other = results(reportOf((await project.run("fleet", "plan", "--json")).out));
    expect(other).toEqual({ "customers/a": "differs", "customers/b": "differs", "customers/c": "failed" });
  });

  it("sends no news that a plan waits if it applies the plans at once", async () => {
    const project = await fleetOf(["a"]);
    const notify = [{ command: ["tee", "-a", path.join(project.dir, "news.txt")] }];
    await project.declare({ fleet: "agency", projects: [{ path: "customers/*" }], notify }, "fleet.yaml");
    const news = () => readFile(path.join(project.dir, "news.txt"), "utf8");
    expect((await project.run("fleet", "apply", "--auto-approve")).code).toBe(0);
    expect(await news()).not.toContain("A plan waits");
    await project.declare(
      { project: "a", services: { www: service("www.a.example"), b: service("www.b.example") } },
      "customers/a/hosting.yaml",
    );
    expect((await project.run("fleet", "plan")).code).toBe(0);
    expect(await news()).toContain("A plan waits");
  });

  it("names the place of a mistake, and the project in the commands of its remedies", async () => {
    const project = await fleetOf(["a"]);
    const dir = path.join(project.dir, "customers", "a");
    await project.declare("project: a\nservices:\n  www: {plan: 11}\n", "customers/a/hosting.yaml");
    expect((await project.run("fleet", "plan")).out).toMatch(/ {2}hosting\.yaml:3:\d+: /);
    await project.declare(declaration("a"), "customers/a/hosting.yaml");
    expect((await project.run("fleet", "apply", "--auto-approve")).code).toBe(0);
    project.clock.advance(60_000);
    await rm(path.join(dir, "hosting.tfstate"));
    const ran = await project.run("fleet", "plan");
    expect(ran.out, ran.text).toContain(`-C ${dir}\``);
  });

  it("prints amounts with the scale of their projects, as a plan does", async () => {
    const project = await fleetOf(["a", "b"], { guards: { max_spend: { USD: 500 } } });
    const scaled = { providers: { default: { money_scale: 2 } } };
    for (const name of ["a", "b"]) await project.declare(declaration(name, scaled), `customers/${name}/hosting.yaml`);
    const { out } = await project.run("fleet", "plan");
    expect(out).toContain("1 order: 4.50 USD\n");
    expect(out).toContain("Planned orders: 2, 9.00 USD.");
    expect(out).toContain("would spend 9.00 USD; the limit is 5.00 USD");
    await project.declare(declaration("b"), "customers/b/hosting.yaml");
    expect((await project.run("fleet", "plan")).out).toContain("Planned orders: 2, 900 (USD, API's unit).");
  });

  it("sends the news of all projects to its channels", async () => {
    const mails = (name: string) => ({ notify: [{ command: ["tee", "-a", path.join(project.dir, name)] }] });
    const project = await fleetOf(["a", "b"]);
    await project.declare(declaration("b", mails("own.txt")), "customers/b/hosting.yaml");
    await project.declare({ fleet: "agency", projects: [{ path: "customers/*" }], ...mails("all.txt") }, "fleet.yaml");
    const ran = await project.run("fleet", "apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    const textIn = (name: string) => readFile(path.join(project.dir, name), "utf8");
    for (const name of ["a", "b"]) expect(await textIn("all.txt")).toContain(`hostform, ${name}\nApply complete!`);
    expect(await textIn("own.txt")).not.toContain("hostform, a");
  });

  it("shares templates, and rejects any other section in their file", async () => {
    const project = await fleetOf(["a"], { templates: { path: "site.yaml" } });
    await project.declare(
      { templates: { site: { parameters: { domain: null }, ...service("${domain}") } } },
      "site.yaml",
    );
    const using = { project: "a", services: { www: { template: "site", with: { domain: "www.a.example" } } } };
    await project.declare(using, "customers/a/hosting.yaml");
    const planned = await project.run("fleet", "plan");
    expect(planned.code, planned.text).toBe(0);
    expect(planned.out).toContain("Templates: site.yaml.");
    await project.declare({ templates: {}, guards: { max_orders: 100 } }, "site.yaml");
    const refused = await project.run("fleet", "plan");
    expect(refused.text).toContain('A file that all projects share cannot have "guards"');
  });
});

describe("a fleet with repositories", () => {
  const git = (dir: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=ana", "-c", "user.email=ana@agency.example", ...args], { cwd: dir })
      .toString()
      .trim();

  async function repository(project: Project, file: string, text: string): Promise<string> {
    const dir = path.join(project.dir, "origin");
    await mkdir(dir, { recursive: true });
    git(dir, "init", "--quiet", "--initial-branch=main");
    await writeFile(path.join(dir, file), text);
    git(dir, "add", "--all");
    git(dir, "commit", "--quiet", "--message", "change");
    return dir;
  }

  it("applies the newest commit, and keeps the last valid files after a broken one", async () => {
    const project = await startProject();
    project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
    const dir = await repository(project, "hosting.yaml", declaration("a"));
    await project.declare({ fleet: "agency", projects: [{ git: `file://${dir}` }] }, "fleet.yaml");
    const applied = await project.run("fleet", "apply", "--auto-approve", "--json");
    expect(applied.code, applied.text).toBe(0);
    expect(reportOf(applied.out).projects).toMatchObject([
      { name: "origin", result: "applied", commit: git(dir, "rev-parse", "HEAD") },
    ]);
    project.clock.advance(60_000);

    await repository(project, "hosting.yaml", "project: a\nservices: {www: {plan: 11}}\n");
    const broken = await project.run("fleet", "apply", "--auto-approve");
    expect(broken.code, broken.text).toBe(1);
    expect(broken.out).toContain("origin  FAILED");
    expect(sites(project)).toEqual(["www.a.example"]);

    await repository(project, "hosting.yaml", declaration("a"));
    const again = await project.run("fleet", "plan", "--detailed-exitcode");
    expect(again.code, again.text).toBe(0);
  });

  it("refuses a commit without the signature of an allowed signer", async () => {
    const project = await startProject();
    project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
    const dir = await repository(project, "hosting.yaml", declaration("a"));
    const key = path.join(project.dir, "key");
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "ana@agency.example", "-f", key]);
    await writeFile(path.join(project.dir, "signers"), `ana@agency.example ${await readFile(`${key}.pub`, "utf8")}`);
    await project.declare({ fleet: "agency", projects: [{ git: `file://${dir}`, signers: "signers" }] }, "fleet.yaml");
    const refused = await project.run("fleet", "plan");
    expect(refused.code).toBe(1);
    expect(refused.out).toContain("has no valid signature of an allowed signer");

    git(
      dir,
      "-c",
      "gpg.format=ssh",
      "-c",
      `user.signingkey=${key}`,
      "commit",
      "--quiet",
      "--amend",
      "-S",
      "-m",
      "signed",
    );
    const accepted = await project.run("fleet", "plan");
    expect(accepted.code, accepted.text).toBe(0);
    await rm(key);
  });
});
