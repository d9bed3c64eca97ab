/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";
import { objectOf } from "../reading.ts";

it("GET /services/1003 that is answered with service 1001 (a cache, a proxy) never leads to a change of 1001", async () => {
  const p = await startProject({
    declare: {
      project: "x",
      services: { a: { plan_id: 11, currency: "USD", domain: "w.example", deletion_policy: "suspend" } },
    },
  });
  await p.apply();
  const headers = { authorization: `Bearer ${p.sandbox.tokens.agency}`, accept: "application/json" };
  const body = (await (await fetch(`${p.sandbox.url}/api/v1/services/1003`, { headers })).json()) as object;
  objectOf(body).id = 1001;
  p.control.addFault({ method: "GET", path: "/services/:id", phase: "before", status: 200, body, times: 99 });
  await p.declare({ project: "x", webhooks: { w: { url: "https://h.example", events: ["invoice.paid"] } } });
  p.sent();
  await p.run("apply", "--auto-approve");
  expect(p.changesSent()).not.toContain("POST /services/1001/suspend");
});
