/**
 * Lost creates that a user or a new secret settles. The conformance suite covers the other lost creates of each kind.
 */
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const DECLARATION = {
  project: "recovery",
  services: {
    www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants: { "dev@acme.example": "view" } },
  },
  webhooks: { billing: { url: "https://hooks.acme.example", events: ["invoice.paid"] } },
  client_accounts: { ana: { name: "Ana", currency: "USD" } },
  migration_requests: {
    www: { domain: "www.acme.example", order_id: "${hosting_service.www.id}", questions: { source: "cpanel" } },
  },
};

/** A project whose run died while it waited for the response to the create of a client account. */
async function died(): Promise<Project> {
  const project = await startProject({ declare: DECLARATION });
  let onDisk: ReadonlyMap<string, string> = new Map();
  project.onDelay = () => {
    onDisk = project.memory();
    // The interrupt stops further changes, as the death of the run would.
    project.interrupt();
  };
  project.control.addFault({ method: "POST", path: "/accounts", delayMs: 1, phase: "after" });
  // One change at a time: earlier changes are on disk, and later changes have not started.
  await project.run("apply", "--auto-approve", "--parallelism", "1");
  project.recall(onDisk);
  project.control.clearFaults();
  return project;
}

describe("a webhook whose secret was lost with the answer", () => {
  it("is deleted and created again in the same run, with a notice", async () => {
    const project = await startProject({ declare: DECLARATION });
    project.control.addFault({ method: "POST", path: "/webhooks", phase: "after", drop: true });
    const { text } = await project.apply();
    expect(text).toContain("[secret.lost]");
    const [webhook, ...more] = project.control.list("webhooks");
    expect(more).toEqual([]);
    expect((await project.recorded("hosting_webhook.billing"))?.attributes).toMatchObject({
      id: project.idOf("webhooks", webhook?.id),
      secret: webhook?.secret,
    });
    await project.expectNoChanges();
  });

  it("never costs one that was there before", async () => {
    const project = await startProject({ declare: { project: "recovery" } });
    project.control.create("webhooks", { url: "https://hooks.acme.example", events: ["service.expiring"] });
    await project.declare(DECLARATION);
    project.control.addFault({ method: "POST", path: "/webhooks", phase: "before", drop: true });
    await project.apply();
    expect(project.control.list("webhooks").map(({ events }) => events)).toEqual([
      ["service.expiring"],
      ["invoice.paid"],
    ]);
  });
});

describe("two objects that a create may have made", () => {
  it("stop it, and nothing else; resolve shows both and settles it", async () => {
    const project = await died();
    project.control.create("accounts", { name: "Ana", currency: "USD" });
    const address = "hosting_client_account.ana";
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain(`hostform resolve '${address}'`);
    expect(project.changesSent()).not.toContain("POST /accounts");
    const shown = await project.run("resolve");
    expect(shown.code).toBe(1);
    const ids = project.control.list("accounts").map(({ id }) => project.idOf("accounts", id));
    for (const id of ids) expect(shown.out).toContain(id);
    expect((await project.run("resolve", address, "--adopt", String(ids[0]))).code).toBe(0);
    expect((await project.run("resolve")).err).toContain("Nothing is pending");
    await project.apply();
    await project.expectNoChanges();
  });
});
