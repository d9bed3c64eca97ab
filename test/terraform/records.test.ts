/**
 * Client accounts, migration requests and domains through the real Terraform: created once, never changed, forgotten
 * on destroy.
 */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

async function start(text: string): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running" });
  await terraform.write(text);
  return terraform;
}

/**
 * Destroy is refused while deletion_policy is `prevent`. With `forget`, destroy removes the state entry and sends no
 * request.
 */
async function expectLettingGo(
  terraform: Terraform,
  address: string,
  withPolicy: (policy: string) => string,
): Promise<void> {
  const refused = await terraform.refused("-destroy");
  expect(refused.errors).toMatchObject([{ address, detail: expect.stringContaining("deletion_policy") }]);
  await terraform.write(withPolicy('deletion_policy = "forget"'));
  expect((await terraform.planned()).changes).toEqual({ [address]: "update" });
  await terraform.applied("tfplan");
  const destroyed = await terraform.destroy();
  expect(destroyed.code, destroyed.text).toBe(0);
  expect(terraform.changesSent()).toEqual([]);
  expect(terraform.state().size).toBe(0);
}

/** Imports the object by command and by block. Fails unless no change is sent and the next plan is empty. */
async function expectImport(terraform: Terraform, address: string, id: string): Promise<void> {
  terraform.sent();
  await terraform.well("import", "-no-color", "-input=false", address, id);
  await terraform.applied();
  await terraform.expectNoChanges();
  await terraform.well("state", "rm", address);
  // A plan proves to the provider that no other address has the object.
  await terraform.plan();
  await terraform.write(`import {\n  to = ${address}\n  id = "${id}"\n}\n`, "import.tf");
  const applied = await terraform.applied();
  expect(applied.errors).toEqual([]);
  await terraform.expectNoChanges();
  await terraform.remove("import.tf");
  expect(terraform.changesSent()).toEqual([]);
}

describeWith(TERRAFORM)("a client account in Terraform", { timeout: 60_000 }, () => {
  const ACME = "hosting_client_account.acme";
  const account = (more = "", company = "Acme LLC") => `
resource "hosting_client_account" "acme" {
  name         = "Acme"
  company_name = "${company}"
${more}
}
`;

  it("is made once, is not changed, and forgotten", async () => {
    const terraform = await start(account());
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["POST /accounts"]);
    expect(terraform.attributes(ACME)).toMatchObject({ name: "Acme", company_name: "Acme LLC", currency: null });
    await terraform.expectNoChanges();

    await terraform.write(account("", "Acme Inc"));
    const refused = await terraform.refused();
    expect(refused.errors).toMatchObject([{ address: ACME, at: 'company_name = "Acme Inc"', marked: '"Acme Inc"' }]);
    expect(refused.errors[0]?.detail).toMatch(/replace_on_change/);

    await terraform.write(account());
    await expectLettingGo(terraform, ACME, account);
    expect(terraform.control.list("accounts")).toHaveLength(1);
  });

  it("that changed or vanished elsewhere is shown, offered for import when it is there already", async () => {
    const terraform = await start(account());
    const { id } = terraform.control.create("accounts", { name: "Acme", company_name: "Acme LLC", currency: "GEL" });
    const refused = await terraform.refused();
    expect(refused.errors).toMatchObject([{ address: ACME, summary: expect.stringContaining("already exists") }]);
    await expectImport(terraform, ACME, String(id));
    expect(terraform.attributes(ACME)).toMatchObject({ id: String(id), currency: "GEL", deletion_policy: "prevent" });

    terraform.control.change("accounts", id, { company_name: "Acme Elsewhere" });
    expect((await terraform.refused()).errors).toMatchObject([{ address: ACME, at: 'company_name = "Acme LLC"' }]);
    terraform.control.remove("accounts", id);
    const gone = await terraform.planned();
    expect({ changes: gone.changes, drift: gone.drift }).toEqual({
      changes: { [ACME]: "create" },
      drift: { [ACME]: "delete" },
    });
  });
});

describeWith(TERRAFORM)("a migration request in Terraform", { timeout: 60_000 }, () => {
  const MOVE = "hosting_migration_request.acme";
  const request = (
    more = "",
    questions = '{ source = "cpanel", mailboxes = "3", folders = jsonencode(["a", "b"]) }',
  ) => `
resource "hosting_migration_request" "acme" {
  domain    = "www.acme.example"
  questions = ${questions}
${more}
}
`;

  it("is queued once with its questions, is not changed, and forgotten", async () => {
    const terraform = await start(request());
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["POST /migration-requests"]);
    expect(terraform.control.list("migration_requests")).toMatchObject([
      { domain: "www.acme.example", answers: { source: "cpanel", mailboxes: "3", folders: ["a", "b"] } },
    ]);
    expect(terraform.attributes(MOVE)).toMatchObject({
      status: "draft",
      questions: { source: "cpanel", mailboxes: "3", folders: '["a","b"]' },
    });
    await terraform.expectNoChanges();

    await terraform.write(request("", '{ source = "plesk" }'));
    expect((await terraform.refused()).errors).toMatchObject([
      { address: MOVE, at: 'questions = { source = "plesk" }' },
    ]);

    await terraform.write(request());
    await expectLettingGo(terraform, MOVE, request);
  });

  it("is bound to a new service, with answers that come from elsewhere", async () => {
    const terraform = await start(`
resource "terraform_data" "answers" {
  input = { source = "cpanel" }
}
resource "hosting_service" "www" {
  plan_id  = 11
  currency = "USD"
  domain   = "www.acme.example"
}
${request("order_id = hosting_service.www.id", "terraform_data.answers.output")}`);
    expect(Object.keys((await terraform.planned()).changes)).toHaveLength(3);
    await terraform.applied("tfplan");
    expect(terraform.control.list("migration_requests")).toMatchObject([
      { order_id: 1003, answers: { source: "cpanel" } },
    ]);
    expect(terraform.attributes(MOVE)).toMatchObject({ order_id: "1003" });
    await terraform.expectNoChanges();
  });

  it("is imported, and queued again when it vanished", async () => {
    const terraform = await start(request());
    const { id } = terraform.control.create("migration_requests", { domain: "www.acme.example", source: "cpanel" });
    expect((await terraform.refused()).errors).toMatchObject([{ address: MOVE }]);
    await expectImport(terraform, MOVE, String(id));
    // The configuration supplies the attributes that the API does not return.
    expect(terraform.attributes(MOVE)).toMatchObject({ questions: { source: "cpanel", mailboxes: "3" } });
    terraform.control.remove("migration_requests", id);
    expect((await terraform.planned()).changes).toEqual({ [MOVE]: "create" });
  });
});

describeWith(TERRAFORM)("a domain in Terraform", { timeout: 60_000 }, () => {
  const ACME = "hosting_domain.acme";
  const domain = (more = "", city = "Tbilisi", name = "acme.example") => `
resource "hosting_domain" "acme" {
  domain          = "${name}"
  years           = 1
  currency        = "USD"
  nameserver_mode = "default"
  registrant_contact = {
    first_name = "Ana"
    last_name  = "Acme"
    email      = "ana@acme.example"
    phone      = "+995 555 000000"
    address    = "1 Rustaveli Ave"
    city       = "${city}"
    postcode   = "0108"
    country    = "GE"
  }
${more}
}
`;

  it("is registered once, is not changed, and forgotten", async () => {
    const terraform = await start(domain());
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["POST /domains"]);
    const [order] = terraform.control.list("domains");
    expect(terraform.attributes(ACME)).toMatchObject({ id: String(order?.id), invoice_number: expect.any(String) });
    await terraform.expectNoChanges();

    await terraform.write(domain("", "Batumi"));
    const refused = await terraform.refused();
    expect(refused.errors).toMatchObject([{ address: ACME }]);
    expect(refused.errors[0]?.at).toMatch(/registrant_contact|Batumi/);

    await terraform.write(domain());
    await expectLettingGo(terraform, ACME, domain);
    expect(terraform.control.list("domains")).toHaveLength(1);
  });

  it("is imported at its word", async () => {
    const terraform = await start(domain());
    await expectImport(terraform, ACME, "acme.example");
    expect(terraform.attributes(ACME)).toMatchObject({ domain: "acme.example", years: 1, deletion_policy: "prevent" });
    expect(terraform.control.list("domains")).toEqual([]);
  });

  it("whose registration is pending is not ordered again automatically", async () => {
    const terraform = await start(domain());
    terraform.control.addFault({ method: "POST", path: "/domains", phase: "after", drop: true });
    const applied = await terraform.apply();
    expect(applied.code, applied.text).toBe(1);
    expect(applied.errors.map(({ summary }) => summary)).toContainEqual(
      expect.stringContaining("may already be ordered"),
    );
    expect(terraform.control.list("domains")).toHaveLength(1);
    terraform.sent();
    const again = await terraform.plan();
    expect(again.warnings.map(({ summary }) => summary)).toContainEqual(
      expect.stringContaining("may already be ordered"),
    );
    await terraform.apply();
    await terraform.apply();
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.control.list("domains")).toHaveLength(1);
  });
});
