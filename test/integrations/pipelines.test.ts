/** pre-commit, Atlantis, Jenkins and Renovate: their files, and the commands as these programs run them. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { readPage } from "../docs/markdown.ts";
import { ROOT } from "../support/built-once.ts";
import { type Host, host, SITE, STATE } from "./host.ts";

const text = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

describe("the hooks of pre-commit", () => {
  interface Hook {
    readonly id: string;
    readonly entry: string;
    readonly language: string;
    readonly files: string;
    readonly pass_filenames?: boolean;
  }
  const hooks = parse(text(".pre-commit-hooks.yaml")) as Hook[];

  /** Runs a hook like pre-commit: the entry with the arguments of the user, and the matching files. */
  const run = (its: Host, id: string, names: readonly string[], args: readonly string[] = []) => {
    const { entry = "", files = "", pass_filenames } = hooks.find((hook) => hook.id === id) ?? {};
    const matching = names.filter((name) => new RegExp(files).test(name));
    return its.run([...entry.split(" "), ...args, ...(pass_filenames === false ? [] : matching)]);
  };

  it("select declarations and need hostform on the PATH", () => {
    for (const { files, language } of hooks) {
      expect(language).toBe("system");
      const names = ["hosting.yaml", "sites/hosting.yml", "clients/acme.hosting.yaml", "myhosting.yaml", "a.yaml"];
      expect(names.map((name) => new RegExp(files).test(name))).toEqual([true, true, true, false, false]);
      const others = [
        "environments/a.yaml",
        "sites/a/environments/b.yaml",
        "environments/c.txt",
        "myenvironments/d.yaml",
      ];
      expect(others.map((name) => new RegExp(files).test(name))).toEqual([true, true, false, false]);
    }
  });

  it("hostform-validate fails for a mistake in the project of its entry", async () => {
    const its = await host();
    await its.run(["rm", "hosting.yaml"]);
    its.write("sites/a/hosting.yaml", "project: a\nservices: {www: {plan_id: one}}\n");
    its.write("sites/b/hosting.yaml", "project: b\n");
    its.write("sites/b/environments/production.yaml", "guards: {max_orders: 1}\n");
    const [page = ""] = /^## pre-commit[\s\S]*?^## /m.exec(text("docs/ci.md")) ?? [];
    const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const [{ hooks: entries }] = (
      parse(yaml) as { repos: [{ hooks: { id: string; files?: string; args?: string[] }[] }] }
    ).repos;
    const changed = ["sites/a/hosting.yaml", "sites/b/environments/production.yaml"];
    const codes: (number | null)[] = [];
    for (const { id, files = "", args } of entries) {
      const names = changed.filter((name) => new RegExp(files).test(name));
      codes.push((await run(its, id, names, args)).status);
    }
    expect(codes).toEqual([1, 0, 0]);
  });

  it("hostform-fmt formats the files of the commit only", async () => {
    const its = await host();
    await its.run(["rm", "hosting.yaml"]);
    const [changed, unchanged] = [
      ["sites/a/hosting.yaml", "sites/a/environments/b.yaml"],
      ["b.hosting.yaml", "other.yaml"],
    ];
    for (const name of [...changed, ...unchanged]) its.write(name, "variables:    {}\n");
    expect((await run(its, "hostform-fmt", [...changed, "other.yaml"])).status).toBe(0);
    const texts = [...changed, ...unchanged].map((name) => readFileSync(path.join(its.checkout, name), "utf8"));
    expect(texts).toEqual(["variables: {}\n", "variables: {}\n", "variables:    {}\n", "variables:    {}\n"]);
  });
});

describe("the workflow of Atlantis", () => {
  interface Config {
    readonly repos: readonly unknown[];
    readonly workflows: { readonly hostform: Record<"plan" | "apply", { readonly steps: readonly { run: string }[] }> };
  }
  const config = parse(text("integrations/atlantis/repos.yaml")) as Config;

  /** Runs the steps of a command like Atlantis: each in its own shell, in the directory of the project. */
  async function stepsOf(its: Host, command: "plan" | "apply", workspace = "default", folder = ".") {
    const env = {
      ...STATE,
      HOSTING_TOKEN: its.sandbox.tokens.agency,
      BASE_BRANCH_NAME: "main",
      REPO_REL_DIR: folder,
      WORKSPACE: workspace,
      PLANFILE: path.join(its.checkout, `${workspace}.tfplan`),
    };
    const [{ run: step = "" } = {}] = config.workflows.hostform[command].steps;
    return its.run(["sh", "-c", step], env, path.join(its.checkout, folder));
  }

  it("lets a repository select the workflow, but define none", () => {
    expect(config.repos).toEqual([
      {
        id: "/.*/",
        apply_requirements: ["approved", "mergeable", "undiverged"],
        allowed_overrides: ["workflow"],
        allowed_workflows: ["hostform"],
        allow_custom_workflows: false,
      },
    ]);
    expect(parse(text("integrations/atlantis/atlantis.yaml"))).toMatchObject({
      version: 3,
      projects: [{ dir: ".", workflow: Object.keys(config.workflows)[0] }],
    });
  });

  it("plans, plans again and applies exactly the saved plan", async () => {
    const its = await host();
    for (let plans = 0; plans < 2; plans++) expect(await stepsOf(its, "plan")).toMatchObject({ status: 0 });
    const applied = await stepsOf(its, "apply");
    expect([applied.status, its.ordered()], applied.text).toEqual([0, ["www.acme.example"]]);
    // The next plan reads the state of the base branch.
    expect((await stepsOf(its, "plan")).text).toContain("No changes.");
    expect((await stepsOf(its, "apply")).status).toBe(0);
  });

  it("reads the state of each project outside of the repository's root", async () => {
    const its = await host();
    const folders = ["sites/a", "sites/b"];
    for (const folder of folders) await its.project(folder);
    await its.push();
    for (const folder of folders) {
      const first = await stepsOf(its, "plan", "default", folder);
      expect(first.text).toContain(`The project in ${folder} has no state on the branch main.`);
      // The copy of the state no longer exists, so no command may name the copy.
      expect([first.status, first.text]).toEqual([0, expect.not.stringMatching(/--state|tmp\./)]);
      expect((await stepsOf(its, "apply", "default", folder)).status).toBe(0);
    }
    expect(its.ordered()).toEqual(["a.acme.example", "b.acme.example"]);
    for (const folder of folders) {
      const again = await stepsOf(its, "plan", "default", folder);
      expect([again.status, again.text]).toEqual([0, expect.stringContaining("\nNo changes. ")]);
    }
  });

  it("plans a new project, but no known project without its state", async () => {
    const its = await host();
    await its.project("sites/new");
    expect((await stepsOf(its, "plan", "default", "sites/new")).text).toContain("Plan: 1 to add");
    its.backend.fault = () => ({ status: 403 });
    const { status, text: log } = await stepsOf(its, "plan");
    expect([status, log]).toEqual([1, expect.not.stringContaining("Plan:")]);
  });

  it("uses the environments of the base branch in a subfolder", async () => {
    const its = await host();
    const own = await its.project("sites/a");
    const declared = readFileSync(path.join(its.checkout, "sites/a/hosting.yaml"), "utf8");
    its.write("sites/a/hosting.yaml", declared.replace(/^backend:[\s\S]*?(?=^services)/m, ""));
    its.write("sites/a/environments/staging.yaml", stringify({ backend: { http: own.settings } }));
    const before = await stepsOf(its, "plan", "staging", "sites/a");
    expect([before.status, before.text]).toEqual([
      1,
      "The branch main has no sites/a/environments/staging.yaml. Merge this file first.\n",
    ]);
    await its.push();
    for (const command of ["plan", "apply"] as const)
      expect((await stepsOf(its, command, "staging", "sites/a")).status).toBe(0);
    expect((await stepsOf(its, "plan", "staging", "sites/a")).text).toContain("No changes.");
  });

  it("lists every variable of the server", () => {
    for (const name of ["HOSTING_BASE_URL", "HOSTING_TOKEN", "HOSTFORM_ALLOWED_ORIGINS", "HOSTFORM_ENV_ALLOW"])
      expect(text("integrations/atlantis/repos.yaml").split("\nrepos:")[0]).toContain(name);
  });

  it("sends no credential where a pull request points to", async () => {
    const its = await host();
    its.write("hosting.yaml", `project: acme\nproviders: {default: {base_url: "https://evil.example"}}\n`);
    const { status, text: log } = await stepsOf(its, "plan");
    expect([status, log]).toEqual([1, expect.stringContaining("names an address (base_url)")]);
  });
});

describe("the Jenkinsfile", () => {
  const source = text("integrations/jenkins/Jenkinsfile");
  const stages = new Map(
    source
      .split(/^ {4}stage\('/m)
      .slice(1)
      .map((stage) => [stage.split("'")[0] ?? "", stage]),
  );
  const scriptOf = (name: string) => {
    const [, long, short] = /\bsh (?:'''([\s\S]*?)'''|'(.*)')/.exec(stages.get(name) ?? "") ?? [];
    return long ?? short ?? "exit 9";
  };
  const credentials = (name: string) =>
    [...(stages.get(name) ?? "").matchAll(/ credentials\('([\w-]+)'\)/g)].map(([, id]) => id);

  it("gives credentials for changes to the main branch only, and applies after an approval", () => {
    expect([...stages.keys()]).toEqual(["Validate a fork", "Plan a change request", "Plan", "Approve", "Apply"]);
    expect(credentials("Plan a change request")).toEqual(["hosting-view-token", "hosting-state-read"]);
    // The agent runs nothing of a fork with a credential.
    const conditions = /when \{ beforeAgent true; changeRequest\(\); (.*) \}\n/;
    expect(conditions.exec(stages.get("Validate a fork") ?? "")?.[1]).toBe("expression { env.CHANGE_FORK }");
    expect(conditions.exec(stages.get("Plan a change request") ?? "")?.[1]).toBe(
      "not { expression { env.CHANGE_FORK } }",
    );
    for (const name of ["Validate a fork", "Approve"]) expect(credentials(name)).toEqual([]);
    expect(stages.get("Approve")).toContain("options { timeout(time: 1, unit: 'HOURS') }");
    for (const name of ["Plan", "Approve", "Apply"]) expect(stages.get(name)).toMatch(/when \{.*\bbranch 'main' \}/);
    for (const name of ["Plan", "Apply"]) expect(credentials(name)).toEqual(["hosting-token", "hosting-state"]);
    expect(stages.get("Approve")).toContain("input {");
    // Outside of strings and comments, all brackets are closed.
    const code = source.replace(/'''[\s\S]*?'''|'[^']*'|\/\/.*/g, "");
    for (const [open, close] of ["{}", "[]", "()"])
      expect(code.split(open as string).length).toBe(code.split(close as string).length);
  });

  const stage = (its: Host, name: string, token: string, folder = ".") =>
    its.run(["sh", "-xe", "-c", scriptOf(name)], {
      ...STATE,
      HOSTING_TOKEN: token,
      CHANGE_TARGET: "main",
      HOSTING_DIRECTORY: folder,
    });

  it.each([".", "sites/a"])("runs each stage in the folder %s", async (folder) => {
    const its = await host();
    await its.project("sites/a");
    await its.project("sites/b");
    // Only the checkout has credentials for the repository.
    await its.run(["git", "remote", "set-url", "origin", "file:///private"]);
    const request = await stage(its, "Plan a change request", its.sandbox.tokens.viewer, folder);
    expect([request.status, its.ordered()], request.text).toEqual([0, []]);
    const domain = folder === "." ? "www.acme.example" : "a.acme.example";
    expect(readFileSync(path.join(its.checkout, "hosting-plan.html"), "utf8")).toContain(domain);
    for (const name of ["Plan", "Apply"]) {
      const { status, text: log } = await stage(its, name, its.sandbox.tokens.agency, folder);
      expect(status, log).toBe(0);
    }
    expect(its.ordered()).toEqual([domain]);
  });

  it("plans a new project, and reads the state of a project of the target branch", async () => {
    const its = await host();
    await its.project("sites/a");
    const plan = () => stage(its, "Plan a change request", its.sandbox.tokens.viewer, "sites/a");
    expect(await plan()).toMatchObject({
      status: 0,
      text: expect.stringContaining("The project in sites/a has no state on the branch main."),
    });
    await its.push();
    await stage(its, "Plan", its.sandbox.tokens.agency, "sites/a");
    await stage(its, "Apply", its.sandbox.tokens.agency, "sites/a");
    expect(await plan()).toMatchObject({ status: 0, text: expect.stringContaining("\nNo changes. ") });
    await its.run(["git", "update-ref", "-d", "refs/remotes/origin/main"]);
    expect(await plan()).toMatchObject({ status: 1, text: expect.stringContaining("did not fetch the target branch") });
  });

  it("only validates a fork, and sends no password of a change request", async () => {
    const its = await host();
    expect((await stage(its, "Validate a fork", "")).status).toBe(0);
    its.write(
      "hosting.yaml",
      `project: acme\nservices:\n  www: {${SITE.replaceAll("\n", ", ")}, password: {file: /etc/passwd}}\n`,
    );
    for (const name of ["Validate a fork", "Plan a change request"])
      expect((await stage(its, name, its.sandbox.tokens.viewer)).status).toBe(1);
  });
});

describe("the preset of Renovate", () => {
  const preset = JSON.parse(text("integrations/renovate/default.json")) as {
    readonly customManagers: readonly [
      {
        readonly managerFilePatterns: string[];
        readonly matchStrings: readonly string[];
        readonly depNameTemplate: string;
        readonly packageNameTemplate: string;
        readonly datasourceTemplate: string;
        readonly extractVersionTemplate: string;
      },
    ];
    readonly packageRules: readonly { readonly enabled?: boolean }[];
  };
  const [manager] = preset.customManagers;
  /** Returns the versions that Renovate finds. Renovate uses RE2. */
  const versions = (yaml: string) => {
    const found: (string | null)[] = [];
    for (const pattern of manager.matchStrings) {
      const matcher = RE2JS.compile(pattern).matcher(yaml);
      while (matcher.find()) found.push(matcher.group("currentValue"));
    }
    return found;
  };

  it("proposes only releases of the repository that the user names", () => {
    expect([manager.datasourceTemplate, manager.packageNameTemplate]).toEqual(["github-releases", "{{arg0}}"]);
    const matcher = RE2JS.compile(manager.extractVersionTemplate).matcher("v0.2.0");
    expect([matcher.find(), matcher.group("version")]).toEqual([true, "0.2.0"]);
    // The manager for package.json uses npm, where the name may belong to another publisher.
    expect(preset.packageRules.filter(({ enabled }) => enabled === false)).toEqual([
      { matchDatasources: ["npm"], matchPackageNames: ["hostform"], enabled: false },
    ]);
    expect(text("docs/ci.md")).toMatch(
      /"extends": \["github>acme\/hostform\/\/integrations\/renovate\/default\(acme\/hostform\)"\]/,
    );
  });

  it("finds the version in each example of the pages", () => {
    const blocks = globSync("docs/*.md", { cwd: ROOT }).flatMap((file) => readPage(file, text(file)).blocks);
    const examples = blocks.filter(({ lang, text }) => lang === "yaml" && /(?:uses|component):.*hostform/.test(text));
    const inputs = examples.flatMap(({ text }) => text.match(/^\s+version: \d.*$/gm) ?? []);
    expect(inputs.length).toBeGreaterThan(0);
    expect(examples.flatMap(({ text }) => versions(text))).toHaveLength(inputs.length);
  });

  it("finds versions of actions and components of hostform only", () => {
    const steps = (uses: string, more = "") =>
      `    steps:\n      - uses: ${uses}\n        with:\n${more}          version: "0.1.0"\n`;
    const action = "acme/hostform/integrations/github/plan@v0.1.0";
    expect(versions(steps(action))).toEqual(["0.1.0"]);
    expect(versions(steps(action, "          directory: sites\n") + steps(action).replace('0.1.0"', "0.2.0'"))).toEqual(
      ["0.1.0", "0.2.0"],
    );
    const url = "https://acme.example/hostform/releases/download/v0.1.0/hostform_0.1.0_linux_amd64.tar.gz";
    expect(versions(`env:\n  HOSTFORM_VERSION: 0.1.0\n  HOSTFORM_URL: ${url}\n`)).toEqual(["0.1.0", "0.1.0"]);
    expect(versions(steps("actions/setup-node@v4"))).toEqual([]);
    expect(
      versions(`      - uses: ${action}\n      - uses: a/b@v1\n        with:\n          version: 1.2.3\n`),
    ).toEqual([]);
    expect(
      versions(
        "include:\n  - component: $CI_SERVER_FQDN/acme/hostform/plan@0.1.0\n    inputs:\n      version: 0.1.0\n",
      ),
    ).toEqual(["0.1.0"]);
    expect(versions("include:\n  - component: gitlab.com/acme/hostform/plan@0.1.0\nversion: 1.2.3\n")).toEqual([]);
  });

  it("reads workflows of GitHub and GitLab only", () => {
    const patterns = manager.managerFilePatterns.map((pattern) => RE2JS.compile(pattern.slice(1, -1)));
    const isRead = (file: string) => patterns.some((pattern) => pattern.matcher(file).find());
    expect([".github/workflows/hosting.yml", ".gitlab-ci.yml", ".gitlab/ci/plan.yaml"].map(isRead)).toEqual([
      true,
      true,
      true,
    ]);
    expect(["docs/a.yml", "github/workflows/a.yml", "a.gitlab-ci.yml.md"].map(isRead)).toEqual([false, false, false]);
  });
});
