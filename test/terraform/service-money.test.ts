/**
 * Changes that cost money, through the real Terraform: the provider orders, re-orders and releases only declared
 * services.
 */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform } from "../support/terraform.ts";
import { orders, SITE, site, startSite } from "../support/terraform-site.ts";

describeWith(TERRAFORM)("money in Terraform", { timeout: 60_000 }, () => {
  it("is not removed against its deletion_policy", async () => {
    const terraform = await startSite();
    await terraform.applied();
    const destroyed = await terraform.refused("-destroy");
    expect(destroyed.errors).toMatchObject([{ address: SITE, summary: expect.stringContaining("cannot be removed") }]);
    expect(destroyed.errors[0]?.detail).toMatch(/deletion_policy.*"?forget"?/s);
    expect((await terraform.destroy()).code).toBe(1);
    // Removing the block does not help: the recorded deletion_policy counts.
    await terraform.write("");
    expect((await terraform.refused()).errors).toHaveLength(1);

    await terraform.write(site('deletion_policy = "forget"'));
    expect((await terraform.planned()).changes).toEqual({ [SITE]: "update" });
    expect(await terraform.changed(SITE)).toEqual(["deletion_policy"]);
    await terraform.applied("tfplan");
    await terraform.write("");
    const stays = [{ summary: "service 1003 (site.example) stays in the account, and the host still bills it" }];
    const removing = await terraform.planned();
    expect(removing.changes).toEqual({ [SITE]: "delete" });
    expect(removing.warnings).toMatchObject(stays);
    terraform.sent();
    expect((await terraform.applied("tfplan")).warnings).toMatchObject(stays);
    expect(terraform.changesSent()).toEqual([]);
    expect(orders(terraform)).toMatchObject([{ id: 1003, status: "active" }]);
  });

  it("is not ordered again when something changes that the API cannot change, unless that is declared", async () => {
    const terraform = await startSite('deletion_policy = "suspend"');
    await terraform.applied();
    await terraform.write(
      site('deletion_policy = "suspend"\nterm = 12').replace("= 11", "= 12").replace("site.example", "other.example"),
    );
    const refused = await terraform.refused();
    expect(refused.errors.map(({ at, address }) => [address, at])).toEqual(
      expect.arrayContaining([
        [SITE, "plan_id  = 12"],
        [SITE, 'domain   = "other.example"'],
        [SITE, "term = 12"],
      ]),
    );
    for (const { detail } of refused.errors) expect(detail).toMatch(/replace_on_change/);

    const reordered = (more: string) => site(`replace_on_change = true\n${more}`).replace("= 11", "= 12");
    // A second order with the same reference would receive the first order's response.
    await terraform.write(reordered('deletion_policy = "suspend"'));
    expect((await terraform.refused()).errors).toMatchObject([{ detail: expect.stringContaining("reference") }]);

    await terraform.write(reordered('deletion_policy = "suspend"\nreference = "site-2"'));
    expect((await terraform.planned()).changes).toEqual({ [SITE]: "replace" });
    terraform.sent();
    await terraform.applied("tfplan");
    expect(terraform.changesSent().sort()).toEqual(["POST /services", "POST /services/1003/suspend"]);
    expect(orders(terraform)).toMatchObject([
      { id: 1003, plan_id: 11, status: "suspended" },
      { id: 1004, plan_id: 12, status: "active" },
    ]);
    expect(terraform.attributes(SITE)).toMatchObject({ id: "1004", plan_id: 12, reference: "site-2" });
    await terraform.expectNoChanges();
  });

  it("is ordered again as the messages say: live with replace_on_change, ended with -replace, each with a new reference", async () => {
    const terraform = await startSite('deletion_policy = "suspend"');
    await terraform.applied();
    const policy = 'deletion_policy = "suspend"\n';
    const replace = `-replace=${SITE}`;
    expect((await terraform.refused(replace)).errors[0]?.detail).toMatch(
      /"site.example-2".* `replace_on_change = true`/s,
    );
    await terraform.write(site(`${policy}reference = "site.example-2"`));
    for (const options of [[], [replace]])
      expect((await terraform.refused(...options)).errors[0]?.detail).toContain("`replace_on_change = true`");
    await terraform.write(site(`${policy}reference = "site.example-2"\nreplace_on_change = true`));
    expect((await terraform.planned()).changes).toEqual({ [SITE]: "replace" });
    await terraform.applied("tfplan");
    for (const id of [1003, 1004]) terraform.control.change("services", id, { status: "terminated" });
    await terraform.write(site(`${policy}reference = "site.example-3"`));
    expect((await terraform.planned(replace)).changes).toEqual({ [SITE]: "replace" });
    await terraform.applied("tfplan");
    expect(orders(terraform).map(({ id }) => id)).toEqual([1003, 1004, 1005]);
  });

  it("is ordered first with create_before_destroy, and a saved plan of that is refused", async () => {
    // The run of Terraform that planned the new order may place it, although the apply uses another provider process.
    const terraform = await startSite('deletion_policy = "suspend"', { install: "override" });
    await terraform.applied();
    const own = 'replace_on_change = true\ndeletion_policy = "suspend"\nreference = "site-2"';
    const first = "lifecycle {\ncreate_before_destroy = true\n}";
    await terraform.write(site(`${own}\n${first}`).replace("= 11", "= 12"));
    await terraform.planned();
    terraform.sent();
    const saved = await terraform.apply("tfplan");
    expect(saved.code, saved.text).toBe(1);
    expect(saved.text).toContain("already exists");
    expect(terraform.changesSent()).toEqual([]);
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["POST /services", "POST /services/1003/suspend"]);
  });

  it("is not replaced while its deletion_policy prevents that", async () => {
    const terraform = await startSite();
    await terraform.applied();
    await terraform.write(site('replace_on_change = true\nreference = "site-2"').replace("= 11", "= 12"));
    expect((await terraform.refused()).errors[0]?.detail).toMatch(/deletion_policy/);
    expect(orders(terraform)).toHaveLength(1);
  });

  it("without a domain needs a reference, a server's password is generated, and two servers are two", async () => {
    const terraform = await startTerraform({ install: "running" });
    const servers = (reference: string) => `
resource "hosting_service" "box" {
  count            = 2
  plan_id          = 31
  currency         = "USD"
  ${reference}
  password_version = 1
}
output "passwords" {
  value     = hosting_service.box[*].generated_password
  sensitive = true
}
`;
    await terraform.write(servers(""));
    const refused = await terraform.refused();
    expect(refused.errors[0]).toMatchObject({ detail: expect.stringContaining("reference") });
    expect(refused.errors[0]?.address).toMatch(/^hosting_service\.box\[[01]\]$/);

    await terraform.write(servers('reference = "box-${count.index}"'));
    await terraform.applied();
    expect(terraform.changesSent().sort()).toEqual([
      "POST /services",
      "POST /services",
      "POST /services/1003/password",
      "POST /services/1004/password",
    ]);
    const boxes = [0, 1].map((at) => terraform.state().get(`hosting_service.box[${at}]`));
    expect(new Set(boxes.map((box) => box?.attributes.generated_password)).size).toBe(2);
    for (const box of boxes) expect(box?.sensitive).toContain("generated_password");
    await terraform.expectNoChanges();
  });

  it("that a failed provisioner tainted is not ordered again", async () => {
    const failing = 'deletion_policy = "forget"\nprovisioner "local-exec" {\n  command = "exit 1"\n}';
    const terraform = await startSite(failing);
    expect((await terraform.apply()).code).toBe(1);
    expect(terraform.state().get(SITE)?.status).toBe("tainted");
    const refused = await terraform.refused();
    expect(refused.errors[0]?.detail, refused.text).toContain("untaint");
    expect(refused.text).not.toContain("terraform import");
    await terraform.well("untaint", SITE);
    await terraform.expectNoChanges();
    expect(orders(terraform)).toHaveLength(1);

    // The reference identifies a service without a domain.
    const box =
      'resource "hosting_service" "box" {\n  plan_id = 31\n  currency = "USD"\n  reference = "box"\n  deletion_policy = "forget"\n}\n';
    await terraform.write(box);
    await terraform.applied();
    const [id] = orders(terraform)
      .slice(-1)
      .map((order) => String(order.id));
    await terraform.well("taint", "hosting_service.box");
    const named = await terraform.refused();
    expect(named.errors[0]).toMatchObject({ at: 'reference = "box"', detail: expect.stringContaining("untaint") });
    await terraform.well("untaint", "hosting_service.box");
    await terraform.expectNoChanges();
    expect(terraform.attributes("hosting_service.box")).toMatchObject({ id });
  });

  it("whose state was lost is not ordered again, with a domain and without one", async () => {
    const terraform = await startTerraform({ install: "running" });
    const box = 'resource "hosting_service" "box" {\n  plan_id = 31\n  currency = "USD"\n  reference = "box"\n}\n';
    await terraform.write(site() + box);
    await terraform.applied();
    const ids = orders(terraform).map(({ id }) => id);
    // The provider does not yet know that Terraform recorded the orders, so it resumes as after a kill.
    terraform.sent();
    await terraform.remove("terraform.tfstate");
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();

    await terraform.remove("terraform.tfstate");
    const refused = await terraform.refused();
    expect(refused.errors).toMatchObject([{ address: SITE, summary: expect.stringContaining("already exists") }]);
    const { id } = orders(terraform).find(({ domain }) => domain !== null) ?? {};
    await terraform.well("import", "-no-color", "-input=false", SITE, String(id));
    // The provider finds the server by its order's key. The server may belong to another configuration, so the user
    // imports it too.
    const again = await terraform.apply();
    expect(again.errors).toMatchObject([{ summary: expect.stringContaining("already exists") }]);
    const other = String(ids.find((one) => one !== id));
    await terraform.well("import", "-no-color", "-input=false", "hosting_service.box", other);
    await terraform.applied();
    expect(orders(terraform).map((order) => order.id)).toEqual(ids);
    expect(terraform.attributes("hosting_service.box").id).toBe(other);
    await terraform.expectNoChanges();
  });

  it("whose changes are ignored is left alone", async () => {
    const ignoring = "lifecycle {\n  ignore_changes = [plan_id, term]\n}";
    const terraform = await startSite(ignoring);
    await terraform.applied();
    await terraform.write(site(`term = 12\n${ignoring}`).replace("= 11", "= 12"));
    await terraform.expectNoChanges();
  });

  it("is given a password only when its version changes; to drop the version sends nothing", async () => {
    const terraform = await startSite("password = var.password\npassword_version = 1");
    await terraform.applied();
    terraform.sent();
    terraform.env.TF_VAR_password = "another horse battery";
    await terraform.expectNoChanges();
    await terraform.write(site());
    expect((await terraform.planned()).changes).toEqual({ [SITE]: "update" });
    expect(await terraform.changed(SITE)).toEqual(["password_version"]);
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();
    // A change of timeouts concerns only the provider.
    await terraform.write(site('timeouts = { create = "1h", update = "90s", delete = "5m" }'));
    await terraform.planned();
    expect(await terraform.changed(SITE)).toEqual(["timeouts"]);
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();
  });
});
