import { describe, expect, it } from "vitest";
import { START } from "../support/clock.ts";
import { startProject } from "../support/project.ts";

const DAY_MS = 86_400_000;
const tomorrow = new Date(START + DAY_MS).toISOString();

const shared = (grants: object) => ({
  project: "grants",
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants } },
});

describe("a grant that has expired", () => {
  const guest = { "guest@acme.example": { permission: "view", expires_at: tomorrow } };

  it.each(["still listed", "not listed any more"])("(%s) is not created in a loop", async (listed) => {
    const project = await startProject({ declare: shared(guest) });
    await project.apply();
    project.clock.advance(2 * DAY_MS);
    if (listed !== "still listed") project.control.remove("grants", 301);
    project.sent();
    await project.apply();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    const { diagnostics } = await project.plan();
    expect(diagnostics.map(({ severity, code }) => [severity, code])).toEqual(
      listed === "still listed" ? [] : [["warning", "plan.expired"]],
    );
  });

  it("is granted again with a later end", async () => {
    const project = await startProject({ declare: shared(guest) });
    await project.apply();
    project.clock.advance(2 * DAY_MS);
    const later = new Date(START + 30 * DAY_MS).toISOString();
    await project.declare(shared({ "guest@acme.example": { permission: "view", expires_at: later } }));
    project.sent();
    await project.apply();
    expect(project.changesSent()).toEqual(["DELETE /services/1003/grants/301", "POST /services/1003/grants"]);
    await project.expectNoChanges();
  });

  it("that was never made is left out, with a word", async () => {
    const project = await startProject({
      declare: shared({
        "guest@acme.example": { permission: "view", expires_at: "2020-01-01" },
        "dev@acme.example": "view",
      }),
    });
    const ran = await project.apply();
    expect(ran.text).toContain("its expires_at (2020-01-01) is in the past");
    expect(project.control.list("grants").map(({ email }) => email)).toEqual(["dev@acme.example"]);
  });
});

describe("a grant of a service that is not live yet, at a host that refuses it until then", () => {
  const early = { method: "POST", path: "/services/:id/grants", phase: "before", status: 409, times: 99 } as const;
  const message = { message: "The service is not active." };

  it("waits for the payment: exit 0, a clear sentence, nothing pending; made when it is paid", async () => {
    const declare = shared({ "dev@acme.example": "view" });
    const project = await startProject({ declare, sandbox: { autoPay: false } });
    project.control.addFault({ ...early, body: message });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toContain("Apply complete! 1 added, 0 changed, 0 destroyed, 1 waiting.");
    expect(ran.out).toMatch(
      /Waiting:\n(?: .*\n)*? {2}hosting_grant\.www\["dev@acme\.example"\] waits until service \d+ is live: its invoice is not paid/,
    );
    expect(ran.text).toContain("The service is not active.");
    expect([...(await project.state()).resources.keys()]).toEqual(["hosting_service.www"]);

    const json = await project.run("apply", "--auto-approve", "--json");
    expect(json.code, json.text).toBe(0);
    const messages = json.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(messages.at(-1)).toMatchObject({
      type: "change_summary",
      hostform: { complete: true, failed: [], waiting: ['hosting_grant.www["dev@acme.example"]'] },
    });
    expect(messages.filter(({ type }) => type === "apply_complete" || type === "apply_errored")).toEqual([]);

    for (const { id } of project.control.list("invoices")) project.control.payInvoice(id);
    project.control.clearFaults();
    await project.apply();
    expect(project.control.list("grants")).toHaveLength(1);
    await project.expectNoChanges();
  });

  it.each([
    [409, message],
    [404, message],
  ])(
    "and does not show its grants either (%s): the plan goes on, and nothing is made or missed unseen",
    async (status, body) => {
      const declare = shared({ "dev@acme.example": "view" });
      const project = await startProject({ declare, sandbox: { autoPay: false } });
      const hide = () =>
        project.control.addFault({
          method: "GET",
          path: "/services/:id/grants",
          phase: "before",
          status,
          body,
          times: 99,
        });
      project.control.addFault({ ...early, times: 1, body: message });
      hide();
      await project.apply();

      // A second plan, by a run that has not ordered the service itself.
      const plan = await project.run("plan");
      expect(plan.code, plan.text).toBe(0);
      expect(plan.out).toContain("the API shows no grants of service 1003 until that is live");
      project.sent();
      const waits = await project.run("apply", "--auto-approve");
      expect(waits.code, waits.text).toBe(0);
      expect(waits.out).toContain("waits until service 1003 is live: its invoice is not paid");
      expect(project.changesSent()).toEqual([]);

      for (const { id } of project.control.list("invoices")) project.control.payInvoice(id);
      project.control.clearFaults();
      await project.apply();
      expect(project.control.list("grants")).toHaveLength(1);

      project.control.change("services", 1003, { status: "pending", provisioning_status: "pending" });
      hide();
      const { changes } = await project.plan();
      expect(changes.flatMap(({ actions }) => actions)).toEqual(["no-op", "no-op"]);
      expect((await project.run("plan")).out).toContain(
        'hosting_grant.www["dev@acme.example"] cannot be read before service 1003 is live: the plan uses the state.',
      );
    },
  );

  it("that is paid is waited for in the same run", async () => {
    const declare = shared({ "dev@acme.example": "view" });
    const project = await startProject({ declare, sandbox: { provisioningSeconds: 30 } });
    project.control.addFault({ ...early, times: 1, body: message });
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    expect(ran.out).toContain("Apply complete! 2 added, 0 changed, 0 destroyed.");
    expect(project.changesSent()).toEqual([
      "POST /services",
      "POST /services/1003/grants",
      "POST /services/1003/grants",
    ]);
    expect(project.control.list("grants")).toHaveLength(1);
    expect((await project.plan()).changes.flatMap(({ actions }) => actions)).toEqual(["no-op", "no-op"]);
  });

  it("is a failure where the value is what is refused", async () => {
    const project = await startProject({ declare: shared({ "dev@acme.example": "view" }) });
    const body = { message: "No.", errors: { email: ["Nobody has this address."] } };
    project.control.addFault({ ...early, status: 422, body });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("Nobody has this address.");
  });
});

describe("grants", () => {
  it("of two services are distinguished, whatever the case of the address", async () => {
    const project = await startProject({
      declare: {
        project: "grants",
        services: Object.fromEntries(
          ["a", "b"].map((name) => [
            name,
            { plan_id: 11, currency: "USD", domain: `${name}.acme.example`, grants: { "Dev@Acme.example": "manage" } },
          ]),
        ),
      },
    });
    await project.apply();
    for (const { id } of project.control.list("grants")) {
      project.control.change("grants", id, { email: "dev@acme.example" });
    }
    const plan = await project.plan();
    expect(plan.changes.filter(({ actions }) => actions[0] !== "no-op")).toEqual([]);
    expect(plan.drift).toEqual([]);
    expect(
      project.control
        .list("grants")
        .map(({ service_id }) => service_id)
        .sort(),
    ).toEqual([1003, 1004]);
  });
});
