/** A stack in OpenTofu's language and with OpenTofu's encryption of the state, applied by hostform. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const PASSPHRASE = "correct horse battery staple";
const encryption = (passphrase: string, fallback?: string) =>
  JSON.stringify({
    key_provider: {
      pbkdf2: {
        main: { passphrase, iterations: 200_000 },
        ...(fallback && {
          old: { passphrase: fallback, iterations: 200_000, encrypted_metadata_alias: "key_provider.pbkdf2.main" },
        }),
      },
    },
    method: {
      aes_gcm: { main: { keys: "key_provider.pbkdf2.main" }, old: { keys: "key_provider.pbkdf2.old" } },
    },
    state: { method: "method.aes_gcm.main", ...(fallback && { fallback: { method: "method.aes_gcm.old" } }) },
  });
const byPassphrase = { HOSTFORM_STATE_PASSPHRASE: PASSPHRASE };
const tofuEnv = { HOSTFORM_STATE_FORMAT: "opentofu", TF_ENCRYPTION: encryption(PASSPHRASE) };

const NO_KEY = "HOSTFORM_STATE_FORMAT is opentofu, but TF_ENCRYPTION is missing or empty";
const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example", deletion_policy: "suspend" };

function declare({ dir }: Project, resource?: object): void {
  mkdirSync(path.join(dir, "infra"), { recursive: true });
  const stack = {
    provider: { hosting: [{ project: "tofu" }] },
    terraform: {
      required_providers: { hosting: { source: "hostform/hosting" } },
      backend: { local: { path: "terraform.tfstate" } },
    },
    resource,
  };
  writeFileSync(path.join(dir, "infra/main.tf.json"), JSON.stringify(stack));
}

const file = ({ dir }: Project) => path.join(dir, "infra", "terraform.tfstate");
const stored = (project: Project) => readFileSync(file(project), "utf8");

async function run(project: Project, code: number, env: Record<string, string>, ...args: string[]): Promise<string> {
  const before = { ...project.env };
  Object.assign(project.env, env);
  const ran = await project.run(...args, "--stack", "infra");
  for (const name of Object.keys(env)) delete project.env[name];
  Object.assign(project.env, before);
  expect(ran.code, ran.text).toBe(code);
  return ran.text;
}

const entries = async (project: Project, env: Record<string, string> = {}) => {
  const { resources } = JSON.parse(await run(project, 0, env, "state", "pull")) as {
    resources: { type: string; instances: { skip_destroy?: true; attributes: { id: string } }[] }[];
  };
  return Object.fromEntries(resources.map(({ type, instances: [instance] }) => [type, instance]));
};

describe("a stack with destroy = false", () => {
  it("keeps its objects when the block goes, in the plan, in the state and in the account", async () => {
    const project = await startProject();
    const lifecycle = { destroy: false };
    declare(project, { hosting_webhook: { a: HOOK }, hosting_service: { www: SITE } });
    await run(project, 0, {}, "apply", "--auto-approve");
    expect((await entries(project)).hosting_webhook).not.toHaveProperty("skip_destroy");
    // An apply without any other change records the field, as OpenTofu does.
    declare(project, {
      hosting_webhook: { a: { ...HOOK, lifecycle } },
      hosting_service: { www: { ...SITE, lifecycle } },
    });
    await run(project, 0, {}, "apply", "--auto-approve");
    const { hosting_webhook: hook, hosting_service: site } = await entries(project);
    expect([hook?.skip_destroy, site?.skip_destroy]).toEqual([true, true]);

    // A replacement would leave the old webhook beside the new one.
    declare(project, {
      hosting_webhook: { a: { ...HOOK, events: ["invoice.created"], lifecycle } },
      hosting_service: { www: SITE },
    });
    expect(await run(project, 1, {}, "plan")).toContain("hosting_webhook.a cannot be replaced: it has destroy = false");

    // The state remembers the field after the block is gone.
    declare(project);
    const plan = JSON.parse(await run(project, 2, {}, "plan", "--json", "--detailed-exitcode"));
    const actions = plan.resource_changes.map((one: { change: { actions: string[] } }) => one.change.actions);
    expect(actions).toEqual([["forget"], ["forget"]]);
    await run(project, 0, {}, "apply", "--auto-approve");
    expect(await entries(project)).toEqual({});
    const deletes = project.control
      .requests()
      .filter(({ method, path: at }) => method === "DELETE" || at.endsWith("/suspend"));
    expect(deletes).toEqual([]);
  });

  it("with enabled = false removes the object", async () => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: { ...HOOK, lifecycle: { enabled: true } } } });
    await run(project, 0, {}, "apply", "--auto-approve");
    declare(project, { hosting_webhook: { a: { ...HOOK, lifecycle: { enabled: false } } } });
    await run(project, 0, {}, "apply", "--auto-approve", "--allow-removals");
    expect(await entries(project)).toEqual({});
    expect(project.control.requests().filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });
});

describe("a state with the encryption of OpenTofu", { timeout: 60_000 }, () => {
  it("is an envelope from its first write, and no command without the key reads or replaces it", async () => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    await run(project, 0, tofuEnv, "apply", "--auto-approve");
    const before = stored(project);
    expect(Object.keys(JSON.parse(before))).toEqual([
      "serial",
      "lineage",
      "meta",
      "encrypted_data",
      "encryption_version",
    ]);
    expect(before).not.toContain("hooks.acme.example");
    const wrong = { ...tofuEnv, TF_ENCRYPTION: encryption("wrong horse battery staple") };
    const commands = [
      ["plan"],
      ["apply", "--auto-approve"],
      ["state", "list"],
      ["state", "pull"],
      ["state", "decrypt"],
      ["status"],
    ];
    for (const env of [{}, wrong]) {
      for (const command of commands) {
        const text = await run(project, 1, env, ...command);
        expect(text).toContain("encrypted by OpenTofu with key_provider.pbkdf2.main");
        expect(text).not.toMatch(/horse|corrupted/);
        const isSet = Object.keys(env).length > 0;
        expect(text).toContain(isSet ? "TF_ENCRYPTION is set. Its key" : "TF_ENCRYPTION is not set.");
        expect(text).toContain(isSet ? "restore the backup beside it" : "Set TF_ENCRYPTION to its value in OpenTofu.");
      }
      expect(stored(project)).toBe(before);
    }
    // The passphrase alone is enough, and keeps the form.
    expect(await run(project, 0, { HOSTFORM_STATE_PASSPHRASE: PASSPHRASE }, "state", "list")).toContain(
      "hosting_webhook.a",
    );
  });

  it.each([
    ["TF_ENCRYPTION alone gives it OpenTofu's form", {}, "encrypted_data"],
    ["a key of hostform beside TF_ENCRYPTION keeps hostform's form", byPassphrase, "hostform_encryption"],
  ])("%s, and no file of the run holds clear text", async (_, env, field) => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    const { TF_ENCRYPTION } = tofuEnv;
    await run(project, 0, { TF_ENCRYPTION, ...env }, "apply", "--auto-approve");
    expect(JSON.parse(stored(project))).toHaveProperty(field);
    expect(readFileSync(`${file(project)}.history`, "utf8")).not.toContain("hosting_webhook");
    await run(project, 0, { TF_ENCRYPTION, ...env }, "state", "list");
  });

  it("replaces an accepted clear-text state at the next write, together with its backup", async () => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    await run(project, 0, {}, "apply", "--auto-approve");
    const env = { TF_ENCRYPTION: tofuEnv.TF_ENCRYPTION, HOSTFORM_STATE_ALLOW_UNENCRYPTED: "1" };
    expect(await run(project, 0, env, "plan")).toContain("TF_ENCRYPTION is set, but the state is not encrypted");
    expect(stored(project)).toContain("hooks.acme.example");
    await run(project, 0, env, "state", "mv", "hosting_webhook.a", "hosting_webhook.b");
    for (const name of ["", ".backup"])
      expect(JSON.parse(readFileSync(`${file(project)}${name}`, "utf8"))).toHaveProperty("encrypted_data");
  });

  it("takes a new passphrase by a fallback and by a rotation, and is decrypted by the command alone", async () => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    await run(project, 0, tofuEnv, "apply", "--auto-approve");
    const second = "second horse battery staple";
    await run(project, 0, { ...tofuEnv, TF_ENCRYPTION: encryption(second, PASSPHRASE) }, "state", "encrypt");
    await run(project, 1, tofuEnv, "state", "list");
    const rotation = { HOSTFORM_STATE_PASSPHRASE: second, HOSTFORM_STATE_NEW_PASSPHRASE: PASSPHRASE };
    expect(await run(project, 0, rotation, "state", "rotate-key")).toContain(
      "In TF_ENCRYPTION, declare key_provider.pbkdf2.main with the new passphrase.",
    );
    expect(Object.keys(JSON.parse(stored(project)).meta)).toEqual(["key_provider.pbkdf2.main"]);
    await run(project, 0, tofuEnv, "state", "decrypt");
    expect(stored(project)).toContain("hooks.acme.example");
    expect(await run(project, 1, tofuEnv, "plan")).toContain("TF_ENCRYPTION is set, but the state is not encrypted");
  });

  it("rotates to a key that OpenTofu gets from a declared program", async () => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    await run(project, 0, tofuEnv, "apply", "--auto-approve");
    const env = { ...tofuEnv, HOSTFORM_STATE_NEW_KEY: Buffer.alloc(32, 7).toString("base64") };
    const text = await run(project, 0, env, "state", "rotate-key");
    expect(text).toContain("In TF_ENCRYPTION, declare key_provider.external.hostform with the new key.");
    expect(text).not.toContain("unset TF_ENCRYPTION");
  });

  it("is exported for OpenTofu, which reads it", async () => {
    const project = await startProject({ declare: { project: "acme", webhooks: { a: HOOK } } });
    Object.assign(project.env, { TF_ENCRYPTION: tofuEnv.TF_ENCRYPTION });
    await project.apply();
    const { code, text } = await project.run("export", "--out", "tf");
    expect(code, text).toBe(0);
    expect(text).toContain("Use OpenTofu, which reads it with the same TF_ENCRYPTION.");
    expect(text).toContain("`tofu -chdir=tf init`");
    expect(text).not.toContain("state decrypt");
  });

  it("has an error for a block `encryption` in the stack, which names TF_ENCRYPTION", async () => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    const main = path.join(project.dir, "infra/main.tf.json");
    const stack = JSON.parse(readFileSync(main, "utf8"));
    stack.terraform.encryption = JSON.parse(tofuEnv.TF_ENCRYPTION);
    writeFileSync(main, JSON.stringify(stack));
    expect(await run(project, 1, {}, "plan")).toContain("Move it to TF_ENCRYPTION: hostform reads only this variable.");
  });

  const external = JSON.stringify({
    key_provider: { external: { main: { command: ["no-such-program"] } } },
    method: { aes_gcm: { main: { keys: "key_provider.external.main" } } },
    state: { method: "method.aes_gcm.main" },
  });
  it("has an error for a missing program of a key provider, which names the program and its output", async () => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    project.onCapture = async () => ({ failure: "could not be found", stdout: "", stderr: "" });
    const text = await run(project, 1, { TF_ENCRYPTION: external }, "apply", "--auto-approve");
    expect(text).toContain("The command no-such-program in TF_ENCRYPTION could not be found");
    expect(text).toContain("Write its absolute path. The program prints OpenTofu's header, then its keys as JSON.");
  });

  it.each([
    ["a short passphrase", encryption("short"), "passphrase: at least 16 characters are required"],
    ["no HCL", "garbage {", "TF_ENCRYPTION is not valid"],
    ["a variable", 'key_provider "pbkdf2" "a" {\n  passphrase = var.pass\n}', "TF_ENCRYPTION is not valid"],
  ])("%s in TF_ENCRYPTION fails the plan of a new state", async (_, TF_ENCRYPTION, message) => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    const text = await run(project, 1, { TF_ENCRYPTION }, "plan");
    expect(text).toContain(message);
    expect(text).toContain("Correct this part. hostform evaluates only literals and addresses of blocks.");
  });

  it.each([
    ["an unknown form", { HOSTFORM_STATE_FORMAT: "terraform" }, 'HOSTFORM_STATE_FORMAT is "terraform"'],
    ["no key", { HOSTFORM_STATE_FORMAT: "opentofu" }, NO_KEY],
    ["an empty TF_ENCRYPTION", { HOSTFORM_STATE_FORMAT: "opentofu", TF_ENCRYPTION: " " }, NO_KEY],
    [
      "two keys",
      { ...tofuEnv, HOSTFORM_STATE_PASSPHRASE: PASSPHRASE },
      "Both HOSTFORM_STATE_PASSPHRASE and TF_ENCRYPTION are set",
    ],
  ])("%s is an error before anything is read", async (_, env, message) => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    expect(await run(project, 1, env, "plan")).toContain(message);
    expect(project.control.requests()).toEqual([]);
  });
});

it("resolve reads the encrypted state of an OpenTofu folder with TF_ENCRYPTION alone", async () => {
  const project = await startProject();
  const recorded = new URL("../unit/core/record/fixtures/opentofu-passphrase.tfstate", import.meta.url);
  writeFileSync(path.join(project.dir, "terraform.tfstate"), readFileSync(recorded));
  const locked = await project.run("resolve");
  expect(locked.code, locked.text).toBe(1);
  expect(locked.text).toContain("encrypted by OpenTofu with key_provider.pbkdf2.main");
  project.env.TF_ENCRYPTION = tofuEnv.TF_ENCRYPTION;
  const read = await project.run("resolve");
  expect(read.code, read.text).toBe(0);
});

const ENGINE = process.env.HOSTFORM_TEST_TERRAFORM ?? "";
const describeTofu = /tofu$/.test(ENGINE) ? describe : describe.skip;

describeTofu("the real OpenTofu", { timeout: 120_000 }, () => {
  const tofu = (dir: string, ...args: string[]) =>
    execFileSync(ENGINE, args, {
      cwd: dir,
      encoding: "utf8",
      env: { ...process.env, ...tofuEnv, TF_CLI_CONFIG_FILE: "/dev/null" },
    });

  it("reads what hostform wrote, and hostform reads and changes what OpenTofu wrote", async () => {
    const project = await startProject();
    declare(project, { hosting_webhook: { a: HOOK } });
    await run(project, 0, tofuEnv, "apply", "--auto-approve");
    const own = path.join(project.dir, "own");
    mkdirSync(own);
    const target = path.join(own, "terraform.tfstate");
    writeFileSync(target, stored(project));
    expect(tofu(own, "state", "list")).toContain("hosting_webhook.a");
    writeFileSync(
      path.join(own, "main.tf"),
      'resource "terraform_data" "x" { input = "ünï" }\nremoved {\n  from = hosting_webhook.a\n  lifecycle {\n    destroy = false\n  }\n}\n',
    );
    tofu(own, "state", "rm", "hosting_webhook.a");
    tofu(own, "init", "-no-color");
    tofu(own, "apply", "-auto-approve", "-no-color");
    const pulled = await project.run("state", "pull", "--state", target);
    expect(pulled.code, pulled.text).toBe(1);
    Object.assign(project.env, tofuEnv);
    const read = await project.run("state", "pull", "--state", target);
    expect(JSON.parse(read.out).resources).toMatchObject([
      { type: "terraform_data", instances: [{ attributes: { input: { value: "ünï" } } }] },
    ]);
    const next = { ...JSON.parse(read.out), serial: JSON.parse(read.out).serial + 1 };
    writeFileSync(path.join(project.dir, "next.json"), JSON.stringify(next));
    const pushed = await project.run("state", "push", "next.json", "--state", target);
    expect(pushed.code, pushed.text).toBe(0);
    expect(JSON.parse(tofu(own, "state", "pull")).serial).toBe(next.serial);
  });
});
