/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";

const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid" as const] };

it("a refusal of the second sending of a listable create says nothing of the first: the mark stays", async () => {
  const p = await startProject({ declare: { project: "x", webhooks: { a: HOOK } } });
  p.control.addFault({ method: "POST", path: "/webhooks", phase: "after", drop: true });
  p.control.addFault({
    method: "POST",
    path: "/webhooks",
    phase: "before",
    status: 422,
    body: { message: "There is one already." },
  });
  // The list lags each time hostform reads it.
  p.control.addFault({
    method: "GET",
    path: "/webhooks",
    phase: "before",
    status: 200,
    body: { data: [] },
    nth: 2,
    times: 99,
  });
  await p.run("apply", "--auto-approve");
  p.control.clearFaults();
  expect(p.control.list("webhooks")).toHaveLength(1);
  expect((await p.recorded("hosting_webhook.a"))?.private.pending).toBeDefined();
  await p.apply();
});

it("the same for a create that an earlier run began", async () => {
  const p = await startProject({ declare: { project: "x", webhooks: { a: HOOK } } });
  p.control.addFault({ method: "POST", path: "/webhooks", phase: "after", drop: true });
  p.control.addFault({ method: "GET", path: "/webhooks", phase: "before", status: 403, nth: 2 });
  await p.run("apply", "--auto-approve");
  p.control.clearFaults();
  expect((await p.recorded("hosting_webhook.a"))?.private.pending).toBeDefined();
  p.control.addFault({ method: "GET", path: "/webhooks", phase: "before", status: 200, body: { data: [] }, times: 99 });
  p.control.addFault({
    method: "POST",
    path: "/webhooks",
    phase: "before",
    status: 422,
    body: { message: "There is one already." },
  });
  await p.run("apply", "--auto-approve");
  expect((await p.recorded("hosting_webhook.a"))?.private.pending).toBeDefined();
});
