/**
 * Equal values in different notations, in configurations and responses: no planned change, and no complaint from
 * Terraform.
 */
import { expect, it } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { describeWith } from "../support/needing.ts";
import { perEngine, TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";
import { ADDRESSES, HCL } from "../support/terraform-all-kinds.ts";

/** A host's choices where the specification leaves a gap. */
const PROFILE: NonNullable<SandboxOptions["profile"]> = {
  status: "upper_snake",
  ids: "string",
  creation: "split",
  envelope: "items_pagination",
  timestamps: "micros_z",
  money: "major",
};

/** Returns an import block for a resource without a block. Terraform 1.17 needs its provider. */
const generating = (to: string, id: unknown) => `import {\n  provider = hosting\n  to = ${to}\n  id = "${id}"\n}\n`;

/** Lets the engine write the resource blocks. Then no engine accepts the provider of the import blocks. */
async function generate(terraform: Terraform): Promise<void> {
  const generated = await terraform.plan("-generate-config-out=generated.tf");
  expect(generated.errors).toEqual([]);
  await terraform.change("imports.tf", (text) => text.replaceAll("  provider = hosting\n", ""));
}

describeWith(TERRAFORM)("notation in Terraform", { timeout: 60_000 }, () => {
  it("a host that writes in capitals and whole units: all kinds are made, and then there is nothing to do", async () => {
    const terraform = await startTerraform({
      install: "running",
      sandbox: { profile: PROFILE },
      env: { TF_VAR_password: "correct horse battery" },
    });
    await terraform.write(HCL);
    await terraform.applied();
    expect([...terraform.state().keys()].sort()).toEqual(ADDRESSES);
    await terraform.expectNoChanges();
    await terraform.write(HCL.replace("suspended        = true", "suspended        = false"));
    expect((await terraform.planned()).changes).toEqual({ "hosting_service.www": "update" });
    await terraform.applied("tfplan");
    await terraform.expectNoChanges();
    // The plan of a destroy fails, and names each object that cannot be removed.
    const refused = await terraform.refused("-destroy");
    expect(refused.errors.map(({ address }) => address).sort()).toEqual([
      "hosting_client_account.acme",
      "hosting_client_account.bare",
      "hosting_migration_request.acme",
      "hosting_service.plain",
    ]);
  });

  it("a declaration: capitals, slashes, nulls, empty maps", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`
resource "hosting_service" "site" {
  plan_id     = "11"
  currency    = "USD"
  domain      = "WWW.Site.Example"
  term        = 1
  coupon_code = null
  suspended   = "false"
}
resource "hosting_webhook" "hook" {
  url    = "HTTPS://Hooks.Acme.example"
  events = toset(["invoice.paid"])
}
resource "hosting_migration_request" "move" {
  domain    = "Old.Acme.example"
  questions = { source = "cpanel", size = 3.50, big = 12345678901234567890, live = true, nothing = "", words = "\\u00e9 \\"\${1 + 1}\\" \\n" }
}
resource "hosting_migration_request" "empty" {
  domain    = "empty.acme.example"
  questions = {}
}
resource "hosting_client_account" "blank" {
  name       = "Blank & Söhne"
  vat_number = null
}
`);
    await terraform.applied();
    const requests = terraform.control.list("migration_requests");
    expect(requests.sort((a, b) => b.domain.localeCompare(a.domain))).toMatchObject([
      {
        answers: {
          source: "cpanel",
          size: "3.5",
          big: "12345678901234567890",
          live: "true",
          nothing: "",
          words: 'é "2" \n',
        },
      },
      { answers: {} },
    ]);
    expect(terraform.attributes("hosting_service.site")).toMatchObject({ domain: "WWW.Site.Example", plan_id: 11 });
    await terraform.expectNoChanges();
  });

  it("a null within a map is sent as one", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`
resource "hosting_migration_request" "move" {
  domain    = "old.acme.example"
  questions = { source = "cpanel", nothing = null }
}
`);
    await terraform.applied();
    expect(terraform.control.list("migration_requests")).toMatchObject([
      { answers: { source: "cpanel", nothing: null } },
    ]);
    await terraform.expectNoChanges();
  });

  it("configuration that Terraform writes itself from what is there plans without a change", async () => {
    const terraform = await startTerraform({ install: "running" });
    const { control } = terraform;
    const [site] = control.seedServices({ domain_prefix: "site" });
    control.create("grants", { service_id: site?.id ?? 0, email: "dev@acme.example", permission: "view" });
    control.create("webhooks", { url: "https://hooks.acme.example", events: ["invoice.paid"] });
    control.create("accounts", { name: "Acme", currency: "GEL" });
    control.create("migration_requests", { domain: "www.acme.example", order_id: site?.id ?? null });
    const imports = {
      "hosting_service.site": site?.id,
      "hosting_grant.dev": `${site?.id}/301`,
      "hosting_webhook.hook": 201,
      "hosting_client_account.acme": 401,
      "hosting_migration_request.move": 501,
    };
    const blocks = Object.entries(imports).map(([to, id]) => generating(to, id));
    await terraform.write(blocks.join(""), "imports.tf");
    terraform.sent();
    // The API returns only the name of its hosting plan (§2). The list of plans has that name once, so Terraform writes
    // the plan's number.
    await generate(terraform);
    await terraform.change("generated.tf", (text) => text.replace(/plan_id( +)= 11/, "plan_id$1= 12"));
    const contradicting = await terraform.plan();
    expect(contradicting.errors).toMatchObject([
      { summary: expect.stringMatching(/cannot adopt service \d+: the API cannot change "plan_id"/) },
    ]);
    await terraform.change("generated.tf", (text) => text.replace(/plan_id( +)= 12/, "plan_id$1= 11"));
    const planned = await terraform.planned();
    expect(Object.keys(planned.changes).sort()).toEqual(Object.keys(imports).sort());
    await terraform.applied("tfplan");
    await terraform.expectNoChanges();
    expect(terraform.changesSent()).toEqual([]);
  });

  it("configuration that Terraform writes itself leaves a suspension to the host until `suspended` is declared", async () => {
    const terraform = await startTerraform({ install: "running" });
    const { control } = terraform;
    const sites = control.seedServices({ count: 2, domain_prefix: "site" });
    const [live, held] = sites.map(({ id }) => id) as [number, number];
    control.change("services", held, { status: "suspended" });
    const blocks = [generating("hosting_service.live", live), generating("hosting_service.held", held)];
    await terraform.write(blocks.join(""), "imports.tf");
    await generate(terraform);
    await terraform.change("generated.tf", (text) => {
      // OpenTofu and older versions of Terraform write every configurable attribute.
      const written = perEngine(["  suspended         = null", "  suspended         = null"], { newer: [] });
      expect(text.match(/^ *suspended .*$/gm) ?? []).toEqual(written);
      return text.replace(/^ *\w+ += null.*\n/gm, "");
    });
    await terraform.applied();
    const { changes: none, diagnostics } = await terraform.plan();
    expect(none).toEqual({});
    expect(diagnostics.map(({ summary }) => summary)).toEqual([
      expect.stringContaining(`service ${held} is suspended, but not declared as suspended`),
    ]);
    control.change("services", live, { status: "suspended" });
    control.change("services", held, { status: "active" });
    const { changes } = await terraform.plan();
    expect(changes).toEqual({});
    terraform.sent();
    await terraform.change("generated.tf", (text) => text.replace(/^ *plan_id .*$/gm, "$&\n  suspended = false"));
    const declared = await terraform.planned();
    expect(declared.changes).toEqual({ "hosting_service.live": "update", "hosting_service.held": "update" });
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual([`POST /services/${live}/unsuspend`]);
    await terraform.expectNoChanges();
    expect(terraform.attributes("hosting_service.held").suspended).toBe(false);
  });
});
