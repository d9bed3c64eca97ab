/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example", deletion_policy: "suspend" };

it("a service ordered by hand days after our lost request is not suspended when the block is removed", async () => {
  const p = await startProject({ declare: { project: "x", services: { a: SITE } } });
  p.control.addFault({ method: "POST", path: "/services", phase: "before", drop: true, times: 99 });
  await p.run("apply", "--auto-approve");
  p.control.clearFaults();
  p.clock.advance(3 * 86_400_000);
  p.control.advanceClock({ days: 3 });
  const headers = {
    authorization: `Bearer ${p.sandbox.tokens.agency}`,
    "content-type": "application/json",
    "idempotency-key": "by-hand",
  };
  const { deletion_policy: _, ...body } = SITE;
  await fetch(`${p.sandbox.url}/api/v1/services`, { method: "POST", headers, body: JSON.stringify(body) });
  p.sent();
  await p.declare({ project: "x", webhooks: { w: { url: "https://h.example", events: ["invoice.paid"] } } });
  await p.run("apply", "--auto-approve");
  expect(p.changesSent()).not.toContain("POST /services/1003/suspend");
});
