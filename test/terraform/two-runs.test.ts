/**
 * Two Terraforms on one machine with one token, two projects and two states. Both plan before either applies, so each
 * plans to create everything.
 */
import { copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { registration } from "../support/registration.ts";
import { startTerraform } from "../support/terraform.ts";
import { Workplace } from "../support/terraform-process.ts";

const { registrant_contact: contact } = registration("acme.example");
const CONFIGURATION = `
resource "hosting_webhook" "billing" {
  url    = "https://hooks.acme.example/hosting"
  events = ["invoice.paid"]
}
resource "hosting_client_account" "acme" {
  name            = "Acme"
  deletion_policy = "forget"
}
resource "hosting_service" "box" {
  plan_id   = 31
  currency  = "USD"
  reference = "box"
}
resource "hosting_domain" "acme" {
  domain             = "acme.example"
  years              = 1
  currency           = "USD"
  nameserver_mode    = "default"
  registrant_contact = ${JSON.stringify(contact)}
}
`;

const APPLY = ["apply", "-input=false", "-no-color", "made.tfplan"];

describeWith(TERRAFORM)("two Terraforms side by side", { timeout: 120_000 }, () => {
  it("make what both have planned once", async () => {
    const one = await startTerraform({ env: { HOSTFORM_LEDGER: undefined } });
    await one.write(CONFIGURATION);
    const two = new Workplace(path.join(one.dir, "other"), { ...one.env, HOSTFORM_PROJECT: "other" });
    await mkdir(two.dir);
    await two.write(CONFIGURATION);
    await copyFile(path.join(one.dir, "versions.tf"), path.join(two.dir, "versions.tf"));
    for (const each of [one, two]) {
      const planned = await each.start("terraform", ["plan", "-input=false", "-out=made.tfplan"]).ended;
      expect(planned.code, planned.text).toBe(0);
      expect(planned.text).toContain("4 to add");
    }
    const before = one.control.list("webhooks").length + one.control.list("accounts").length;
    one.sent();
    const ends = await Promise.all([one, two].map((each) => each.start("terraform", APPLY).ended));
    const words = ends.map(({ text }) => text).join("\n");
    const created = one.changesSent().filter((line) => line.startsWith("POST"));
    const count = (of: string) => created.filter((line) => line === `POST ${of}`).length;
    expect({ domains: count("/domains"), webhooks: count("/webhooks"), accounts: count("/accounts") }, words).toEqual({
      domains: 1,
      webhooks: 1,
      accounts: 1,
    });
    expect(one.control.list("webhooks").length + one.control.list("accounts").length - before).toBe(2);
    expect(words).toContain("A run with another state ordered domain");
    expect(ends.some(({ code }) => code === 1)).toBe(true);
    expect(await two.survivors()).toBe(0);
  });
});
