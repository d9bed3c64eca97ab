import { describe, expect, it } from "vitest";
import { isError } from "../../src/core/model/index.ts";
import { type Project, type ProjectOptions, startProject } from "../support/project.ts";
import { registration } from "../support/registration.ts";
import { phaseOfStatus } from "./reading.ts";

const WWW = "hosting_service.www";
const www = (more: object = {}) => ({
  project: "crash",
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", ...more } },
});
const box = { project: "crash", services: { www: { plan_id: 31, currency: "USD" } } };
const LATER = { hours: 1 };

/**
 * A project whose run died while it waited for the response to its order. The disk is as it was at that moment.
 * @param happened the server has carried out the order.
 */
async function died(declare: object, happened: boolean, pinned: ProjectOptions["pinned"] = {}): Promise<Project> {
  const project = await startProject({ declare, pinned });
  let onDisk: ReadonlyMap<string, string> = new Map();
  project.onDelay = () => {
    onDisk = project.memory();
  };
  const fault = happened ? ({ phase: "after" } as const) : ({ phase: "before", status: 403 } as const);
  project.control.addFault({ method: "POST", path: "/services", delayMs: 1, ...fault });
  await project.run("apply", "--auto-approve");
  project.recall(onDisk);
  project.control.clearFaults();
  expect(orders(project)).toHaveLength(happened ? 1 : 0);
  expect((await project.recorded(WWW))?.private.pending).toMatchObject({ operation: "createService" });
  return project;
}

const orders = ({ control }: Project) => control.list("services").filter(({ customer_id }) => customer_id === 1);
const keys = ({ control }: Project) =>
  control.requests().flatMap(({ idempotency_key: key, body }) => (key === null ? [] : [JSON.stringify([key, body])]));

describe("a run that dies in mid-order", () => {
  it("has its intent on disk before the order leaves, with the key", async () => {
    const project = await died(www(), true);
    const [sent] = keys(project);
    expect(sent).toContain(String((await project.recorded(WWW))?.private.pending?.idempotencyKey));
  });

  it("sends the same bytes under the same key where the list certainly shows nothing of it", async () => {
    const project = await died(www({ coupon_code: "WELCOME10" }), false);
    const before = project.clock.now();
    await project.apply();
    expect(project.clock.now() - before).toBeGreaterThanOrEqual(80_000);
    const [first, second, ...more] = keys(project);
    expect(second).toBe(first);
    expect(more).toEqual([]);
    expect(orders(project)).toHaveLength(1);
    expect((await project.recorded(WWW))?.private).toEqual({});
    await project.expectNoChanges();
  });

  it("records the service as it is by now, not as the repeated answer shows it", async () => {
    const project = await died(www(), true);
    const [{ id } = { id: 0 }] = orders(project);
    project.control.change("services", id, { status: "suspended" });
    await project.apply();
    const { status, suspended } = (await project.recorded(WWW))?.attributes ?? {};
    expect([phaseOfStatus(status), suspended]).toEqual(["suspended", true]);
    await project.expectNoChanges();
  });

  it("sends the order as it was, even if the declaration was edited since", async () => {
    const project = await died(www(), true);
    await project.declare(www({ term: 12 }));
    await project.run("apply", "--auto-approve");
    const sent = keys(project);
    expect(new Set(sent).size).toBe(1);
    expect(orders(project)).toHaveLength(1);
    const { diagnostics } = await project.plan();
    expect(diagnostics.filter(isError).map(({ code }) => code)).toEqual(["plan.immutable"]);
  });

  it("trusts no old key: it looks first, and adopts the service of its domain that was not there before", async () => {
    const project = await died(www(), true);
    project.control.advanceClock(LATER);
    project.clock.advance(3_600_000);
    project.sent();
    expect((await project.plan()).changes).toMatchObject([{ actions: ["no-op"], importing: { id: "1003" } }]);
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect(await project.recorded(WWW)).toMatchObject({ attributes: { id: "1003" }, private: {} });
    await project.expectNoChanges();
  });

  it("asks, much later, when there is a new server that nothing distinguishes from another's; the rest goes on", async () => {
    const project = await died(box, true);
    project.clock.advance(3_600_000);
    project.sent();
    await project.declare({
      project: "crash",
      services: { www: { ...box.services.www, grants: { "dev@acme.example": "view" } } },
      client_accounts: { ana: { name: "Ana", currency: "USD" } },
    });
    // The grant waits, because its service may not exist.
    expect((await project.plan()).diagnostics.map(({ code }) => code)).toEqual(["plan.pending", "apply.skipped"]);
    const ran = await project.run("apply", "--auto-approve", "--json");
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.out.trim().split("\n").at(-1) ?? "")).toMatchObject({ hostform: { pending: [WWW] } });
    expect(project.changesSent()).toEqual(["POST /accounts"]);
    expect((await project.recorded(WWW))?.private.pending).toBeDefined();
  });

  it("does not take what it may have made for another server of its plan, which is ordered once it is settled", async () => {
    const project = await died(box, true);
    await project.declare({ project: "crash", services: { www: box.services.www, other: box.services.www } });
    expect((await project.run("apply", "--auto-approve")).text).toContain("[plan.lookalike]");
    expect((await project.run("resolve", WWW, "--adopt", String(orders(project)[0]?.id))).code).toBe(0);
    await project.apply();
    expect(orders(project)).toHaveLength(2);
    await project.expectNoChanges();
  });

  it.each([
    ["renamed in the declaration at once", { other: box.services.www }, 0],
    ["with another one declared beside it at once", { ...box.services, other: box.services.www }, 0],
  ])("%s, is not ordered under the other name", async (_, services, later) => {
    const project = await died(box, true);
    project.clock.advance(later);
    await project.declare({ project: "crash", services });
    const ran = await project.run("apply", "--auto-approve", "--allow-removals");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("[plan.lookalike]");
    expect(orders(project)).toHaveLength(1);
  });

  it("and is not declared any more: it is found, and its deletion_policy counts", async () => {
    const project = await died(www(), true);
    await project.declare({ project: "crash" });
    const ran = await project.run("apply", "--auto-approve", "--allow-removals");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("service 1003) cannot be removed");
    expect((await project.recorded(WWW))?.private.pending).toBeDefined();
  });

  it("and is not declared any more, and nothing distinguishes it from others: it is not forgotten that it may have been bought", async () => {
    const project = await died(box, true);
    const ran = await project.run("destroy", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain(`hostform resolve '${WWW}'`);
    expect((await project.recorded(WWW))?.private.pending).toBeDefined();
  });
});

describe("a registration whose answer was lost", () => {
  const domain = (more: object = {}) => ({
    project: "crash",
    domains: {
      acme: { ...registration("acme.example"), ...more },
    },
  });

  it("is settled by naming its id", async () => {
    const project = await startProject({ declare: domain() });
    project.control.addFault({ method: "POST", path: "/domains", phase: "after", drop: true });
    const lost = await project.run("apply", "--auto-approve");
    expect(lost.code).toBe(1);
    expect(lost.text, "the only advice is that of the question").not.toContain("ry again");
    const [order] = project.control.list("domains");
    await project.declare(domain({ import: String(order?.id) }));
    project.sent();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect(await project.recorded("hosting_domain.acme")).toMatchObject({
      attributes: { id: String(order?.id), domain: "acme.example", years: 1 },
      private: {},
    });
    await project.expectNoChanges();
  });
});
