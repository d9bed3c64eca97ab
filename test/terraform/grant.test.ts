/** Grants through the real Terraform: a team in one block, changed by revoking and granting again. */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform } from "../support/terraform.ts";

const DEV = 'hosting_grant.team["dev@acme.example"]';
const BOSS = 'hosting_grant.team["boss@acme.example"]';

const team = (members: string) => `
resource "hosting_service" "site" {
  plan_id         = 11
  currency        = "USD"
  domain          = "site.example"
  deletion_policy = "forget"
}
resource "hosting_grant" "team" {
  for_each   = ${members}
  service_id = hosting_service.site.id
  email      = each.key
  permission = each.value
}
`;
const BOTH = '{ "dev@acme.example" = "manage", "boss@acme.example" = "view" }';

/** Returns the permission of each e-mail address at the host. */
const granted = ({ control }: Terraform) =>
  Object.fromEntries(control.list("grants").map(({ email, permission }) => [email, permission]));

async function start(members = BOTH): Promise<Terraform> {
  const terraform = await startTerraform({ install: "running" });
  await terraform.write(team(members));
  return terraform;
}

describeWith(TERRAFORM)("grants in Terraform", { timeout: 60_000 }, () => {
  it("of a service that is not paid wait at a host that wants it so: nothing is tainted, and the next apply goes on", async () => {
    const terraform = await startTerraform({ install: "running", sandbox: { autoPay: false } });
    await terraform.write(team('{ "dev@acme.example" = "view" }'));
    const fault = { method: "POST", path: "/services/:id/grants", phase: "before", status: 422, times: 99 } as const;
    terraform.control.addFault({ ...fault, body: { message: "The service is not active." } });
    const refused = await terraform.apply();
    expect(refused.code, refused.text).toBe(1);
    expect(refused.errors).toMatchObject([
      {
        address: DEV,
        summary: expect.stringMatching(/waits until service 1003 is live: its invoice is not paid$/),
        detail: expect.stringContaining("The service is not active."),
      },
    ]);
    expect(Object.keys((await terraform.planned()).changes)).toEqual([DEV]);
    terraform.control.clearFaults();
    for (const { id } of terraform.control.list("invoices")) terraform.control.payInvoice(id);
    await terraform.applied();
    expect(granted(terraform)).toEqual({ "dev@acme.example": "view" });
    expect(terraform.control.list("services").filter(({ domain }) => domain === "site.example")).toHaveLength(1);
  });

  it("that the host does not show before the service is live are planned and kept unseen, with a warning", async () => {
    const terraform = await startTerraform({ install: "running", sandbox: { autoPay: false } });
    const hide = () => {
      const body = { message: "The service is not active." };
      const path = "/services/:id/grants";
      terraform.control.addFault({ method: "GET", path, phase: "before", status: 409, body, times: 99 });
    };
    await terraform.write(team("{}"));
    await terraform.applied();
    hide();
    await terraform.write(team('{ "dev@acme.example" = "view" }'));
    const planned = await terraform.planned();
    expect(planned.changes).toEqual({ [DEV]: "create" });
    const warning = "The API lists the grants of service 1003 only when the service is live";
    // Terraform reports two resources in any order.
    expect(planned.diagnostics.map(({ summary }) => summary).sort()).toEqual([
      warning,
      expect.stringContaining("service 1003 waits for payment"),
    ]);
    terraform.sent();
    expect((await terraform.apply("tfplan")).code).toBe(1);
    expect(terraform.changesSent()).toEqual([]);

    terraform.control.clearFaults();
    for (const { id } of terraform.control.list("invoices")) terraform.control.payInvoice(id);
    await terraform.applied();
    terraform.control.change("services", 1003, { status: "pending", provisioning_status: "pending" });
    hide();
    const { changes, diagnostics } = await terraform.plan();
    expect(changes).toEqual({});
    expect(diagnostics.map(({ summary }) => summary).sort()).toEqual([
      warning,
      expect.stringContaining("service 1003 is not online yet"),
    ]);
  });

  it("are made with their service, changed by granting again, and revoked", async () => {
    const terraform = await start();
    // The id of the service is not known yet.
    expect((await terraform.planned()).changes).toEqual({
      "hosting_service.site": "create",
      [DEV]: "create",
      [BOSS]: "create",
    });
    await terraform.applied("tfplan");
    expect(granted(terraform)).toEqual({ "dev@acme.example": "manage", "boss@acme.example": "view" });
    await terraform.expectNoChanges();

    await terraform.write(team('{ "dev@acme.example" = "view", "new@acme.example" = "view" }'));
    expect((await terraform.planned()).changes).toEqual({
      [DEV]: "replace",
      [BOSS]: "delete",
      'hosting_grant.team["new@acme.example"]': "create",
    });
    await terraform.applied("tfplan");
    expect(granted(terraform)).toEqual({ "dev@acme.example": "view", "new@acme.example": "view" });
    await terraform.expectNoChanges();

    const destroyed = await terraform.destroy();
    expect(destroyed.code, destroyed.text).toBe(0);
    expect(granted(terraform)).toEqual({});
  });

  it("that were revoked or changed elsewhere are made again; addresses in another case are the same", async () => {
    const terraform = await start('{ "Dev@Acme.example" = "manage" }');
    await terraform.applied();
    terraform.control.change("grants", 301, { email: "dev@acme.example" });
    await terraform.expectNoChanges();

    terraform.control.change("grants", 301, { permission: "view" });
    const changed = await terraform.planned();
    expect(changed.changes).toEqual({ 'hosting_grant.team["Dev@Acme.example"]': "replace" });
    await terraform.applied("tfplan");
    expect(terraform.control.list("grants")).toMatchObject([{ permission: "manage" }]);

    terraform.believeLists();
    for (const { id } of terraform.control.list("grants")) terraform.control.remove("grants", id);
    const gone = await terraform.planned();
    expect(gone.changes).toEqual({ 'hosting_grant.team["Dev@Acme.example"]': "create" });
    expect(gone.drift).toEqual({ 'hosting_grant.team["Dev@Acme.example"]': "delete" });
    await terraform.applied("tfplan");
    expect(terraform.control.list("grants")).toHaveLength(1);
    await terraform.expectNoChanges();
  });

  it("are imported by id and by e-mail address, and offered for import", async () => {
    const terraform = await start();
    await terraform.applied("-target=hosting_service.site");
    for (const [email, permission] of [["dev@acme.example", "manage"] as const, ["boss@acme.example", "view"] as const])
      terraform.control.create("grants", { service_id: 1003, email, permission });
    const refused = await terraform.refused();
    expect(refused.errors.map(({ address }) => address).sort()).toEqual([BOSS, DEV]);
    for (const { detail } of refused.errors) expect(detail).toMatch(/1003\/30[12]/);

    await terraform.well("import", "-no-color", "-input=false", DEV, "1003/301");
    await terraform.write(`import {\n  to = ${BOSS}\n  id = "1003/boss@acme.example"\n}\n`, "import.tf");
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    expect(terraform.attributes(BOSS)).toMatchObject({ id: "302", service_id: "1003", permission: "view" });
    await terraform.expectNoChanges();

    await terraform.well("state", "rm", DEV);
    for (const id of ["1003", "1003/nobody@acme.example", "99999/301"]) {
      const missing = await terraform.run("import", "-no-color", "-input=false", DEV, id);
      expect(missing.code, missing.text).toBe(1);
    }
  });

  it("are compared by the instant of their end, and left alone when it has passed", async () => {
    const terraform = await startTerraform({ install: "running" });
    const until = (end: string) =>
      `${team("{}")}resource "hosting_grant" "guest" {
  service_id = hosting_service.site.id
  email      = "guest@acme.example"
  permission = "view"
  expires_at = "${end}"
}
`;
    await terraform.write(until("2020-01-31T00:00:00Z"));
    expect((await terraform.refused()).errors).toMatchObject([
      { summary: expect.stringContaining("its expires_at (2020") },
    ]);
    await terraform.write(until("2099-01-31T04:00:00+04:00"));
    await terraform.applied();
    await terraform.expectNoChanges();
    await terraform.write(until("2099-01-31T00:00:00Z"));
    terraform.sent();
    await terraform.applied();
    expect(terraform.changesSent()).toEqual([]);
    await terraform.expectNoChanges();
    await terraform.write(until("2098-01-31T00:00:00Z"));
    expect((await terraform.planned()).changes).toEqual({ "hosting_grant.guest": "replace" });
    await terraform.applied("tfplan");
    expect(terraform.control.list("grants")).toHaveLength(1);

    terraform.believeLists();
    // Years later: the host first still lists the expired grant, then removes it.
    await terraform.write(until("2020-01-31T00:00:00Z"));
    await terraform.change("terraform.tfstate", (text) => text.replaceAll("2098-", "2020-"));
    const [{ id } = { id: 0 }] = terraform.control.list("grants");
    terraform.control.change("grants", id, { expires_at: "2020-01-31T00:00:00.000Z" });
    await terraform.expectNoChanges();
    terraform.control.remove("grants", id);
    const { code, changes, warnings, text } = await terraform.plan();
    expect({ code, changes, warnings }, text).toMatchObject({
      code: 0,
      changes: {},
      warnings: [{ detail: expect.stringContaining("later") }],
    });
    const destroyed = await terraform.destroy();
    expect(destroyed.code, destroyed.text).toBe(0);
  });

  it("of a service that is gone are left alone with it", async () => {
    const terraform = await start();
    await terraform.applied();
    terraform.believeLists();
    terraform.control.remove("services", 1003);
    const { code, changes, warnings, text } = await terraform.plan();
    expect({ code, changes }, text).toEqual({ code: 0, changes: {} });
    expect(warnings.map(({ address }) => address)).toEqual(expect.arrayContaining([DEV, BOSS, "hosting_service.site"]));
    const destroyed = await terraform.destroy();
    expect(destroyed.code, destroyed.text).toBe(0);
    expect(terraform.state().size).toBe(0);
  });
});

describeWith(TERRAFORM)("a plan with a token that views", { timeout: 60_000 }, () => {
  const HOOK = `
resource "hosting_webhook" "ops" {
  url    = "https://hooks.acme.example"
  events = ["service.suspended"]
}
`;
  const by = (token: string, declared: string) => `provider "hosting" {\n  token_env = "${token}"\n}\n${declared}`;

  it("compares services, takes grants and webhooks as they are recorded with one warning, and changes none of them", async () => {
    const terraform = await startTerraform({ install: "running", tokens: { VIEW: "viewer", ALL: "agency" } });
    const all = team(BOTH) + HOOK;
    await terraform.write(by("ALL", all));
    await terraform.applied();
    terraform.sent();

    await terraform.write(by("VIEW", all.replace('= "forget"', '= "suspend"')));
    const { changes, warnings } = await terraform.planned();
    expect(changes).toEqual({ "hosting_service.site": "update" });
    expect(warnings).toMatchObject([
      {
        summary: "Not compared with the account: recorded grants and webhooks",
        detail: expect.stringContaining(
          'The token lacks the ability "technical" (403). The plan uses the recorded values.',
        ),
      },
    ]);

    // The run would have to prove that the new grant is absent.
    await terraform.write(by("VIEW", all.replace('"boss@acme.example" = "view"', '"new@acme.example" = "view"')));
    expect((await terraform.refused()).errors).toMatchObject([
      {
        address: 'hosting_grant.team["new@acme.example"]',
        summary: "The token lacks permission for GET /api/v1/webhooks (403)",
      },
    ]);

    await terraform.write(by("VIEW", all.replace('= "manage"', '= "view"')));
    const { code, errors } = await terraform.apply();
    expect({ code, errors }).toMatchObject({ code: 1, errors: [{ address: DEV }] });
    expect(granted(terraform)).toEqual({ "dev@acme.example": "manage", "boss@acme.example": "view" });

    const less = all.replace('"boss@acme.example" = "view"', "");
    await terraform.write(by("VIEW", less));
    expect((await terraform.planned()).changes).toEqual({ [BOSS]: "delete" });
    await terraform.write(by("ALL", less));
    await terraform.applied();
    expect(granted(terraform)).toEqual({ "dev@acme.example": "manage" });
    await terraform.expectNoChanges();
  });
});
