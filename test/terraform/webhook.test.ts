/** Webhooks through the real Terraform: replaced without a gap, with their secret returned once. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

const HOOK = "hosting_webhook.billing";

const hook = (events: string, more = "") => `
resource "hosting_webhook" "billing" {
  url    = "https://hooks.acme.example/hosting"
  events = ${events}
${more}
}
`;
const TWO = '["invoice.paid", "invoice.created"]';

const secretOf = ({ control }: Terraform, at = 0) => control.list("webhooks")[at]?.secret ?? "none";

async function start(text: string): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running" });
  await terraform.write(text);
  return terraform;
}

describeWith(TERRAFORM)("a webhook in Terraform", { timeout: 60_000 }, () => {
  it("is made, compared as a set, replaced without a gap when that is said, and deleted", async () => {
    const lifecycle = "lifecycle {\n  create_before_destroy = true\n}";
    const terraform = await start(`${hook(TWO, lifecycle)}
output "secret" {
  value     = ${HOOK}.secret
  sensitive = true
}
`);
    await terraform.applied();
    expect(terraform.attributes(HOOK)).toMatchObject({ id: "201", secret: secretOf(terraform) });
    expect(terraform.state().get(HOOK)?.sensitive).toEqual(["secret"]);
    const shown = await terraform.well("show", "-no-color");
    expect(shown).not.toContain(secretOf(terraform));
    await terraform.expectNoChanges();

    await terraform.write(hook('["invoice.created", "invoice.paid", "invoice.paid"]', lifecycle));
    await terraform.applied();
    await terraform.expectNoChanges();
    terraform.sent();

    const before = secretOf(terraform);
    await terraform.write(hook('["invoice.paid"]', lifecycle));
    expect((await terraform.planned()).changes).toEqual({ [HOOK]: "replace" });
    expect(await terraform.changed(HOOK)).toEqual(["created_at", "events", "id", "secret"]);
    await terraform.applied("tfplan");
    expect(terraform.changesSent()).toEqual(["POST /webhooks", "DELETE /webhooks/201"]);
    expect(terraform.attributes(HOOK)).toMatchObject({ id: "202", secret: secretOf(terraform) });
    expect(secretOf(terraform)).not.toBe(before);

    // Without create_before_destroy, Terraform deletes first.
    await terraform.write(hook(TWO));
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["DELETE /webhooks/202", "POST /webhooks"]);
    const destroyed = await terraform.destroy();
    expect(destroyed.code, destroyed.text).toBe(0);
    expect(terraform.control.list("webhooks")).toEqual([]);
  });

  it("that was removed or changed elsewhere is made again", async () => {
    const terraform = await start(hook(TWO));
    await terraform.applied();
    terraform.control.change("webhooks", 201, { events: ["invoice.paid"] });
    expect((await terraform.planned()).changes).toEqual({ [HOOK]: "replace" });
    await terraform.applied("tfplan");
    terraform.believeLists();
    terraform.control.remove("webhooks", 202);
    const gone = await terraform.planned();
    expect({ changes: gone.changes, drift: gone.drift }).toEqual({
      changes: { [HOOK]: "create" },
      drift: { [HOOK]: "delete" },
    });
    await terraform.applied("tfplan");
    expect(terraform.control.list("webhooks")).toMatchObject([{ events: expect.arrayContaining(["invoice.created"]) }]);
    await terraform.expectNoChanges();
  });

  it("whose secret did not come fails and is tainted; the next apply replaces it", async () => {
    const lifecycle = "lifecycle {\n  create_before_destroy = true\n}";
    const terraform = await start(hook(TWO, lifecycle));
    terraform.control.addFault({ method: "POST", path: "/webhooks", phase: "after", status: 201, body: "", times: 2 });
    const failed = await terraform.apply();
    expect(failed.code).toBe(1);
    expect(failed.errors).toMatchObject([{ address: HOOK, summary: "The API's response has no signing secret" }]);
    expect(terraform.attributes(HOOK)).toMatchObject({ id: "202", secret: null });

    await terraform.well("untaint", HOOK);
    await terraform.expectNoChanges();
    await terraform.well("taint", HOOK);
    expect((await terraform.planned()).changes).toEqual({ [HOOK]: "replace" });
    await terraform.applied();
    expect(terraform.control.list("webhooks").map(({ id }) => id)).toEqual([203]);
    expect(terraform.attributes(HOOK)).toMatchObject({ id: "203", secret: secretOf(terraform) });
    terraform.believeLists();
    await terraform.expectNoChanges();
  });

  it("is imported without its secret; one that exists already is offered", async () => {
    const terraform = await start(hook(TWO));
    const { id, secret } = terraform.control.create("webhooks", {
      url: "https://hooks.acme.example/hosting",
      events: ["invoice.created", "invoice.paid"],
    });
    const refused = await terraform.refused();
    expect(refused.errors).toMatchObject([{ address: HOOK, summary: expect.stringContaining("already exists") }]);
    await terraform.well("import", "-no-color", "-input=false", HOOK, String(id));
    await terraform.expectNoChanges();
    expect(terraform.attributes(HOOK)).toMatchObject({ id: String(id), secret: null });
    expect(terraform.filesHolding(secret)).toEqual([]);

    await terraform.well("state", "rm", HOOK);
    // A plan proves to the provider that no other address has the object.
    await terraform.plan();
    await terraform.write(`import {\n  to = ${HOOK}\n  id = "${id}"\n}\n`, "import.tf");
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();
  });

  it("writes its secret where secret_output says, and nowhere else", async () => {
    const terraform = await start(hook(TWO, 'secret_output = { file = "secrets/hook" }'));
    // The provider refuses a missing folder before it sends a request.
    terraform.sent();
    const failed = await terraform.apply();
    expect(failed.code, failed.text).toBe(1);
    expect(failed.errors[0]).toMatchObject({ address: HOOK, at: 'secret_output = { file = "secrets/hook" }' });
    expect(terraform.changesSent()).toEqual([]);

    await terraform.write(hook(TWO, 'secret_output = { env_file = { path = "hook.env", name = "HOOK_SECRET" } }'));
    await terraform.applied();
    const secret = secretOf(terraform);
    expect(readFileSync(path.join(terraform.dir, "hook.env"), "utf8")).toMatch(new RegExp(`^HOOK_SECRET=.*${secret}`));
    expect(terraform.filesHolding(secret)).toEqual(["hook.env"]);
    expect(terraform.attributes(HOOK)).toMatchObject({
      secret: null,
      secret_fingerprint: expect.stringMatching(/^sha256:/),
    });
    await terraform.expectNoChanges();

    // A new secret_output applies to the next secret.
    await terraform.write(hook(TWO, 'secret_output = { file = "hook.txt" }'));
    terraform.sent();
    const moved = await terraform.applied();
    expect(moved.errors).toEqual([]);
    await terraform.write(hook('["invoice.paid"]', 'secret_output = { file = "hook.txt" }'));
    await terraform.applied();
    expect(existsSync(path.join(terraform.dir, "hook.txt"))).toBe(true);
    expect(terraform.filesHolding(secretOf(terraform))).toEqual(["hook.txt"]);
    await terraform.expectNoChanges();
  });
});
