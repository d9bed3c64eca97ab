import { describe, expect, it } from "vitest";
import { isError } from "../../src/core/model/index.ts";
import { startProject } from "../support/project.ts";
import { fixOf } from "../support/remedies.ts";

const service = (name: string, more: object = {}) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.acme.example`,
  ...more,
});

describe("a token that is restricted to other services", () => {
  it("makes nothing look gone: a condition names the restriction, and the state stays", async () => {
    const project = await startProject({
      declare: {
        project: "edges",
        services: { a: service("a"), b: service("b", { grants: { "x@acme.example": "view" } }) },
      },
    });
    await project.apply("--parallelism", "1");
    const state = await project.stateText();
    const [{ id } = { id: 0 }] = project.control.list("services").filter(({ domain }) => domain === "a.acme.example");
    const token = project.control.create("tokens", {
      name: "only-a",
      abilities: ["view", "technical"],
      service_ids: [id],
    });
    project.env.HOSTING_TOKEN = token.value;
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran).toMatchObject({ code: 0, text: expect.stringMatching(/hosting_service.b: .*\n.*restriction/) });
    expect(project.changesSent()).toEqual([]);
    expect(await project.stateText()).toBe(state);
  });
});

describe("an account that is not on the Manage track", () => {
  it("gets an error when client accounts are declared", async () => {
    const project = await startProject({
      token: "customer",
      declare: { project: "edges", client_accounts: { acme: { name: "Acme" } } },
    });
    const ran = await project.run("plan");
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/Manage track/);
  });

  it("manages services as well as any, at list price", async () => {
    const project = await startProject({
      token: "customer",
      declare: { project: "edges", services: { a: service("a") } },
      // The host's plans have a price.
      pinned: { plan: ["plan_id", "id", "prices"], money: ["minor"] },
    });
    expect((await project.plan()).cost).toEqual([{ currency: "USD", orders: 1, list: 500, billed: 500, unknown: 0 }]);
    await project.apply();
    await project.expectNoChanges();
  });
});

describe("an existing grant with another permission", () => {
  it("is offered for adoption, and then made what is declared", async () => {
    const declare = (more: object) => ({
      project: "edges",
      services: {
        a: service("site", {
          domain: "site-00001.example",
          import: "1003",
          grants: { "x@acme.example": { permission: "manage", ...more } },
        }),
      },
    });
    const project = await startProject();
    project.control.seedServices();
    project.control.create("grants", { service_id: 1003, email: "X@acme.example", permission: "view" });
    const id = `1003/${project.idOf("grants", 301)}`;
    await project.declare(declare({}));
    const { diagnostics } = await project.plan();
    expect(diagnostics.filter(isError).map((one) => [one.code, fixOf(one)?.includes(id)])).toEqual([
      ["plan.exists", true],
    ]);
    await project.declare(declare({ import: id }));
    await project.apply();
    expect(project.control.list("grants").map(({ permission }) => permission)).toEqual(["manage"]);
    await project.expectNoChanges();
  });
});

describe("destroy", () => {
  it("revokes grants before it suspends their service, and keeps what is prevented", async () => {
    const project = await startProject({
      declare: {
        project: "edges",
        services: {
          a: service("a", { deletion_policy: "suspend", grants: { "x@acme.example": "view" } }),
          b: service("b"),
        },
      },
    });
    await project.apply("--parallelism", "1");
    project.sent();
    const ran = await project.run("destroy", "--auto-approve");
    expect(ran.code).toBe(0);
    expect(project.changesSent()).toEqual(["DELETE /services/1003/grants/301", "POST /services/1003/suspend"]);
    expect([...(await project.state()).resources.keys()]).toEqual(["hosting_service.b"]);
  });
});

describe("--target", () => {
  it("does the one named with what it refers to, and leaves the rest of the state alone", async () => {
    const project = await startProject({
      declare: {
        project: "edges",
        services: { a: service("a", { grants: { "x@acme.example": "view" } }), b: service("b") },
        webhooks: { old: { url: "https://old.acme.example", events: ["invoice.paid"] } },
      },
    });
    await project.apply("--target", 'hosting_grant.a["x@acme.example"]');
    expect([...(await project.state()).resources.keys()].sort()).toEqual([
      'hosting_grant.a["x@acme.example"]',
      "hosting_service.a",
    ]);
    await project.declare({ project: "edges", services: { b: service("b") } });
    await project.apply("--target", "hosting_service.b");
    expect((await project.state()).resources.size).toBe(3);
  });
});

describe("one object under two addresses", () => {
  const box = { plan_id: 31, currency: "USD" };

  it("is refused when both adopt it", async () => {
    const project = await startProject({
      declare: { project: "edges", services: { a: { ...box, import: "1003" }, b: { ...box, import: "1003" } } },
    });
    project.control.seedServices({ plan_id: 31 });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("hosting_service.a");
    expect(ran.text).toContain("hosting_service.b");
  });

  it("may be adopted by one while the other lets it go", async () => {
    const free = { ...box, deletion_policy: "forget" };
    const project = await startProject({ declare: { project: "edges", services: { a: free } } });
    await project.apply();
    await project.declare({ project: "edges", services: { b: { ...free, import: "1003" } } });
    await project.apply();
    expect([...(await project.state()).resources.keys()]).toEqual(["hosting_service.b"]);
    expect(project.control.list("services").filter(({ customer_id }) => customer_id === 1)).toHaveLength(1);
  });

  it("that was renamed and changed in the declaration is not offered for adoption, but for `moved`", async () => {
    const project = await startProject({
      declare: { project: "edges", services: { a: service("a", { deletion_policy: "forget" }) } },
    });
    await project.apply();
    const changed = service("a", { deletion_policy: "forget", plan_id: 12 });
    await project.declare({ project: "edges", services: { renamed: changed } });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain("`moved: [{from: hosting_service.a, to: hosting_service.renamed}]`");
    expect(await project.recorded("hosting_service.a")).toBeDefined();
  });
});

describe("a second service with the domain of a managed one", () => {
  it("is warned of with both ids, without a request more, and is no change", async () => {
    const order = (domain: string) => ({ plan_id: 11, currency: "USD", domain });
    const services = { www: order("www.acme.example"), shop: order("shop.acme.example") };
    const project = await startProject({ declare: { project: "edges", services } });
    await project.apply();
    project.sent();
    await project.expectNoChanges();
    const sent = project.sent();
    // An order from the dashboard, or from a run elsewhere.
    await fetch(`${project.sandbox.url}/api/v1/services`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${project.sandbox.tokens.agency}`,
        accept: "application/json",
        "content-type": "application/json",
        "idempotency-key": "another",
      },
      body: JSON.stringify(order("www.acme.example")),
    });
    project.sent();
    const ran = await project.run("plan", "--detailed-exitcode");
    expect(ran.code, ran.text).toBe(0);
    expect(project.sent()).toEqual(sent);
    const [first, second] = [1003, 1004, 1005].filter(
      (id) => project.control.list("services").find((each) => each.id === id)?.domain === "www.acme.example",
    );
    expect(ran.text).toMatch(
      new RegExp(
        `www\\.acme\\.example is the domain of 2 services: (?:${first}, ${second}|${second}, ${first}) \\[account\\.double\\]`,
      ),
    );
    expect(ran.text).toContain("No changes. Your account matches the declaration.");
  });
});
