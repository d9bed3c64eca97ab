/** `hostform resolve`: evidence on creates with an unknown outcome, and their settlement without a prompt. */
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { registration } from "../support/registration.ts";

const ADDRESS = "hosting_domain.acme";
const DOMAIN = {
  project: "resolve",
  domains: {
    acme: registration("acme-example.com"),
  },
};

/**
 * A registration whose response was lost.
 * @param happened the server has carried out the registration.
 */
async function pendingDomain(happened: boolean): Promise<Project> {
  const project = await startProject({ declare: DOMAIN });
  project.control.addFault({ method: "POST", path: "/domains", phase: happened ? "after" : "before", drop: true });
  const ran = await project.run("apply", "--auto-approve");
  expect(ran.code).toBe(1);
  expect(ran.text).toContain(`hostform resolve '${ADDRESS}'`);
  project.sent();
  return project;
}

describe("resolve", () => {
  it.each([true, false])("(carried out: %s) shows what was sent, when, availability and invoices", async (happened) => {
    const project = await pendingDomain(happened);
    project.clock.advance(90_000);
    const { code, out } = await project.run("resolve");
    expect(code).toBe(1);
    expect(out).toContain("registerDomain was sent at 2026-11-21T10:00:00.000Z (1 min 30 s ago)");
    expect(out).toContain("acme-example.com");
    expect(out).toContain(happened ? "can no longer be registered" : "can still be registered");
    expect(out.includes("Invoices of orders that no service shows")).toBe(happened);
    expect(project.changesSent()).toEqual([]);
    const json = JSON.parse((await project.run("resolve", ADDRESS, "--json")).out);
    expect(json).toMatchObject([
      { address: ADDRESS, operation: "registerDomain", verdict: "unknowable", candidates: null, available: !happened },
    ]);
  });

  it("is never sent again automatically, however often apply runs, and the rest goes on", async () => {
    const project = await pendingDomain(true);
    await project.declare({ ...DOMAIN, client_accounts: { ana: { name: "Ana", currency: "USD" } } });
    for (let run = 0; run < 3; run++) {
      expect((await project.run("apply", "--auto-approve")).code).toBe(1);
      project.clock.advance(86_400_000);
    }
    expect(project.changesSent()).toEqual(["POST /accounts"]);
    expect((await project.run("plan")).code).toBe(1);
    expect(JSON.parse((await project.run("plan", "--json")).out)).toMatchObject({ hostform: { pending: [ADDRESS] } });
  });

  it("--adopt records it", async () => {
    const project = await pendingDomain(true);
    const [order] = project.control.list("domains");
    const settled = await project.run("resolve", ADDRESS, "--adopt", String(order?.id), "--json");
    expect(settled.code).toBe(0);
    expect(JSON.parse(settled.out)).toEqual({
      format_version: "1.0",
      address: ADDRESS,
      settled: "adopted",
      id: String(order?.id),
    });
    expect(await project.recorded(ADDRESS)).toMatchObject({
      attributes: { id: String(order?.id), years: 1 },
      private: {},
    });
    await project.expectNoChanges();
  });

  it("--absent lets the next apply order it", async () => {
    const project = await pendingDomain(false);
    expect((await project.run("resolve", ADDRESS, "--absent")).code).toBe(0);
    await project.apply();
    expect(project.control.list("domains")).toHaveLength(1);
    await project.expectNoChanges();
  });

  it.each([true, false])("names ways out that are true if the block is gone (carried out: %s)", async (happened) => {
    const hook = { url: "https://hooks.acme.example/", events: ["invoice.paid"] };
    const other = { other: { ...hook, url: "https://other.acme.example/" } };
    const project = await startProject({ declare: { project: "resolve", webhooks: { hook, ...other } } });
    const phase = happened ? "after" : "before";
    project.control.addFault({ method: "POST", path: "/webhooks", phase, drop: true, times: 9 });
    await project.run("apply", "--auto-approve");
    project.control.clearFaults();
    project.clock.advance(120_000);
    await project.declare({ project: "resolve", webhooks: other });
    const shown = await project.run("resolve", "hosting_webhook.hook");
    if (happened) {
      expect(shown.out).toContain("and no block declares it: `hostform apply` deletes it.");
      const refused = await project.run("resolve", "hosting_webhook.hook", "--absent");
      expect(refused.text).toContain("is not declared. To keep the webhook, declare");
      expect(refused.text).toContain("removed: [{from: hosting_webhook.hook, destroy: false}]");
    } else expect(shown.out.replaceAll(/\s+/g, " ")).toContain("no block declares it: `hostform apply` forgets it.");
    await project.run("apply", "--auto-approve", "--allow-removals");
    const urls = project.control.list("webhooks").map(({ url }) => url);
    expect(urls).toEqual([other.other.url]);
    expect((await project.run("resolve")).err).toBe("Nothing is pending.\n");
  });

  it("names one command for a new secret, which works", async () => {
    const hook = { url: "https://hooks.acme.example/", events: ["invoice.paid"] };
    const project = await startProject({ declare: { project: "resolve", webhooks: { hook } } });
    project.control.addFault({ method: "POST", path: "/webhooks", phase: "after", drop: true, times: 9 });
    await project.run("apply", "--auto-approve");
    project.control.clearFaults();
    const [{ id } = { id: 0 }] = project.control.list("webhooks");
    const settled = await project.run("resolve", "hosting_webhook.hook", "--adopt", String(id));
    expect(settled.out).toContain("`hostform apply --replace 'hosting_webhook.hook'`");
    await project.run("apply", "--replace", "hosting_webhook.hook", "--auto-approve");
    const [made] = project.control.list("webhooks");
    expect((await project.recorded("hosting_webhook.hook"))?.attributes).toMatchObject({ secret: made?.secret });
    await project.expectNoChanges();
  });

  it("--wait adopts what the account shows sooner or later", async () => {
    const project = await startProject({
      declare: { project: "resolve", client_accounts: { ana: { name: "Ana", currency: "USD" } } },
    });
    project.control.addFault({ method: "POST", path: "/accounts", phase: "before", drop: true, times: 9 });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    const early = await project.run("resolve", "hosting_client_account.ana", "--wait", "--wait-timeout", "20s");
    expect(early.code).toBe(1);
    project.control.create("accounts", { name: "Ana", currency: "USD" });
    const late = await project.run("resolve", "hosting_client_account.ana", "--wait");
    expect(late).toMatchObject({ code: 0 });
    await project.expectNoChanges();
  });

  it.each([
    ["two ways at once", [ADDRESS, "--absent", "--wait"], "cannot be combined"],
    ["waiting for what cannot be seen", [ADDRESS, "--wait"], "hostform cannot wait for"],
  ])("refuses %s", async (_, args, words) => {
    const project = await pendingDomain(false);
    const ran = await project.run("resolve", ...args);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(words);
    expect((await project.recorded(ADDRESS))?.private.pending).toBeDefined();
  });

  it("refuses an object that does not exist, is another's, or an address that is not pending", async () => {
    const project = await startProject({
      declare: { project: "resolve", client_accounts: { one: { name: "One", currency: "USD" } } },
    });
    await project.apply();
    const other = { name: "Ana", currency: "USD" };
    await project.declare({
      project: "resolve",
      client_accounts: { one: { name: "One", currency: "USD" }, ana: other },
    });
    project.control.addFault({ method: "POST", path: "/accounts", phase: "before", drop: true, times: 9 });
    await project.run("apply", "--auto-approve");
    const [one] = project.control.list("accounts");
    const adopt = (id: string) => project.run("resolve", "hosting_client_account.ana", "--adopt", id);
    expect((await adopt("9999")).err).toContain("does not exist");
    expect((await adopt(project.idOf("accounts", one?.id))).err).toContain(
      "is already in the state, as hosting_client_account.one",
    );
    expect((await project.run("resolve", "hosting_client_account.one", "--absent")).err).toContain("is not pending");
  });

  it("refuses another domain as the id of a registration, and takes its own", async () => {
    const project = await pendingDomain(true);
    const ran = await project.run("resolve", ADDRESS, "--adopt", "other-example.com");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.err).toContain("the request did not create it");
    expect((await project.recorded(ADDRESS))?.private.pending).toBeDefined();
    expect((await project.run("resolve", ADDRESS, "--adopt", "Acme-Example.com")).code).toBe(0);
  });

  const ana = { name: "Ana", currency: "USD" } as const;
  const hook = { url: "https://a.example/", events: ["invoice.paid" as const] };
  it.each([
    [
      "a client account",
      "/accounts",
      { client_accounts: { ana } },
      ({ control }: Project): void => void control.create("accounts", ana),
    ],
    [
      "a webhook",
      "/webhooks",
      { webhooks: { ana: hook } },
      ({ control }: Project): void => void control.create("webhooks", hook),
    ],
  ])("refuses --absent for %s that the account shows as created", async (_, endpoint, declare, create) => {
    const project = await startProject({ declare: { project: "resolve", ...declare } });
    project.control.addFault({ method: "POST", path: endpoint, phase: "before", drop: true, times: 9 });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    project.control.clearFaults();
    create(project);
    const [address = ""] = (await project.state()).resources.keys();
    const ran = await project.run("resolve", address, "--absent");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.err).toContain(`${address} cannot be confirmed as absent: the request created`);
    expect((await project.recorded(address))?.private.pending).toBeDefined();
    await project.apply();
    await project.expectNoChanges();
  });

  it("shows no invoice of a domain that the state holds", async () => {
    const declare = (names: readonly string[]) => ({
      project: "resolve",
      domains: Object.fromEntries(names.map((name) => [name, registration(`${name}-example.com`)])),
    });
    const project = await startProject({ declare: declare(["first"]) });
    await project.apply();
    const [first] = project.control.list("domains");
    await project.declare(declare(["first", "acme"]));
    project.control.addFault({ method: "POST", path: "/domains", phase: "after", drop: true });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    const [{ invoices }] = JSON.parse((await project.run("resolve", ADDRESS, "--json")).out);
    expect(invoices).toHaveLength(1);
    expect(invoices[0].order_id).not.toBe(String(first?.id));
  });

  it("refuses a grant of another address that the user names by its e-mail address", async () => {
    const services = (grants: object) => ({
      www: { plan_id: 11, currency: "USD", domain: "www.acme.example", grants },
    });
    const grants = { "dev@acme.example": "view" };
    const project = await startProject({ declare: { project: "resolve", services: services(grants) } });
    await project.apply();
    await project.declare({ project: "resolve", services: services({ ...grants, "ops@acme.example": "view" }) });
    project.control.addFault({ method: "POST", path: "/services/:id/grants", phase: "before", drop: true, times: 9 });
    await project.run("apply", "--auto-approve");
    const address = 'hosting_grant.www["ops@acme.example"]';
    const ran = await project.run("resolve", address, "--adopt", "dev@acme.example");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('is already in the state, as hosting_grant.www["dev@acme.example"]');
    expect((await project.recorded(address))?.private.pending).toBeDefined();
  });
});

/** Loses both attempts of an apply to create a client account. */
async function loseCreate(project: Project): Promise<void> {
  project.control.addFault({ method: "POST", path: "/accounts", phase: "before", drop: true, times: 2 });
  const ran = await project.run("apply", "--auto-approve");
  expect(ran.code, ran.text).toBe(1);
  project.clock.advance(3_600_000);
}

/** A client account whose create got no response in both attempts of a run. */
async function pendingAccount(): Promise<Project> {
  const project = await startProject({
    declare: { project: "resolve", client_accounts: { alpha: { name: "Alpha & Sons", currency: "USD" } } },
  });
  project.env.HOSTFORM_STATE_HOME = path.join(project.dir, "state-home");
  await loseCreate(project);
  return project;
}

describe("the question about a create", () => {
  it("is not asked about what another project of this machine created, and names that project", async () => {
    const project = await pendingAccount();
    const beside = await project.beside({ project: "two", client_accounts: { omega: { name: "Omega" } } });
    await beside.apply();
    const { out } = await project.run("resolve");
    expect(out.replace(/\s+/g, " ")).toMatch(
      /New, but not created by this request: \S+ Omega .*: hosting.tfstate in \S+beside has it/,
    );
    expect(JSON.parse((await project.run("resolve", "--json")).out)).toMatchObject([
      { verdict: "nothing", because: "the create made nothing", ruled_out: [{ natural_key: "Omega", why: "held" }] },
    ]);
    await project.apply();
    expect(project.control.list("accounts").map(({ name }) => name)).toEqual(["Omega", "Alpha & Sons"]);
  });

  it("is asked about a similar name, and its answer teaches the host's habit", async () => {
    const project = await pendingAccount();
    const made = project.control.create("accounts", { name: "Alpha Sons" });
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain('its name is "Alpha Sons" and the request had "Alpha & Sons"');
    const { out } = await project.run("resolve");
    expect(out).toContain("its name is similar");
    const id = project.idOf("accounts", made.id);
    const [, words = ""] = /^ {4}hostform (.*--adopt .*)$/m.exec(out) ?? [];
    expect(words).toBe(`resolve hosting_client_account.alpha --adopt ${id}`);
    expect((await project.run(...words.split(" "))).code).toBe(0);
    await project.declare({
      project: "resolve",
      client_accounts: { alpha: { name: "Alpha & Sons", currency: "USD" }, beta: { name: "Beta" } },
    });
    await loseCreate(project);
    project.control.create("accounts", { name: "Omega" });
    expect((await project.run("resolve")).out).toContain("this host has changed a name before");
  });
});

describe("a renamed block whose create is pending", () => {
  it.each(["hosting_client_account.alpha", "hosting_client_account.beta"])("is resolved at %s", async (address) => {
    const project = await pendingAccount();
    await project.declare({
      project: "resolve",
      client_accounts: { beta: { name: "Alpha & Sons", currency: "USD" }, other: { name: "Omega" } },
    });
    expect((await project.run("resolve", address)).out).toMatch(/^hosting_client_account\.alpha\n/);
    expect((await project.run("resolve", "hosting_client_account.other")).err).toContain("has no resource");
    expect((await project.run("resolve", address, "--absent")).code).toBe(0);
  });

  it("of a server without a domain is not a lost state", async () => {
    const server = (name: string) => ({ project: "resolve", services: { [name]: { plan_id: 31, currency: "USD" } } });
    const project = await startProject({ declare: server("old") });
    project.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 9 });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    project.clock.advance(3_600_000);
    await project.declare(server("new"));
    const { text } = await project.run("plan");
    expect(text).not.toContain("The state may have been lost");
    expect((await project.run("resolve", "hosting_service.new")).out).toMatch(/^hosting_service\.old\n/);
  });
});

describe("the query of a webhook's URL", () => {
  it("is on no screen: of a plan, a lost create, its question, a refused adoption and a replacement", async () => {
    const hook = (query: string) => ({
      project: "resolve",
      webhooks: { h: { url: `https://h.example/in?${query}`, events: ["invoice.paid"] } },
    });
    const project = await startProject({ declare: hook("token=qQ1") });
    const screens: string[] = [];
    const see = async (...args: string[]) => {
      const ran = await project.run(...args);
      screens.push(ran.text);
      return ran;
    };
    await see("plan");
    project.control.addFault({ method: "POST", path: "/webhooks", phase: "before", drop: true, times: 2 });
    await see("apply", "--auto-approve");
    project.clock.advance(3_600_000);
    const made = project.control.create("webhooks", {
      url: "https://h.example/in?token=qQ2",
      events: ["invoice.paid"],
    });
    await see("plan");
    await see("resolve");
    await see("resolve", "--json");
    const id = project.idOf("webhooks", made.id);
    expect((await see("resolve", "hosting_webhook.h", "--adopt", id)).code, screens.at(-1)).toBe(1);
    project.control.remove("webhooks", made.id);
    expect((await see("resolve", "hosting_webhook.h", "--absent")).code, screens.at(-1)).toBe(0);
    project.control.clearFaults();
    expect((await see("apply", "--auto-approve")).code, screens.at(-1)).toBe(0);
    await project.declare(hook("token=qQ3"));
    expect((await see("plan")).text).toContain('"https://h.example/in?\u2026" -> (another user or query)');
    await see("show");
    for (const text of screens) expect(text).not.toMatch(/qQ\d/);
  });
});

describe("an object that the request did not ask for", () => {
  const url = "https://hooks.acme.example/in";
  /** A project whose create was lost, beside an object of another client. */
  async function beside(own: object, path: string, create: (project: Project) => { readonly id: number }) {
    const project = await startProject({ declare: { project: "resolve", ...own } });
    project.control.addFault({ method: "POST", path, phase: "before", drop: true, times: 9 });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    project.control.clearFaults();
    const { id } = create(project);
    project.clock.advance(3_600_000);
    const [address = ""] = (await project.state()).resources.keys();
    return { project, id: String(id), address };
  }

  it.each([
    ["another URL", "https://other.example/in"],
    ["another query", `${url}?token=hush`],
  ])("is not adopted if it is a webhook with %s, by no command, and stays in the account", async (_, other) => {
    const events = ["invoice.paid" as const];
    const { project, id, address } = await beside({ webhooks: { hook: { url, events } } }, "/webhooks", ({ control }) =>
      control.create("webhooks", { url: other, events }),
    );
    const hook = project.idOf("webhooks", Number(id));
    for (const args of [
      ["resolve", address, "--adopt", hook],
      ["resolve", address, "--adopt", hook, "--force"],
      ["import", address, hook],
    ]) {
      const refused = await project.run(...args);
      expect(refused.code, args.join(" ")).toBe(1);
      expect(refused.text).toContain("url");
      expect(refused.text).not.toContain("--force");
      expect(refused.text).not.toContain("hush");
    }
    await project.declare({ project: "resolve", webhooks: { hook: { url, events, import: hook } } });
    const planned = await project.run("plan");
    expect(planned.text).toContain("plan.mismatch");
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    expect((await project.recorded(address))?.private.pending).toBeDefined();
    await project.declare({ project: "resolve", webhooks: { hook: { url: other, events, import: hook } } });
    await project.apply();
    expect(project.control.list("webhooks").map(({ url: shown }) => shown)).toEqual([other]);
    expect(project.sent().filter((line) => line.startsWith("DELETE"))).toEqual([]);
  });

  it("is adopted by force if no call deletes it, as it is and until the declaration follows", async () => {
    const account = (name: string) => ({ client_accounts: { alpha: { name, currency: "USD" } } });
    const { project, id, address } = await beside(account("Alpha"), "/accounts", ({ control }) =>
      control.create("accounts", { name: "Omega", currency: "USD" }),
    );
    const omega = project.idOf("accounts", Number(id));
    const refused = await project.run("resolve", address, "--adopt", omega);
    expect(refused.code).toBe(1);
    expect(refused.err.replace(/\s+/g, " ")).toContain('its name is "Omega", not "Alpha"');
    expect(refused.err.replace(/\s+/g, " ")).toContain(`hostform resolve '${address}' --adopt ${omega} --force`);
    expect((await project.run("resolve", address, "--adopt", omega, "--force")).code).toBe(0);
    project.sent();
    const planned = await project.run("plan", "--detailed-exitcode");
    expect(planned.code, planned.text).toBe(0);
    expect(planned.text.replace(/\s+/g, " ")).toContain(
      '"name" of hosting_client_account.alpha is still "Omega"; "Alpha" is declared You adopted the client account with this value. An apply does not change the client account. Fix: Declare `name: Omega`.',
    );
    await project.apply();
    await project.declare({ project: "resolve", ...account("Omega") });
    await project.expectNoChanges();
    await project.declare({ project: "resolve", ...account("Gamma") });
    expect((await project.run("plan")).text).toContain("plan.immutable");
    expect(project.changesSent()).toEqual([]);
  });

  it("is no answer if it is a server of another plan", async () => {
    const { project, id, address } = await beside(
      { services: { vps: { plan_id: 31, currency: "USD" } } },
      "/services",
      ({ control }) => control.seedServices({ plan_id: 32 })[0] ?? { id: 0 },
    );
    const { out } = await project.run("resolve", address);
    expect(out).toContain(": another hosting plan");
    expect(out).not.toContain("--adopt ID");
    const refused = await project.run("resolve", address, "--adopt", id);
    expect(refused.code, refused.text).toBe(1);
    expect(refused.err.replace(/\s+/g, " ")).toContain('its plan is "VPS 2", not "VPS 1"');
  });
});

describe("a plan of a lost create", () => {
  it("says how long the apply waits, and its estimate counts the wait", async () => {
    const project = await startProject({
      declare: { project: "resolve", client_accounts: { alpha: { name: "Alpha", currency: "USD" } } },
    });
    project.control.addFault({ method: "POST", path: "/accounts", phase: "before", drop: true, times: 2 });
    await project.run("apply", "--auto-approve");
    const plan = await project.run("plan");
    expect(plan.out.replace(/\s+/g, " ")).toContain(
      "the same request is sent again, after 5 s if no list shows its object",
    );
    expect(JSON.parse((await project.run("plan", "--json")).out).hostform.requests.seconds).toBeGreaterThanOrEqual(5);
    project.clock.advance(3_600_000);
    const later = await project.run("plan");
    expect(later.out.replace(/\s+/g, " ")).toContain("the same request is sent again, because the create made nothing");
  });
});
