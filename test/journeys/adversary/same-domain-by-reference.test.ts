/** Cases from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";
import { registration } from "../../support/registration.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const DOMAIN = registration("acme.example");

it("two services whose domains are the same by reference are not both ordered", async () => {
  const project = await startProject({
    declare: { project: "x", services: { a: SITE, b: { ...SITE, domain: "${hosting_service.a.domain}" } } },
  });
  await project.run("apply", "--auto-approve");
  expect(project.changesSent().filter((line) => line === "POST /services").length).toBeLessThan(2);
});

it("two services that both take their domain from a registration", async () => {
  const domain = "${hosting_domain.d.domain}";
  const project = await startProject({
    declare: { project: "x", domains: { d: DOMAIN }, services: { a: { ...SITE, domain }, b: { ...SITE, domain } } },
  });
  await project.run("apply", "--auto-approve");
  expect(project.changesSent().filter((line) => line === "POST /services").length).toBeLessThan(2);
});

it("nor is a domain registered twice", async () => {
  const project = await startProject({
    declare: { project: "x", domains: { a: DOMAIN, b: { ...DOMAIN, domain: "${hosting_domain.a.domain}" } } },
  });
  await project.run("apply", "--auto-approve");
  expect(project.changesSent().filter((line) => line === "POST /domains").length).toBeLessThan(2);
});

it("renamed registration block: (forget policy) the domain that is recorded under the old name is not registered again", async () => {
  const project = await startProject({
    declare: { project: "x", domains: { a: { ...DOMAIN, deletion_policy: "forget" } } },
  });
  project.sandbox.control.addFault({
    method: "POST",
    path: "/domains",
    phase: "before",
    status: 201,
    body: { data: { id: 9, status: "active", domain: "acme.example" } },
    times: 9,
  });
  await project.apply();
  project.sent();
  await project.declare({ project: "x", domains: { b: DOMAIN } });
  await project.run("apply", "--auto-approve");
  expect(project.changesSent()).toEqual([]);
});

it("the same beside a pending registration of that domain", async () => {
  const project = await startProject({
    declare: { project: "x", domains: { a: { ...DOMAIN, deletion_policy: "forget" } } },
  });
  project.control.addFault({ method: "POST", path: "/domains", phase: "before", drop: true });
  await project.run("apply", "--auto-approve");
  project.sent();
  project.sandbox.control.addFault({
    method: "POST",
    path: "/domains",
    phase: "before",
    status: 201,
    body: { data: { id: 9, status: "active", domain: "acme.example" } },
    times: 9,
  });
  await project.declare({ project: "x", domains: { b: DOMAIN } });
  await project.run("apply", "--auto-approve");
  expect(project.changesSent()).toEqual([]);
});
