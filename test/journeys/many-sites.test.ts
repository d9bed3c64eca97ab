/** A declaration of many sites: whose each is, where it has moved, and which of them a run is about. */
import { expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const SITE = { plan_id: 11, currency: "USD", deletion_policy: "forget" };

it("a client is planned, recorded and never sent; it stays with what is no longer declared", async () => {
  const www = { ...SITE, domain: "www.acme.example", client: "acme", grants: { "dev@acme.example": "view" } };
  const project = await startProject({ declare: { project: "agency", services: { www } } });
  const grant = 'hosting_grant.www["dev@acme.example"]';
  expect((await project.plan()).changes.map(({ address, client }) => [address, client])).toEqual([
    [grant, "acme"],
    ["hosting_service.www", "acme"],
  ]);
  await project.apply();
  expect(project.control.requests().filter(({ body }) => JSON.stringify(body ?? "").includes('"client"'))).toEqual([]);
  expect((await project.recorded(grant))?.private).toEqual({ client: "acme" });

  const other = { ...www, client: "beta" };
  await project.declare({ project: "agency", services: { www: other } });
  await project.expectNoChanges();
  await project.apply();
  expect((await project.recorded("hosting_service.www"))?.private.client).toBe("beta");

  await project.declare({ project: "agency", services: {} });
  expect((await project.plan()).changes.map(({ client }) => client)).toEqual(["beta", "beta"]);
});
