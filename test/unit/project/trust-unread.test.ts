/** Lists that a view-only token may not read (§4: webhooks and grants), in the plan of an untrusted declaration. */
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { project } from "../cli/harness.ts";

const WEBHOOK = "webhooks:\n  hook: {url: https://hooks.example/x, events: [invoice.paid]}\n";
const SITE = "services:\n  www: {plan_id: 11, currency: USD, domain: www.acme.example";
const FAST = "providers: {default: {requests_per_minute: 6000}}\n";
const DECLARED = `project: test\n${WEBHOOK}${SITE}, grants: {dev@acme.example: view}}\n`;

/** Applies a project, then plans with a view-only token. */
async function planned(applied = DECLARED) {
  const { write, read, run, sandbox, dir } = await project(applied);
  const { code, stderr } = await run(["apply", "--auto-approve", "--no-wait"]);
  expect(code, stderr).toBe(0);
  const env = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: sandbox.tokens.viewer };
  const plan = (...args: string[]) => run(["plan", ...args], { env });
  return { write, read, plan, dir, sandbox };
}

describe("with a token that only views", () => {
  it.each([[["--untrusted"]], [[]]])("a plan compares the rest with the record, and says so: %s", async (trust) => {
    const { write, plan } = await planned();
    const same = await plan(...trust);
    expect([same.code, same.stderr]).toEqual([0, ""]);
    expect(same.stdout).toMatch(/! hosting_webhook.hook was not checked: the plan uses the state\n.*a webhook \(403\)/);
    expect(same.stdout).toMatch(
      /! hosting_grant.www\["dev@acme.example"\] was not checked: the plan uses the state\n.*a grant \(403\)/,
    );
    expect(same.stdout).toContain("No changes in what was read. 2 resources are not checked.");
    expect(same.stdout).toContain("For reading: 2 resources not checked.\n");

    await write("hosting.yaml", `${DECLARED}client_accounts:\n  acme: {name: Acme}\n`);
    const more = await plan(...trust);
    expect(more.stdout).toContain("Plan: 1 to add, 0 to change, 0 to destroy. 2 resources are not checked.");
  });

  it("a recorded resource without a block is shown as removed, as recorded", async () => {
    const { write, plan } = await planned(`project: test\n${WEBHOOK}`);
    await write("hosting.yaml", "project: test\n");
    const { stdout } = await plan("--untrusted", "--allow-removals");
    expect(stdout).toContain(
      "# hosting_webhook.hook will be destroyed\n  # no longer declared\n  # (from the state, not checked)",
    );
  });

  it("each person who gains access is shown, and no tile shows 0 for an unknown number", async () => {
    const { write, plan } = await planned();
    const tile = async () => {
      const page = (await plan("--untrusted", "--format", "html")).stdout;
      const [, values = ""] = /gaining or losing access<\/dt>((?:<dd>[^<]*<\/dd>)*)/.exec(page) ?? [];
      return [...values.matchAll(/<dd>([^<]*)/g)].map(([, value]) => value);
    };
    expect(await tile()).toEqual(["Not checked"]);
    await write("hosting.yaml", DECLARED.replace("view}", "view, stranger@evil.example: manage}"));
    expect(await tile()).toEqual(["+1 / −0", "2 not checked"]);
    expect((await plan("--untrusted")).stdout).toMatch(
      /stranger@evil.example"\] will be created; access is given\n.*\n.*not checked/,
    );
  });

  it("people are shown for a new service, whose grants cannot be read yet", async () => {
    const { write, plan } = await planned();
    const grants = "grants: {dev@acme.example: view, stranger@evil.example: manage}";
    const more = `  more: {plan_id: 11, currency: USD, domain: more.acme.example, ${grants}}\n`;
    await write("hosting.yaml", `${DECLARED.replace("grants: {dev@acme.example: view}", grants)}${more}`);
    const { code, stdout, stderr } = await plan("--untrusted");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain('hosting_grant.www["stranger@evil.example"] will be created; access is given');
    expect(stdout).toContain("For reading: 3 resources not checked.\n");
    expect(stdout).toContain("Access: 2 people gain access, 2 grants not checked.");
    const { stdout: comment } = await plan("--untrusted", "--format", "markdown");
    expect(comment).toContain("- `stranger@evil.example` gets `manage` access to `www.acme.example`.");
  });

  it.each([1, 53])("the first 403 ends all requests that need the ability: %i sites", async (sites) => {
    const names = Array.from({ length: sites }, (_, at) => `site${at}`);
    const services = names.map(
      (name) => `  ${name}: {plan_id: 11, currency: USD, domain: ${name}.example, grants: {dev@acme.example: view}}\n`,
    );
    const { plan, sandbox } = await planned(`project: test\n${FAST}${WEBHOOK}services:\n${services.join("")}`);
    sandbox.control.clearRequests();
    const { stdout } = await plan();
    expect(stdout).toContain(`For reading: ${sites + 1} resources not checked.\n`);
    expect(stdout.match(/was not checked: the plan uses the state/g)).toHaveLength(sites > 1 ? 1 : 2);
    if (sites > 1) expect(stdout).toContain("Not checked, planned from the state: hosting_grant.");
    expect(
      sandbox.control
        .requests()
        // Invoices need another ability.
        .filter(({ status, path }) => status === 403 && !path.includes("/invoices")),
    ).toHaveLength(1);
  });

  it("a grant of a service that is not ordered yet needs no reading, and is planned", async () => {
    const { write, plan } = await planned("project: test\n");
    await write("hosting.yaml", `project: test\n${SITE}, grants: {dev@acme.example: view}}\n`);
    const { code, stdout } = await plan("--untrusted");
    expect([code, stdout]).toEqual([0, expect.stringContaining("Plan: 2 to add, 0 to change, 0 to destroy.\n")]);
  });

  it("a reference uses the recorded value, and is unknown without one", async () => {
    const output = "outputs:\n  id: {value: '${hosting_webhook.hook.id}'}\n";
    const { write, plan } = await planned("project: test\n");
    await write("hosting.yaml", `project: test\n${WEBHOOK}${output}`);
    const { code, stdout } = await plan("--untrusted");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/id += \(known after apply\)/)]);
  });

  it("an unreadable object that needs only `view` is an error", async () => {
    const { sandbox, run } = await project(`project: test\n${SITE}}\n`);
    const { value } = sandbox.control.create("tokens", { name: "biller", abilities: ["billing"] });
    const env = { HOSTING_BASE_URL: sandbox.url, HOSTING_TOKEN: value };
    expect(await run(["plan", "--untrusted"], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("[api.forbidden]"),
    });
  });

  it("such a plan is incomplete by exit code, as JSON and as a saved plan", async () => {
    const { plan, dir, read } = await planned(`project: test\n${WEBHOOK}`);
    expect((await plan("--untrusted", "--detailed-exitcode")).code).toBe(2);
    expect((await plan("--untrusted", "--json")).json()).toMatchObject({
      complete: false,
      applyable: false,
      resource_changes: [{ change: { actions: ["no-op"] } }],
      hostform: { unread: ["hosting_webhook.hook"], conditions: [{ condition: "unread" }] },
    });
    const saved = await plan("--untrusted", "--out", "acme.plan", "--report", "plan.md");
    expect([saved.code, saved.stderr]).toEqual([1, expect.stringContaining("was not saved")]);
    for (const text of [saved.stdout, await read("plan.md")]) {
      const words = text.replace(/\s+/g, " ");
      expect(words).toContain('The token lacks the ability "technical", and cannot read hosting_webhook.hook.');
      expect(words).toContain('Fix: Plan with a token that has the ability "technical".');
    }
    expect(existsSync(path.join(dir, "acme.plan"))).toBe(false);
  });
});
