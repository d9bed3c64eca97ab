/** Renames, removals and imports by declaration: the plan lists them, and only apply records them. */
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example", deletion_policy: "suspend" };
const GRANTS = { grants: { "dev@acme.example": "manage" } };
const [OLD, NEW] = ["hosting_service.www", "hosting_service.site"];
const [OLD_GRANT, NEW_GRANT] = ["www", "site"].map((name) => `hosting_grant.${name}["dev@acme.example"]`);

async function applied(): Promise<Project> {
  const project = await startProject({ declare: { project: "p", services: { www: { ...SITE, ...GRANTS } } } });
  await project.apply();
  project.changesSent();
  return project;
}

const declareMove = (project: Project, more: object = {}) =>
  project.declare({
    project: "p",
    services: { site: { ...SITE, ...GRANTS } },
    moved: [{ from: OLD, to: NEW }],
    ...more,
  });

describe("a service that is called otherwise", () => {
  it("moves with its grants: shown in every format, recorded by apply alone, and nothing is sent", async () => {
    const project = await applied();
    await declareMove(project);
    for (const format of ["text", "markdown", "html", "json"]) {
      const flags = format === "text" ? [] : format === "json" ? ["--json"] : ["--format", format];
      const { out, code } = await project.run("plan", ...flags);
      expect(code).toBe(0);
      const text = out.replaceAll("&quot;", '"').replaceAll('\\"', '"').replaceAll("\\_", "_");
      for (const address of [OLD, NEW, OLD_GRANT, NEW_GRANT]) expect(text, format).toContain(address);
    }
    expect(await project.recorded(OLD ?? "")).toBeDefined();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    expect(await project.recorded(OLD ?? "")).toBeUndefined();
    expect(await project.recorded(NEW_GRANT ?? "")).toBeDefined();
    // The block may stay in the declaration: the plan is empty.
    await project.expectNoChanges();
  });

  it.each([
    ["of another kind", { moved: [{ from: "hosting_webhook.www", to: NEW }] }, "the types differ"],
    ["still declared", { removed: [{ from: NEW, destroy: false }] }, 'also listed in "removed"'],
    [
      "in a circle",
      {
        moved: [
          { from: "hosting_service.a", to: "hosting_service.b" },
          { from: "hosting_service.b", to: "hosting_service.a" },
        ],
      },
      "circle",
    ],
  ])("is a mistake that validate names, without a request: %s", async (_, more, words) => {
    const project = await startProject();
    await declareMove(project, more);
    const { code, text } = await project.run("validate");
    expect(code).toBe(1);
    expect(text).toContain(words);
    expect(project.sent()).toEqual([]);
  });
});

describe("a service that is given up", () => {
  it("stays as it is with its grants where the block says so, whatever its policy", async () => {
    const project = await applied();
    await project.declare({ project: "p", removed: [{ from: OLD, destroy: false }] });
    await project.apply("--allow-removals");
    expect(project.changesSent()).toEqual([]);
    expect(await project.recorded(OLD ?? "")).toBeUndefined();
    expect(await project.recorded(OLD_GRANT ?? "")).toBeUndefined();
    expect(project.control.list("services").at(-1)).toMatchObject({ status: "active" });
    await project.expectNoChanges();
  });

  it("stays with the grants of each service if the list names two services", async () => {
    const two = { www: { ...SITE, ...GRANTS }, shop: { ...SITE, ...GRANTS, domain: "shop.acme.example" } };
    const project = await startProject({ declare: { project: "p", services: two } });
    await project.apply();
    project.changesSent();
    const removed = ["www", "shop"].map((name) => ({ from: `hosting_service.${name}`, destroy: false }));
    await project.declare({ project: "p", removed });
    await project.apply("--allow-removals");
    expect(project.changesSent()).toEqual([]);
    expect(project.control.list("grants")).toHaveLength(2);
    expect((await project.state()).resources.size).toBe(0);
  });

  it("is removed as policy and limits say where the block asks for that", async () => {
    const project = await applied();
    await project.declare({ project: "p", removed: [{ from: OLD, destroy: true }] });
    const refused = await project.run("apply", "--auto-approve");
    expect(refused.code).toBe(1);
    expect(refused.text).toContain("--allow-removals");
    expect(project.changesSent()).toEqual([]);
    await project.apply("--allow-removals");
    expect(project.changesSent()).toContain("POST /services/1003/suspend");
  });
});

describe("a service that `state mv` or `state rm` is given", () => {
  const SHOP = { ...SITE, domain: "shop.acme.example" };
  const OWNER = { grants: { "owner@acme.example": "view", "dev@acme.example": "view" } };
  const both = (www: object, shop: object) => ({ project: "p", services: { www, shop } });

  async function two(): Promise<Project> {
    const project = await startProject({ declare: both({ ...SITE, ...GRANTS }, { ...SHOP, ...OWNER }) });
    await project.apply();
    project.changesSent();
    return project;
  }

  it("swaps its name with another one's in three moves, with the grants of both, and then no change is planned", async () => {
    const project = await two();
    const steps = [
      ["www", "swapped"],
      ["shop", "www"],
      ["swapped", "shop"],
    ] as const;
    for (const [from, to] of steps) {
      const { code, out } = await project.run("state", "mv", `hosting_service.${from}`, `hosting_service.${to}`);
      expect(code).toBe(0);
      expect(out).toContain(
        `Moved hosting_grant.${from}["dev@acme.example"] to hosting_grant.${to}["dev@acme.example"]`,
      );
    }
    await project.declare(both({ ...SHOP, ...OWNER }, { ...SITE, ...GRANTS }));
    await project.expectNoChanges();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    await project.expectNoChanges();
  });

  it("stays where it is, with its grants, when one of them has no place at the new address", async () => {
    const project = await two();
    await project.run(
      "state",
      "mv",
      'hosting_grant.shop["dev@acme.example"]',
      'hosting_grant.site["dev@acme.example"]',
    );
    const before = await project.stateText();
    const { code, text } = await project.run("state", "mv", OLD ?? "", NEW ?? "");
    expect(code).toBe(1);
    expect(text).toContain(`${NEW_GRANT} is already in the state`);
    expect(await project.stateText()).toBe(before);
  });

  it("is forgotten with its grants, so that nobody loses access when its block goes as well", async () => {
    const project = await two();
    const { code, out } = await project.run("state", "rm", OLD ?? "");
    expect([code, out]).toEqual([0, `Forgot ${OLD}\nForgot ${OLD_GRANT}\n`]);
    await project.declare({ project: "p", services: { shop: { ...SHOP, ...OWNER } } });
    await project.expectNoChanges();
    await project.apply();
    expect(project.changesSent()).toEqual([]);
  });

  it("has, where Terraform counted it, its grants by its id: they get the addresses that YAML has for them", async () => {
    const project = await two();
    for (const [from, to] of [
      [OLD, "hosting_service.site[0]"],
      [OLD_GRANT, "hosting_grant.team[0]"],
    ] as const)
      await project.run("state", "mv", from ?? "", to);
    expect(await project.recorded("hosting_grant.team[0]")).toBeDefined();
    const { code } = await project.run("state", "mv", "hosting_service.site[0]", "hosting_service.site");
    expect(code).toBe(0);
    await project.declare({ project: "p", services: { site: { ...SITE, ...GRANTS }, shop: { ...SHOP, ...OWNER } } });
    await project.expectNoChanges();
  });
});

it("a service that is there is adopted by a block beside it, and not ordered", async () => {
  const project = await applied();
  await project.run("state", "rm", OLD ?? "", OLD_GRANT ?? "");
  const [service] = project.control.list("services").slice(-1);
  await project.declare({
    project: "p",
    services: { www: SITE },
    import: [{ to: OLD, id: String(service?.id) }],
  });
  await project.apply();
  expect(project.changesSent()).toEqual([]);
  expect((await project.recorded(OLD ?? ""))?.attributes.id).toBe(String(service?.id));
  await project.expectNoChanges();
});
