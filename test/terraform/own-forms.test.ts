/** A host that writes values in a form of its own, through the real Terraform. */
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
        "expires_at of grant dev@acme.example stays",
      );
      expect(terraform.changesSent()).toEqual([]);
    },
  );
});
