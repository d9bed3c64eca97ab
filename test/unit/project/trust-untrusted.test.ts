import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { declared, place, SECRET, WEBHOOK } from "./stranger.ts";

describe("an untrusted declaration", () => {
  it("is planned, with the address and the token of the environment", async () => {
    const { run, canary } = await place(declared());
    const { code, stdout, stderr } = await run(["plan", "--untrusted"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("Plan: 1 to add");
    for (const request of canary.requests)
      expect(request).toMatch(/^GET \/api\/v1\/webhooks.* Bearer canary-of-the-token$/);
    expect(canary.requests).not.toEqual([]);
  });

  it("has the small limits of a file; the user's own may be larger", async () => {
    const text = JSON.stringify(declared()["hosting.yaml"]);
    const { run } = await place({ "hosting.yaml": `${text}\n# ${"a".repeat(1024 * 1024)}\n` });
    expect(await run(["validate"])).toMatchObject({ code: 0 });
    expect(await run(["validate", "--untrusted"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("hosting.yaml is larger than 1 MiB [config.too_large]"),
    });
  });

  it.each([
    "apply",
    "destroy",
    "watch",
    "import hosting_webhook.hook 1",
    "resolve",
    "output",
    "state list",
    "state rm hosting_webhook.hook",
    "state pull",
    "state push x",
    "state encrypt",
    "force-unlock",
    "password hosting_service.x",
    "sso hosting_service.x",
    "services",
    "export",
    "init",
    "doctor",
    "webhooks",
    "webhooks listen",
  ])("is not worked on by `%s`", async (command) => {
    const { run, canary } = await place(declared());
    for (const ran of [
      await run([...command.split(" "), "--untrusted"]),
      await run(command.split(" "), { HOSTFORM_UNTRUSTED: "1" }),
    ]) {
      expect([ran.code, ran.stderr]).toEqual([
        1,
        expect.stringContaining("is not allowed for an untrusted declaration [usage]"),
      ]);
    }
    expect(canary.requests).toEqual([]);
  });

  it.each([
    ["0", 0],
    ["false", 0],
    ["", 0],
    ["1", 1],
    ["yes", 1],
  ])("HOSTFORM_UNTRUSTED=%s: exit code %i for what it refuses", async (value, expected) => {
    const { run } = await place(
      declared({ "x-a": 1, outputs: { name: { value: "${env.DEPLOY_NAME}", sensitive: true } } }),
    );
    expect((await run(["validate"], { HOSTFORM_UNTRUSTED: value })).code).toBe(expected);
  });

  it("has one error for each forbidden setting at its place, and sends nothing", async () => {
    const { run, canary } = await place({
      "hosting.yaml": `project: test
providers:
  default:
    base_url: https://evil.example
    token_env: OTHER_TOKEN
backend:
  http: {address: "https://evil.example/s", lock_address: "https://evil.example/admin", lock_method: DELETE}
outputs:
  name: \${env.DEPLOY_NAME}
webhooks:
  hook:
    url: https://hooks.example/\${env.HOSTING_TOKEN}
    events: [invoice.paid]
    secret_output: {command: [sh, -c, "echo"]}
services:
  www:
    plan_id: 11
    currency: USD
    domain: www.acme.example
    password: {file: /etc/passwd}
    password_version: 1
`,
    });
    for (const command of ["validate", "plan"]) {
      const { code, stderr } = await run([command, "--untrusted"]);
      expect(code).toBe(1);
      expect(stderr.match(/^Error: .*$/gm)).toEqual([
        "Error: The untrusted declaration names an address (base_url) for the provider default [trust.untrusted]",
        "Error: The untrusted declaration names a credential (token_env) for the provider default [trust.untrusted]",
        "Error: The untrusted declaration has the backend http [trust.untrusted]",
        "Error: The untrusted declaration reads the environment variable DEPLOY_NAME [trust.untrusted]",
        "Error: The untrusted declaration reads the environment variable HOSTING_TOKEN [trust.untrusted]",
        "Error: The untrusted declaration names a command, or uses an expression (secret_output) [trust.untrusted]",
        "Error: The untrusted declaration names a credential (password: file) [trust.untrusted]",
      ]);
      expect(stderr).toContain("hosting.yaml:7:");
    }
    expect(canary.requests).toEqual([]);
  });

  it("gets the variables that HOSTFORM_ENV_ALLOW names; the others count as refused, set or not", async () => {
    const { run } = await place(declared({ outputs: { a: "${env.DEPLOY_NAME}", b: "${env.NOT_SET}" } }));
    const { stderr } = await run(["validate", "--untrusted"], { HOSTFORM_ENV_ALLOW: "OTHER, NOT_SET" });
    expect(stderr).toContain("reads the environment variable DEPLOY_NAME [trust.untrusted]");
    expect(stderr).toContain("NOT_SET is not set [config.environment]");
    const both = await run(["validate", "--untrusted"], { HOSTFORM_ENV_ALLOW: "DEPLOY_NAME,NOT_SET", NOT_SET: "x" });
    expect(both.code, both.stderr).toBe(0);
  });

  it.each([
    ["another scale than the environment", { money_scale: 4 }, "2", "the scale of amounts (money_scale)"],
    ["a scale where the environment has none", { money_scale: 2 }, "", "the scale of amounts (money_scale)"],
    ["the scale of the environment", { money_scale: 2 }, "2", undefined],
    ["what a word means that hostform does not know", { status_words: { laeuft: "live" } }, "", undefined],
    ["of a known word what hostform takes it for", { status_words: { active: "live" } }, "", undefined],
    [
      "another meaning of a known word",
      { status_words: { Active: "gone" } },
      "",
      "the meaning of a known status (status_words: Active)",
    ],
    [
      "a list that lags, a budget and a retention",
      { list_lag: "9h", requests_per_minute: 1, idempotency_key_retention: "9d" },
      "",
      undefined,
    ],
  ])("may not show the account in another light: %s", async (_, settings, scale, refused) => {
    for (const files of [
      declared({ providers: { default: settings } }),
      { "cdk.tf.json": { provider: { hosting: [{ project: "p", ...settings }] } } },
    ]) {
      const { run, canary } = await place(files);
      const stack = "cdk.tf.json" in files ? ["--stack", "."] : [];
      const { code, stderr } = await run(["validate", "--untrusted", ...stack], { HOSTING_MONEY_SCALE: scale });
      expect([code, stderr]).toEqual(refused === undefined ? [0, ""] : [1, expect.stringContaining(refused)]);
      expect(canary.requests).toEqual([]);
    }
  });

  it("does not use its backend where --state names the state", async () => {
    const { run, canary } = await place(declared({ backend: { http: { address: "https://evil.example/s" } } }));
    const { code, stdout, stderr } = await run(["plan", "--untrusted", "--state", "copy.tfstate"]);
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).not.toContain("Warning");
    expect(canary.requests).not.toEqual([]);
  });

  it.each([
    ["a file of the project", { file: "secrets/hook" }, 0],
    ["a line of one", { env_file: { path: ".env", name: "HOOK" } }, 0],
    ["a file above it", { file: "../hook" }, 1],
    ["a line of one elsewhere", { env_file: { path: "/tmp/x.env", name: "HOOK" } }, 1],
    ["a file behind a link", { file: "away/hook" }, 1],
    ["a name that is put together", { file: "${env.DEPLOY_NAME}" }, 1],
  ])("may write a secret to %s: exit code %3$i", async (_, output, expected) => {
    const made = await place(declared({ webhooks: { hook: { ...WEBHOOK.webhooks.hook, secret_output: output } } }));
    symlinkSync(path.dirname(made.outside), path.join(made.dir, "away"));
    const { code, stderr } = await made.run(["validate", "--untrusted"]);
    expect(code, stderr).toBe(expected);
  });
});

describe("the files of an untrusted project", () => {
  it.each([
    ["the declaration", "hosting.yaml", ["plan"]],
    ["a declaration that is named", "hosting.yaml", ["plan", "-f", "hosting.yaml"]],
    ["the state", "hosting.tfstate", ["plan"]],
    ["the journal", "hosting.tfstate.journal", ["plan"]],
    ["the lock", ".hosting.tfstate.lock", ["plan"]],
    ["values that are named", "v.json", ["validate", "--stack", "stack", "--var-file", "v.json"]],
    ["a stack", "stack/cdk.tf.json", ["validate", "--stack", "stack"]],
    ["a folder of stacks", "linked", ["validate", "--stack", "linked"]],
    ["a folder to work in", "linked", ["validate", "-C", "linked"]],
    ["the place of a plan", "acme.plan", ["plan", "--out", "acme.plan"]],
  ])("may not lead elsewhere: %s", async (_, name, args) => {
    const files = { ...declared(), "stack/cdk.tf.json": { provider: { hosting: [{ project: "p" }] } } };
    const made = await place(Object.fromEntries(Object.entries(files).filter(([file]) => file !== name)));
    mkdirSync(path.join(made.dir, "stack"), { recursive: true });
    symlinkSync(name === "linked" ? path.dirname(made.outside) : made.outside, path.join(made.dir, name));
    const { code, stdout, stderr } = await made.run([...args, "--untrusted"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("trust.file")]);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(made.canary.requests).toEqual([]);
  });

  it.each([
    ["the declaration", "hosting.yaml", ["plan"]],
    ["the state", "hosting.tfstate", ["plan"]],
    ["the lock", ".hosting.tfstate.lock", ["plan"]],
    ["the notice of the lock", ".hosting.tfstate.lock.info", ["plan"]],
    ["the lock of a state that is named", ".none.tfstate.lock", ["plan", "--state", "none.tfstate"]],
    ["the lock of a stack", "stack/.terraform.tfstate.lock", ["plan", "--stack", "stack"]],
    ["the place of a plan", "acme.plan", ["plan", "--out", "acme.plan"]],
    ["the folder of a plan", "plans", ["plan", "--out", "plans/acme.plan"]],
  ])("may not lead to a place elsewhere where nothing is yet: %s", async (_, name, args) => {
    const files = { ...declared(), "stack/cdk.tf.json": { provider: { hosting: [{ project: "p" }] } } };
    const made = await place(Object.fromEntries(Object.entries(files).filter(([file]) => file !== name)));
    const target = `${made.outside}-new`;
    symlinkSync(target, path.join(made.dir, name));
    const { code, stderr } = await made.run([...args, "--untrusted"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("trust.file")]);
    expect(existsSync(target)).toBe(false);
  });

  it("stay unchanged: a plan creates no lock, and opens none", async () => {
    const { dir, run } = await place(declared());
    const names = readdirSync(dir);
    writeFileSync(path.join(dir, ".hosting.tfstate.lock"), "SQLite format 3\0 of a stranger");
    writeFileSync(path.join(dir, ".hosting.tfstate.lock-journal"), "names a file to delete");
    const { code, stderr } = await run(["plan", "--untrusted"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(readdirSync(dir).sort()).toEqual(
      [...names, ".hosting.tfstate.lock", ".hosting.tfstate.lock-journal"].sort(),
    );
  });

  it("are no links at all, as `.git/config` is a file of the project too", async () => {
    const { dir, run } = await place({ ".git/config": `project: ${SECRET}\n` });
    symlinkSync(".git/config", path.join(dir, "hosting.yaml"));
    expect((await run(["validate"])).code).toBe(0);
    const { stderr } = await run(["validate", "--untrusted", "-f", "hosting.yaml"]);
    expect(stderr).toContain("hosting.yaml is a link");
  });
});

it.each(["cdk.tf.json", "terraform.tfvars.json", "a.auto.tfvars.json"])(
  "a link among the files of an untrusted stack is not read, wherever it leads: %s",
  async (name) => {
    const { dir, run } = await place({ "credentials.json": { key: SECRET }, "stack/b.tf.json": {} });
    symlinkSync("../credentials.json", path.join(dir, "stack", name));
    const { code, stdout, stderr } = await run(["validate", "--untrusted", "--stack", "stack"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("trust.file")]);
    expect(stdout + stderr).not.toContain(SECRET);
  },
);

it.each([["hosting.tfstate"], ["hosting.tfstate.journal"]])(
  "a file in place of the state shows nothing of itself: %s",
  async (name) => {
    const { put, run } = await place(declared());
    put(name, `${SECRET}\n`);
    const { code, stdout, stderr } = await run(["plan", "--untrusted"]);
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain(SECRET.slice(0, 6));
  },
);

describe("an untrusted stack", () => {
  const stack = (more: object) => ({
    "stack/cdk.tf.json": {
      provider: { hosting: [{ project: "test" }] },
      resource: { hosting_webhook: { hook: WEBHOOK.webhooks.hook } },
      ...more,
    },
  });
  const plan = ["plan", "--untrusted", "--stack", "stack"];

  it("is planned like a declaration in YAML", async () => {
    const { run, canary } = await place(stack({}));
    const { code, stderr } = await run(plan);
    expect(code, stderr).toBe(0);
    expect(canary.requests).not.toEqual([]);
  });

  it.each([
    ["an address", { provider: { hosting: [{ project: "p", base_url: "https://evil.example" }] } }, "(base_url)"],
    ["a credential", { provider: { hosting: [{ project: "p", token_env: "DEPLOY_NAME" }] } }, "(token_env)"],
    ["a file of one", { provider: { hosting: [{ project: "p", token_file: "x" }] } }, "(token_file)"],
    ["a variable", { variable: { who: { type: "string" } } }, "TF_VAR_who"],
    ["a backend", { terraform: { backend: { http: { address: "https://evil.example" } } } }, "the backend http"],
    ["a state elsewhere", { terraform: { backend: { local: { path: "/tmp/x.tfstate" } } } }, "outside the project"],
    [
      "another state's backend",
      { data: { terraform_remote_state: { x: { backend: "http", config: { address: "https://evil.example" } } } } },
      "a state in the backend http",
    ],
    [
      "another state elsewhere",
      { data: { terraform_remote_state: { x: { backend: "local", config: { path: "/tmp/x.tfstate" } } } } },
      "outside the project",
    ],
    [
      "a command",
      { resource: { hosting_webhook: { hook: { ...WEBHOOK.webhooks.hook, secret_output: { command: ["sh"] } } } } },
      "(secret_output)",
    ],
  ])("may not name %s", async (_, more, words) => {
    const { run, canary } = await place(stack(more));
    const { code, stdout, stderr } = await run(plan);
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(canary.requests).toEqual([]);
  });

  it("does not use its backend where --state names the state", async () => {
    const { run, canary } = await place(
      stack({ terraform: { backend: { http: { address: "https://evil.example/s" } } } }),
    );
    const { code, stdout, stderr } = await run([...plan, "--state", "copy.tfstate"]);
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).not.toContain("Warning");
    expect(canary.requests).not.toEqual([]);
  });

  it("takes what the command line gives to a variable, and what HOSTFORM_ENV_ALLOW names", async () => {
    const { run } = await place(stack({ variable: { who: { type: "string" } } }));
    expect((await run(plan, { HOSTFORM_ENV_ALLOW: "TF_VAR_who" })).code).toBe(0);
  });

  it("is not synthesized", async () => {
    const { run } = await place(declared());
    const { code, stderr } = await run(["plan", "--untrusted", "--app", "node main.js"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("The app is a program of the untrusted project")]);
  });
});
