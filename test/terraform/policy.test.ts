/** The runner's policy in Terraform checks one resource after the other, in the plan and in the apply of a plan. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

const hook = (url: string, name = "audit") => `
resource "hosting_webhook" "${name}" {
  url    = "${url}"
  events = ["invoice.paid"]
}
`;
const site = (name: string) => `
resource "hosting_service" "${name}" {
  plan_id  = 11
  currency = "USD"
  domain   = "${name}.example"
}
`;

async function start(rules: string, text: string): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running" });
  rule(terraform, rules);
  await terraform.write(text);
  return terraform;
}

function rule(terraform: Terraform, rules: string, name = "policy.yaml"): void {
  writeFileSync(path.join(terraform.dir, name), rules);
  terraform.env.HOSTFORM_POLICY = name;
}

describeWith(TERRAFORM)("a policy in Terraform", { timeout: 60_000 }, () => {
  it("refuses a host in the plan, and in the apply of a plan that was made without it", async () => {
    const terraform = await start("max_orders: 9", hook("https://hooks.evil.example/in"));
    await terraform.planned();
    rule(terraform, "webhook_hosts: ['*.acme.example']");
    terraform.sent();
    const applied = await terraform.apply("tfplan");
    expect(applied.code, applied.text).toBe(1);
    expect(applied.errors[0]?.summary).toContain("sends events to hooks.evil.example");
    expect(terraform.changesSent()).toEqual([]);
    const { errors } = await terraform.refused();
    expect(errors[0]?.detail).toContain("Rule: webhook_hosts in policy.yaml");
    await terraform.write(hook("https://hooks.acme.example/in"));
    await terraform.applied();
    // Another URL needs a replacement, which does not count as a removal.
    rule(terraform, "webhook_hosts: ['*.acme.example']\nremovable_kinds: []");
    await terraform.write(hook("https://other.acme.example/in"));
    await terraform.applied();
    await terraform.write("");
    expect((await terraform.refused()).errors[0]?.summary).toContain("is removed");
    rule(terraform, "max_orders: 9");
    await terraform.planned();
    rule(terraform, "removable_kinds: []");
    expect((await terraform.apply("tfplan")).errors[0]?.summary).toContain("is removed");
    expect(terraform.control.list("webhooks")).toHaveLength(1);
  });

  it("takes the old webhook of a replacement with create_before_destroy for a removal", async () => {
    const first = (url: string) =>
      hook(url).replace("\n}", "\n  lifecycle {\n    create_before_destroy = true\n  }\n}");
    const terraform = await start("removable_kinds: []", first("https://hooks.acme.example/in"));
    await terraform.applied();
    await terraform.write(first("https://other.acme.example/in"));
    const applied = await terraform.apply();
    expect(applied.errors[0]?.summary).toContain("is removed, and it is a webhook");
    expect(terraform.control.list("webhooks")).toHaveLength(2);
  });

  it("counts orders over the resources of a run", async () => {
    const terraform = await start("max_orders: 1\nmax_spend: { USD: 100000 }\nplans: [11]", site("a") + site("b"));
    expect((await terraform.refused()).errors[0]?.summary).toContain("The plan has 2 orders, and 1 are allowed");
    await terraform.write(site("a"));
    await terraform.applied();
  });

  it("warns of a window in the plan, and refuses the apply in it", async () => {
    const terraform = await start("windows: [{ reason: holidays }]", hook("https://hooks.acme.example/in"));
    expect((await terraform.planned()).warnings[0]?.summary).toContain("Nothing may be applied now (holidays)");
    const applied = await terraform.apply("tfplan");
    expect(applied.errors[0]?.summary).toContain("Nothing may be applied now");
  });

  it.each([
    ["require_state_key: true", "the rule require_state_key"],
    ["no_orders_while: [offline]", "the rule no_orders_while"],
    ["scopes: [{ authors: [ann], clients: [acme] }]", "files or clients in a scope"],
    ["never_offline: [acme.example, hosting_service.www]", "the address hosting_service.www in never_offline"],
    ["never_offline: ['module.shop.*']", "the address module.shop.* in never_offline"],
    ["max_order: 1", "cannot be used"],
  ])("with a part that it cannot keep refuses everything: %s", async (rules, said) => {
    const terraform = await start(rules, hook("https://hooks.acme.example/in"));
    expect((await terraform.refused()).errors[0]?.summary).toContain(said);
  });
});
