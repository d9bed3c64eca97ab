/** One-time secrets for `secret_output`: each secret is always in its output or in the state, and never printed. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { fingerprintOf } from "../../src/core/lifecycle/index.ts";
import { type Project, startProject } from "../support/project.ts";

const HOOK = "hosting_webhook.billing";
const hook = (more: object = {}, rest: object = {}) => ({
  project: "secrets",
  webhooks: { billing: { url: "https://hooks.acme.example", events: ["invoice.paid"], ...more } },
  ...rest,
});
const to = (secret_output: object) => hook({ secret_output });
const FILE = { file: "billing.secret" };

/** Returns the secret that the server knows. */
const made = ({ control }: Project) => String(control.list("webhooks").at(-1)?.secret);
const at = (project: Project, file: string) => path.join(project.dir, file);
const text = (project: Project, file: string) => readFileSync(at(project, file), "utf8");
const attributes = async (project: Project, address = HOOK) => (await project.recorded(address))?.attributes;

/** Fails if an everyday command prints the secret. */
async function expectUnseen(project: Project, secret: string, ...shown: readonly string[]): Promise<void> {
  const texts = [...shown];
  for (const args of [["plan"], ["plan", "--json"], ["state", "show", HOOK], ["apply", "--auto-approve", "--json"]])
    texts.push((await project.run(...args)).text);
  for (const each of texts) expect(each).not.toContain(secret);
}

/** Stands in for programs that receive secrets, and records their calls. */
function recordCommands(project: Project, answer: (env: Record<string, string | undefined>) => string | undefined) {
  const calls: { command: readonly string[]; input: string; purpose: string | undefined }[] = [];
  project.onCapture = async (command, { input, env, cwd }) => {
    expect(cwd).toBe(project.dir);
    calls.push({ command, input, purpose: env.HOSTFORM_SECRET_OUTPUT });
    const failure = answer(env);
    return { stdout: "", stderr: `about ${input}`, ...(failure !== undefined && { failure }) };
  };
  return calls;
}

describe("a new webhook with a secret_output", () => {
  it("has its secret in a file of mode 0600, and a fingerprint alone in the state", async () => {
    const project = await startProject({ declare: to(FILE) });
    const { text: shown } = await project.apply();
    const secret = made(project);
    expect(text(project, FILE.file)).toBe(`${secret}\n`);
    expect(statSync(at(project, FILE.file)).mode & 0o777).toBe(0o600);
    expect(await attributes(project)).toMatchObject({ secret: null, secret_fingerprint: fingerprintOf(secret) });
    expect(await project.stateText()).not.toContain(secret);
    await project.expectNoChanges();
    await expectUnseen(project, secret, shown);
  });

  it("gives it to a command, which is tried before anything is sent", async () => {
    const project = await startProject({ declare: to({ command: ["vault", "put", "hook"] }) });
    const calls = recordCommands(project, (env) => {
      expect(env).toMatchObject({ HOSTFORM_ADDRESS: HOOK, HOSTFORM_ATTRIBUTE: "secret" });
      if (env.HOSTFORM_SECRET_OUTPUT === "test") expect(project.control.list("webhooks")).toEqual([]);
      return undefined;
    });
    await project.apply();
    expect(calls).toEqual([
      { command: ["vault", "put", "hook"], input: "", purpose: "test" },
      { command: ["vault", "put", "hook"], input: made(project), purpose: "write" },
    ]);
    expect(await attributes(project)).toMatchObject({ secret: null, secret_fingerprint: fingerprintOf(made(project)) });
    await project.expectNoChanges();
  });

  it("shows in the plan where it goes", async () => {
    const project = await startProject({ declare: to({ file: "./vault/../hook" }) });
    expect((await project.run("plan")).out).toContain("# (its secret is written to hook)");
    const { hostform } = JSON.parse((await project.run("plan", "--json")).out);
    expect(hostform.resources[HOOK].secret_to).toBe("hook");
    await project.apply();
    await project.declare(hook({ ...to({ file: "hook" }).webhooks.billing, events: ["invoice.created"] }));
    expect((await project.changeOf(HOOK)).secretTo, "a replacement brings another").toBe("hook");
  });

  it.each<[string, object, (project: Project, outside: string) => void]>([
    ["a link inside the project", FILE, (project) => symlinkSync("other", at(project, FILE.file))],
    ["a link", FILE, (project, outside) => symlinkSync(`${outside}/.bashrc`, at(project, FILE.file))],
    ["a link to where nothing is", FILE, (project, outside) => symlinkSync(`${outside}/new`, at(project, FILE.file))],
    [
      "a link in the middle of the path",
      { env_file: { path: "a/b/.bashrc", name: "S" } },
      (project, outside) => {
        mkdirSync(at(project, "a"));
        symlinkSync(outside, at(project, "a/b"));
      },
    ],
  ])("is not written through %s, wherever that leads", async (_, output, prepare) => {
    const project = await startProject();
    const inner = await project.beside(to(output));
    const outside = at(project, "outside");
    mkdirSync(outside);
    writeFileSync(path.join(outside, ".bashrc"), "alias ll=ls\n", { mode: 0o600 });
    prepare(inner, outside);
    for (const more of [{}, { outside_project: true }]) {
      await inner.declare(to({ ...output, ...more }));
      const refused = await inner.run("apply", "--auto-approve");
      expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("is a symbolic link")]);
      expect(refused.text).toMatch(/\[secret\.output\]\n +on hosting\.yaml:\d+:\d+/);
    }
    expect(project.control.list("webhooks"), "nothing was sent").toEqual([]);
    expect([readdirSync(outside), text(project, "outside/.bashrc")]).toEqual([[".bashrc"], "alias ll=ls\n"]);
  });

  it.each<[string, object, (project: Project) => unknown]>([
    ["a path", { file: "../outside/.bashrc" }, () => undefined],
    [
      "the environment",
      { file: "${env.ELSEWHERE}" },
      ({ env }) => Object.assign(env, { ELSEWHERE: "../outside/.bashrc", HOSTFORM_ENV_ALLOW: "ELSEWHERE" }),
    ],
  ])("may not leave the project by %s, unless that is declared", async (_, output, prepare) => {
    const project = await startProject();
    // The project is one folder deeper, so that cleanup removes the files beside it.
    const inner = await project.beside(to(output));
    const outside = at(project, "outside");
    mkdirSync(outside);
    writeFileSync(path.join(outside, ".bashrc"), "alias ll=ls\n", { mode: 0o600 });
    prepare(inner);
    const refused = await inner.run("apply", "--auto-approve");
    expect(refused.code).toBe(1);
    expect(refused.text).toMatch(/\[secret\.output\]\n +on hosting\.yaml:\d+:\d+/);
    expect(refused.text).toContain("set outside_project to true");
    expect(project.control.list("webhooks"), "nothing was sent").toEqual([]);
    expect(text(project, "outside/.bashrc")).toBe("alias ll=ls\n");

    // hostform does not overwrite a file whose content the state does not know.
    writeFileSync(path.join(outside, ".bashrc"), "");
    await inner.declare(to({ ...output, outside_project: true }));
    expect((await inner.run("plan")).out).toMatch(/its secret is written to \/.*outside\/\S+, outside of the project/);
    await inner.apply();
    const written = ["outside/.bashrc", "outside/new"].filter((file) => existsSync(at(project, file)));
    expect(written.map((file) => text(project, file)).join("")).toContain(made(inner));
    await inner.expectNoChanges();
  });

  it("may not leave the project from a stack either, whose folder is a part of it", async () => {
    const project = await startProject();
    const inner = await project.beside("{}");
    mkdirSync(at(inner, "infra"));
    const stack = (secret_output: object) =>
      writeFileSync(
        at(inner, "infra/main.tf.json"),
        JSON.stringify({
          provider: { hosting: [{ project: "secrets" }] },
          resource: {
            hosting_webhook: {
              billing: { url: "https://hooks.acme.example", events: ["invoice.paid"], secret_output },
            },
          },
          terraform: { required_providers: { hosting: { source: "hostform/hosting" } } },
        }),
      );
    stack({ file: "../../hook" });
    const refused = await inner.run("plan", "--stack", "infra");
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("[secret.output]")]);
    stack({ file: "../hook" });
    expect((await inner.run("plan", "--stack", "infra")).out).toContain("its secret is written to hook)");
    stack({ env_file: { path: "../../hook", name: "HOOK" }, outside_project: true });
    expect((await inner.run("plan", "--stack", "infra")).out).toMatch(/written to \/.*\/hook, outside of the project/);
  });

  it.each([
    ["the declaration", { file: "hosting.yaml" }],
    ["the state, spelled in another way", { file: "./x/../hosting.tfstate" }],
    ["the journal", { env_file: { path: "hosting.tfstate.journal", name: "A" } }],
    ["the lock", { file: ".hosting.tfstate.lock" }],
  ])("may not be written over %s: validate says so at its place", async (_, output) => {
    const project = await startProject({ declare: to(output) });
    const ran = await project.run("validate");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("[secret.output]");
    expect(ran.text).toContain("hostform itself reads or writes this file.");
    expect(ran.text).toMatch(/hosting\.yaml:\d+:\d+ \(hosting_webhook\.billing\)\n +\d+ \| +"?secret_output"?:/);
  });

  it.each([
    ["two forms", { file: "a", command: ["b"] }, "secret_output: expected exactly one of `file`"],
    ["a command line", { command: "vault put x" }, "secret_output.command: expected a list: [PROGRAM, ARGUMENT, …]"],
  ])("cannot be %s: validate shows the forms, once", async (_, output, words) => {
    const project = await startProject({ declare: hook({ secret_output: output }) });
    const { code, text: shown } = await project.run("validate");
    expect(code).toBe(1);
    expect(shown).toContain(words);
    expect(shown.match(/^Error:/gm)).toHaveLength(1);
  });

  it("is not written to a file that others can read: nothing is sent before its mode is 0600", async () => {
    const project = await startProject({ declare: to(FILE) });
    writeFileSync(at(project, FILE.file), "");
    chmodSync(at(project, FILE.file), 0o644);
    const refused = await project.run("apply", "--auto-approve");
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining(`chmod 600 ${FILE.file}`)]);
    expect(project.changesSent()).toEqual([]);
    chmodSync(at(project, FILE.file), 0o600);
    await project.apply();
    expect(text(project, FILE.file)).toBe(`${made(project)}\n`);
    expect(statSync(at(project, FILE.file)).mode & 0o777).toBe(0o600);
  });

  it("has a new secret written when it is replaced", async () => {
    const project = await startProject({ declare: to(FILE) });
    await project.apply();
    const first = made(project);
    await project.declare(hook({ secret_output: FILE, url: "https://other.acme.example" }));
    await project.apply();
    expect(made(project)).not.toBe(first);
    expect(text(project, FILE.file)).toBe(`${made(project)}\n`);
    expect(await attributes(project)).toMatchObject({ secret: null, secret_fingerprint: fingerprintOf(made(project)) });
    await project.expectNoChanges();
  });
});

describe("a place that cannot be written to", () => {
  it.each<[why: string, output: object, prepare: (project: Project) => void, words: string]>([
    [
      "its folder does not exist",
      { file: "no/such/hook" },
      () => undefined,
      "Run mkdir -p no/such to create its folder.",
    ],
    ["it is a folder", { file: "vault" }, (project) => mkdirSync(at(project, "vault")), "is a folder"],
    ["it is a device", { file: "/dev/null", outside_project: true }, () => undefined, "not an ordinary file"],
    [
      "the command refuses",
      { command: ["vault"] },
      (project) => recordCommands(project, () => "ended with exit code 3"),
      "ended with exit code 3 in the test",
    ],
  ])("(%s) is found before anything is sent", async (_, output, prepare, words) => {
    const project = await startProject({ declare: to(output) });
    prepare(project);
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("[secret.output]");
    expect(ran.text.replace(/\s+/g, " ")).toContain(words);
    expect(project.changesSent()).toEqual([]);
    expect(await project.recorded(HOOK)).toBeUndefined();
  });

  it.each([
    ["a file", { file: "pipe" }],
    ["an env file", { env_file: { path: "pipe", name: "SECRET" } }],
  ])("(a pipe as %s) is opened by no run, and no run waits for its other end", async (_, output) => {
    const project = await startProject({ declare: to(output) });
    execFileSync("mkfifo", [at(project, "pipe")]);
    // The writer waits until a program opens the pipe for reading.
    const writer = spawn("sh", ["-c", 'echo unread > "$1"', "sh", at(project, "pipe")]);
    const ended = once(writer, "close");
    for (const args of [["--untrusted", "plan"], ["plan"]]) {
      const { code, text: shown } = await project.run(...args);
      expect(code, shown).toBe(0);
    }
    const refused = await project.run("apply", "--auto-approve");
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("not an ordinary file")]);
    expect(project.changesSent()).toEqual([]);
    const pipe = openSync(at(project, "pipe"), constants.O_RDONLY | constants.O_NONBLOCK);
    await ended;
    expect(readFileSync(pipe, "utf8")).toBe("unread\n");
    closeSync(pipe);
  });

  it("when the secret comes keeps it in the state, and the next apply writes it", async () => {
    const project = await startProject({ declare: to({ command: ["vault"] }) });
    let broken = true;
    const calls = recordCommands(project, ({ HOSTFORM_SECRET_OUTPUT: purpose }) =>
      broken && purpose === "write" ? "ended with exit code 4" : undefined,
    );
    const ran = await project.run("apply", "--auto-approve");
    const secret = made(project);
    expect(ran.code).toBe(0);
    expect(ran.text.replace(/\s+/g, " ")).toContain("until the next apply can write it");
    expect(await project.recorded(HOOK)).toMatchObject({
      attributes: { secret, secret_fingerprint: null },
      sensitive: ["secret"],
    });
    await expectUnseen(project, secret, ran.text);

    // The command still fails: the change fails, the secret stays in the state, and no request is sent.
    project.sent();
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    expect((await attributes(project))?.secret).toBe(secret);
    broken = false;
    const change = await project.changeOf(HOOK);
    expect(change).toMatchObject({ actions: ["update"], requests: 0 });
    expect(change.reasons.map(({ text: why }) => why)).toEqual([
      "the secret is still to be written to the command vault",
    ]);
    await project.apply();
    expect(calls.at(-1)).toMatchObject({ input: secret, purpose: "write" });
    expect(project.changesSent()).toEqual([]);
    expect(await attributes(project)).toMatchObject({ secret: null, secret_fingerprint: fingerprintOf(secret) });
    await project.expectNoChanges();
  });
});

describe("a run that dies between the answer and the write", () => {
  it("has the secret on disk; the next apply writes it", async () => {
    const project = await startProject({ declare: to({ command: ["vault"] }) });
    let onDisk: ReadonlyMap<string, string> | undefined;
    const calls = recordCommands(project, ({ HOSTFORM_SECRET_OUTPUT: purpose }) => {
      if (purpose === "write") onDisk ??= project.memory();
      return undefined;
    });
    await project.apply();
    const secret = made(project);
    project.recall(onDisk ?? new Map());
    expect(await attributes(project)).toMatchObject({ secret, secret_fingerprint: null });
    calls.length = 0;
    project.sent();
    await project.apply();
    expect(calls).toEqual([{ command: ["vault"], input: secret, purpose: "write" }]);
    expect(project.changesSent()).toEqual([]);
    expect(await attributes(project)).toMatchObject({ secret: null, secret_fingerprint: fingerprintOf(secret) });
    await project.expectNoChanges();
  });
});

describe("a webhook that is there already", () => {
  it("has the secret of its state written out when secret_output is declared", async () => {
    const project = await startProject({ declare: hook() });
    await project.apply();
    const secret = made(project);
    expect((await attributes(project))?.secret).toBe(secret);
    await project.declare(to(FILE));
    project.sent();
    const { text: shown } = await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect(text(project, FILE.file)).toBe(`${secret}\n`);
    expect(await attributes(project)).toMatchObject({ secret: null, secret_fingerprint: fingerprintOf(secret) });
    await project.expectNoChanges();
    await expectUnseen(project, secret, shown);
  });

  it("cannot have it moved once it is gone from the state: said once, recorded, and no diff after", async () => {
    const project = await startProject({ declare: to(FILE) });
    await project.apply();
    await project.declare(to({ file: "elsewhere" }));
    const { diagnostics } = await project.plan();
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([["secret.output", "warning"]]);
    await project.apply();
    expect(existsSync(at(project, "elsewhere"))).toBe(false);
    await project.expectNoChanges();
  });

  it("loses nothing when secret_output is removed", async () => {
    const project = await startProject({ declare: to(FILE) });
    await project.apply();
    await project.declare(hook());
    project.sent();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect(text(project, FILE.file)).toBe(`${made(project)}\n`);
    await project.expectNoChanges();
  });

  it.each([{}, { secret_output: FILE }])("is imported without its secret, which makes no diff (%o)", async (more) => {
    const project = await startProject({ declare: hook() });
    await project.apply();
    await project.loseState();
    await project.declare(hook(more));
    const id = project.idOf("webhooks", project.control.list("webhooks")[0]?.id);
    const ran = await project.run("import", HOOK, id);
    expect(ran.code, ran.text).toBe(0);
    expect(ran.text).toContain("Its secret was returned only when it was created");
    expect(await attributes(project)).toMatchObject({ secret: null, secret_fingerprint: null });
    const { changes, diagnostics } = await project.plan();
    expect(changes.map(({ actions }) => actions)).toEqual([["no-op"]]);
    // The warning about the declared secret_output lasts as long as the secret is unknown.
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual(
      "secret_output" in more ? [["secret.output", "warning"]] : [],
    );
    expect(existsSync(at(project, FILE.file))).toBe(false);
  });

  it("keeps its secret whatever a reading says of it", async () => {
    const project = await startProject({ declare: hook() });
    await project.apply();
    const secret = made(project);
    project.control.change("webhooks", project.control.list("webhooks")[0]?.id ?? 0, { secret: "whsec_another" });
    await project.expectNoChanges();
    await project.apply();
    expect((await attributes(project))?.secret).toBe(secret);
  });
});

describe("a reference to a secret that is not kept", () => {
  it("is refused, and says why", async () => {
    const declare = hook(
      { secret_output: FILE },
      {
        migration_requests: { acme: { domain: "acme.example", questions: { key: `\${${HOOK}.secret}` } } },
      },
    );
    const project = await startProject({ declare });
    const ran = await project.run("validate");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("hosting_webhook.billing.secret is not in the state");
    expect(ran.text).toContain("hosting.yaml:");
  });
});

describe("two secrets", () => {
  const both = (first: object, second: object) => ({
    project: "secrets",
    webhooks: {
      billing: { url: "https://a.acme.example", events: ["invoice.paid"], secret_output: first },
      other: { url: "https://b.acme.example", events: ["invoice.paid"], secret_output: second },
    },
  });
  const line = (path_: string, name: string) => ({ env_file: { path: path_, name } });

  it.each([
    ["one file", FILE, { file: "./billing.secret" }],
    ["one line", line(".env", "A"), line(".env", "A")],
  ])("for one place (%s) are refused: one would overwrite the other", async (_, first, second) => {
    const project = await startProject({ declare: both(first, second) });
    const ran = await project.run("validate");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain(
      "hosting_webhook.other and hosting_webhook.billing write their secrets to the same place",
    );
  });

  it("may share an env file", async () => {
    const project = await startProject({ declare: both(line(".env", "A"), line(".env", "B")) });
    await project.apply();
    const secrets = project.control.list("webhooks").map(({ secret }) => secret);
    expect(
      text(project, ".env")
        .trim()
        .split("\n")
        .map((each) => each.slice(2))
        .sort(),
    ).toEqual(secrets.sort());
  });
});

describe("a generated password with a secret_output", () => {
  const VPS = "hosting_service.vps";
  const vps = (more: object) => ({
    project: "secrets",
    services: { vps: { plan_id: 31, currency: "USD", secret_output: { file: "vps.password" }, ...more } },
  });

  it("goes there, at each password_version", async () => {
    const project = await startProject({ declare: vps({ password_version: 1 }) });
    await project.apply();
    const first = text(project, "vps.password").trim();
    expect(first.length).toBeGreaterThan(7);
    expect(await attributes(project, VPS)).toMatchObject({
      generated_password: null,
      generated_password_fingerprint: fingerprintOf(first),
    });
    await project.expectNoChanges();
    await project.declare(vps({ password_version: 2 }));
    await project.apply();
    const second = text(project, "vps.password").trim();
    expect(second).not.toBe(first);
    expect((await attributes(project, VPS))?.generated_password_fingerprint).toBe(fingerprintOf(second));
    expect(await project.stateText()).not.toContain(second);
    await project.expectNoChanges();
  });

  it("is not asked for while it could not be written", async () => {
    const project = await startProject({ declare: vps({}) });
    await project.apply();
    mkdirSync(at(project, "vps.password"));
    await project.declare(vps({ password_version: 1 }));
    project.sent();
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    expect(project.changesSent()).toEqual([]);
  });
});

describe("a secret_output that holds another secret than the recorded fingerprint says", () => {
  const ENV_FILE = { env_file: { path: ".env", name: "HOOK_SECRET" } };
  it.each([
    ["a file", FILE, FILE.file, (secret: string) => `${secret}\n`],
    ["a line of an env file", ENV_FILE, ".env", (secret: string) => `A=1\nHOOK_SECRET='${secret}'\n`],
  ])("is not overwritten (%s), and nothing is sent", async (_, output, file, holding) => {
    const project = await startProject({ declare: to(output) });
    await project.apply();
    const theirs = holding("whsec_of another account");
    writeFileSync(at(project, file), theirs, { mode: 0o600 });
    const [{ id } = { id: 0 }] = project.control.list("webhooks");
    project.control.remove("webhooks", id);
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text.replaceAll(/\s+/g, " ")).toMatch(/differs from the secret of hosting_webhook\S+ in the state/);
    expect(ran.text).not.toContain("whsec_of");
    expect(text(project, file)).toBe(theirs);
    expect(project.changesSent()).toEqual([]);
  });

  it("is not overwritten if the state was lost, and the account is another one", async () => {
    const project = await startProject({ declare: to(FILE) });
    writeFileSync(at(project, FILE.file), "whsec_of another account\n", { mode: 0o600 });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text.replaceAll(/\s+/g, " ")).toContain("already holds a secret, and the state has no");
    expect(text(project, FILE.file)).toBe("whsec_of another account\n");
    expect(project.changesSent()).toEqual([]);
  });

  it.each([
    ["the recorded one", (own: string) => `${own}\n`],
    ["nothing", () => ""],
  ])("is overwritten if it holds %s", async (_, holding) => {
    const project = await startProject({ declare: to(FILE) });
    await project.apply();
    const before = made(project);
    writeFileSync(at(project, FILE.file), holding(before));
    const [{ id } = { id: 0 }] = project.control.list("webhooks");
    project.control.remove("webhooks", id);
    await project.apply();
    expect(made(project)).not.toBe(before);
    expect(text(project, FILE.file)).toBe(`${made(project)}\n`);
  });
});
