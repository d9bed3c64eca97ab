import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { phaseOfStatus } from "./reading.ts";

const WWW = "hosting_service.www";

/** A declaration of a shared service, with additional attributes. */
const www = (more: object = {}) => ({
  project: "life",
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", ...more } },
});

/** Returns the services of the agency, oldest first. */
const orders = ({ control }: Project) => control.list("services").filter(({ customer_id }) => customer_id === 1);

async function unpaid(declare: object): Promise<Project> {
  const project = await startProject({ declare, sandbox: { autoPay: false, provisioningSeconds: 60 } });
  const ran = await project.apply();
  const [invoice] = project.control.list("invoices").filter(({ status }) => status === "unpaid");
  expect(ran.out).toContain(invoice?.invoice_number);
  return project;
}

function pay({ control }: Project): void {
  for (const { id } of control.list("invoices")) control.payInvoice(id);
}

/** Returns the recorded attributes, with the status in the tests' own notation. */
const statusOf = async (project: Project) => {
  const { status, ...rest } = (await project.recorded(WWW))?.attributes ?? {};
  return { ...rest, status: phaseOfStatus(status) };
};

describe("a service that is not paid yet", () => {
  it("is no failure: it waits, pending, provisioning, live, and there is never anything to do", async () => {
    const project = await unpaid(www());
    expect(await statusOf(project)).toMatchObject({ status: "pending", suspended: false });
    await project.expectNoChanges();
    pay(project);
    expect((await project.plan()).changes.map(({ actions }) => actions[0])).toEqual(["no-op"]);
    project.clock.advance(61_000);
    expect((await project.plan()).drift).toHaveLength(1);
    await project.apply();
    expect(await statusOf(project)).toMatchObject({ status: "active", suspended: false });
    await project.expectNoChanges();
    expect(orders(project)).toHaveLength(1);
  });

  it("is suspended and given its password when it is live, not before", async () => {
    const project = await unpaid(www({ suspended: true, password: { env: "WWW_PASSWORD" }, password_version: 1 }));
    // hostform reads the password only when a request needs it.
    project.env.WWW_PASSWORD = "correct horse battery";
    expect(project.changesSent()).toEqual(["POST /services"]);
    expect((await project.changeOf(WWW)).deferred).toEqual(["suspended", "password_version"]);
    pay(project);
    project.clock.advance(61_000);
    await project.apply();
    expect(project.changesSent()).toEqual(["POST /services/1003/password", "POST /services/1003/suspend"]);
    expect(await statusOf(project)).toMatchObject({ status: "suspended", suspended: true, password: null });
    await project.expectNoChanges();
    expect(await project.stateText()).not.toContain("correct horse battery");
  });
});

describe("suspended", () => {
  it("declared false on a suspended service is an unsuspend, never a purchase", async () => {
    const project = await startProject({ declare: www({ suspended: false }) });
    await project.apply();
    project.control.change("services", 1003, { status: "suspended" });
    project.sent();
    const change = await project.changeOf(WWW);
    expect(change).toMatchObject({ actions: ["update"], reasons: [{ why: "drift", attribute: "suspended" }] });
    expect(change.quote).toBeUndefined();
    await project.apply();
    expect(project.changesSent()).toEqual(["POST /services/1003/unsuspend"]);
    await project.expectNoChanges();
  });

  it("is not acted upon when the status word is unknown", async () => {
    const project = await startProject({ declare: www({ suspended: true }) });
    await project.apply();
    // A status word that neither the sandbox nor hostform knows.
    project.control.change("services", 1003, { status: "fraud" });
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(project.changesSent()).toEqual([]);
    expect((await project.plan()).conditions).toMatchObject([{ condition: "unknown_status" }]);
    await project.declare(www({ suspended: false }));
    const { conditions, changes } = await project.plan();
    expect(conditions).toEqual([expect.objectContaining({ condition: "unknown_status" })]);
    expect(changes.map(({ actions }) => actions)).toEqual([["no-op"]]);
    // hostform cannot compare an unknown status with the declaration.
    expect(ran.code).toBe(1);
    // A change that only hostform records does not trigger a request either.
    await project.declare(www({ suspended: false, deletion_policy: "forget" }));
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    expect(project.changesSent()).toEqual([]);
    expect((await project.recorded("hosting_service.www"))?.attributes).toMatchObject({ deletion_policy: "forget" });
  });

  it("waits for fifty jobs with one listing for all of them", async () => {
    const project = await startProject({ sandbox: { jobSeconds: 20 } });
    const seeded = project.control.seedServices({ count: 50 });
    const declare = (suspended: boolean, adopt: boolean) =>
      project.declare({
        project: "many",
        services: Object.fromEntries(
          seeded.map(({ id, domain }) => [
            `s${id}`,
            { plan_id: 11, currency: "USD", domain, suspended, ...(adopt && { import: String(id) }) },
          ]),
        ),
      });
    await declare(false, true);
    await project.apply();
    await declare(true, false);
    project.sent();
    await project.apply("--parallelism", "50");
    const sent = project.sent();
    expect(sent.filter((line) => line.startsWith("POST"))).toHaveLength(50);
    const gets = sent.filter((line) => line.startsWith("GET"));
    // The first waiting job may be polled alone until the others wait too, because the test's clock runs ahead of the
    // disk.
    expect(gets).toContain("GET /services");
    expect(gets.length).toBeLessThan(20);
    await project.expectNoChanges();
  });

  it("is left in the queue with --no-wait", async () => {
    const project = await startProject({ declare: www(), sandbox: { jobSeconds: 60 } });
    await project.apply();
    await project.declare(www({ suspended: true }));
    project.sent();
    const ran = await project.apply("--no-wait");
    expect(project.sent().filter((line) => line !== "GET /services/1003")).toEqual(["POST /services/1003/suspend"]);
    expect(ran.out).toMatch(/queue|job|wait/i);
    project.clock.advance(61_000);
    expect((await project.plan()).changes.map(({ actions }) => actions)).toEqual([["no-op"]]);
  });
});

describe("a password", () => {
  it("is set again when its version grows, and never shown", async () => {
    const project = await startProject({
      declare: www({ password: "${env.ACME_PASSWORD}", password_version: 1 }),
      env: { ACME_PASSWORD: "first secret word" },
    });
    const first = await project.apply();
    expect(project.changesSent()).toEqual(["POST /services", "POST /services/1003/password"]);
    project.env.ACME_PASSWORD = "second secret word";
    await project.expectNoChanges();
    await project.declare(www({ password: "${env.ACME_PASSWORD}", password_version: 2 }));
    project.sent();
    const json = await project.run("plan", "--json");
    const second = await project.apply();
    expect(project.control.requests().find(({ path }) => path.endsWith("/password"))?.body).toEqual({
      password: "second secret word",
    });
    for (const text of [first.text, json.text, second.text, await project.stateText()]) {
      expect(text).not.toMatch(/secret word/);
    }
    await project.expectNoChanges();
  });

  it("of a VPS is generated, kept in the state as sensitive, and never shown", async () => {
    const declare = (version: number) => ({
      project: "life",
      services: { box: { plan_id: 31, currency: "USD", password_version: version } },
    });
    const project = await startProject({ declare: declare(1) });
    const texts: (string | undefined)[] = [(await project.apply()).text];
    const first = await project.recorded("hosting_service.box");
    const generated = String(first?.attributes.generated_password);
    expect(generated).toMatch(/^\S{8,}$/);
    expect(first?.sensitive).toContain("generated_password");
    await project.declare(declare(2));
    texts.push((await project.run("plan", "--json")).text, (await project.run("plan")).text);
    texts.push((await project.apply("--json")).text);
    const second = String((await project.recorded("hosting_service.box"))?.attributes.generated_password);
    expect(second).not.toBe(generated);
    for (const text of texts) {
      expect(text).not.toContain(generated);
      expect(text).not.toContain(second);
    }
    await project.expectNoChanges();
  });
});

describe("a service that is gone", () => {
  it.each([
    ["removed", (project: Project) => project.control.remove("services", 1003)],
    ["terminated", (project: Project) => void project.control.change("services", 1003, { status: "terminated" })],
  ])("(%s) is not ordered again automatically; --reorder orders it with a new key", async (_, goes) => {
    const project = await startProject({ declare: www({ grants: { "dev@acme.example": "view" } }) });
    await project.apply();
    goes(project);
    project.sent();
    const ran = await project.apply();
    expect(ran.text).toContain(`--reorder '${WWW}'`);
    expect(project.changesSent()).toEqual([]);
    const plan = await project.plan({ reorder: [WWW] });
    expect(plan.changes.find(({ address }) => address === WWW)).toMatchObject({
      actions: ["create"],
      reasons: [{ why: "reorder" }],
      private: { generation: 2 },
    });
    await project.apply("--reorder", WWW);
    const [first, second, ...more] = project.control
      .requests()
      .filter(({ idempotency_key }) => idempotency_key !== null)
      .map(({ idempotency_key }) => idempotency_key);
    expect([second, ...more]).toEqual([undefined]);
    expect(first).toMatch(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/);
    expect(await statusOf(project)).toMatchObject({ status: "active" });
    expect((await project.recorded(WWW))?.private).toEqual({ generation: 2 });
    await project.expectNoChanges();
    expect(project.control.list("grants")).toHaveLength(1);
  });
});

describe("a lost state", () => {
  it("orders again under the same key as on any other machine", async () => {
    const project = await startProject({ declare: www({ reference: "acme-main-site" }) });
    await project.apply();
    const key = () => project.control.requests().find(({ idempotency_key }) => idempotency_key)?.idempotency_key;
    const first = key();
    project.control.remove("services", 1003);
    await project.loseState();
    project.sent();
    const ran = await project.run("apply", "--auto-approve");
    expect(key()).toBe(first);
    // The server repeats its earlier response, but the list no longer contains its service.
    expect(orders(project)).toHaveLength(0);
    expect(ran.text).toMatch(/1003/);
  });
});
