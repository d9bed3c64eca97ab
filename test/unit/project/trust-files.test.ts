import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { runIn } from "../cli/harness.ts";

const SECRET = "hunter2-of-a-stranger";
const NETRC = `machine api.example login me password ${SECRET}\n`;

/** A folder, and a file outside it that holds a secret. */
async function around(text = NETRC): Promise<{ dir: string; outside: string }> {
  const dir = temporaryFolder();
  const outside = path.join(temporaryFolder(), "netrc");
  writeFileSync(outside, text);
  return { dir, outside };
}

const put = (dir: string, name: string, text: string) => {
  const file = path.join(dir, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const STACK = JSON.stringify({ provider: { hosting: [{ project: "p" }] } });
const MANIFEST = JSON.stringify({
  stacks: {
    one: {
      name: "one",
      constructPath: "one",
      workingDirectory: "stacks/one",
      synthesizedStackPath: "stacks/one/cdk.tf.json",
    },
  },
});

describe("a file that is found by its name", () => {
  it.each([
    ["hosting.yaml", [], {}],
    ["more.hosting.yaml", [], { "hosting.yaml": "project: p\n" }],
    ["cdk.tf.json", ["--stack", "."], {}],
    ["terraform.tfvars.json", ["--stack", "."], { "cdk.tf.json": STACK }],
    ["a.auto.tfvars.json", ["--stack", "."], { "cdk.tf.json": STACK }],
    [".terraform/environment", ["--stack", "."], { "cdk.tf.json": STACK, ".terraform/x": "" }],
    ["out/manifest.json", ["--stack", "out"], { "out/x": "" }],
    ["out/stacks/one/cdk.tf.json", ["--stack", "out"], { "out/manifest.json": MANIFEST, "out/stacks/one/x": "" }],
  ] as const)("and is a link to a file elsewhere is not read: %s", async (name, args, files) => {
    const { dir, outside } = await around();
    for (const [file, text] of Object.entries(files)) put(dir, file, text);
    symlinkSync(outside, path.join(dir, name));
    const { code, stdout, stderr } = await runIn(dir, ["validate", ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain("outside the project");
    expect(stdout + stderr).not.toMatch(/hunter2|machine|login/);
  });

  it.each([
    ["clients/netrc.yaml", "clients/*.yaml"],
    ["clients/netrc.yaml", "clients/netrc.yaml"],
    ["clients", "clients/*.yaml"],
  ])("nor when it is included: %s as %s", async (name, include) => {
    const { dir, outside } = await around();
    put(path.dirname(outside), "netrc.yaml", NETRC);
    put(dir, "hosting.yaml", `project: p\ninclude: ${include}\n`);
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    symlinkSync(name === "clients" ? path.dirname(outside) : outside, path.join(dir, name));
    for (const [args, what] of [
      [["validate"], "outside the project, so it is not read [trust.file]"],
      [["plan", "--untrusted"], "is a link, which is not allowed in an untrusted project [trust.file]"],
    ] as const) {
      const { code, stdout, stderr } = await runIn(dir, args);
      expect([code, stderr]).toEqual([1, expect.stringContaining(what)]);
      expect(stdout + stderr).not.toMatch(/hunter2|machine|login/);
    }
  });

  it("is not read below a folder that is a link to elsewhere", async () => {
    const { dir, outside } = await around(STACK);
    put(dir, "out/manifest.json", MANIFEST);
    mkdirSync(path.join(dir, "out/stacks"));
    put(path.dirname(outside), "cdk.tf.json", STACK);
    put(path.dirname(outside), "names-too.tf", "");
    symlinkSync(path.dirname(outside), path.join(dir, "out/stacks/one"));
    const { code, stderr } = await runIn(dir, ["validate", "--stack", "out"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("outside the project")]);
    expect(stderr).not.toContain("names-too");
  });

  it("and is no regular file is refused, not waited for", async () => {
    const { dir } = await around();
    execFileSync("mkfifo", [path.join(dir, "hosting.yaml")]);
    const { code, stderr } = await runIn(dir, ["validate"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("hosting.yaml is not a regular file")]);
  });

  it("may be a link to another file of the project", async () => {
    const { dir } = await around();
    put(dir, "base/all.yaml", "project: p\n");
    symlinkSync("base/all.yaml", path.join(dir, "hosting.yaml"));
    expect(await runIn(dir, ["validate"])).toMatchObject({ code: 0 });
  });
});

describe("a file that the command line names", () => {
  it("may lie anywhere", async () => {
    const { dir, outside } = await around("project: p\n");
    expect(await runIn(dir, ["validate", "-f", outside])).toMatchObject({ code: 0 });
  });
});

describe("a file that is no declaration", () => {
  it.each([
    ["a list of passwords", NETRC],
    ["settings", `[remote "origin"]\n\turl = https://me:${SECRET}@git.example\n`],
    ["variables", `API=${SECRET}\n`],
    ["another format of YAML", `machines:\n  - hunter2: ${SECRET}\n`],
  ])("shows no line of its own: %s", async (_, text) => {
    const { dir, outside } = await around(text);
    for (const args of [
      ["-f", outside],
      ["-f", outside, "--json"],
    ]) {
      const { code, stdout, stderr } = await runIn(dir, ["validate", ...args]);
      expect(code).toBe(1);
      expect(stdout + stderr).toContain(path.basename(outside));
      expect(stdout + stderr).not.toContain(SECRET);
    }
  });

  it("shows none as a stack either", async () => {
    const { dir } = await around();
    for (const text of [NETRC, `{"auths": {"registry.example": {"auth": "${SECRET}"}}}`, `{"auth": "${SECRET}",}`]) {
      put(dir, "some.tf.json", text);
      const { code, stdout, stderr } = await runIn(dir, ["validate", "--stack", "some.tf.json"]);
      expect(code).toBe(1);
      expect(stdout + stderr).not.toContain(SECRET);
    }
  });

  it("nor as a manifest", async () => {
    const { dir } = await around();
    put(dir, "out/manifest.json", SECRET);
    const { code, stdout, stderr } = await runIn(dir, ["validate", "--stack", "out"]);
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain(SECRET.slice(0, 5));
  });

  it.each([
    ["in blocks", "project: p\nservices:\n  www: {domian: acme.example}\n"],
    ["in braces", "{project: p, services: {www: {domian: acme.example}}}\n"],
    ["with syntax that cannot be parsed", "project: p\n\tservices: {www: {domian: acme.example}}\n"],
  ])("while a declaration with a mistake shows the line of the mistake: %s", async (_, text) => {
    const { dir } = await around();
    put(dir, "hosting.yaml", text);
    const { stderr } = await runIn(dir, ["validate"]);
    expect(stderr).toContain("domian: acme.example");
  });
});
