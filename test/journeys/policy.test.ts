/**
 * A policy from outside the change request: every command that changes the account obeys it, and a request cannot
 * bring its own policy.
 */
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { shipped } from "../support/shipped.ts";
import { watched } from "../support/watching.ts";

const { loadProject } = await shipped("library.js");

const www = { plan_id: 11, currency: "USD", domain: "www.acme.example", deletion_policy: "forget", client: "acme" };
const hook = { url: "https://hooks.evil.example/in", events: ["invoice.paid"] };
const DECLARED = { project: "ruled", services: { www }, webhooks: { audit: hook } };
const HOSTS = "webhook_hosts: ['*.acme.example']\n";

async function ruled(rules: string, name = "policy.yaml"): Promise<Project> {
  const project = await startProject({ declare: DECLARED });
  await rule(project, rules, name);
  return project;
}

const rule = (project: Project, text: string, name = "policy.yaml") => writeFile(path.join(project.dir, name), text);

/** Runs a command. Fails unless hostform refuses it and sends only GET requests. */
async function refused(project: Project, code: string, ...args: string[]): Promise<string> {
  project.sent();
  const ran = await project.run(...args);
  expect(ran.code, ran.text).toBe(1);
  expect(ran.text).toContain(`[${code}]`);
  expect(project.changesSent()).toEqual([]);
  return ran.text.replace(/\s+/g, " ");
}

describe("a policy", () => {
  it("refuses in plan, apply, the saved plan and destroy, and names its rule and place", async () => {
    const project = await ruled(HOSTS);
    const unruled = await project.run("plan", "--out", "acme.plan");
    expect(unruled.code, unruled.text).toBe(0);
    const said = "The policy rejects this plan: hosting_webhook.audit sends events to hooks.evil.example";
    for (const args of [["plan"], ["apply", "--auto-approve"], ["apply", "acme.plan"]]) {
      const text = await refused(project, "policy.denied", ...args, "--policy", "policy.yaml");
      expect(text).toContain(said);
      expect(text).toContain("Rule: webhook_hosts in policy.yaml.");
      expect(text).toContain("policy.yaml:1:1");
    }
    project.env.HOSTFORM_POLICY = path.join(project.dir, "policy.yaml");
    await refused(project, "policy.denied", "apply", "acme.plan");
    delete project.env.HOSTFORM_POLICY;
    await project.apply();
    await rule(project, "removable_kinds: []");
    await refused(project, "policy.denied", "destroy", "--auto-approve", "--allow-removals", "--policy", "policy.yaml");
  });

  it("of the runner holds beside the one of the command line", async () => {
    const project = await ruled(HOSTS);
    await rule(project, "max_orders: 5", "loose.yaml");
    project.env.HOSTFORM_POLICY = "policy.yaml";
    await refused(project, "policy.denied", "plan", "--policy", "loose.yaml");
  });

  it("that cannot be read refuses the run", async () => {
    const project = await ruled("max_order: 1");
    expect(await refused(project, "policy.invalid", "apply", "--auto-approve", "--policy", "policy.yaml")).toContain(
      'Did you mean "max_orders"?',
    );
    await refused(project, "policy.invalid", "plan", "--policy", "missing.yaml");
  });

  it("cannot come from an untrusted project, but from beside it", async () => {
    const project = await ruled(HOSTS);
    const request = path.join(project.dir, "request");
    await mkdir(request);
    await project.declare(DECLARED, "request/hosting.yaml");
    await writeFile(path.join(request, "policy.yaml"), "max_orders: 9");
    const plan = ["plan", "--untrusted", "-C", "request", "--policy"];
    await refused(project, "trust.file", ...plan, "request/policy.yaml");
    await refused(project, "policy.denied", ...plan, "policy.yaml");
    await symlink(path.join(request, "policy.yaml"), path.join(project.dir, "link.yaml"));
    await symlink(request, path.join(project.dir, "folder"));
    await symlink(path.join(project.dir, "folder", "policy.yaml"), path.join(project.dir, "links.yaml"));
    for (const link of ["link.yaml", "folder/policy.yaml", "links.yaml"])
      await refused(project, "trust.file", ...plan, link);
  });

  it.each(["", " ", path.delimiter])("of the runner that lost its name (%j) refuses the run", async (name) => {
    const project = await ruled(HOSTS);
    project.env.HOSTFORM_POLICY = name;
    for (const args of [["plan"], ["plan", "--policy", "policy.yaml"], ["apply", "--auto-approve"]])
      expect(await refused(project, "policy.invalid", ...args)).toContain("HOSTFORM_POLICY is set, but empty");
  });

  /** URLs whose host WHATWG reads as acme.example or as evil.example. Other parsers read another host, or none. */
  it.each([
    String.raw`https://www.acme.example\@hooks.evil.example/in`,
    String.raw`https:\\www.acme.example/in`,
    "https://a@b@www.acme.example/in",
  ])("and its plan judge no receiver that can be read in two ways: %j", async (url) => {
    const project = await startProject({ declare: { project: "ruled", webhooks: { audit: { ...hook, url } } } });
    await rule(project, HOSTS);
    await refused(project, "config.invalid_value", "plan", "--policy", "policy.yaml");
  });

  it("with a window only warns in a plan, and refuses the apply that begins in it", async () => {
    const project = await ruled("windows: [{ reason: holidays }]");
    const planned = await project.run("plan", "--policy", "policy.yaml", "--out", "acme.plan");
    expect(planned.code, planned.text).toBe(0);
    expect(planned.text).toContain("[policy.warned]");
    await refused(project, "policy.denied", "apply", "acme.plan", "--policy", "policy.yaml");
  });

  it("refuses what its window forbids when the approval comes after its beginning", async () => {
    const project = await ruled("");
    const at = new Date(project.clock.now() + 3_600_000).toISOString();
    await rule(project, `windows: [{ since: "${at.slice(0, 10)}", from: "${at.slice(11, 16)}" }]`);
    project.answer = () => {
      project.clock.advance(3_700_000);
      return "yes";
    };
    const text = await refused(project, "policy.denied", "apply", "--policy", "policy.yaml");
    expect(text).toContain("Nothing may be applied now");
  });

  it("knows whose objects an author may touch", async () => {
    const project = await ruled("scopes: [{ authors: ['*-dev'], clients: [acme] }]");
    project.env.GITHUB_ACTIONS = "true";
    project.env.GITHUB_ACTOR = "beta-dev";
    await project.declare({
      ...DECLARED,
      webhooks: {},
      services: { www, shop: { ...www, domain: "b.example", client: "beta" } },
    });
    const text = await refused(project, "policy.denied", "plan", "--policy", "policy.yaml");
    expect(text).toContain("beta-dev may not change hosting_service.shop: it is of beta");
    expect(text).not.toContain("hosting_service.www: it is");
    // Importing another client's object is a change of that client's object.
    project.env.GITHUB_ACTOR = "lead";
    await project.apply("--policy", "policy.yaml");
    project.env.GITHUB_ACTOR = "beta-dev";
    await project.declare({ ...DECLARED, webhooks: {}, services: { www, shop: { ...www, domain: "b.example" } } });
    await refused(project, "policy.denied", "plan", "--policy", "policy.yaml");
  });

  it("lets nothing be ordered while a site is offline, and not with a part of the account unread", async () => {
    const project = await ruled("no_orders_while: [offline]");
    await project.apply();
    const services = { www, shop: { ...www, domain: "shop.acme.example" } };
    await project.declare({ ...DECLARED, services });
    const target = ["--target", "hosting_service.shop"];
    expect(await refused(project, "policy.denied", "plan", ...target, "--policy", "policy.yaml")).toContain(
      "2 recorded objects were not checked",
    );
    expect((await project.run("plan", "--policy", "policy.yaml", "--out", "acme.plan")).code).toBe(0);
    const id = project.control.list("services").find(({ domain }) => domain === "www.acme.example")?.id ?? 0;
    project.control.change("services", id, { status: "suspended" });
    await refused(project, "policy.denied", "plan", "--policy", "policy.yaml");
  });

  it("holds for watch and for the library", async () => {
    const made = await watched(JSON.stringify(DECLARED));
    await writeFile(path.join(made.dir, "policy.yaml"), HOSTS);
    const watching = made.watch("--auto-approve", "--interval", "1h", "--policy", "policy.yaml");
    expect(await watching.look(1)).toMatchObject({ result: "refused" });
    await watching.stop();
    const project = await ruled(HOSTS);
    const { dir, env } = project;
    const loaded = await loadProject({ directory: dir, env, policy: ["policy.yaml"], clock: project.clock });
    const plan = await loaded.plan();
    expect(plan).toMatchObject({ applicable: false });
    await expect(loaded.apply(plan)).rejects.toMatchObject({ diagnostics: [{ code: "policy.denied" }] });
    expect(plan.json.hostform.policy).toMatchObject({
      files: ["policy.yaml"],
      verdicts: [{ level: "deny", rule: "webhook_hosts", address: "hosting_webhook.audit" }],
    });
    expect(project.changesSent()).toEqual([]);
  });
});

describe("the policy of a stack", () => {
  it("is that of the runner, by the file of the stack too", async () => {
    const project = await ruled(HOSTS);
    const stack = {
      terraform: { required_providers: { hosting: { source: "hostform/hosting" } } },
      provider: { hosting: [{ project: "ruled" }] },
      resource: { hosting_webhook: { audit: hook } },
    };
    await project.declare(stack, "main.tf.json");
    const args = ["plan", "--stack", "main.tf.json", "--policy", "policy.yaml"];
    expect(await refused(project, "policy.denied", ...args)).toContain("sends events to hooks.evil.example");
    await rule(project, "scopes: [{ files: [main.tf.json], kinds: [hosting_grant] }]");
    expect(await refused(project, "policy.denied", ...args)).toContain("it is a webhook");
  });
});

describe("the policy of a new password", () => {
  it("knows whose service it is, and stops what it refuses before the request", async () => {
    const project = await ruled("scopes: [{ authors: [beta-dev], clients: [beta] }]");
    project.env.HOSTFORM_PASSWORD_OF_A_CLIENT = "correct horse battery";
    project.env.HOSTFORM_AUTHOR = "lead";
    await project.apply();
    const set = [
      "password",
      "www.acme.example",
      "--password-env",
      "HOSTFORM_PASSWORD_OF_A_CLIENT",
      "--policy",
      "policy.yaml",
    ];
    project.env.HOSTFORM_AUTHOR = "beta-dev";
    expect(await refused(project, "policy.denied", ...set)).toContain("it is of acme");
    await rule(project, "windows: [{}]");
    await refused(project, "policy.denied", ...set);
    await rule(project, "max_orders: 0");
    expect((await project.run(...set)).code).toBe(0);
    expect(project.changesSent()).toHaveLength(1);
  });
});

describe("a function of a policy", () => {
  const friday = `export default (effects, conditions, plan) =>
    effects.filter(({ kind }) => kind === "order").map(({ address }) => ({ deny: true, address, sentence: plan.hostform.project + " orders nothing." }));`;
  it.each([
    ["denies", friday, "policy.denied", "The policy rejects this plan: ruled orders nothing"],
    ["that throws denies", "export default () => { throw new Error('broken') }", "policy.failed", "failed: broken"],
    ["without an export denies", "export const judge = 1", "policy.failed", "its default export is no function"],
    ["that ends its thread denies", "process.exit(0)", "policy.failed", "it ended without a result"],
    [
      "sees no environment",
      "export default () => [{ deny: true, sentence: 'env ' + Object.keys(process.env).length }]",
      "policy.denied",
      "env 0",
    ],
  ])("%s", async (_, text, code, said) => {
    const project = await ruled(text, "policy.ts");
    expect(await refused(project, code, "plan", "--policy", "policy.ts")).toContain(said);
  });

  it("warns, and what it prints does not reach the output", async () => {
    const project = await ruled(
      "export default () => { console.log('noise'); return [{ warn: true, sentence: 'Look' }] }",
      "policy.js",
    );
    const ran = await project.run("plan", "--json", "--policy", "policy.js");
    expect(ran.code, ran.text).toBe(0);
    expect(JSON.parse(ran.out).hostform.policy.verdicts).toEqual([
      { level: "warn", rule: "function", file: "policy.js", sentence: "Look" },
    ]);
    expect(ran.text).not.toContain("noise");
  });

  it("does not run for an untrusted declaration, which says so", async () => {
    const project = await ruled("export default () => [{ deny: true, sentence: 'No' }]", "policy.js");
    await mkdir(path.join(project.dir, "request"));
    await project.declare(DECLARED, "request/hosting.yaml");
    const ran = await project.run("plan", "--untrusted", "-C", "request", "--policy", "policy.js");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.text).toContain("[policy.unsupported]");
  });
});

describe("the examples of policies", () => {
  const examples = path.resolve("examples/policies");
  it.each(["agency", "holidays", "fair-share"])("%s decides its cases as expected", async (name) => {
    const project = await startProject();
    await cp(examples, path.join(project.dir, "policies"), { recursive: true });
    const cases = `policies/${name}/cases.yaml`;
    const ran = await project.run("policy", "test", cases);
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toMatch(/^\d cases, 0 failed\.$/m);
    expect(project.control.requests()).toEqual([]);
    // The report lists cases whose result another policy changes.
    await rule(project, "max_orders: 0", "policies/none.yaml");
    const text = (await readFile(path.join(project.dir, cases), "utf8")).replace(
      /^policy: .*$/m,
      "policy: [../none.yaml]",
    );
    await rule(project, text, cases);
    const failed = await project.run("policy", "test", "--json", cases);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.out).cases).toContainEqual(expect.objectContaining({ ok: false }));
  });
});

describe("names that are new to the project", () => {
  it("stand first in text, comment and page, with both forms and a mark", async () => {
    const project = await startProject({ declare: { ...DECLARED, webhooks: {} } });
    await project.apply();
    await project.declare({ ...DECLARED, webhooks: { audit: { ...hook, url: "https://hooks.\u0430cme.example/in" } } });
    const NAME = "hooks.\u0430cme.example (hooks.xn--cme-5cd.example, mixed scripts: Cyrillic and Latin)";
    const text = (await project.run("plan")).out;
    expect(text).toContain(`New to this project:\n  ${NAME} receives events: hosting_webhook.audit\n`);
    expect(text.indexOf("New to this project")).toBeLessThan(text.indexOf("will perform"));
    const comment = (await project.run("plan", "--format", "markdown")).out;
    expect(comment).toContain("#### New to this project");
    expect(comment).toContain("mixed scripts");
    expect((await project.run("plan", "--format", "html")).out).toContain(`<li>${NAME} receives events`);
  });
});
