import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { runIn } from "./harness.ts";

/** Two errors of one kind. The value in one of them contains text that a CI runner would execute. */
const MISTAKEN = `project: acme
services:
  www:
    plan_id: eleven
    currency: USD
    domain: "a,b:c%0A::error::x"
  shop:
    plan_id: eleven
    currency: USD
    domain: shop.acme.example
`;

async function validate(args: readonly string[], parts: { env?: Record<string, string>; runner?: boolean } = {}) {
  const root = temporaryFolder();
  const dir = path.join(root, "hosting: x");
  await mkdir(dir);
  await writeFile(path.join(dir, "hosting.yaml"), MISTAKEN);
  const { env = {}, ...rest } = parts;
  const named = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace("ROOT", root)]));
  return runIn(dir, args, { ...rest, env: named });
}

const GITHUB = { GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: "ROOT" };
const commandsIn = (text: string) => text.split("\n").filter((line) => line.startsWith("::"));

describe("annotations", () => {
  it("are attached to the lines of errors if GitHub's runner reads standard error", async () => {
    for (const command of ["validate", "plan"]) {
      const { code, stdout, stderr } = await validate([command], { env: GITHUB, runner: true });
      expect({ code, commands: commandsIn(stdout) }).toEqual({ code: 1, commands: [] });
      const commands = commandsIn(stderr);
      expect(commands.length, "a line for each mistake, none more").toBeGreaterThanOrEqual(2);
      const place = "file=hosting%3A x/hosting.yaml,line=4,endLine=4,col=14,endColumn=20,title=config.";
      expect(commands[0]).toContain(`::error ${place}`);
      expect(
        commands.every((line) => /^::(?:error|warning) file=hosting%3A x\/hosting\.yaml,[^:]*::[^:]/.test(line)),
      ).toBe(true);
      expect(stderr).toContain("plan_id");
    }
  });
});

describe("validate --format", () => {
  it("sarif prints a log with a result for each error, its rule, and its region", async () => {
    const { code, json } = await validate(["validate", "--format", "sarif"], { env: GITHUB });
    expect(code).toBe(1);
    const log = json();
    expect(log).toMatchObject({ version: "2.1.0", runs: [{ tool: { driver: { name: "hostform" } } }] });
    const [{ results, tool }] = log.runs;
    const rules = new Set(tool.driver.rules.map(({ id }: { id: string }) => id));
    expect(results.length).toBeGreaterThanOrEqual(2);
    expect(results.every(({ ruleId }: { ruleId: string }) => rules.has(ruleId))).toBe(true);
    expect(results[0]).toMatchObject({
      level: "error",
      message: { text: expect.stringContaining("plan_id") },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: "hosting%3A%20x/hosting.yaml" },
            region: { startLine: 4, startColumn: 14, endLine: 4, endColumn: 20 },
          },
        },
      ],
    });
  });

  it("gitlab prints a list with a fingerprint of each error, independent of its line", async () => {
    const { json } = await validate(["validate", "--format", "gitlab"], { env: { CI_PROJECT_DIR: "ROOT" } });
    const list = json() as { fingerprint: string; location: unknown; severity: string }[];
    expect(list[0]).toMatchObject({
      severity: "major",
      location: { path: "hosting: x/hosting.yaml", lines: { begin: 4 } },
    });
    expect(new Set(list.map(({ fingerprint }) => fingerprint)).size).toBe(list.length);
  });

  it("prints no results for a valid declaration, and ends with 0", async () => {
    const dir = temporaryFolder();
    await writeFile(path.join(dir, "hosting.yaml"), "project: acme\n");
    const sarif = await runIn(dir, ["validate", "--format", "sarif"]);
    expect([sarif.code, sarif.json().runs[0].results]).toEqual([0, []]);
    expect((await runIn(dir, ["validate", "--format", "gitlab"])).json()).toEqual([]);
    expect((await runIn(dir, ["validate", "--format", "sarif", "--json"])).code).toBe(1);
  });
});
