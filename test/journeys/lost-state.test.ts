/** The state file is lost, or older than the account: hostform orders nothing a second time. */
import { describe, expect, it } from "vitest";
import { type Project, type ProjectOptions, startProject } from "../support/project.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
const SERVER = { plan_id: 31, currency: "USD" };
const DECLARATION = { project: "lost", services: { www: SITE, box: SERVER } };

const orders = ({ control }: Project) => control.list("services").filter(({ customer_id }) => customer_id === 1);

async function applied(declare: object = DECLARATION, pinned: ProjectOptions["pinned"] = {}): Promise<Project> {
  const project = await startProject({ declare, pinned });
  await project.apply();
  project.sent();
  return project;
}

describe("without its state", () => {
  it("an apply orders nothing: the site is offered for import, the server stops the plan and says how to go on", async () => {
    const project = await applied();
    await project.loseState();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(project.changesSent()).toEqual([]);
    const [site, server] = orders(project).toSorted((a, b) =>
      String(b.domain ?? "").localeCompare(String(a.domain ?? "")),
    );
    expect(ran.text).toContain(`hostform import 'hosting_service.www' ${site?.id}`);
    expect(ran.text).toContain(`hostform import 'hosting_service.box' ${server?.id}`);
    expect(ran.text).toContain("--order-anyway 'hosting_service.box'");

    for (const [name, service] of [
      ["www", site],
      ["box", server],
    ] as const) {
      expect((await project.run("import", `hosting_service.${name}`, String(service?.id))).code).toBe(0);
    }
    await project.apply();
    await project.expectNoChanges();
    expect(project.changesSent()).toEqual([]);
    expect(orders(project)).toHaveLength(2);
  });

  it("a server that is insisted on gets the same key: while the API remembers that, nothing new is ordered", async () => {
    const project = await applied({ project: "lost", services: { box: SERVER } });
    const [{ id } = { id: 0 }] = orders(project);
    await project.loseState();
    const { code, text } = await project.run("apply", "--auto-approve", "--order-anyway", "hosting_service.box");
    expect(code).toBe(1);
    expect(text).toContain("[apply.replayed]");
    expect(orders(project)).toHaveLength(1);
    expect(await project.recorded("hosting_service.box")).toBeUndefined();
    // The remedy in the message.
    expect(text).toContain(`hostform import 'hosting_service.box' ${id}`);
    await project.run("import", "hosting_service.box", String(id));
    expect((await project.recorded("hosting_service.box"))?.attributes.id).toBe(String(id));
    await project.expectNoChanges();
  });

  it("a key that the API has forgotten orders what was insisted on", async () => {
    const project = await applied({ project: "lost", services: { box: SERVER } });
    await project.loseState();
    project.control.advanceClock({ days: 2 });
    await project.apply("--order-anyway", "hosting_service.box");
    expect(orders(project)).toHaveLength(2);
  });

  it("an answer that replays an order whose service has left the list is not recorded as new", async () => {
    // The host still knows the key an hour later.
    const project = await applied({ project: "lost", services: { box: SERVER } }, { key_retention: ["day"] });
    const [{ id } = { id: 0 }] = orders(project);
    await project.loseState();
    project.control.remove("services", id);
    project.clock.advance(3_600_000);
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("[apply.replayed]");
    expect(orders(project)).toEqual([]);
    await project.apply("--reorder", "hosting_service.box");
    expect(orders(project)).toHaveLength(1);
    await project.expectNoChanges();
  });
});

describe("with an older state put back", () => {
  it("a server that was ordered since is not ordered again", async () => {
    const project = await startProject({ declare: { project: "lost", services: { one: SERVER } } });
    await project.apply();
    const older = project.memory();
    await project.declare({ project: "lost", services: { one: SERVER, two: SERVER } });
    await project.apply();
    project.recall(older);
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("[plan.lookalike]");
    expect(orders(project)).toHaveLength(2);
  });
});

describe("a server that is renamed in the declaration", () => {
  it("is not ordered a second time while the old name leaves the state", async () => {
    const leaving = { ...SERVER, deletion_policy: "forget" };
    const project = await startProject({ declare: { project: "lost", services: { old: leaving } } });
    await project.apply();
    await project.declare({ project: "lost", services: { new: leaving } });
    project.sent();
    const ran = await project.run("apply", "--auto-approve", "--allow-removals");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("`moved: [{from: hosting_service.old, to: hosting_service.new}]`");
    expect(project.changesSent()).toEqual([]);
    const moved = [{ from: "hosting_service.old", to: "hosting_service.new" }];
    await project.declare({ project: "lost", services: { new: leaving }, moved });
    await project.apply();
    await project.expectNoChanges();
    expect(project.changesSent()).toEqual([]);
  });
});

describe("what appears between plan and apply", () => {
  it.each([
    ["a site of the same domain", SITE, "plan.exists"],
    ["a server of the same plan", SERVER, "plan.lookalike"],
  ])("(%s) is seen before the order leaves", async (_, declared, code) => {
    const project = await startProject({ declare: { project: "lost", services: { it: declared } } });
    project.answer = () => {
      const [seeded] = project.control.seedServices({ account: "agency", plan_id: declared.plan_id });
      if ("domain" in declared) project.control.change("services", seeded?.id ?? 0, { domain: SITE.domain });
      return "yes";
    };
    const ran = await project.run("apply");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain(`[${code}]`);
    expect(project.changesSent()).toEqual([]);
    expect(orders(project)).toHaveLength(1);
  });
});
