/** Deferred plans (`-allow-deferral`): a change that needs a live service waits for a later plan. */
import { describe, expect, it } from "vitest";
import { UNKNOWN, type Value } from "../../src/core/model/index.ts";
import { Deferred_Reason } from "../../src/fronts/terraform/wire/tfplugin6.gen.ts";
import { type Declarations, TerraformCore } from "../support/terraform-core.ts";
import { startMachine } from "./terraform-life.ts";

const SITE = "hosting_service.site";
const TEAM = "hosting_grant.team";
const site = (more: object = {}) => ({
  [SITE]: { type: "hosting_service", config: { plan_id: 11, currency: "USD", domain: "site.example", ...more } },
});
const team = (service_id: Value): Declarations => ({
  [TEAM]: { type: "hosting_grant", config: { service_id, email: "dev@acme.example", permission: "view" } },
});

/** A recorded service that waits for its payment. */
async function pending(): Promise<{ core: TerraformCore; id: string }> {
  const machine = await startMachine({ autoPay: false });
  const core = new TerraformCore(machine);
  expect((await core.run(site())).errors).toEqual([]);
  machine.clock.advance(60_000);
  return { core, id: String(core.attributes(SITE).id) };
}

function pay({ machine }: TerraformCore, id: string): void {
  machine.sandbox.control.change("services", Number(id), { status: "active", provisioning_status: "provisioned" });
}

describe("a change that needs a live service", () => {
  it.each<[string, (id: string) => Declarations, string]>([
    ["a grant", (id) => ({ ...site(), ...team(id) }), TEAM],
    ["a suspension", () => site({ suspended: true }), SITE],
    ["a password", () => site({ password: "correct horse battery", password_version: 1 }), SITE],
  ])("%s is deferred until the service is live, and then planned", async (_, declare, address) => {
    const { core, id } = await pending();
    const declared = declare(id);
    const plan = await core.plan(declared, { deferral: true });
    expect(plan.deferred).toEqual({ [address]: Deferred_Reason.ABSENT_PREREQ });
    expect(plan.changes.filter(({ action }) => action !== "no-op")).toEqual([]);
    core.machine.sandbox.control.clearRequests();
    expect(await core.apply(plan, declared)).toEqual([]);
    const sent = core.machine.sandbox.control.requests().map(({ method }) => method);
    expect(sent.filter((method) => method !== "GET")).toEqual([]);

    pay(core, id);
    const { deferred, changes } = await core.plan(declared, { deferral: true });
    expect(deferred).toEqual({});
    expect(changes.find((one) => one.address === address)?.action).toMatch(/^(?:create|update)$/);
  });

  it("is planned as before without -allow-deferral, although Terraform allows deferrals in each apply", async () => {
    const { core, id } = await pending();
    const declared = { ...site({ suspended: true }), ...team(id) };
    const plan = await core.plan(declared);
    expect(plan.deferred).toEqual({});
    expect(plan.changes.map(({ address, action }) => [address, action]).sort()).toEqual([
      [TEAM, "create"],
      [SITE, "no-op"],
    ]);
    // A deferral in the apply is a defect, and the model throws it.
    expect(await core.apply(plan, declared)).toEqual([]);
    expect(core.attributes(TEAM).id).toEqual(expect.any(String));
  });

  it("does not defer the order itself, its grants, or attributes that need no live service", async () => {
    const machine = await startMachine({ autoPay: false });
    const core = new TerraformCore(machine);
    const first = await core.plan({ ...site({ suspended: true }), ...team(UNKNOWN) }, { deferral: true });
    expect(first.deferred).toEqual({});
    expect(first.changes.map(({ action }) => action)).toEqual(["create", "create"]);
    const later = await pending();
    const { deferred, changes } = await later.core.plan(site({ deletion_policy: "forget", suspended: false }), {
      deferral: true,
    });
    expect({ deferred, actions: changes.map(({ action }) => action) }).toEqual({ deferred: {}, actions: ["update"] });
  });
});

describe("a replacement with an unknown reference", () => {
  it("is deferred where the client allows it, and an error otherwise", async () => {
    const machine = await startMachine();
    const core = new TerraformCore(machine);
    const old = site({ replace_on_change: true, reference: "one", deletion_policy: "forget" });
    expect((await core.run(old)).errors).toEqual([]);
    machine.clock.advance(60_000);
    const next = site({ replace_on_change: true, reference: UNKNOWN, deletion_policy: "forget", plan_id: 12 });
    const refused = await core.plan(next);
    expect(refused.said.map(({ summary }) => summary)).toContain(
      "The `reference` of a replacement must be known at plan time",
    );
    const { deferred, said } = await core.plan(next, { deferral: true });
    expect({ deferred, errors: said.filter(({ severity }) => severity === "error") }).toEqual({
      deferred: { [SITE]: Deferred_Reason.RESOURCE_CONFIG_UNKNOWN },
      errors: [],
    });
  });
});
