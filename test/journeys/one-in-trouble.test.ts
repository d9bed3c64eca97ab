// One object fails: hostform plans and applies everything else.
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const site = (domain: string, more: object = {}) => ({ plan_id: 11, currency: "USD", domain, ...more });
const GRANTS = { "dev@acme.example": "view" };
const SITES = ["a", "b", "c"];
const SERVICES = Object.fromEntries(SITES.map((name) => [name, site(`${name}.acme.example`, { grants: GRANTS })]));
const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
const DECLARED = { project: "trouble", services: SERVICES, webhooks: { hook: HOOK } };
const { a: _, ...WITHOUT_A } = SERVICES;

/** A project with three sites, and the id of the first site. */
async function applied(declare: object = DECLARED) {
  const project = await startProject({ declare });
  await project.apply();
  project.sent();
  return { project, id: idOf(project, "a") };
}

const idOf = ({ control }: Project, name: string) =>
  control.list("services").find(({ domain }) => domain === `${name}.acme.example`)?.id ?? 0;

/** A client accepts the transfer of the first site. */
async function handedOver(declare?: object) {
  const { project, id } = await applied(declare);
  return takenOver(project, id);
}

function takenOver(project: Project, id: number) {
  const transfer = project.control.offerTransfer(id, { to: "customer" });
  project.control.acceptTransfer(transfer.id);
  project.sent();
  return { project, id };
}

const doing = ({ changes }: { changes: readonly { address: string; actions: readonly string[] }[] }) =>
  changes.filter(({ actions }) => actions[0] !== "no-op").map(({ address, actions }) => `${address} ${actions[0]}`);

describe("a service that a client has taken over", () => {
  it("is a condition with its domain; its grants are not asked for, and the rest is applied", async () => {
    const { project, id } = await handedOver();
    await project.declare({ ...DECLARED, services: { ...SERVICES, d: site("d.acme.example") } });
    const plan = await project.plan();
    expect(doing(plan)).toEqual(["hosting_service.d create"]);
    expect(plan.conditions).toMatchObject([
      { address: "hosting_service.a", condition: "handed_over", summary: expect.stringContaining("(a.acme.example)") },
    ]);
    expect(project.sent().filter((sent) => sent.includes(`/services/${id}/grants`))).toEqual([]);
    const ran = await project.run("apply", "--auto-approve");
    expect(ran).toMatchObject({ code: 0, text: expect.stringContaining("not in the account of this token") });
    expect(idOf(project, "d")).toBeGreaterThan(0);
    expect(doing(await project.plan())).toEqual([]);
  });

  it("has no condition from the record, which may be out of date, and no sentence of this account", async () => {
    // The state records a service as an order that waits for its payment.
    const project = await startProject({ declare: DECLARED, sandbox: { autoPay: false } });
    await project.apply("--no-wait");
    for (const { id } of project.control.list("invoices")) project.control.payInvoice(id);
    for (const { id } of project.control.list("services")) project.control.provisionService(id);
    takenOver(project, idOf(project, "a"));
    const plan = await project.plan();
    expect(plan.conditions?.map(({ address, condition }) => `${address} ${condition}`)).toEqual([
      "hosting_service.a handed_over",
    ]);
    expect(plan.conditions?.[0]?.domain).toBe("a.acme.example");
    await project.declare({
      ...DECLARED,
      services: { ...SERVICES, a: { ...SERVICES.a, grants: { ...GRANTS, "ops@acme.example": "view" } } },
    });
    const refused = (await project.run("plan")).text;
    expect(refused).toContain("the token has no access to the parent of this grant");
    expect(refused).not.toContain("The token lacks permission");
    await project.declare({ ...DECLARED, services: WITHOUT_A });
    const { text } = await project.run("plan", "--format", "markdown");
    expect(text).toContain("`a.acme.example` is no longer managed. The API did not return it.");
    expect(text).toContain("had `view` access to `a.acme.example` in the state");
    expect(text).not.toMatch(/stays in the account|still bills/);
  });

  it("holds back what is declared of it, and nothing else", async () => {
    const { project } = await handedOver();
    const changed = { ...SERVICES.a, suspended: true, grants: { ...GRANTS, "ops@acme.example": "manage" } };
    await project.declare({
      ...DECLARED,
      services: { ...SERVICES, a: changed, b: { ...SERVICES.b, suspended: true } },
    });
    const refused = await project.run("apply", "--auto-approve");
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("--partial") });
    expect(project.changesSent()).toEqual([]);
    const ran = await project.run("apply", "--auto-approve", "--partial");
    expect(ran.code).toBe(1);
    expect(project.changesSent()).toEqual([expect.stringMatching(/\/suspend$/)]);
    expect(project.control.get("services", idOf(project, "b")).status).toBe("suspended");
  });

  it.each([
    ["its block is removed", { ...DECLARED, services: WITHOUT_A }],
    [
      "a removed block lets it go",
      { ...DECLARED, services: WITHOUT_A, removed: [{ from: "hosting_service.a", destroy: false }] },
    ],
  ])("is forgotten with its grants, without a request, when %s", async (_, declare) => {
    const { project, id } = await handedOver();
    await project.declare(declare);
    const plan = await project.plan();
    expect(doing(plan)).toEqual(['hosting_grant.a["dev@acme.example"] forget', "hosting_service.a forget"]);
    await project.apply("--allow-removals");
    expect(project.changesSent()).toEqual([]);
    expect(await project.recorded("hosting_service.a")).toBeUndefined();
    expect(project.control.get("services", id).status).toBe("active");
    await project.expectNoChanges();
  });

  it("is forgotten by destroy, which removes the rest", async () => {
    const { project } = await handedOver({ project: "trouble", services: { a: SERVICES.a }, webhooks: { hook: HOOK } });
    const ran = await project.run("destroy", "--auto-approve", "--allow-removals");
    expect(ran.code, ran.text).toBe(0);
    expect(project.changesSent()).toEqual([expect.stringMatching(/^DELETE \/webhooks/)]);
  });

  it("does not end watch, which applies the rest", async () => {
    const { project } = await handedOver();
    await project.declare({ ...DECLARED, services: { ...SERVICES, b: { ...SERVICES.b, suspended: true } } });
    const ran = await project.run("watch", "--auto-approve", "--max-runs", "1");
    expect(ran.code, ran.text).toBe(0);
    expect(project.changesSent()).toEqual([expect.stringMatching(/\/suspend$/)]);
  });
});

describe("an answer about one object that cannot be used", () => {
  const ANSWERS: [string, object][] = [
    ["403", { status: 403, body: { message: "Forbidden" } }],
    ["404", { status: 404, body: { message: "Not found" } }],
    ["no list", { status: 200, body: { data: [{ email: "dev@acme.example" }, { email: 7 }] } }],
  ];

  it.each(ANSWERS)("is a condition of the grants of one site (%s); the rest is applied", async (_, answer) => {
    const { project, id } = await applied();
    project.control.addFault({ method: "GET", path: `/services/${id}/grants`, phase: "before", times: 99, ...answer });
    const services = {
      ...SERVICES,
      a: { ...SERVICES.a, grants: { "dev@acme.example": "manage" } },
      b: { ...SERVICES.b, grants: { ...GRANTS, "ops@acme.example": "view" } },
    };
    await project.declare({ ...DECLARED, services });
    const plan = await project.plan({ command: "apply" });
    expect(doing(plan)).toEqual(['hosting_grant.b["ops@acme.example"] create']);
    expect(plan.held?.map(({ address }) => address)).toEqual(['hosting_grant.a["dev@acme.example"]']);
    const before = project.control.list("grants").length;
    expect((await project.run("apply", "--auto-approve", "--partial")).code).toBe(1);
    expect(project.control.list("grants")).toHaveLength(before + 1);
    project.control.clearFaults();
    await project.apply();
    expect(project.control.list("grants").find(({ service_id }) => service_id === id)?.permission).toBe("manage");
  });

  it("creates nothing that the broken list may have", async () => {
    const { project } = await applied();
    project.control.addFault({
      method: "GET",
      path: "/webhooks",
      phase: "before",
      times: 99,
      status: 200,
      body: { data: [null] },
    });
    const webhooks = { hook: HOOK, second: { ...HOOK, url: "https://b.acme.example" } };
    await project.declare({ ...DECLARED, webhooks, services: { ...SERVICES, d: site("d.acme.example") } });
    const ran = await project.run("apply", "--auto-approve", "--partial");
    expect(ran).toMatchObject({ code: 1, text: expect.stringMatching(/hosting_webhook.second/) });
    expect(project.changesSent()).toEqual([expect.stringMatching(/^POST \/services/)]);
    project.control.clearFaults();
    await project.apply();
    expect(project.control.list("webhooks")).toHaveLength(2);
  });

  it("is a warning where a list of services has a row that nobody can read", async () => {
    const { project } = await applied();
    const real = project.control.list("services").filter(({ domain }) => /acme/.test(domain ?? ""));
    const rows = real.map(({ id, domain, created_at }) => ({
      id,
      plan: "Starter",
      status: "active",
      domain,
      currency: "USD",
      created_at,
    }));
    const body = { data: [rows[0], "row 2", { domain: "c.acme.example" }, rows[2]] };
    project.control.addFault({ method: "GET", path: "/services", phase: "before", times: 99, status: 200, body });
    const plan = await project.plan();
    expect(plan.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(plan.diagnostics.map(({ code }) => code)).toContain("api.malformed");
    expect(doing(plan)).toEqual([]);
  });

  it("stops everything if nothing at all can be read", async () => {
    const { project } = await applied();
    project.control.addFault({ method: "GET", path: "/*", phase: "before", times: 99, status: 500 });
    expect(await project.run("plan")).toMatchObject({ code: 1, err: expect.stringContaining("[api.server]") });
  });
});

describe("a change that cannot be made", () => {
  /** The domain of site a cannot change, and its new grant depends on it. Site d, its grant and a webhook are new. */
  const CHANGED = {
    ...DECLARED,
    services: {
      ...SERVICES,
      a: site("other.acme.example", { grants: { ...GRANTS, "ops@acme.example": "view" } }),
      d: site("d.acme.example", { grants: GRANTS }),
    },
    webhooks: { hook: HOOK, second: { ...HOOK, url: "https://b.acme.example" } },
  };
  const HELD = ['hosting_grant.a["ops@acme.example"]'];
  const REST = [
    'hosting_grant.d["dev@acme.example"] create',
    "hosting_service.d create",
    "hosting_webhook.second create",
  ];

  it("holds back what depends on it; the other changes are asked for", async () => {
    const { project } = await applied();
    await project.declare(CHANGED);
    const plan = await project.plan();
    expect([doing(plan), plan.held?.map(({ address }) => address)]).toEqual([REST, HELD]);
    const questions: string[] = [];
    project.answer = (question) => {
      questions.push(question);
      return "yes";
    };
    const ran = await project.run("apply");
    expect(questions).toEqual([expect.stringContaining("Apply the other 3 changes?")]);
    expect(ran.code).toBe(1);
    expect(project.changesSent().toSorted()).toEqual(
      [/POST \/services$/, /POST .*grants/, /POST \/webhooks/].map((path) => expect.stringMatching(path)),
    );
  });

  it("refuses the rest in CI without --partial", async () => {
    const { project } = await applied();
    await project.declare(CHANGED);
    const ran = await project.run("apply", "--auto-approve");
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Nothing was changed.*other 3 changes with --partial/s),
    });
    expect(project.changesSent()).toEqual([]);
    expect((await project.run("apply", "--auto-approve", "--partial")).code).toBe(1);
    expect(project.changesSent()).toHaveLength(3);
  });

  it("saves the rest as a plan, which names what it leaves out and does nothing else", async () => {
    const { project } = await applied();
    await project.declare(CHANGED);
    const planned = await project.run("plan", "--out", "acme.plan");
    expect(planned).toMatchObject({ code: 1, text: expect.stringContaining("saved without the skipped resources") });
    const ran = await project.run("apply", "acme.plan");
    expect(ran.out).toContain("skipped");
    expect(ran.out).not.toContain("Apply complete!");
    expect(ran.text).toContain(`The plan skipped ${HELD[0]}, hosting_service.a.`);
    expect(ran.code).toBe(1);
    expect(project.changesSent()).toHaveLength(3);
    expect(doing(await project.plan())).toEqual([]);
  });

  it.each([
    [
      "a domain that the client has changed",
      (project: Project, id: number) => project.control.change("services", id, { domain: "changed.example" }),
      SERVICES,
    ],
    ["a service that cannot be removed", () => undefined, WITHOUT_A],
  ])("may be %s", async (_, change, services) => {
    const { project, id } = await applied();
    change(project, id);
    await project.declare({ ...DECLARED, services: { ...services, d: site("d.acme.example") } });
    expect((await project.run("apply", "--auto-approve", "--partial")).code).toBe(1);
    expect(project.changesSent()).toEqual([expect.stringMatching(/POST \/services/)]);
  });

  it("stops everything if a guard does", async () => {
    const { project } = await applied();
    await project.declare({ ...CHANGED, guards: { max_orders: 0 } });
    const ran = await project.run("apply", "--auto-approve", "--partial");
    expect(ran).toMatchObject({ code: 1, text: expect.stringContaining("cannot be applied") });
    expect(project.changesSent()).toEqual([]);
  });
});

describe("a token that is restricted to some services", () => {
  async function restricted() {
    const { project, id } = await applied();
    const services = project.control
      .list("services")
      .flatMap((one) => (one.id !== id && /acme/.test(one.domain ?? "") ? one.id : []));
    const token = project.control.create("tokens", {
      name: "part",
      abilities: ["view", "technical"],
      service_ids: services,
    });
    project.env.HOSTING_TOKEN = token.value;
    const restrict = (service_ids: number[] | null) => project.control.change("tokens", token.id, { service_ids });
    return { project, restrict: () => restrict(services), lift: () => restrict(null) };
  }

  it("has a condition for what it does not see, and plans the rest", async () => {
    const { project } = await restricted();
    await project.declare({ ...DECLARED, services: { ...SERVICES, b: { ...SERVICES.b, suspended: true } } });
    const plan = await project.plan();
    expect(plan.conditions).toMatchObject([{ address: "hosting_service.a", condition: "outside" }]);
    expect(doing(plan)).toEqual(["hosting_service.b update"]);
    await project.apply();
    expect(project.changesSent()).toHaveLength(1);
  });

  it("warns before it orders what its lists will not show", async () => {
    const { project } = await restricted();
    await project.declare({ ...DECLARED, services: { ...SERVICES, d: site("d.acme.example") } });
    expect((await project.plan()).diagnostics).toMatchObject([
      { severity: "warning", code: "plan.restricted", summary: expect.stringContaining("will not show") },
    ]);
  });

  it("orders nothing: the apply names the order and applies the rest", async () => {
    const { project } = await restricted();
    const services = { ...SERVICES, b: { ...SERVICES.b, suspended: true }, d: site("d.acme.example") };
    await project.declare({ ...DECLARED, services });
    const ran = await project.run("apply", "--auto-approve", "--partial");
    expect(ran).toMatchObject({ code: 1, text: expect.stringMatching(/plan\.restricted.*hosting_service\.d/s) });
    expect(project.changesSent()).toEqual([expect.stringMatching(/\/suspend$/)]);
  });

  it("has a condition for what it has ordered, and orders it once", async () => {
    const { project, restrict, lift } = await restricted();
    const services = { ...SERVICES, d: site("d.acme.example") };
    await project.declare({ ...DECLARED, services });
    lift();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(0);
    restrict();
    project.sent();
    await project.declare({ ...DECLARED, services: { ...services, b: { ...SERVICES.b, suspended: true } } });
    const plan = await project.plan();
    expect(plan.conditions?.map(({ address, condition }) => `${address} ${condition}`)).toEqual([
      "hosting_service.a outside",
      "hosting_service.d outside",
    ]);
    await project.apply();
    expect(project.changesSent()).toEqual([expect.stringMatching(/\/suspend$/)]);
  });
});

describe("a stack", () => {
  const stack = (names: readonly string[], more: object = {}) => ({
    terraform: {
      required_providers: { hosting: { source: "hostform/hosting" } },
      backend: { local: { path: "s.tfstate" } },
    },
    provider: { hosting: [{ project: "trouble" }] },
    resource: {
      hosting_service: Object.fromEntries(names.map((name) => [name, { ...site(`${name}.acme.example`), ...more }])),
      hosting_grant: Object.fromEntries(
        names.map((name) => [
          name,
          { service_id: `\${hosting_service.${name}.id}`, email: "dev@acme.example", permission: "view" },
        ]),
      ),
    },
  });
  const STACK = ["--stack", "stack"] as const;

  it("is applied without the service that a client has taken over, and forgets it", async () => {
    const project = await startProject();
    const declare = async (document: object) => {
      await mkdir(path.join(project.dir, "stack"), { recursive: true });
      await project.declare(document, "stack/main.tf.json");
    };
    await declare(stack(["a", "b"]));
    await project.apply(...STACK);
    project.control.acceptTransfer(project.control.offerTransfer(idOf(project, "a"), { to: "customer" }).id);
    project.sent();
    await declare(stack(["a", "b"], { suspended: true }));
    const ran = await project.run("apply", "--auto-approve", "--partial", ...STACK);
    expect(ran).toMatchObject({ code: 1, text: expect.stringMatching(/not in the account of this token/) });
    expect(project.changesSent()).toEqual([expect.stringMatching(/\/suspend$/)]);
    await declare(stack(["b"], { suspended: true }));
    const last = await project.run("apply", "--auto-approve", "--allow-removals", ...STACK);
    expect(last).toMatchObject({ code: 0, text: expect.stringContaining("2 no longer managed") });
    expect(project.changesSent()).toEqual([]);
  });
});
