import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { liveCommands } from "../report/hostile.ts";
import { project } from "./harness.ts";

const FORMATS = [[], ["--format", "markdown"], ["--format", "html"], ["--json"]];

const DECLARED = `project: test
services:
  acme-website:
    plan_id: 11
    currency: USD
    domain: evil-casino.example
    grants: {mallory@evil.example: manage}
webhooks:
  hook: {url: "https://collect.evil.example/x", events: [invoice.paid]}
`;

/** Values that an approver must read before a decision. */
const DECISIVE = [
  "evil-casino.example",
  "https://collect.evil.example/x",
  "mallory@evil.example",
  "acme-website",
  "500",
  "450",
];

async function declared(yaml: string) {
  const made = await project(yaml);
  const env = { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: made.sandbox.tokens.agency };
  return { ...made, run: (args: readonly string[], more = {}) => made.run(args, { env: { ...env, ...more } }) };
}

describe("values that an approver must read are shown, whatever the environment contains", () => {
  it.each([
    ["a branch", "GITHUB_HEAD_REF", "fix;token=evil-casino.example;key=collect.evil.example/x;pw=mallory@evil.example"],
    [
      "a branch of GitLab",
      "CI_COMMIT_REF_NAME",
      "https://collect.evil.example/x?secret=acme-website&code=evil-casino.example",
    ],
    [
      "a commit message",
      "CI_COMMIT_MESSAGE",
      'password=450 token: 500 {"api_key": "evil-casino.example"} Authorization: Bearer acme-website',
    ],
    ["a variable of a CI", "SONAR_PROJECT_KEY", "acme-website"],
    ["a token of another program", "OTHER_TOKEN", "evil-casino.example"],
    ["a proxy", "HTTPS_PROXY_PASS", "http://mallory@evil.example:450/"],
  ])("%s", async (_, name, value) => {
    const { run } = await declared(DECLARED);
    for (const format of FORMATS) {
      const [plain, hostile] = [
        await run(["plan", "--untrusted", ...format]),
        await run(["plan", "--untrusted", ...format], { [name]: value }),
      ];
      for (const text of DECISIVE) expect(hostile.stdout, `${format.join(" ")}: ${text}`).toContain(text);
      expect(withoutTimes(hostile.stdout)).toBe(withoutTimes(plain.stdout));
    }
  });

  it("and the saved plan is applied", async () => {
    const { run } = await declared(DECLARED);
    const env = { SONAR_PROJECT_KEY: "acme-website" };
    expect((await run(["plan", "--out", "a.plan"], env)).code).toBe(0);
    expect((await run(["apply", "a.plan"], env)).stdout).toContain("Apply complete! 3 added");
  });

  it("but a known secret among them is an error that names the field, and shows no value", async () => {
    const { run } = await declared(DECLARED);
    for (const format of FORMATS) {
      const { code, stdout, stderr } = await run(["plan", ...format], {
        HOSTFORM_STATE_PASSPHRASE: "evil-casino.example",
      });
      expect(code).toBe(1);
      expect(stdout + stderr).toContain("domain of hosting_service.acme-website holds a secret of this run");
      expect(stdout + stderr).not.toContain("evil-casino.example");
    }
  });
});

/** Removes times and durations, which differ between runs. */
const withoutTimes = (text: string) =>
  text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\d \d\d:\d\d(?: UTC)?/g, "")
    .replace(/"(?:seconds|read)": [\d.]+/g, "");

const COMMAND = "##vso[task.setvariable variable=A]x";

describe("output contains no command of a CI agent, even if no variable names a CI", () => {
  const accounts = `project: test\nclient_accounts:\n  acme: {name: "${COMMAND}"}\nwebhooks:\n  hook: {url: "https://a.example/x", events: [invoice.paid]}\n`;

  it("in a stream, a report and a saved plan", async () => {
    const { run, dir } = await declared(accounts);
    for (const format of FORMATS) {
      const { stdout, stderr } = await run(["plan", ...format]);
      expect(stdout).toContain("task.setvariable");
      expect(liveCommands(stdout + stderr)).toEqual([]);
    }
    const files = ["r.txt", "r.json", "r.html", "r.md"];
    await run(["plan", "--out", "a.plan", ...files.flatMap((file) => ["--report", file])]);
    for (const file of [...files, "a.plan"]) {
      const text = readFileSync(path.join(dir, file), "utf8");
      expect(text, file).toContain("task.setvariable");
      expect(liveCommands(text), file).toEqual([]);
    }
    const json = JSON.parse(readFileSync(path.join(dir, "r.json"), "utf8"));
    expect(
      json.planned_values.root_module.resources.map(({ values }: { values: { name?: string } }) => values.name),
    ).toContain(COMMAND);
    expect((await run(["apply", "a.plan"])).code).toBe(0);
    await run(["export", "--out", "main.tf"]);
    const exported = readFileSync(path.join(dir, "main.tf"), "utf8");
    expect(exported).toContain("task.setvariable");
    expect(liveCommands(exported)).toEqual([]);
  });

  it("but exact output is exact, or rejected if a CI reads it", async () => {
    const { run, read } = await declared(accounts);
    await run(["apply", "--auto-approve"]);
    expect((await run(["state", "pull"])).stdout).toBe(await read("hosting.tfstate"));
    const refused = await run(["state", "pull"], { GITHUB_ACTIONS: "true" });
    expect(refused).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("The state contains a command for the CI runner"),
    });
  });
});
