/** The account of each object: tokens, aliases, and provider configurations that are known only after apply. */
import { chmod } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";

describeWith(TERRAFORM)("accounts in Terraform", { timeout: 60_000 }, () => {
  it("two accounts by two tokens: each object in the right one", async () => {
    const terraform = await startTerraform({ install: "running", env: { HOSTING_TOKEN: undefined } });
    const { agency, customer } = terraform.sandbox.tokens;
    await terraform.write(`
variable "tokens" {
  type      = map(string)
  sensitive = true
}
provider "hosting" {
  token = var.tokens.agency
}
provider "hosting" {
  alias   = "customer"
  token   = var.tokens.customer
  project = "theirs"
}
resource "hosting_service" "ours" {
  plan_id  = 11
  currency = "USD"
  domain   = "ours.example"
}
resource "hosting_service" "theirs" {
  provider = hosting.customer
  plan_id  = 11
  currency = "USD"
  domain   = "theirs.example"
}
resource "hosting_webhook" "theirs" {
  provider = hosting.customer
  url      = "https://hooks.theirs.example"
  events   = ["invoice.paid"]
}
data "hosting_services" "theirs" {
  provider   = hosting.customer
  depends_on = [hosting_service.theirs]
}
output "theirs" {
  value = data.hosting_services.theirs.services[*].domain
}
`);
    terraform.env.TF_VAR_tokens = JSON.stringify({ agency, customer });
    const { outputs } = await terraform.applied();
    expect(outputs.theirs).toEqual(expect.arrayContaining(["customer-one.example", "theirs.example"]));
    expect(outputs.theirs).not.toContain("ours.example");
    const owners = terraform.control.list("services").map(({ domain, customer_id }) => [domain, customer_id]);
    expect(owners).toEqual(
      expect.arrayContaining([
        ["ours.example", 1],
        ["theirs.example", 2],
      ]),
    );
    expect(terraform.control.list("webhooks")).toMatchObject([{ customer_id: 2 }]);
    await terraform.expectNoChanges();
    for (const token of [agency, customer]) expect(terraform.filesHolding(token)).toEqual([]);
  });

  it("a provider whose configuration is known only after apply", async () => {
    const terraform = await startTerraform({ install: "running", env: { HOSTING_BASE_URL: undefined } });
    await terraform.write(`
resource "terraform_data" "host" {
  input = "${terraform.sandbox.url}"
}
provider "hosting" {
  base_url = terraform_data.host.output
}
resource "hosting_webhook" "late" {
  url    = "https://hooks.acme.example"
  events = ["invoice.paid"]
}
`);
    // The error names the missing attribute and a remedy, and the remedy works.
    const { errors } = await terraform.refused();
    expect(errors).toMatchObject([
      {
        address: "hosting_webhook.late",
        summary: expect.stringContaining("base_url"),
        detail: expect.stringContaining("-target"),
      },
    ]);
    await terraform.applied("-target=terraform_data.host");
    await terraform.applied();
    expect(terraform.control.list("webhooks")).toHaveLength(1);
    await terraform.expectNoChanges();
  });

  it("the settings of a provider: a token from a file, words for statuses, its own name", async () => {
    const terraform = await startTerraform({
      install: "running",
      env: { HOSTING_TOKEN: undefined, HOSTFORM_PROJECT: undefined },
    });
    await terraform.write(`${terraform.sandbox.tokens.agency}\n`, "secrets/token");
    await chmod(path.join(terraform.dir, "secrets/token"), 0o600);
    await terraform.write(`
provider "hosting" {
  base_url                  = "${terraform.sandbox.url}/"
  token_file                = "secrets/token"
  project                   = "settings"
  requests_per_minute       = 30
  idempotency_key_retention = "24h"
  status_words              = { Fraud = "suspended" }
}
resource "hosting_service" "site" {
  plan_id   = 11
  currency  = "USD"
  domain    = "site.example"
  suspended = true
}
`);
    await terraform.applied();
    await terraform.expectNoChanges();
    terraform.control.change("services", 1003, { status: "fraud" });
    const { code, errors, warnings, text } = await terraform.plan();
    expect({ code, errors, warnings }, text).toEqual({ code: 0, errors: [], warnings: [] });
    terraform.control.change("services", 1003, { status: "active" });
    expect((await terraform.planned()).changes).toEqual({ "hosting_service.site": "update" });
  });
});
