import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const registrant_contact = {
  first_name: "Ana",
  last_name: "A",
  email: "a@acme.example",
  phone: "+995555000000",
  address: "1 R",
  city: "T",
  postcode: "0108",
  country: "GE",
};
const DOMAIN = { domain: "acme.example", years: 1, currency: "USD", nameserver_mode: "default", registrant_contact };
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
