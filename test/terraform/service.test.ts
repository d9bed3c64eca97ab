/** A service through the real Terraform: ordered once, changed in place, never replaced or removed automatically. */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { rewritingHost, withStatusWords } from "../support/rewriting-host.ts";
import type { TerraformOptions } from "../support/terraform.ts";
import { orders, SITE, site, startSite } from "../support/terraform-site.ts";

/** A host with its own status words. */
const inWords = (words: Parameters<typeof withStatusWords>[1]): TerraformOptions => ({
  through: (url) => rewritingHost(url, (answer) => withStatusWords(answer, words)),
});

describeWith(TERRAFORM)("a service in Terraform", { timeout: 60_000 }, () => {
  it("is ordered, changed in place, suspended at its end", async () => {
    const terraform = await startSite("password = var.password\npassword_version = 1");
    const created = await terraform.applied();
    expect(created.done).toEqual({ [SITE]: "create" });
    expect(terraform.changesSent()).toEqual(["POST /services", "POST /services/1003/password"]);
    expect(terraform.attributes(SITE)).toMatchObject({
      id: "1003",
      plan: "Shared Start",
      price: 500,
      status: "active",
      suspended: false,
      password: null,
      password_version: 1,
      deletion_policy: "prevent",
      term: 1,
    });
    expect(terraform.attributes(SITE).invoice_id).toEqual(expect.any(String));
    await terraform.expectNoChanges();

    await terraform.write(site('suspended = true\ntimeouts = { update = "20m" }'));
    const suspending = await terraform.planned();
    expect(suspending.changes).toEqual({ [SITE]: "update" });
    expect(suspending.warnings).toMatchObject([
      {
        summary: "The apply suspends service 1003 (site.example), and the service goes offline",
        detail: expect.stringMatching(/update in-place/),
      },
    ]);
    expect(await terraform.changed(SITE)).toEqual([
      "password_version",
      "provisioning_status",
      "status",
      "suspended",
      "timeouts",
    ]);
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual(["POST /services/1003/suspend"]);
    expect(terraform.attributes(SITE)).toMatchObject({ suspended: true, status: "suspended" });

    await terraform.write(
      site('suspended = false\npassword = var.password\npassword_version = 2\ndeletion_policy = "suspend"'),
    );
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["POST /services/1003/unsuspend", "POST /services/1003/password"]);
    await terraform.expectNoChanges();

    const destroyed = await terraform.destroy();
    expect(destroyed.code, destroyed.text).toBe(0);
    expect(terraform.changesSent()).toEqual(["POST /services/1003/suspend"]);
    expect(terraform.state().size).toBe(0);
    expect(orders(terraform)).toMatchObject([{ id: 1003, status: "suspended" }]);
  });

  it("that drifted is corrected where it is declared, and left as it is where it is not", async () => {
    const terraform = await startSite("suspended = false");
    await terraform.applied();
    terraform.control.change("services", 1003, { status: "suspended" });
    const planned = await terraform.planned();
    expect(planned.changes).toEqual({ [SITE]: "update" });
    expect(planned.drift).toEqual({ [SITE]: "update" });
    terraform.sent();
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual(["POST /services/1003/unsuspend"]);

    await terraform.write(site());
    await terraform.expectNoChanges();
    terraform.control.change("services", 1003, { status: "suspended" });
    const { code, changes, errors, text } = await terraform.plan();
    expect({ code, changes, errors }, text).toEqual({ code: 0, changes: {}, errors: [] });
    // The provider changes nothing while the status is unknown.
    await terraform.write(site("suspended = true"));
    terraform.control.change("services", 1003, { status: "fraud" });
    const odd = await terraform.plan();
    expect({ code: odd.code, warnings: odd.warnings }, odd.text).toMatchObject({
      code: expect.any(Number),
      warnings: [{ summary: expect.stringContaining("fraud") }],
    });
    terraform.sent();
    const refused = await terraform.apply();
    expect({ code: refused.code, errors: refused.errors }, refused.text).toMatchObject({
      code: 1,
      errors: [{ summary: expect.stringContaining('its status "fraud" is unknown') }],
    });
    expect(terraform.changesSent()).toEqual([]);
  });

  it("is suspended with an unknown status word: each time an error that names the word and its mapping, and no taint", async () => {
    const terraform = await startSite(
      'suspended = false\ndeletion_policy = "suspend"',
      inWords({ active: "ACTIVE", suspended: "PARKED_BY_OWNER" }),
    );
    await terraform.applied();
    await terraform.write(site('suspended = true\ndeletion_policy = "suspend"'));
    terraform.sent();
    const first = await terraform.apply();
    const named = [{ detail: expect.stringContaining('status_words = { "PARKED_BY_OWNER" = "suspended" }') }];
    expect({ code: first.code, errors: first.errors }, first.text).toMatchObject({ code: 1, errors: named });
    for (const wanted of [true, false]) {
      await terraform.write(site(`suspended = ${wanted}\ndeletion_policy = "suspend"`));
      const planned = await terraform.planned();
      expect(planned.changes, planned.text).toEqual({ [SITE]: "update" });
      expect(planned.warnings, planned.text).toMatchObject(named);
      const again = await terraform.apply();
      expect({ code: again.code, errors: again.errors }, again.text).toMatchObject({ code: 1, errors: named });
    }
    const destroyed = await terraform.destroy();
    expect(destroyed.code, destroyed.text).toBe(1);
    expect(destroyed.errors, destroyed.text).toMatchObject(named);
    expect(terraform.attributes(SITE).id).toBe("1003");
    expect(terraform.changesSent()).toEqual(["POST /services/1003/suspend"]);
    await terraform.write(
      `provider "hosting" {\n  status_words = { PARKED_BY_OWNER = "suspended" }\n}\n`,
      "provider.tf",
    );
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["POST /services/1003/unsuspend"]);
    await terraform.expectNoChanges();
    const ended = await terraform.destroy();
    expect(ended.code, ended.text).toBe(0);
    expect(terraform.state().size).toBe(0);
  });

  it("that is gone is not ordered again automatically", async () => {
    const terraform = await startSite('deletion_policy = "forget"');
    await terraform.applied();
    terraform.believeLists();
    terraform.control.change("services", 1003, { status: "terminated" });
    const { code, changes, warnings, text } = await terraform.plan();
    expect({ code, changes }, text).toEqual({ code: 0, changes: {} });
    expect(warnings[0]?.summary, text).toMatch(/gone|no longer|terminated/);
    terraform.control.remove("services", 1003);
    const applied = await terraform.applied();
    expect(applied.warnings[0]?.summary).toMatch(/gone|no longer|does not/);
    expect(orders(terraform)).toEqual([]);
    expect(terraform.attributes(SITE)).toMatchObject({ id: "1003" });

    // The user requests a replacement, which needs a new reference.
    terraform.sent();
    const refused = await terraform.apply(`-replace=${SITE}`);
    expect(refused.code, refused.text).toBe(1);
    expect(refused.errors[0]?.detail).toContain("reference");
    expect(terraform.changesSent()).toEqual([]);
    await terraform.write(site('deletion_policy = "forget"\nreference = "site-2"'));
    await terraform.applied(`-replace=${SITE}`);
    expect(terraform.changesSent()).toEqual(["POST /services"]);
    await terraform.expectNoChanges();
  });

  it("that is not paid yet waits, and gets its password when it is live", async () => {
    const terraform = await startSite("password = var.password\npassword_version = 1\nsuspended = true", {
      sandbox: { autoPay: false },
    });
    const applied = await terraform.applied();
    expect(applied.warnings.length, applied.text).toBeGreaterThan(0);
    expect(terraform.changesSent()).toEqual(["POST /services"]);
    expect(terraform.state().get(SITE)?.status).toBe("");
    const again = await terraform.applied();
    expect(again.errors).toEqual([]);
    expect(terraform.changesSent()).toEqual([]);

    for (const { id } of terraform.control.list("invoices")) terraform.control.payInvoice(id);
    expect((await terraform.planned()).changes).toEqual({ [SITE]: "update" });
    terraform.sent();
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["POST /services/1003/password", "POST /services/1003/suspend"]);
    await terraform.expectNoChanges();
    expect(orders(terraform)).toHaveLength(1);
  });

  it("that was paid since the last apply is suspended when its block is removed", async () => {
    const terraform = await startSite('deletion_policy = "suspend"', { sandbox: { autoPay: false } });
    await terraform.applied();
    await terraform.write("");
    expect((await terraform.refused()).errors).toMatchObject([{ summary: expect.stringContaining('"pending"') }]);
    for (const { id } of terraform.control.list("invoices")) terraform.control.payInvoice(id);
    expect((await terraform.planned()).changes).toEqual({ [SITE]: "delete" });
    terraform.sent();
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual(["POST /services/1003/suspend"]);
    expect(terraform.state().size).toBe(0);
  });

  it("that exists already is offered for import, by command and by block", async () => {
    const terraform = await startSite();
    const [live] = terraform.control.seedServices({ domain_prefix: "site" });
    await terraform.write(site().replace("site.example", live?.domain ?? ""));
    const refused = await terraform.refused();
    expect(refused.errors).toMatchObject([{ address: SITE, summary: expect.stringContaining("already exists") }]);
    expect(refused.errors[0]?.detail).toMatch(/import/);

    const missing = await terraform.run("import", "-no-color", "-input=false", SITE, "99999");
    expect(missing.code, missing.text).toBe(1);
    expect(missing.text).toMatch(/99999/);
    await terraform.well("import", "-no-color", "-input=false", SITE, String(live?.id));
    expect(terraform.attributes(SITE)).toMatchObject({ id: String(live?.id), domain: live?.domain, currency: "USD" });
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();

    await terraform.well("state", "rm", SITE);
    // A plan proves to the provider that no other address has the object.
    await terraform.plan();
    // The block from the refusal, with the name filled in.
    const [block = ""] = /^`?(import \{[^}]*\})/m.exec(refused.errors[0]?.detail ?? "")?.slice(1) ?? [];
    await terraform.write(`${block.replace("hosting_service.NAME", SITE)}\n`, "import.tf");
    const planned = await terraform.planned();
    expect(Object.keys(planned.changes)).toEqual([SITE]);
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.attributes(SITE)).toMatchObject({ id: String(live?.id), plan_id: 11, deletion_policy: "prevent" });
    await terraform.expectNoChanges();
  });
});
