import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { answering, type Project, projectWithService, runIn } from "./harness.ts";

/** Every command that asks the API something. */
const ASKING: readonly (readonly string[])[] = [
  ["plan"],
  ["import", "hosting_service.www", "1001"],
  ["plans"],
  ["services"],
  ["invoices"],
  ["grants", "1001"],
  ["webhooks"],
  ["accounts"],
  ["migrations"],
  ["domains", "check", "acme.example"],
  ["sso", "1001"],
  ["password", "1001", "--generate"],
];

/** Each command must end with 1, say what is wrong on standard error only, and write no state. */
async function expectRefusal(made: Project, args: readonly string[], env: object, message: RegExp) {
  const { code, stdout, stderr } = await made.run(args, { env: env as Record<string, string> });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(message);
  const json = await made.run([...args, "--json"], { env: env as Record<string, string> });
  expect(json.code).toBe(1);
  expect(json.json()).toMatchObject({
    errored: true,
    diagnostics: expect.arrayContaining([expect.objectContaining({ severity: "error", summary: expect.any(String) })]),
  });
  await expect(made.read("hosting.tfstate"), "no state was written").rejects.toThrow();
}

describe.each(ASKING.map((args) => [args.join(" "), args] as const))("%s", (_, args) => {
  it("with a wrong token", async () => {
    const made = await projectWithService();
    const env = { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: "wrong-token-0123456789" };
    await expectRefusal(made, args, env, /401/);
  });

  it("without a token", async () => {
    const made = await projectWithService();
    await expectRefusal(made, args, { HOSTING_BASE_URL: made.sandbox.url }, /HOSTING_TOKEN is not set/);
  });

  it("with a server that answers HTML", async () => {
    const made = await projectWithService();
    const env = {
      HOSTING_BASE_URL: await answering(200, "text/html", "<html><body>Welcome to nginx</body></html>"),
      HOSTING_TOKEN: "some-token-0123456789",
    };
    await expectRefusal(made, args, env, /HTML|JSON/i);
  });
});

it.each([
  [["invoices"], /billing/],
  [["webhooks"], /technical/],
  [["grants", "1001"], /technical/],
  [["sso", "1001"], /technical/],
] as const)("a view-only token may not %j: the ability is named", async (args, ability) => {
  const made = await projectWithService();
  const env = { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: made.sandbox.tokens.viewer };
  await expectRefusal(made, args, env, ability);
});

describe("usage", () => {
  it.each([
    ["an unknown command", ["plann"], "Did you mean one of plan, plans?"],
    ["an unknown option", ["plan", "--tarket", "x"], "Did you mean --target?"],
    ["Terraform's spelling of an option with a value", ["plan", "-out=x"], "Did you mean --out=x?"],
    ["Terraform's spelling of an option without a value", ["apply", "-auto-approve"], "Did you mean --auto-approve?"],
    ["Terraform's option for the folder", ["plan", "-chdir=x"], "Did you mean -C x?"],
    ["a word behind one dash that is no option", ["plan", "-outt=x"], "unknown option '-outt=x'"],
    ["a missing argument", ["import"], "missing required argument"],
    ["an argument too many", ["version", "now"], "too many arguments"],
    ["an option that is no number", ["sandbox", "--rate-limit", "-1"], "Expected a whole number"],
    ["a value that is not a choice", ["sandbox", "--token", "root"], "Allowed choices are"],
    ["a part of a command", ["state", "lst"], "Did you mean list?"],
  ])("%s ends with 1, on standard error, with a suggestion", async (_, args, message) => {
    const { code, stdout, stderr } = await runIn(temporaryFolder(), args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(message);
    const json = await runIn(temporaryFolder(), [...args, "--json"]);
    expect(json).toMatchObject({ code: 1, stderr: "" });
    expect(json.json().diagnostics[0]).toMatchObject({ code: "usage" });
  });

  it("wraps no line for a terminal of unknown size", async () => {
    const [at120, unknown] = await Promise.all(
      [120, 0].map((columns) => runIn(temporaryFolder(), ["plan"], { terminal: true, columns })),
    );
    const linesWithFix = (text = "") => text.split("\n").filter((line) => /Fix:|`-C`/.test(line)).length;
    expect([linesWithFix(at120?.stderr), linesWithFix(unknown?.stderr)]).toEqual([2, 1]);
    expect(unknown?.stderr).toContain("a folder with `-C`.");
  });

  it("without a command prints the help, and ends with 0", async () => {
    const bare = await runIn(temporaryFolder(), []);
    expect(bare).toMatchObject({ code: 0, stderr: "" });
    for (const group of [
      "Main commands:",
      "State:",
      "Account (read-only):",
      "One-time actions:",
      "Sandbox and setup:",
      "Examples:",
    ]) {
      expect(bare.stdout).toContain(`\n${group}\n`);
    }
    expect((await runIn(temporaryFolder(), ["help"])).stdout).toBe(bare.stdout);
    expect((await runIn(temporaryFolder(), ["--help"])).stdout).toBe(bare.stdout);
  });

  it("help COMMAND shows its options before the common ones, and examples", async () => {
    const { code, stdout } = await runIn(temporaryFolder(), ["help", "plan"]);
    expect(code).toBe(0);
    expect(stdout.indexOf("--target")).toBeLessThan(stdout.indexOf("Common options:"));
    expect(stdout).toContain("Examples:\n  hostform plan");
  });

  it("help COMMAND SUBCOMMAND is that subcommand's own; a wrong word is an error", async () => {
    const own = await runIn(temporaryFolder(), ["state", "push", "--help"]);
    expect(await runIn(temporaryFolder(), ["help", "state", "push"])).toMatchObject({ code: 0, stdout: own.stdout });
    const wrong = await runIn(temporaryFolder(), ["help", "state", "psh"]);
    expect(wrong).toMatchObject({ code: 1, stdout: "" });
    expect(wrong.stderr).toContain("unknown command 'state psh'\n(Did you mean \"push\"?)");
  });

  it("version says version, Node and platform", async () => {
    expect((await runIn(temporaryFolder(), ["version"])).stdout).toMatch(/^hostform \d+\.\d+\.\d+ \(Node \d+/);
    const { json } = await runIn(temporaryFolder(), ["version", "--json"]);
    expect(json()).toEqual({ version: expect.any(String), node: process.versions.node, platform: expect.any(String) });
  });

  it("common options work before and after the command", async () => {
    const made = await projectWithService();
    const before = await made.run(["-C", made.dir, "--json", "validate"], { cwd: "/" });
    const after = await made.run(["validate", "-C", made.dir, "--json"], { cwd: "/" });
    expect(before.json()).toMatchObject({ valid: true });
    expect(after.stdout).toBe(before.stdout);
  });

  it("--verbose shows each request, --quiet nothing but results", async () => {
    const made = await projectWithService();
    const verbose = await made.run(["plans", "--verbose"]);
    expect(verbose.stderr).toMatch(/GET .*plans.* 200/);
    expect((await made.run(["plans", "--quiet", "--verbose"])).stderr).toBe("");
  });
});
