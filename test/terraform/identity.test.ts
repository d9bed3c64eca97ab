/** Identities and names of objects through the real engine: imports, states without identities, deletions, replacements. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { IDENTITIES, TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

const SITE = "hosting_service.site";
const DEV = "hosting_grant.dev";
const HOOK = "hosting_webhook.hook";
const ORIGIN = "http://localhost";

const site = (service: string) => `
resource "hosting_service" "site" {
  plan_id         = 11
  currency        = "USD"
  domain          = "site.example"
  deletion_policy = "forget"
}
resource "hosting_grant" "dev" {
  service_id = ${service}
  email      = "dev@acme.example"
  permission = "view"
}
`;
const hook = (url: string, lifecycle = "") => `
resource "hosting_webhook" "hook" {
  url    = "${url}"
  events = ["invoice.paid"]
  ${lifecycle}
}
`;
const SITES = site("hosting_service.site.id");
const HOOKS = hook("https://hooks.acme.example/a");

async function start(text: string): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running" });
  await terraform.write(text);
  return terraform;
}

const identityAt = (terraform: Terraform, address: string) => terraform.state().get(address)?.identity;

const idOf = (terraform: Terraform, address: string) => String(terraform.attributes(address).id);

/** Removes the identities from the state file, as an older provider or Terraform 1.11 writes it. */
async function dropIdentities(terraform: Terraform): Promise<void> {
  const state = JSON.parse(readFileSync(path.join(terraform.dir, "terraform.tfstate"), "utf8"));
  for (const { instances } of state.resources) for (const instance of instances) delete instance.identity;
  await terraform.write(JSON.stringify(state), "terraform.tfstate");
}

/** Removes all objects from the state and from this machine. */
async function forgetAll(terraform: Terraform): Promise<void> {
  await terraform.well("state", "rm", ...terraform.state().keys());
  // Without this plan, the provider knows the objects at their former addresses.
  await terraform.plan();
}

describeWith(TERRAFORM)("an import by name", { timeout: 60_000 }, () => {
  it("finds a service by its domain, a grant by its e-mail address and a webhook by its URL", async () => {
    const terraform = await start(SITES + HOOKS);
    await terraform.applied();
    const ids = [SITE, DEV, HOOK].map((address) => idOf(terraform, address));
    await terraform.write(site(`"${ids[0]}"`) + HOOKS);
    await forgetAll(terraform);
    terraform.believeLists();
    for (const [address, name] of [
      [SITE, "SITE.example"],
      [DEV, `${ids[0]}/dev@acme.example`],
      [HOOK, "https://hooks.acme.example/a"],
    ] as const)
      await terraform.well("import", "-no-color", "-input=false", address, name);
    expect([SITE, DEV, HOOK].map((address) => idOf(terraform, address))).toEqual(ids);
    const missing = await terraform.run("import", "-no-color", "-input=false", "hosting_webhook.other", "x");
    expect(missing.code).not.toBe(0);
  });
});

describeWith(IDENTITIES)("the identity of an object", { timeout: 60_000 }, () => {
  it("is in the state, and imports the object with and without the origin", async () => {
    const terraform = await start(SITES);
    await terraform.applied();
    const [service, grant] = [idOf(terraform, SITE), idOf(terraform, DEV)];
    expect(identityAt(terraform, SITE)).toEqual({ id: service, origin: ORIGIN });
    expect(identityAt(terraform, DEV)).toEqual({ id: grant, service_id: service, origin: ORIGIN });
    await forgetAll(terraform);
    terraform.believeLists();
    const imports = (origin: string) => `
import {
  to       = ${SITE}
  identity = { id = "${service}"${origin} }
}
import {
  to       = ${DEV}
  identity = { id = "${grant}", service_id = "${service}" }
}
`;
    await terraform.write(site(`"${service}"`) + imports(', origin = "https://other.example"'));
    const { errors } = await terraform.refused();
    expect(errors[0]?.summary).toBe(
      `The identity of service ${service} is of another account: its origin is https://other.example, and the provider uses ${terraform.sandbox.url}, token from HOSTING_TOKEN`,
    );
    await terraform.write(site(`"${service}"`) + imports(`, origin = "${ORIGIN}"`));
    await terraform.planned();
    terraform.sent();
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual([]);
    expect(identityAt(terraform, DEV)).toEqual({ id: grant, service_id: service, origin: ORIGIN });
    await terraform.expectNoChanges();
  });

  it("is added to a state without identities, also if an object was deleted outside", async () => {
    const terraform = await start(SITES);
    await terraform.applied();
    await dropIdentities(terraform);
    await terraform.expectNoChanges();
    terraform.control.remove("grants", Number(idOf(terraform, DEV)));
    terraform.believeLists();
    expect((await terraform.planned()).changes).toEqual({ [DEV]: "create" });
    await terraform.applied();
    const identity = { id: idOf(terraform, DEV), service_id: idOf(terraform, SITE), origin: ORIGIN };
    expect(identityAt(terraform, DEV)).toEqual(identity);
    expect(identityAt(terraform, SITE)).toEqual({ id: identity.service_id, origin: ORIGIN });
  });

  it.each(["", "lifecycle { create_before_destroy = true }"])("is new after a replacement: %j", async (lifecycle) => {
    const terraform = await start(hook("https://hooks.acme.example/a", lifecycle));
    await terraform.applied();
    const before = identityAt(terraform, HOOK);
    await terraform.write(hook("https://hooks.acme.example/b", lifecycle));
    await terraform.applied();
    expect(identityAt(terraform, HOOK)).toEqual({ id: idOf(terraform, HOOK), origin: ORIGIN });
    expect(identityAt(terraform, HOOK)).not.toEqual(before);
    await terraform.expectNoChanges();
    await terraform.destroy();
    expect(terraform.control.list("webhooks")).toEqual([]);
  });

  it("is absent while a create is pending, and present when the next apply has settled the create", async () => {
    const terraform = await start(SITES);
    terraform.control.addFault({ method: "POST", path: "/services", phase: "before", status: 503, times: 99 });
    const failed = await terraform.apply();
    expect(failed.code, failed.text).toBe(1);
    expect(terraform.state().get(SITE)?.status).toBe("tainted");
    expect(identityAt(terraform, SITE)).toBeUndefined();
    terraform.control.clearFaults();
    terraform.believeLists();
    await terraform.applied();
    expect(terraform.state().get(SITE)?.status).toBe("");
    expect(identityAt(terraform, SITE)).toEqual({ id: idOf(terraform, SITE), origin: ORIGIN });
    await terraform.expectNoChanges();
  });
});
