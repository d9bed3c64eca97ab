/** `terraform query`: finds the objects of an account, and generates configuration that plans only imports. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { listResources } from "../../src/fronts/terraform/data/lists.ts";
import { COUNTABLE, fillAgency } from "../support/agency.ts";
import { describeWith } from "../support/needing.ts";
import { QUERY } from "../support/programs.ts";
import { profileOfRun } from "../support/sandbox.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

/** A `list` block. @param config Lines of its block `config`. */
const list = (type: string, { name = "all", limit = 100, config = "" } = {}) =>
  `list "${type}" "${name}" {\n  provider = hosting\n  limit    = ${limit}\n\n  config {\n    ${config}\n  }\n}\n`;

const TYPES = listResources.map(({ name }) => name);

/** An account with objects of all kinds, one of them suspended by the host, and a folder with a `list` block for each kind. */
async function started(services = 4): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running", sandbox: profileOfRun(COUNTABLE) });
  fillAgency(terraform.control, { services, webhooks: 2, accounts: 2 });
  terraform.control.create("migration_requests", { domain: "old.example" });
  await terraform.write(TYPES.map((type) => list(type)).join("\n"), "all.tfquery.hcl");
  await terraform.init();
  terraform.sent();
  return terraform;
}

const servicesOf = ({ control }: Terraform) => control.list("services").filter(({ customer_id }) => customer_id === 1);

/** Runs a query with one block. @returns exit code, and the output without line breaks inside of sentences. */
async function query(terraform: Terraform, block?: string, ...args: string[]) {
  if (block !== undefined) await terraform.write(block, "all.tfquery.hcl");
  const { code, text } = await terraform.run("query", "-no-color", ...args);
  return { code, text: text.replace(/\s+/g, " ") };
}

describeWith(QUERY)("terraform query", { timeout: 120_000 }, () => {
  it("shows the objects of each kind with one listing, and the limit", async () => {
    const terraform = await started();
    const [first] = servicesOf(terraform);
    terraform.control.change("services", first?.id ?? 0, { status: "suspended" });
    const { code, text } = await query(terraform);
    expect(code, text).toBe(0);
    expect(text).toContain(`site-00001.example (service ${first?.id}, suspended)`);
    expect(text).toMatch(/list\.hosting_grant\.all id=\d+,origin=\S+,service_id=\d+ dev@agency\.example \(grant \d+, /);
    expect(text.match(/list\.hosting_\w+\.all id=/g)).toHaveLength(4 + 6 + 2 + 2 + 1);
    const sent = terraform.sent().map((request) => request.replace(/\?.*/, ""));
    expect(sent.filter((request) => !request.endsWith("/grants")).toSorted()).toEqual([
      "GET /accounts",
      "GET /migration-requests",
      "GET /services",
      "GET /webhooks",
    ]);
    expect(sent).toHaveLength(8);
    const limited = await query(terraform, list("hosting_service", { limit: 2 }));
    expect(limited.text).toContain("Warning: The list ends after 2 services: 4 match");
    expect(limited.text.match(/list\.hosting_service\.all id=/g)).toHaveLength(2);
  });

  it("generates configuration of each kind that plans only imports, and nothing after the apply", async () => {
    const terraform = await started();
    const { text } = await query(terraform, undefined, "-generate-config-out=generated.tf");
    expect(text).not.toContain("Error");
    const generated = readFileSync(path.join(terraform.dir, "generated.tf"), "utf8");
    expect(generated.match(/^import \{/gm)).toHaveLength(15);
    expect(generated).toContain("plan_id           = 11");
    expect(generated).not.toMatch(/suspended|deletion_policy|term +=|status|created_at/);
    const plan = await terraform.well("plan", "-input=false", "-no-color");
    expect(plan).toContain("Plan: 15 to import, 0 to add, 0 to change, 0 to destroy.");
    await terraform.applied();
    await terraform.expectNoChanges();
    expect(terraform.changesSent()).toEqual([]);
    // Another process of the provider reads which objects the state contains.
    const unmanaged = TYPES.map((type) => list(type, { config: "unmanaged = true" })).join("\n");
    const [late] = terraform.control.seedServices({ domain_prefix: "late" });
    const found = await query(terraform, unmanaged);
    expect(found.text.match(/list\.hosting_\w+\.all id=/g)).toEqual(["list.hosting_service.all id="]);
    expect(found.text).toContain(`(service ${late?.id}, live)`);
  });

  it("generates the configuration of an import block without the values of the host", async () => {
    const terraform = await started();
    const [first] = servicesOf(terraform);
    await terraform.write(
      `import {\n  provider = hosting\n  to       = hosting_service.one\n  id       = "${first?.id}"\n}\n`,
    );
    const plan = await terraform.well("plan", "-input=false", "-no-color", "-generate-config-out=generated.tf");
    expect(plan).toContain("Plan: 1 to import, 0 to add, 0 to change, 0 to destroy.");
    const generated = readFileSync(path.join(terraform.dir, "generated.tf"), "utf8");
    expect(generated).toContain('domain            = "site-00001.example"');
    expect(generated).not.toMatch(/suspended|deletion_policy/);
  });

  it("refuses an unknown word at its line, and a wrong token, without a list that looks complete", async () => {
    const terraform = await started();
    const word = await query(terraform, list("hosting_service", { config: 'phase = "lively"' }));
    expect([word.code, word.text]).toEqual([1, expect.stringContaining('Error: There is no phase "lively"')]);
    expect(word.text).toContain('phase = "lively" Set one of `pending`, `live`, `suspended`, `unknown`.');
    const many = await query(terraform, list("hosting_grant", { config: "max_requests = 3" }));
    expect([many.code, many.text]).toEqual([1, expect.stringContaining("The grants of 4 services take 4 requests")]);
    const type = await query(terraform, list("hosting_domain"));
    expect([type.code, type.text]).toEqual([1, expect.stringContaining("does not support list resource")]);
    terraform.env.HOSTING_TOKEN = "17|wrongwrongwrongwrongwrongwrongwrongwrong";
    const token = await query(terraform, list("hosting_service"));
    expect([token.code, token.text]).toEqual([1, expect.stringContaining("Error: The API did not accept the token")]);
    expect(token.text).toContain(`The provider uses ${terraform.sandbox.url}, token from HOSTING_TOKEN.`);
  });

  it("fails if the host is down in the middle of a list", async () => {
    const terraform = await started(250);
    terraform.control.addFault({ path: "/services", phase: "before", drop: true, nth: 3, times: 1_000 });
    const { code, text } = await query(terraform, list("hosting_service", { limit: 1_000 }));
    expect([code, text]).toEqual([1, expect.stringContaining("Error: ")]);
    expect(text).not.toContain("list.hosting_service.all id=");
  });
});
