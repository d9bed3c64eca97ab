/** `hostform adopt --format hcl`: the real Terraform plans no change for the adopted objects. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { fillAgency } from "../support/agency.ts";
import { testClock } from "../support/clock.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { Project } from "../support/project.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

/** An empty folder, and the account of an agency. */
async function started(services: number): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running", env: { HOSTFORM_PROJECT: undefined } });
  await terraform.remove("versions.tf");
  fillAgency(terraform.control, { services });
  return terraform;
}

/** Adopts in this process, on a clock that only sleeps advance: 120 requests take two minutes. */
async function adopt({ dir, sandbox, env }: Terraform): Promise<string> {
  const project = new Project(dir, sandbox, testClock(Date.now()), env);
  const ran = await project.run("adopt", "--format", "hcl", "--auto-approve", "--project", "agency");
  expect(ran.code, ran.text).toBe(0);
  return ran.out;
}

describeWith(TERRAFORM)("adopt --format hcl", { timeout: 120_000 }, () => {
  // Terraform plans each import alone. test/journeys covers the adoption of 300 services.
  it("writes a configuration of 30 services, 45 grants, 12 webhooks and 41 client accounts that plans no change", async () => {
    const terraform = await started(30);
    terraform.sent();
    expect(await adopt(terraform)).toContain("Adopted 30 services, 45 grants, 12 webhooks, 41 client accounts.");
    expect(terraform.sent().length).toBeLessThanOrEqual(38);
    const text = await readFile(path.join(terraform.dir, "unassigned.tf"), "utf8");
    expect(text.match(/^import \{/gm)).toHaveLength(75);

    await terraform.well("fmt", "-check", "-diff", "-no-color");
    await terraform.init();
    expect(await terraform.validate()).toEqual([]);
    await terraform.expectNoChanges();
    expect(terraform.changesSent()).toEqual([]);
  });

  it("adds what is new behind what is there, and changes no byte of that", async () => {
    const terraform = await started(5);
    await adopt(terraform);
    const text = `${await readFile(path.join(terraform.dir, "unassigned.tf"), "utf8")}# ours\n`;
    await terraform.write(text, "unassigned.tf");
    const [late] = terraform.control.seedServices({ domain_prefix: "late" });
    const [first] = terraform.control.list("services").filter(({ customer_id }) => customer_id === 1);
    const grant = { service_id: first?.id ?? 0, email: "new@agency.example", permission: "view" } as const;
    terraform.control.create("grants", grant);
    const out = await adopt(terraform);
    expect(out).toContain("Adopted 1 service.");
    expect(out).toMatch(/grant \d+\/\d+: hosting_service\.site-00001-example was adopted before\. Declare the grant/);
    const after = await readFile(path.join(terraform.dir, "unassigned.tf"), "utf8");
    expect(after.startsWith(text)).toBe(true);
    expect(after.slice(text.length)).toContain(`id = "${late?.id}"`);
    await terraform.init();
    await terraform.expectNoChanges();
    expect(terraform.changesSent()).toEqual([]);
  });

  it("is refused where the state of a configuration is elsewhere, and beside a declaration in YAML", async () => {
    const terraform = await startTerraform({ install: "running" });
    const foreign = await terraform.hostform("adopt", "--format", "hcl", "--auto-approve");
    expect(foreign.text).toContain("A configuration is here already");
    await terraform.write("project: acme\n", "hosting.yaml");
    const beside = await terraform.hostform("adopt", "--format", "hcl", "--auto-approve");
    expect(beside.text).toContain("requires a folder without a declaration in YAML");
    expect([foreign.code, beside.code]).toEqual([1, 1]);
  });
});
