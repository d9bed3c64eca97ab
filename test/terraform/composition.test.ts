/** Compositions in Terraform: values known after apply, modules, instances, several accounts, moved blocks. */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";

/** A client: a site, its grants, and a webhook for its events. */
const CLIENT_MODULE = `
terraform {
  required_providers {
    hosting = {
      source = "hostform/hosting"
    }
  }
}
variable "domain" {
  type = string
}
variable "team" {
  type    = map(string)
  default = {}
}
resource "hosting_service" "site" {
  plan_id         = 11
  currency        = "USD"
  domain          = var.domain
  deletion_policy = "forget"
}
resource "hosting_grant" "team" {
  for_each   = var.team
  service_id = hosting_service.site.id
  email      = each.key
  permission = each.value
}
output "id" {
  value = hosting_service.site.id
}
`;

describeWith(TERRAFORM)("configurations of Terraform", { timeout: 60_000 }, () => {
  it("modules with for_each: a client each, moved to another name, forgotten without a request", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(CLIENT_MODULE, "modules/client/main.tf");
    const clients = (first: string, more = "") => `
module "client" {
  source   = "./modules/client"
  for_each = {
    ${first} = { "dev@acme.example" = "manage" }
    beta  = {}
  }
  domain = each.key == "beta" ? "beta.example" : "acme.example"
  team   = each.value
}
output "ids" {
  value = { for name, client in module.client : name => client.id }
}
${more}`;
    await terraform.write(clients("acme "));
    await terraform.well("get", "-no-color");
    const { outputs } = await terraform.applied();
    expect(Object.values(outputs.ids as object).sort()).toEqual(["1003", "1004"]);
    await terraform.expectNoChanges();

    await terraform.write(
      clients("alpha", 'moved {\n  from = module.client["acme"]\n  to   = module.client["alpha"]\n}\n'),
    );
    terraform.sent();
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    expect([...terraform.state().keys()]).toContain('module.client["alpha"].hosting_grant.team["dev@acme.example"]');
    await terraform.expectNoChanges();

    await terraform.write("removed {\n  from = module.client\n  lifecycle {\n    destroy = false\n  }\n}\n");
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.state().size).toBe(0);
  });

  it("values that are known late: parts of a set, whole attributes, the ids of what is made along", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`
resource "terraform_data" "late" {
  input = { event = "invoice.paid", url = "https://hooks.acme.example/late", email = "late@acme.example", name = "Late" }
}
resource "hosting_webhook" "late" {
  url    = terraform_data.late.output.url
  events = ["service.provisioned", terraform_data.late.output.event]
}
resource "hosting_service" "site" {
  plan_id   = 11
  currency  = "USD"
  domain    = "late.example"
  reference = terraform_data.late.output.name
}
resource "hosting_grant" "late" {
  service_id = hosting_service.site.id
  email      = terraform_data.late.output.email
  permission = "view"
}
resource "hosting_client_account" "late" {
  name         = terraform_data.late.output.name
  company_name = "Company of \${hosting_service.site.id}"
}
resource "hosting_domain" "late" {
  domain          = "late.example"
  years           = 1
  currency        = "USD"
  nameserver_mode = "default"
  registrant_contact = {
    first_name = terraform_data.late.output.name
    last_name  = "Acme"
    email      = "ana@acme.example"
    phone      = "+995 555 000000"
    address    = "1 Rustaveli Ave"
    city       = "Tbilisi"
    postcode   = "0108"
    country    = "GE"
  }
}
data "hosting_service" "site" {
  id = hosting_service.site.id
}
output "plan" {
  value = data.hosting_service.site.plan
}
`);
    expect(Object.values((await terraform.planned()).changes).filter((action) => action === "create")).toHaveLength(6);
    const { outputs } = await terraform.applied("tfplan");
    expect(outputs).toEqual({ plan: "Shared Start" });
    expect(terraform.control.list("webhooks")[0]?.events.slice().sort()).toEqual([
      "invoice.paid",
      "service.provisioned",
    ]);
    const { id } = terraform.attributes("hosting_service.site");
    expect(terraform.control.list("accounts")).toMatchObject([{ name: "Late", company_name: `Company of ${id}` }]);
    await terraform.expectNoChanges();
  });

  it("a value that turns out wrong when it is known is refused before anything is sent for it", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`
resource "terraform_data" "late" {
  input = "not an event"
}
resource "hosting_webhook" "late" {
  url    = "https://hooks.acme.example"
  events = [terraform_data.late.output]
}
`);
    await terraform.planned();
    const applied = await terraform.apply("tfplan");
    expect(applied.code, applied.text).toBe(1);
    expect(applied.errors).toMatchObject([
      { address: "hosting_webhook.late", at: "events = [terraform_data.late.output]" },
    ]);
    expect(terraform.changesSent()).toEqual([]);
  });
});
