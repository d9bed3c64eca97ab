/** One state for hostform and Terraform: each continues from the resources that the other recorded. */
import { copyFile, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";
import { ADDRESSES, HCL, YAML } from "../support/terraform-all-kinds.ts";

const [OURS, THEIRS] = ["hosting.tfstate", "terraform.tfstate"];

async function start(yaml: object = YAML, hcl = HCL): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running", env: { TF_VAR_password: "correct horse battery" } });
  await terraform.write(hcl);
  await terraform.write(JSON.stringify(yaml), "hosting.yaml");
  return terraform;
}

async function hostform(terraform: Terraform, ...args: string[]) {
  const ended = await terraform.hostform(...args);
  expect(ended.code, ended.text).toBe(0);
  return ended;
}

const copy = (terraform: Terraform, from: string, to: string) =>
  copyFile(path.join(terraform.dir, from), path.join(terraform.dir, to));

/** Moves the state: the former file no longer exists. */
const move = (terraform: Terraform, from: string, to: string) =>
  rename(path.join(terraform.dir, from), path.join(terraform.dir, to));

/** The same outputs in both languages, of every type that an attribute can have. */
const OUTPUTS = {
  id: "${hosting_service.www.id}",
  plan: "${hosting_service.www.plan_id}",
  events: "${hosting_webhook.billing.events}",
  contact: "${hosting_domain.acme.registrant_contact}",
  both: { value: ["${hosting_service.www.suspended}", "id ${hosting_webhook.billing.id}"], description: "A list" },
  nested: { value: { at: "${hosting_webhook.ops.secret_output}", none: "${hosting_service.plain.coupon_code}" } },
  nothing: "${hosting_service.plain.coupon_code}",
  signing: { value: "${hosting_webhook.billing.secret}", sensitive: true },
};
const HCL_OUTPUTS = `
output "id" { value = hosting_service.www.id }
output "plan" { value = hosting_service.www.plan_id }
output "events" { value = hosting_webhook.billing.events }
output "contact" { value = hosting_domain.acme.registrant_contact }
output "both" { value = [hosting_service.www.suspended, "id \${hosting_webhook.billing.id}"] }
output "nested" { value = { at = hosting_webhook.ops.secret_output, none = hosting_service.plain.coupon_code } }
output "nothing" { value = hosting_service.plain.coupon_code }
output "signing" {
  value     = hosting_webhook.billing.secret
  sensitive = true
}
`;

const outputsIn = async (terraform: Terraform, file: string) =>
  JSON.parse(await readFile(path.join(terraform.dir, file), "utf8")).outputs;

/**
 * Attributes by address, with sorted sets. Nulls are dropped, because each front has attributes that the other lacks.
 */
function contents(terraform: Terraform, file: string) {
  const normal = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(normal).sort();
    if (typeof value !== "object" || value === null) return value;
    const parts = Object.entries(value).filter(([, part]) => part !== null);
    return Object.fromEntries(parts.map(([name, part]) => [name, normal(part)]));
  };
  const instances = [...terraform.state(file)];
  return Object.fromEntries(instances.map(([address, { attributes }]) => [address, normal(attributes)]));
}

describeWith(TERRAFORM)("one state for hostform and Terraform", { timeout: 60_000 }, () => {
  it("of all kinds: applied from YAML, it is no change in HCL, and stays none when it goes back", async () => {
    const terraform = await start({ ...YAML, outputs: OUTPUTS }, `${HCL}${HCL_OUTPUTS}`);
    await hostform(terraform, "apply", "--auto-approve");
    await copy(terraform, OURS, THEIRS);
    expect([...terraform.state().keys()].sort()).toEqual(ADDRESSES);
    terraform.sent();
    await terraform.expectNoChanges();
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    expect(contents(terraform, THEIRS)).toEqual(contents(terraform, OURS));
    const outputs = await outputsIn(terraform, OURS);
    expect(Object.keys(outputs)).toEqual(["both", "contact", "events", "id", "nested", "plan", "signing"]);
    expect(await outputsIn(terraform, THEIRS)).toEqual(outputs);

    await copy(terraform, THEIRS, OURS);
    const back = await hostform(terraform, "plan", "--detailed-exitcode");
    expect(back.out).toMatch(/no changes|nothing to do/i);
  });

  it("of all kinds: applied from HCL, it is no change in YAML, and goes on there", async () => {
    const terraform = await start();
    await terraform.applied();
    expect([...terraform.state().keys()].sort()).toEqual(ADDRESSES);
    await copy(terraform, THEIRS, OURS);
    terraform.sent();
    const planned = await hostform(terraform, "plan", "--detailed-exitcode");
    expect(planned.err).toBe("");
    await hostform(terraform, "apply", "--auto-approve");
    expect(terraform.changesSent()).toEqual([]);

    // Terraform accepts a change by hostform without a diff.
    const { www, ...services } = YAML.services;
    await terraform.write(
      JSON.stringify({ ...YAML, services: { ...services, www: { ...www, suspended: false } } }),
      "hosting.yaml",
    );
    await hostform(terraform, "apply", "--auto-approve");
    expect(terraform.changesSent()).toEqual([
      `POST /services/${terraform.attributes("hosting_service.www").id}/unsuspend`,
    ]);
    await move(terraform, OURS, THEIRS);
    await terraform.write(HCL.replace("suspended        = true", "suspended        = false"));
    await terraform.expectNoChanges();
  });

  it("of a service that Terraform imported: what the import withholds is no change in YAML, and known there", async () => {
    const site = { plan_id: 11, currency: "USD", domain: "site-00001.example" };
    const yaml = (over: object = {}) => JSON.stringify({ project: "both", services: { site: { ...site, ...over } } });
    const terraform = await start({});
    const [{ id } = { id: 0 }] = terraform.control.seedServices({ domain_prefix: "site" });
    const hcl =
      'resource "hosting_service" "site" {\n  plan_id  = 11\n  currency = "USD"\n  domain   = "site-00001.example"\n}\n';
    await terraform.write(`${hcl}import {\n  to = hosting_service.site\n  id = "${id}"\n}\n`);
    await terraform.applied();
    expect(terraform.attributes("hosting_service.site").suspended).toBeNull();
    await move(terraform, THEIRS, OURS);
    await terraform.write(yaml(), "hosting.yaml");
    await hostform(terraform, "plan", "--detailed-exitcode");
    terraform.control.change("services", id, { status: "suspended" });
    terraform.sent();
    await terraform.write(yaml({ suspended: false }), "hosting.yaml");
    await hostform(terraform, "apply", "--auto-approve");
    expect(terraform.changesSent()).toEqual([`POST /services/${id}/unsuspend`]);
    await move(terraform, OURS, THEIRS);
    await terraform.write(hcl.replace("  domain", "  suspended = false\n  domain"));
    await terraform.expectNoChanges();
  });

  it("of services that are named by neither front: the key of the order is not asked for again", async () => {
    const yaml = { project: "both", services: { box: { plan_id: 31, currency: "USD" } } };
    const hcl = 'resource "hosting_service" "box" {\n  plan_id  = 31\n  currency = "USD"\n}\n';
    const terraform = await start(yaml, hcl);
    await hostform(terraform, "apply", "--auto-approve");
    await move(terraform, OURS, THEIRS);
    await terraform.expectNoChanges();
    // A reference that is added later changes only the state.
    await terraform.write(hcl.replace("plan_id", 'reference = "box"\n  plan_id'));
    terraform.sent();
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();
  });

  it("of a service with a reference that hostform has changed: -replace orders nothing without a new one", async () => {
    const yaml = (reference: string) => ({
      project: "both",
      services: { box: { plan_id: 31, currency: "USD", reference, deletion_policy: "forget" } },
    });
    const hcl = (reference: string) =>
      `resource "hosting_service" "box" {\n  plan_id = 31\n  currency = "USD"\n  deletion_policy = "forget"\n  reference = "${reference}"\n}\n`;
    const terraform = await start(yaml("two"), hcl("one"));
    await terraform.applied();
    await copy(terraform, THEIRS, OURS);
    await hostform(terraform, "apply", "--auto-approve");
    await copy(terraform, OURS, THEIRS);
    terraform.sent();
    for (const reference of ["two", "one"]) {
      await terraform.write(hcl(reference));
      const { errors, text } = await terraform.refused("-replace=hosting_service.box");
      expect(errors[0]?.summary, text).toBe("A replacement needs a new `reference`");
    }
    expect(terraform.changesSent()).toEqual([]);
  });

  it("of orders that wait for payment: the next run of either does what is left to do", async () => {
    const yaml = {
      project: "both",
      services: {
        www: {
          plan_id: 11,
          currency: "USD",
          domain: "www.acme.example",
          suspended: true,
          password: { env: "TF_VAR_password" },
          password_version: 1,
        },
      },
    };
    const hcl = `
variable "password" {
  type      = string
  sensitive = true
  ephemeral = true
}
resource "hosting_service" "www" {
  plan_id          = 11
  currency         = "USD"
  domain           = "www.acme.example"
  suspended        = true
  password         = var.password
  password_version = 1
}
`;
    const terraform = await startTerraform({
      install: "running",
      sandbox: { autoPay: false },
      env: { TF_VAR_password: "correct horse battery", HOSTFORM_PROJECT: "both" },
    });
    await terraform.write(hcl);
    await terraform.write(JSON.stringify(yaml), "hosting.yaml");
    await terraform.applied();
    await move(terraform, THEIRS, OURS);
    await hostform(terraform, "plan");
    for (const { id } of terraform.control.list("invoices")) terraform.control.payInvoice(id);
    terraform.sent();
    await hostform(terraform, "apply", "--auto-approve");
    expect(terraform.changesSent()).toEqual(["POST /services/1003/password", "POST /services/1003/suspend"]);
    await move(terraform, OURS, THEIRS);
    await terraform.expectNoChanges();
  });
});
