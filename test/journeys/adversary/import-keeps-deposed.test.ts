/** Case from a review that tried to order twice, to lose a secret, or to change an object outside the project. */
import { expect, it } from "vitest";
import { startProject } from "../../support/project.ts";
import { ENDING_LISTS } from "../../support/sandbox.ts";

const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid" as const] };

it("import over a replacement without known outcome does not forget the object that was replaced", async () => {
  const project = await startProject({
    declare: { project: "x", webhooks: { a: HOOK } },
    // The second read of the list fails.
    pinned: { envelope: ENDING_LISTS },
  });
  await project.apply();
  await project.declare({ project: "x", webhooks: { a: { ...HOOK, events: ["invoice.created"] } } });
  project.control.addFault({ method: "POST", path: "/webhooks", phase: "after", status: 500 });
  project.control.addFault({ method: "GET", path: "/webhooks", phase: "before", status: 403, nth: 2 });
  await project.run("apply", "--auto-approve");
  project.control.clearFaults();
  expect((await project.recorded("hosting_webhook.a"))?.private.deposed).toMatchObject({
    id: project.idOf("webhooks", 201),
  });
  await project.run("import", "hosting_webhook.a", project.idOf("webhooks", 202));
  await project.apply();
  expect(project.control.list("webhooks").map(({ id }) => id)).toEqual([202]);
});
