/** A declaration of many sites: their clients, their moves, and the selection of a run. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Plan } from "../../src/core/model/index.ts";
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

describe("a plan within the budget of requests", () => {
  const names = ["acme-www", "acme-shop", "beta-www"];
  const sites = (more: Readonly<Record<string, object>> = {}) => ({
    project: "agency",
    services: Object.fromEntries(
      names.map((name) => [
        name,
        { ...SITE, domain: `${name}.example`, grants: { "dev@acme.example": "view" }, ...more[name] },
      ]),
    ),
  });
  const applied = async () => {
    const project = await startProject({ declare: sites() });
    project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "home");
    await project.apply();
    project.sent();
    return project;
  };
  const grants = (sent: readonly string[]) => sent.filter((line) => line.endsWith("/grants"));

  it("reads nothing where nothing is declared otherwise, and says so in every format", async () => {
    const project = await applied();
    const text = await project.run("plan", "--refresh=changed", "--report", "a.html", "--report", "a.md");
    expect(text.out.replace(/127[.\d:]+/, "HOST")).toBe(
      "agency · HOST · 3 services, acme-shop.example and others\nNo changes in what was read.\nOrders: none. Access: 3 grants not checked. Unpaid invoices: 3 sites not checked.\nReading took 0 requests. Not read: 3 grants of 3 services, 3 services; time of the last read unknown.\n",
    );
    expect(project.sent()).toEqual([]);
    for (const file of ["a.html", "a.md"])
      expect(await readFile(path.join(project.dir, file), "utf8")).toContain("Not read: 3 grants of 3 services");
    const json = JSON.parse((await project.run("plan", "--json", "-refresh=false")).out);
    expect(json.hostform.not_read).toHaveLength(6);
    expect(json.hostform.not_read[0]).toEqual({
      address: 'hosting_grant.acme-shop["dev@acme.example"]',
      type: "hosting_grant",
      parent: expect.any(String),
      last_read: null,
    });
    const applying = await project.run("apply", "--refresh=changed", "--auto-approve", "--json");
    expect(applying.out).toContain('"@message":"Not read: 3 grants');
    expect(project.sent()).toEqual([]);
  });

  it("reads what was read least recently, so that everything has its turn", async () => {
    const project = await applied();
    const read = async () => {
      await project.run("plan", "--refresh-budget", "2");
      project.clock.advance(60_000);
      return grants(project.sent());
    };
    const [first, second, third] = [await read(), await read(), await read()];
    expect([first, second, third].map(({ length }) => length)).toEqual([2, 2, 2]);
    expect(new Set([...first, ...second]).size).toBe(3);
    expect(new Set([...second, ...third]).size).toBe(3);
    const { notRead } = await project.plan({ refreshBudget: 0 });
    expect(notRead?.map(({ last_read: at }) => typeof at)).toEqual(["string", "string", "string"]);
    // Without a writable state directory, hostform chooses the services at random.
    project.env.HOSTFORM_STATE_HOME = "/dev/null/none";
    expect(await read()).toHaveLength(2);
  });

  it("orders nothing that the account shows, and suspends nothing that it has not looked at", async () => {
    const project = await applied();
    await project.loseState();
    const lost = await project.plan({ refresh: "none" });
    expect(lost.diagnostics.map(({ code }) => code)).toContain("plan.exists");
    expect(lost.changes.filter(({ actions }) => actions[0] !== "no-op")).toEqual([]);

    const other = await applied();
    const id = String((await other.recorded("hosting_service.beta-www"))?.attributes.id);
    await other.declare(sites({ "beta-www": { suspended: true } }));
    const ran = await other.apply("--refresh=changed");
    expect(ran.out).toContain("1 service goes offline: hosting_service.beta-www.");
    expect(ran.out).toContain("Not read: 3 grants of 3 services");
    expect(other.sent().filter((line) => !line.startsWith("GET"))).toEqual([`POST /services/${id}/suspend`]);
    await other.expectNoChanges();
  });
});

describe("a run about some of them", () => {
  const site = (domain: string, client: string) => ({
    ...SITE,
    domain,
    client,
    grants: { [`dev@${client}.example`]: "view" },
  });
  const services = {
    "acme-www": site("www.acme.example", "acme"),
    "acme-shop": site("shop.acme.example", "acme"),
    "beta-www": site("www.beta.example", "beta"),
  };
  const addresses = (plan: Plan) => plan.changes.map(({ address }) => address);

  it("is planned, applied, listed and destroyed by patterns and by client", async () => {
    const project = await startProject({ declare: { project: "agency", services } });
    expect(addresses(await project.plan({ targets: ["hosting_service.acme-*"] }))).toEqual([
      "hosting_service.acme-shop",
      "hosting_service.acme-www",
    ]);
    const applied = await project.apply("--target", "client:acme");
    expect(applied.out).toContain("4 added");
    expect((await project.run("state", "list", "client:acme")).out.split("\n")).toHaveLength(5);
    const words = async (...line: readonly string[]) => (await project.run("__complete", ...line, "")).out.split("\n");
    expect(await words("adopt", "--client")).toContain("acme");
    expect(await words("plan", "--target")).toEqual(expect.arrayContaining(["client:acme"]));
    expect((await words("adopt", "--select")).some((word) => word.endsWith(".example"))).toBe(true);
    expect((await project.run("state", "list", "*beta*")).err).toContain(
      "No resource *beta* is declared or in the state",
    );
    expect((await project.run("state", "show", "hosting_service.*shop")).out).toContain("# hosting_service.acme-shop");
    expect((await project.run("state", "show", "*acme*")).err).toContain("matches 4 resources");
    const none = await project.run("plan", "--target", "client:gamma");
    expect([none.code, none.err]).toEqual([1, expect.stringContaining("The clients are: acme, beta.")]);

    await project.apply();
    // The declaration decides which client a service belongs to, before it is applied.
    const moved = { ...services, "acme-shop": site("shop.acme.example", "beta") };
    await project.declare({ project: "agency", services: moved });
    const plan = await project.plan({ mode: "destroy", command: "destroy", targets: ["client:beta"] });
    expect(addresses(plan).filter((address) => address.includes("service"))).toEqual([
      "hosting_service.acme-shop",
      "hosting_service.beta-www",
    ]);
    // An undeclared service stays with its recorded client.
    await project.declare({ project: "agency", services: { "beta-www": services["beta-www"] } });
    const gone = await project.plan({ targets: ["client:acme"] });
    expect(addresses(gone)).toHaveLength(4);
    expect(gone.changes.every(({ removal }) => removal !== undefined)).toBe(true);
  });
});
