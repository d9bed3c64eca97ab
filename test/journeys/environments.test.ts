/** `-e NAME`: production and staging from one declaration, each with its own account, token, state and limits. */
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { type Project, startProject } from "../support/project.ts";
import { startSandbox } from "../support/sandbox.ts";
import { shipped } from "../support/shipped.ts";

const EXAMPLE = path.resolve(import.meta.dirname, "../../examples/environments");
const SITES = ["shop", "www"];

/** The example, with an account for each of its environments. */
async function twoAccounts(): Promise<{ readonly project: Project; readonly staging: Sandbox }> {
  const project = await startProject();
  const staging = await startSandbox({ clock: project.clock, rateLimit: 0, autoPay: true, provisioningSeconds: 0 });
  await cp(EXAMPLE, project.dir, { recursive: true });
  Object.assign(project.env, {
    HOSTING_BASE_URL: undefined,
    HOSTING_TOKEN: undefined,
    PRODUCTION_URL: project.sandbox.url,
    PRODUCTION_TOKEN: project.sandbox.tokens.agency,
    STAGING_URL: staging.url,
    STAGING_TOKEN: staging.tokens.agency,
  });
  return { project, staging };
}

const domains = ({ control }: Pick<Sandbox, "control">) =>
  control
    .list("services")
    .filter(({ customer_id }) => customer_id === 1)
    .map(({ domain }) => domain)
    .toSorted();

const environment = (project: Project, name: string, text: string) =>
  writeFile(path.join(project.dir, `environments/${name}.yaml`), text);

describe("a project with environments", () => {
  it("has one account and one state for each", async () => {
    const { project, staging } = await twoAccounts();
    await project.apply("-e", "production");
    expect(domains(project.sandbox)).toEqual(SITES.map((site) => `${site}.acme.example`));
    expect(domains(staging)).toEqual([]);
    await project.apply("--environment=staging");
    expect(domains(staging)).toEqual(SITES.map((site) => `${site}.staging.acme.example`));
    for (const name of ["production", "staging"]) {
      expect(existsSync(path.join(project.dir, `hosting.${name}.tfstate`))).toBe(true);
      const again = await project.run("-e", name, "plan", "--detailed-exitcode");
      expect(again.code, again.text).toBe(0);
      const listed = await project.run("state", "list", "-e", name);
      expect(listed.out).toContain("hosting_service.shop");
    }
    expect(existsSync(project.statePath)).toBe(false);
    const plans = project.control.list("services").map(({ plan_id }) => plan_id);
    expect(plans).toEqual(expect.arrayContaining([21, 21]));
  });

  it.each([["plan"], ["apply", "--auto-approve"], ["watch", "--max-runs", "1"]])(
    "does nothing without one: %s %s",
    async (...args) => {
      const { project } = await twoAccounts();
      const ran = await project.run(...args);
      expect(ran.code, ran.text).toBe(1);
      expect(ran.err).toContain("This project has environments: production, staging");
      expect(ran.err).toContain("Choose one with `-e NAME`.");
      expect(project.sent()).toEqual([]);
    },
  );

  it("names the ones that exist beside a wrong name", async () => {
    const { project } = await twoAccounts();
    for (const name of ["stagin", "../environments/staging", "a/b", ".hidden"]) {
      const ran = await project.run("plan", "-e", name);
      expect(ran.code).toBe(1);
      expect(ran.err).toContain(`There is no environment "${name}"`);
      expect(ran.err).toContain("The environments are production, staging.");
    }
    expect((await project.run("plan", "-e", "stagin")).err).toContain('Did you mean "staging"?');
  });

  it("uses the limits of the environment", async () => {
    const { project, staging } = await twoAccounts();
    const text = await readFile(path.join(project.dir, "environments/staging.yaml"), "utf8");
    await environment(project, "staging", text.replace("max_orders: 3", "max_orders: 1"));
    const refused = await project.run("-e", "staging", "apply", "--auto-approve");
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("[guard.orders]");
    expect(domains(staging)).toEqual([]);
    await project.apply("-e", "production");
  });

  it("sends notifications to its own channels", async () => {
    const { project } = await twoAccounts();
    const main = path.join(project.dir, "hosting.yaml");
    await writeFile(main, `${await readFile(main, "utf8")}\nnotify: [{ url_env: PRODUCTION_HOOK }]\n`);
    const staging = path.join(project.dir, "environments/staging.yaml");
    const text = await readFile(staging, "utf8");
    const channels = async (name: string) => (await project.run("-e", name, "notify", "test")).text;
    expect(await channels("staging")).toContain("PRODUCTION_HOOK: PRODUCTION_HOOK is not set");
    await environment(project, "staging", `${text}\nnotify: [{ url_env: STAGING_HOOK }]\n`);
    expect(await channels("staging")).toContain("STAGING_HOOK: STAGING_HOOK is not set");
    expect(await channels("staging")).not.toContain("PRODUCTION_HOOK");
    expect(await channels("production")).toContain("PRODUCTION_HOOK: PRODUCTION_HOOK is not set");
    await environment(project, "staging", `${text}\nnotify: []\n`);
    expect(await channels("staging")).toContain("[notify.failed]");
  });

  it("names the token that is refused", async () => {
    const { project } = await twoAccounts();
    project.env.STAGING_TOKEN = "4|not-a-token-of-this-account-at-all";
    const ran = await project.run("-e", "staging", "plan");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(`${new URL(project.env.STAGING_URL ?? "").host}, token from STAGING_TOKEN`);
    expect(ran.text).not.toContain("not-a-token");
    await project.apply("-e", "production");
  });

  it("keeps its state where the environment says", async () => {
    const { project } = await twoAccounts();
    const text = await readFile(path.join(project.dir, "environments/production.yaml"), "utf8");
    await mkdir(path.join(project.dir, "states"));
    await environment(project, "production", `${text}\nstate: states/prod.tfstate\n`);
    await project.apply("-e", "production");
    expect(existsSync(path.join(project.dir, "states/prod.tfstate"))).toBe(true);
    // A command that a message prints works on the same account.
    const saved = await project.run("-e", "production", "plan", "--out", "acme.plan");
    expect(saved.text).not.toMatch(/hostform apply(?! -e production)/);
  });

  it.each([
    [["-e", "staging", "-e", "production", "plan"]],
    [["-e", "staging", "plan", "--environment", "production"]],
  ])("is refused with two: %s", async (args) => {
    const { project } = await twoAccounts();
    const ran = await project.run(...args);
    expect(ran.code, ran.text).toBe(1);
    expect(ran.err).toContain("Two environments are selected");
    expect(project.sent()).toEqual([]);
    expect((await project.run("-e", "staging", "validate", "-e", "staging")).code).toBe(0);
  });

  it("is refused if another one has the same state", async () => {
    const { project } = await twoAccounts();
    await environment(project, "test", "state: ./hosting.staging.tfstate\n");
    await environment(project, "broken", "state: [\n");
    for (const name of ["test", "staging"]) {
      const ran = await project.run("-e", name, "plan");
      expect(ran.code, ran.text).toBe(1);
      expect(ran.err).toContain("use the same state: hosting.staging.tfstate");
    }
    expect((await project.run("-e", "production", "validate")).code).toBe(0);
    expect((await project.run("-e", "test", "state", "list", "--state", "own.tfstate")).text).not.toContain(
      "one state",
    );
  });

  it("is adopted, exported and driven by a program in one of them", async () => {
    const { project } = await twoAccounts();
    await project.apply("-e", "production");
    const exported = await project.run("-e", "production", "export", "--out", "tf");
    expect(exported.code, exported.text).toBe(0);
    expect(await readFile(path.join(project.dir, "tf/hosting.tf"), "utf8")).toContain("www.acme.example");

    const { loadProject } = await shipped("library.js");
    const loaded = await loadProject({
      directory: project.dir,
      env: { ...project.env, HOME: project.dir },
      environment: "production",
    });
    expect(await loaded.plan()).toMatchObject({ hasChanges: false, applicable: true });
    await expect(loadProject({ directory: project.dir, env: project.env })).rejects.toThrow(/has environments/);

    const fresh = path.join(project.dir, "fresh");
    await cp(path.join(EXAMPLE, "environments"), path.join(fresh, "environments"), { recursive: true });
    await writeFile(
      path.join(fresh, "environments/production.yaml"),
      "providers: {default: {base_url: '${env.PRODUCTION_URL}', token_env: PRODUCTION_TOKEN}}\n",
    );
    const adopted = await project.run("-C", "fresh", "-e", "production", "adopt", "--auto-approve");
    expect(adopted.code, adopted.text).toBe(0);
    expect(existsSync(path.join(fresh, "hosting.production.tfstate"))).toBe(true);
    const again = await project.run("-C", "fresh", "-e", "production", "plan", "--detailed-exitcode");
    expect(again.code, again.text).toBe(0);
  });
});

describe("an untrusted project", () => {
  /** The folder of the main branch, and a request that changes its own copy. */
  async function withRequest() {
    const { project, staging } = await twoAccounts();
    const main = path.join(project.dir, "main");
    await cp(path.join(EXAMPLE, "environments"), main, { recursive: true });
    await environment(project, "production", "providers: {default: {base_url: 'https://collect.evil.example'}}\n");
    return { project, staging, main };
  }

  it("does not bring its own environments", async () => {
    const { project } = await withRequest();
    const named = await project.run("--untrusted", "-e", "production", "plan");
    expect(named.code).toBe(1);
    expect(named.err).toContain("HOSTFORM_ENVIRONMENTS");
    project.env.HOSTING_BASE_URL = project.sandbox.url;
    project.env.HOSTING_TOKEN = project.sandbox.tokens.agency;
    const without = await project.run("--untrusted", "validate");
    expect(without.err).toContain("The environments in environments of the untrusted project are not read");
    expect(project.sent()).toEqual([]);
  });

  it("is planned in the environments of the main branch, whose address and token count", async () => {
    const { project } = await withRequest();
    project.env.HOSTFORM_ENVIRONMENTS = "main";
    project.env.HOSTFORM_ENV_ALLOW = "PRODUCTION_URL";
    const ran = await project.run("--untrusted", "-e", "production", "plan");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toContain("www.acme.example");
    expect(ran.text).toContain("not read");
    expect(project.sent()).not.toEqual([]);
  });

  it("names no address or token of its own beside them", async () => {
    const { project } = await withRequest();
    project.env.HOSTFORM_ENVIRONMENTS = "main";
    project.env.HOSTFORM_ENV_ALLOW = "PRODUCTION_URL";
    const text = await readFile(path.join(project.dir, "hosting.yaml"), "utf8");
    await project.declare(
      `${text}\nproviders: {default: {base_url: 'https://collect.evil.example', token_env: PATH}}\n`,
    );
    const ran = await project.run("--untrusted", "-e", "production", "plan");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("names an address (base_url)");
    expect(ran.err).toContain("names a credential (token_env)");
    expect(project.sent()).toEqual([]);
  });

  it("follows no link out of the project for an environment of a trusted one", async () => {
    const { project } = await withRequest();
    await rm(path.join(project.dir, "environments"), { recursive: true });
    const { symlink } = await import("node:fs/promises");
    const outside = path.join(path.dirname(project.dir), `${path.basename(project.dir)}-outside`);
    await cp(path.join(EXAMPLE, "environments"), outside, { recursive: true });
    await symlink(outside, path.join(project.dir, "environments"));
    const ran = await project.run("-e", "production", "plan");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("[trust.file]");
    await rm(outside, { recursive: true });
  });
});
