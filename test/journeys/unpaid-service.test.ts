/** A host that answers 403 for the grants of an unpaid service: the 403 concerns this service, not the token. */
import { expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const site = (name: string, grants: object) => ({ plan_id: 11, currency: "USD", domain: `${name}.example`, grants });

it("the rest is planned and applied, and the plan names the service and its domain", async () => {
  const shared = { "dev@acme.example": "view" };
  const project = await startProject({
    declare: { project: "unpaid", services: { paid: site("paid", shared) } },
    sandbox: { autoPay: false, provisioningSeconds: 0 },
  });
  await project.run("apply", "--auto-approve", "--no-wait");
  const [paid] = project.control.list("invoices");
  project.control.payInvoice(paid?.id ?? 0);
  project.clock.advance(60_000);
  await project.apply();
  await project.declare({ project: "unpaid", services: { paid: site("paid", shared), unpaid: site("unpaid", {}) } });
  await project.run("apply", "--auto-approve", "--no-wait");
  const id = (await project.recorded("hosting_service.unpaid"))?.attributes.id;
  project.control.addFault({
    method: "GET",
    path: `/services/${id}/grants`,
    phase: "before",
    status: 403,
    body: { message: "This service is not paid." },
    times: 99,
  });
  project.clock.advance(300_000);
  const more = { ...shared, "new@acme.example": "manage" };
  await project.declare({ project: "unpaid", services: { paid: site("paid", more), unpaid: site("unpaid", shared) } });
  const plan = await project.run("plan", "--json");
  const { changes = [] } = await project.plan();
  expect(plan.code, plan.text).toBe(0);
  expect(changes.filter(({ actions }) => actions[0] === "create").map(({ address }) => address)).toEqual([
    'hosting_grant.paid["new@acme.example"]',
    'hosting_grant.unpaid["dev@acme.example"]',
  ]);
  expect(plan.out).toContain(`service ${id} (unpaid.example)`);
  const ran = await project.run("apply", "--auto-approve", "--no-wait");
  expect(project.control.list("grants")).toHaveLength(2);
  expect(ran.text).toContain("unpaid.example");
});
