/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

it("a re-order that was refused is not placed by the next plain apply: the service is still gone, and --reorder was for one run", async () => {
  const p = await startProject({
    declare: { project: "x", services: { a: { plan_id: 11, currency: "USD", domain: "w.example" } } },
  });
  await p.apply();
  p.control.change("services", 1003, { status: "terminated" });
  p.control.addFault({
    method: "POST",
    path: "/services",
    phase: "before",
    status: 422,
    body: { message: "Unpaid invoices." },
  });
  await p.run("apply", "--auto-approve", "--reorder", "hosting_service.a");
  p.sent();
  const ran = await p.run("apply", "--auto-approve");
  expect(p.changesSent(), ran.text).toEqual([]);
  expect((await p.recorded("hosting_service.a"))?.attributes.id).toBe("1003");
});
