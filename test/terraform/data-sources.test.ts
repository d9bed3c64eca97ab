/** Every data source through the real Terraform: its values, its requests, and its errors. */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";

const ALL = `
provider "hosting" {
  money_scale = 2
}
data "hosting_plan" "start" {
  name = "shared start"
}
data "hosting_plans" "gel" {
  currency     = "GEL"
  product_type = "shared"
}
data "hosting_service" "by_domain" {
  domain = "site-00001.example"
}
data "hosting_service" "by_id" {
  id = data.hosting_service.by_domain.id
}
data "hosting_services" "live" {
  phase = "live"
}
data "hosting_invoices" "paid" {
  paid = true
}
data "hosting_invoice" "first" {
  invoice_number = data.hosting_invoices.paid.invoices[0].invoice_number
}
data "hosting_domain_availability" "names" {
  domains = ["free.example", "taken.example"]
}
data "hosting_grants" "site" {
  service_id = data.hosting_service.by_domain.id
}
data "hosting_webhooks" "all" {}
data "hosting_client_accounts" "all" {}
data "hosting_migration_requests" "all" {}
data "hosting_migration_request" "one" {
  id = data.hosting_migration_requests.all.migration_requests[0].id
}
output "all" {
  value = {
    plan_id   = data.hosting_plan.start.plan_id
    price     = data.hosting_plan.start.price_text
    gel       = { for plan in data.hosting_plans.gel.plans : plan.name => plan.price }
    by_id     = data.hosting_service.by_id.domain
    live      = length(data.hosting_services.live.services)
    total     = data.hosting_invoice.first.total_text
    paid      = data.hosting_invoice.first.paid
    available = data.hosting_domain_availability.names.available
    grants    = data.hosting_grants.site.grants[*].email
    events    = data.hosting_webhooks.all.webhooks[*].events
    clients   = data.hosting_client_accounts.all.client_accounts[*].name
    moves     = data.hosting_migration_request.one.domain
  }
}
`;

describeWith(TERRAFORM)("data sources in Terraform", { timeout: 60_000 }, () => {
  it("show what the account holds, and nothing secret", async () => {
    const terraform = await startTerraform({ install: "running" });
    const { control } = terraform;
    const [site] = control.seedServices({ count: 12 });
    control.create("grants", { service_id: site?.id ?? 0, email: "dev@acme.example", permission: "view" });
    const { secret } = control.create("webhooks", { url: "https://hooks.acme.example", events: ["invoice.paid"] });
    control.create("accounts", { name: "Acme" });
    control.create("migration_requests", { domain: "www.acme.example" });
    await terraform.write(ALL);
    const { outputs } = await terraform.applied();
    expect(outputs.all).toEqual({
      plan_id: 11,
      price: "5.00 USD",
      gel: { "Shared Start": 1300, "Shared Plus": 2400, "Shared Pro": 4300 },
      by_id: "site-00001.example",
      live: 12,
      total: "4.50 USD",
      paid: true,
      available: { "free.example": true, "taken.example": false },
      grants: ["dev@acme.example"],
      events: [["invoice.paid"]],
      clients: ["Acme"],
      moves: "www.acme.example",
    });
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.filesHolding(secret)).toEqual([]);
    // All data sources share one listing.
    terraform.sent();
    await terraform.expectNoChanges();
    const listings = terraform.sent().filter((line) => line.startsWith("GET /services") && !line.includes("grants"));
    expect(listings.length).toBeLessThanOrEqual(2);
  });

  it("that find nothing, or too much, say what there is, at their place", async () => {
    const terraform = await startTerraform({ install: "running" });
    terraform.control.seedServices();
    await terraform.write(`
data "hosting_plan" "none" {
  name = "Shared Strat"
}
data "hosting_service" "none" {
  domain = "nobody.example"
}
data "hosting_invoice" "none" {
  id = "99999"
}
`);
    const { errors } = await terraform.refused();
    const said = Object.fromEntries(
      errors.map(({ address, at, summary, detail }) => [address, { at, text: `${summary} ${detail}` }]),
    );
    expect(said["data.hosting_plan.none"]).toEqual({
      at: 'name = "Shared Strat"',
      text: expect.stringContaining('Did you mean "Shared Start"'),
    });
    expect(said["data.hosting_service.none"]).toMatchObject({ at: 'domain = "nobody.example"' });
    expect(said["data.hosting_invoice.none"]).toMatchObject({
      at: 'id = "99999"',
      text: expect.stringContaining("99999"),
    });
  });
});
