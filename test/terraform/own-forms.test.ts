/** A host that writes values in its own form, through the real Terraform. */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { rewritingHost, rewritten } from "../support/rewriting-host.ts";
import { startTerraform, type TerraformOptions } from "../support/terraform.ts";

const onText = (rewrite: (text: string) => unknown) => (value: unknown) =>
  typeof value === "string" ? rewrite(value) : undefined;

const through = (names: Parameters<typeof rewritten>[1], only?: string): TerraformOptions => ({
  install: "running",
  through: (url) =>
    rewritingHost(url, (answer, method) => (only === undefined || only === method ? rewritten(answer, names) : answer)),
});

const flat = (text: string) => text.replace(/[\s│]+/g, " ");

describeWith(TERRAFORM)("a host that sells another plan", { timeout: 90_000 }, () => {
  it.each([
    ["name", { plan: onText(() => "Shared Plus") }],
    ["name in lists alone", { plan: onText(() => "Shared Plus") }, "GET"],
  ] as const)(
    "and shows it by its %s is reported by each plan, and nothing is planned",
    async (_, names, only?: string) => {
      const terraform = await startTerraform(through(names, only));
      const write = (plan: number) =>
        terraform.write(`
resource "hosting_service" "site" {
  plan_id         = ${plan}
  currency        = "USD"
  domain          = "site.example"
  deletion_policy = "forget"
}
`);
      await write(11);
      const applied = await terraform.apply();
      expect(applied.code, applied.text).toBe(0);
      const says = 'has the hosting plan "Shared Plus" (12); the hosting plan "Shared Start" (11) was ordered';
      if (only === undefined) expect(applied.diagnostics.map(({ summary }) => summary).join()).toContain(says);
      else await terraform.applied();
      for (let look = 0; look < 2; look++) {
        const planned = await terraform.plan();
        expect(planned.changes).toEqual({});
        expect(planned.diagnostics.map(({ summary }) => summary).join()).toContain(says);
        await terraform.applied();
      }
      await write(12);
      const followed = await terraform.plan();
      expect(followed.diagnostics).toEqual([]);
      expect(terraform.control.list("services").filter(({ domain }) => domain === "site.example")).toHaveLength(1);
    },
  );
});

describeWith(TERRAFORM)("an account that somebody changed", { timeout: 90_000 }, () => {
  it("is named as the cause of an immutable difference, also after a refresh", async () => {
    let currency = "USD";
    const terraform = await startTerraform({
      install: "running",
      through: (url) => rewritingHost(url, (answer) => rewritten(answer, { currency: onText(() => currency) })),
    });
    await terraform.write(`
resource "hosting_client_account" "acme" {
  name            = "Acme"
  currency        = "USD"
  deletion_policy = "forget"
}
`);
    await terraform.applied();
    currency = "EUR";
    for (const refresh of [false, true]) {
      if (refresh) await terraform.run("apply", "-refresh-only", "-auto-approve", "-no-color");
      const refused = await terraform.run("plan", "-no-color");
      expect(refused.code).toBe(1);
      expect(flat(refused.text)).toContain(
        '"currency" of client account Acme was changed in the account; the earlier value is declared',
      );
      expect(flat(refused.text)).toContain("set `currency` to the value of the existing object");
      expect(flat(refused.text)).not.toContain("Set the old value back");
    }
  });
});

describeWith(TERRAFORM)("a host that writes values its own way", { timeout: 90_000 }, () => {
  it("makes no difference with a cut name, a number without its country and a masked query, and all can be destroyed", async () => {
    const terraform = await startTerraform(
      through({
        name: onText((text) => text.slice(0, 10)),
        vat_number: onText((text) => text.replace("GE", "")),
        url: onText((text) => text.replace(/=.*/, "=***")),
      }),
    );
    await terraform.write(`
resource "hosting_client_account" "acme" {
  name            = "Acme Georgia International"
  vat_number      = "GE77"
  deletion_policy = "forget"
}
resource "hosting_webhook" "hook" {
  url    = "https://hooks.example/in?token=abc123"
  events = ["invoice.paid"]
}
`);
    await terraform.applied();
    terraform.sent();
    await terraform.expectNoChanges();
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.attributes("hosting_client_account.acme")).toMatchObject({ vat_number: "GE77" });
    const destroyed = await terraform.destroy();
    expect(destroyed.code, destroyed.text).toBe(0);
  });

  it.each([undefined, "GET"])(
    "gets a later end of a grant corrected once, and reports it from then on (shown by %s)",
    async (only) => {
      const terraform = await startTerraform(
        through({ expires_at: onText((text) => `${text.slice(0, 10)}T23:59:59Z`) }, only),
      );
      await terraform.write(`
resource "hosting_service" "site" {
  plan_id         = 11
  currency        = "USD"
  domain          = "site.example"
  deletion_policy = "forget"
}
resource "hosting_grant" "dev" {
  service_id = hosting_service.site.id
  email      = "dev@acme.example"
  permission = "view"
  expires_at = "2027-03-28T10:20:30Z"
}
`);
      await terraform.applied();
      terraform.sent();
      await terraform.applied();
      expect(terraform.changesSent()).toHaveLength(2);
      await terraform.applied();
      const planned = await terraform.plan();
      expect(planned.changes).toEqual({});
      expect(planned.diagnostics.map(({ summary }) => summary).join()).toContain(
        '"expires_at" of grant dev@acme.example is still',
      );
      expect(terraform.changesSent()).toEqual([]);
    },
  );
});
