import { expect, it } from "vitest";
import { startProject } from "../support/project.ts";

/**
 * Responses without objects that are no empty list: hostform treats no recorded object as gone, and no existing object
 * as absent.
 */
const WEBHOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const SERVICE = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const BODIES = [
  { error: "backend unavailable", details: [] },
  { status: "error", message: "db", trace: [] },
  { success: false, errors: [], data: [] },
  { data: [], meta: { total: 3, per_page: 100, current_page: 1, last_page: 1 } },
  { data: [], meta: { current_page: 1, last_page: 4 } },
  { trace: [] },
];

it.each(BODIES)("on %j a webhook in the state is not created again", async (body) => {
  const project = await startProject({ declare: { project: "half", webhooks: { a: WEBHOOK } } });
  await project.apply();
  const before = await project.recorded("hosting_webhook.a");
  project.sent();
  project.control.addFault({ method: "GET", path: "/webhooks", phase: "before", status: 200, body, times: 99 });
  expect((await project.run("apply", "--auto-approve")).code).toBe(1);
  expect(project.changesSent()).toEqual([]);
  expect(await project.recorded("hosting_webhook.a")).toEqual(before);
});

it.each(BODIES)("nor is a service ordered a second time on %j after the state was lost", async (body) => {
  const project = await startProject({ declare: { project: "half", services: { a: SERVICE } } });
  await project.apply();
  await project.loseState();
  project.control.advanceClock({ days: 2 });
  project.sent();
  project.control.addFault({ method: "GET", path: "/services", phase: "before", status: 200, body, times: 99 });
  expect((await project.run("apply", "--auto-approve")).code).toBe(1);
  expect(project.changesSent()).toEqual([]);
});

it("a deletion whose answer says that it failed is not taken for done", async () => {
  const project = await startProject({ declare: { project: "half", webhooks: { a: WEBHOOK } } });
  await project.apply();
  await project.declare({ project: "half" });
  const body = { success: false, message: "db" };
  project.control.addFault({ method: "DELETE", path: "/webhooks/:id", phase: "before", status: 200, body });
  expect((await project.run("apply", "--auto-approve", "--allow-removals")).code).toBe(1);
  expect(await project.recorded("hosting_webhook.a")).toMatchObject({
    attributes: { id: project.idOf("webhooks", 201) },
  });
  await project.apply("--allow-removals");
  expect(project.control.list("webhooks")).toEqual([]);
});

it("a creation whose answer says that it failed is looked for, and made once", async () => {
  const project = await startProject({ declare: { project: "half", webhooks: { a: WEBHOOK } } });
  const body = { status: "error", message: "db" };
  project.control.addFault({ method: "POST", path: "/webhooks", phase: "before", status: 200, body });
  await project.run("apply", "--auto-approve");
  await project.apply();
  expect(project.control.list("webhooks")).toHaveLength(1);
  await project.expectNoChanges();
});
