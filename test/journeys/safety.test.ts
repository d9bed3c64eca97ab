import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const WWW = "hosting_service.www";
const www = (more: object = {}) => ({
  project: "safety",
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", ...more } },
});
const hook = (events: readonly string[], more: object = {}) => ({ url: "https://hooks.acme.example", events, ...more });

describe("what must not be lost or touched", () => {
  it("a protected service is not forgotten because a proxy answers every request with a page", async () => {
    const project = await startProject({ declare: www() });
    await project.apply();
    await project.declare({ project: "safety" });
    const before = await project.stateText();
    const headers = { "Content-Type": "text/html" };
    project.control.addFault({
      method: "GET",
      path: "/*",
      phase: "before",
      times: 99,
      status: 404,
      headers,
      body: "<html>default backend</html>",
    });
    const ran = await project.run("apply", "--auto-approve", "--allow-removals");
    expect(ran.code).toBe(1);
    expect(await project.stateText()).toBe(before);
  });

  it("a service whose suspension is not done yet is not forgotten", async () => {
    const project = await startProject({ declare: www({ deletion_policy: "suspend" }), sandbox: { jobSeconds: 600 } });
    await project.apply();
    await project.declare({ project: "safety" });
    await project.run("apply", "--auto-approve", "--no-wait", "--allow-removals");
    expect(await project.recorded(WWW)).toBeDefined();
    project.control.advanceClock({ hours: 1 });
    await project.apply("--allow-removals");
    expect(await project.recorded(WWW)).toBeUndefined();
    expect(project.control.get("services", 1003).status).toBe("suspended");
  });

  it("a target does not hide that an object is recorded under another address", async () => {
    const project = await startProject({ declare: { project: "safety", webhooks: { a: hook(["invoice.paid"]) } } });
    await project.apply();
    const id = String((await project.recorded("hosting_webhook.a"))?.attributes.id);
    await project.declare({
      project: "safety",
      webhooks: { a: hook(["invoice.paid"]), b: hook(["invoice.created"], { import: id }) },
    });
    project.sent();
    const ran = await project.run("apply", "--auto-approve", "--target", "hosting_webhook.b");
    expect(ran.code).toBe(1);
    expect(project.changesSent()).toEqual([]);
  });

  it("an earlier order of the same name is not taken for a new one, and nothing is done to it", async () => {
    const project = await startProject({ declare: www({ deletion_policy: "forget" }) });
    await project.apply();
    await project.declare({ project: "safety" });
    await project.apply("--allow-removals");
    await project.declare(
      www({ domain: "other.acme.example", suspended: true, grants: { "x@acme.example": "manage" } }),
    );
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("apply.replayed");
    expect(project.changesSent()).toEqual(["POST /services"]);
    expect(project.control.get("services", 1003)).toMatchObject({ domain: "www.acme.example", status: "active" });
    expect(await project.recorded(WWW)).toBeUndefined();
  });

  it("two aliases of one account are refused before anything is read", async () => {
    const project = await startProject();
    await project.declare({
      project: "safety",
      providers: { beta: { token_env: "HOSTING_TOKEN" } },
      services: {
        a: { plan_id: 11, currency: "USD", domain: "a.example" },
        b: { plan_id: 11, currency: "USD", domain: "a.example", provider: "beta" },
      },
    });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("are the same account");
    expect(project.changesSent()).toEqual([]);
  });
});
