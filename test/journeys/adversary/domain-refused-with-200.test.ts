/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";
import { registration } from "../../support/registration.ts";

const DOMAIN = registration("acme.example");

it.each([
  [{ success: false, message: "Card declined" }],
  [{ error: "insufficient funds" }],
  [{ errors: { domain: ["taken"] } }],
  [{}],
  [[]],
  [null],
])("a registration answered with 200 %j is not recorded as made", async (body) => {
  const project = await startProject({ declare: { project: "x", domains: { a: DOMAIN } } });
  project.control.addFault({ method: "POST", path: "/domains", phase: "before", status: 200, body });
  const ran = await project.run("apply", "--auto-approve");
  expect((await project.recorded("hosting_domain.a"))?.private.pending, ran.text).toBeDefined();
  expect(ran.code).toBe(1);
});
