/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example" };

it("resolve with a resource name and two pending instances does not settle an arbitrary one", async () => {
  const grants = { "a@acme.example": "view", "b@acme.example": "view" };
  const project = await startProject({ declare: { project: "x", services: { a: { ...SITE, grants } } } });
  project.control.addFault({ method: "POST", path: "/services/:id/grants", phase: "after", drop: true, times: 9 });
  project.control.addFault({ method: "GET", path: "/services/:id/grants", phase: "before", status: 403, times: 9 });
  await project.run("apply", "--auto-approve");
  project.control.clearFaults();
  const of = (email: string) => project.control.list("grants").find((grant) => grant.email === email)?.id;
  const b = of("b@acme.example");
  const ran = await project.run("resolve", "hosting_grant.a", "--adopt", String(b));
  await project.run("apply", "--auto-approve");
  expect(ran.code, ran.text).toBe(1);
  expect(of("b@acme.example")).toBe(b); // The grant still exists.
});
