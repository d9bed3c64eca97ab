import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { answering, type Project, projectWithService, runIn } from "./harness.ts";

/** Every command that sends a request to the API. */
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

/** Expects that the command ends with exit code 1, prints the error only on standard error, and writes no state. */
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

it.each(ASKING)("%s %s with a wrong token", async (...args) => {
  const made = await projectWithService();
  const env = { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: "wrong-token-0123456789" };
  await expectRefusal(made, args, env, /401/);
});

it.each([["plan"], ["plans"], ["sso", "1001"]])(
  "%s without a token, and with a server that answers HTML",
  async (...args) => {
    const made = await projectWithService();
    await expectRefusal(made, args, { HOSTING_BASE_URL: made.sandbox.url }, /HOSTING_TOKEN is not set/);
    const env = {
      HOSTING_BASE_URL: await answering(200, "text/html", "<html><body>Welcome to nginx</body></html>"),
      HOSTING_TOKEN: "some-token-0123456789",
    };
    await expectRefusal(made, args, env, /HTML|JSON/i);
  },
);

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

describe("a command line", () => {
  it("has no wrapped line in a terminal of unknown width", async () => {
    const [at120, unknown] = await Promise.all(
      [120, 0].map((columns) => runIn(temporaryFolder(), ["plan"], { terminal: true, columns })),
    );
    const linesWithFix = (text = "") => text.split("\n").filter((line) => /Fix:|`-C`/.test(line)).length;
    expect([linesWithFix(at120?.stderr), linesWithFix(unknown?.stderr)]).toEqual([2, 1]);
    expect(unknown?.stderr).toContain("a folder with `-C`.");
  });

  it("prints the version, Node and the platform with version", async () => {
    expect((await runIn(temporaryFolder(), ["version"])).stdout).toMatch(/^hostform \d+\.\d+\.\d+ \(Node \d+/);
    const { json } = await runIn(temporaryFolder(), ["version", "--json"]);
    expect(json()).toEqual({
      format_version: "1.0",
      version: expect.any(String),
      node: process.versions.node,
      platform: expect.any(String),
    });
  });

  it("common options work before and after the command", async () => {
    const made = await projectWithService();
    const before = await made.run(["-C", made.dir, "--json", "validate"], { cwd: "/" });
    const after = await made.run(["validate", "-C", made.dir, "--json"], { cwd: "/" });
    expect(before.json()).toMatchObject({ valid: true });
    expect(after.stdout).toBe(before.stdout);
  });

  it("prints each request with --verbose, and only results with --quiet", async () => {
    const made = await projectWithService();
    const verbose = await made.run(["plans", "--verbose"]);
    expect(verbose.stderr).toMatch(/GET .*plans.* 200/);
    expect((await made.run(["plans", "--quiet", "--verbose"])).stderr).toBe("");
  });
});
