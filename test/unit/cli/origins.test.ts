import { describe, expect, it } from "vitest";
import { project } from "./harness.ts";

const TOKEN = "t0p-of-the-hook-4711";
const FORMATS = [[], ["--format", "markdown"], ["--format", "html"], ["--json"]];

const webhook = (url: string) => `project: test\nwebhooks:\n  hook: {url: "${url}", events: [invoice.paid]}\n`;

/** Creates a project, and a function that runs commands in it with additional environment variables. */
async function declared(yaml: string) {
  const made = await project(yaml);
  const env = { HOSTING_BASE_URL: made.sandbox.url, HOSTING_TOKEN: made.sandbox.tokens.agency };
  return {
    ...made,
    run: (args: readonly string[], more: Record<string, string>) => made.run(args, { env: { ...env, ...more } }),
  };
}

describe("a variable of the environment in YAML", () => {
  it.each(FORMATS)("hides the query of a webhook behind its name, and shows the rest (%s %s)", async (...format) => {
    const { run } = await declared(webhook("https://hooks.acme.example/a?token=${env.HOOK_TOKEN}"));
    const { code, stdout, stderr } = await run(["plan", ...format], { HOOK_TOKEN: TOKEN });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("Error") });
    expect(stdout).not.toContain(TOKEN);
    expect(stdout).toContain("https://hooks.acme.example/a?(sensitive: env.HOOK_TOKEN)");
  });

  it("hides the rest of the path from the secret on", async () => {
    const { run } = await declared(webhook("https://hooks.acme.example/a/${env.HOOK_TOKEN}/b?c=d"));
    const { stdout } = await run(["plan"], { HOOK_TOKEN: TOKEN });
    expect(stdout).toContain("https://hooks.acme.example/a/(sensitive: env.HOOK_TOKEN)");
    expect(stdout).not.toContain(TOKEN);
  });

  it.each(FORMATS)("keeps host and path visible when its value changes (%s %s)", async (...format) => {
    const url = "https://hooks.acme.example/in";
    const { run, write } = await declared(webhook(`${url}?token=\${env.HOOK_TOKEN}`));
    expect((await run(["apply", "--auto-approve"], { HOOK_TOKEN: TOKEN })).code).toBe(0);
    // The URL of another webhook may equal the public part of this URL.
    const both = `project: test\nwebhooks:\n  hook: {url: '${url}?token=\${env.HOOK_TOKEN}', events: [invoice.paid]}\n`;
    await write("hosting.yaml", `${both}  plain: {url: "${url}", events: [invoice.paid]}\n`);
    const planned = await run(["plan", ...format], { HOOK_TOKEN: "an0ther-of-the-hook" });
    expect(planned.code, planned.stderr).toBe(0);
    expect(planned.stdout).toContain(`${url}?(sensitive: env.HOOK_TOKEN)`);
    expect(planned.stdout).toMatch(/https:\/\/hooks\.acme\.example\/in(?!\?)/);
    expect(planned.stdout).not.toMatch(/sensitive: hosting_webhook/);
    for (const secret of [TOKEN, "an0ther-of-the-hook"]) expect(planned.stdout).not.toContain(secret);
  });

  it("stays sensitive in the state, and in later plans", async () => {
    const { run, read, write } = await declared(webhook("https://hooks.acme.example/a?token=${env.HOOK_TOKEN}"));
    const env = { HOOK_TOKEN: TOKEN };
    expect((await run(["apply", "--auto-approve"], env)).code).toBe(0);
    const state = await read("hosting.tfstate");
    expect(JSON.stringify(JSON.parse(state).resources[0].instances[0].sensitive_attributes)).toContain('"value":"url"');
    const runs = [["state", "show", "hosting_webhook.hook"], ["plan"], ["plan", "--json"], ["apply", "--auto-approve"]];
    for (const args of runs) expect((await run(args, env)).stdout, args.join(" ")).not.toContain(TOKEN);
    await write("hosting.yaml", "project: test\n");
    // The variable is no longer set, so only the state marks the value as sensitive.
    for (const format of FORMATS)
      expect((await run(["plan", "--allow-removals", ...format], {})).stdout).not.toContain(TOKEN);
  });

  it.each([
    [
      "a domain",
      "services: {w: {plan_id: 11, currency: USD, domain: '${env.X}.example'}}",
      "domain of hosting_service.w",
    ],
    ["a host", "webhooks: {w: {url: 'https://${env.X}/a', events: [invoice.paid]}}", "url of hosting_webhook.w"],
    [
      "a part of a host",
      "webhooks: {w: {url: 'https://a.${env.X}', events: [invoice.paid]}}",
      "url of hosting_webhook.w",
    ],
    [
      "a user before the host",
      "webhooks: {w: {url: 'https://a.example@${env.X}/', events: [invoice.paid]}}",
      "url of hosting_webhook.w",
    ],
    [
      "a permission",
      "services: {w: {plan_id: 11, currency: USD, domain: w.example, grants: {a@a.example: '${env.X}'}}}",
      "permission of hosting_grant.w",
    ],
    [
      "a currency",
      "services: {w: {plan_id: 11, currency: '${env.X}', domain: w.example}}",
      "currency of hosting_service.w",
    ],
    [
      "a place of a secret",
      "webhooks: {w: {url: 'https://a.example/', events: [invoice.paid], secret_output: {file: '${env.X}'}}}",
      "secret_output of hosting_webhook.w",
    ],
  ])("cannot be %s", async (_, yaml, place) => {
    const { run } = await declared(`project: test\n${yaml}\n`);
    const { code, stdout, stderr } = await run(["plan"], { X: "view" });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`${place}`);
    expect(stderr).toContain("comes from a sensitive source: env.X [config.sensitive]");
    expect(stderr).toContain("If X is not secret, add its name to HOSTFORM_ENV_ALLOW.");
  });

  it.each([
    ["HOSTFORM_ENV_ALLOW names it", "", { HOSTFORM_ENV_ALLOW: "X" }, "${env.X}"],
    ["a variable takes its value from it", "variables: {site: {default: '${env.X}'}}\n", {}, "${var.site}"],
  ])("is open where %s", async (_, head, env: Record<string, string>, text) => {
    const { run } = await declared(
      `project: test\n${head}services: {w: {plan_id: 11, currency: USD, domain: '${text}'}}\n`,
    );
    const { code, stdout } = await run(["plan"], { X: "www.acme.example", ...env });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('= "www.acme.example"'),
    });
  });

  it.each(["HOSTING_TOKEN", "HOSTFORM_STATE_PASSPHRASE", "PG_CONN_STR", "HOSTFORM_STORE"])(
    "is never open if it holds a credential: %s",
    async (name) => {
      const yaml = `project: test\nvariables: {site: {default: '\${env.${name}}'}}\nservices: {w: {plan_id: 11, currency: USD, domain: '\${var.site}'}}\n`;
      const { run } = await declared(yaml);
      const { stderr } = await run(["plan"], { HOSTFORM_ENV_ALLOW: name, [name]: "correct-horse-battery-staple" });
      expect(stderr).toContain(`env.${name} [config.sensitive]`);
      expect(stderr).not.toContain("correct-horse");
    },
  );

  it("is never visible if it contains the token of a provider, whatever its name", async () => {
    const yaml = `project: test\nproviders: {default: {token_env: ACME_API}}\nservices: {w: {plan_id: 11, currency: USD, domain: '\${env.ACME_API}'}}\n`;
    const { run } = await declared(yaml);
    const { stderr } = await run(["plan"], { HOSTFORM_ENV_ALLOW: "ACME_API", ACME_API: "7|correct-horse-battery" });
    expect(stderr).toContain("env.ACME_API [config.sensitive]");
    expect(stderr).not.toContain("correct-horse");
  });

  it("must be in the list of readable variables in an untrusted declaration", async () => {
    const yaml =
      "project: test\nvariables: {site: {default: '${env.X}'}}\nservices: {w: {plan_id: 11, currency: USD, domain: '${var.site}'}}\n";
    const { run } = await declared(yaml);
    const { code, stderr } = await run(["plan", "--untrusted"], { X: "www.acme.example" });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("reads the environment variable X [trust.untrusted]"),
    });
  });
});
