/** Conditions: a plan lists offline, unpaid and gone services beside its changes, and never reports a match. */
import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";

const site = (name: string, over: object = {}) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.example`,
  ...over,
});
const sites = (over: Readonly<Record<string, object>>) => ({
  project: "conditions",
  services: Object.fromEntries(Object.entries(over).map(([name, own]) => [name, site(name, own)])),
});
const AB = sites({ a: {}, b: {} });

/** A project whose two sites are live and paid. */
async function live(declare: object = AB, sandbox = {}): Promise<Project> {
  const project = await startProject({ declare, sandbox });
  await project.apply();
  project.sent();
  return project;
}

const idOf = async (project: Project, name: string) =>
  Number((await project.recorded(`hosting_service.${name}`))?.attributes.id);

const conditionsOf = async (project: Project, ...args: string[]) => {
  const ran = await project.run("plan", "--json", ...args);
  const { hostform, complete } = JSON.parse(ran.out);
  const found = hostform.conditions.map((one: { address: string; condition: string }) => {
    return `${one.condition} ${one.address.replace("hosting_service.", "")}`;
  });
  return { ...ran, complete, found, conditions: hostform.conditions };
};

describe("a declared site that the host has suspended", () => {
  it("is counted in the last line, and fails a run only by --fail-on", async () => {
    const project = await live();
    for (const name of ["a", "b"]) project.control.suspendService(await idOf(project, name));
    const ran = await project.run("plan", "--detailed-exitcode");
    expect(ran.code).toBe(0);
    expect(ran.text).toContain("No changes. 2 sites are offline but not declared as suspended.");
    expect(ran.text).not.toContain("matches");
    const { found, complete } = await conditionsOf(project);
    expect([found, complete]).toEqual([["offline a", "offline b"], false]);
    for (const names of ["offline", "gone,offline", "drift"])
      expect((await project.run("plan", "--detailed-exitcode", "--fail-on", names)).code, names).toBe(4);
    expect((await project.run("plan", "--fail-on", "gone,unpaid,unread")).code).toBe(0);
    expect((await project.run("apply", "--auto-approve", "--fail-on", "offline")).code).toBe(4);
    expect((await project.run("watch", "--max-runs", "1", "--fail-on", "offline")).code).toBe(4);
    expect((await project.run("watch", "--max-runs", "1")).code).toBe(0);
    expect(project.changesSent()).toEqual([]);
  });

  it("keeps the day on which an apply saw it first", async () => {
    const project = await live();
    project.control.suspendService(await idOf(project, "a"));
    expect((await conditionsOf(project)).conditions[0]).not.toHaveProperty("since");
    await project.apply();
    project.clock.advance(3 * 86_400_000);
    await project.apply();
    const { conditions } = await conditionsOf(project);
    expect(conditions[0]).toMatchObject({ condition: "offline", domain: "a.example" });
    expect(conditions[0].since).toMatch(/^2026-11-21T/);
    expect(conditions[0].detail).toContain("Suspended since 2026-11-21 or earlier.");
    const sentence = "is suspended, but not declared as suspended. Suspended since 2026-11-21 or earlier.";
    for (const format of ["text", "html", "markdown"])
      expect((await project.run("show", "--format", format)).out, format).toContain(sentence);
    await project.run("plan", "--out", "a.plan", "--target", "hosting_service.a");
    project.control.unsuspendService(await idOf(project, "a"));
    await project.apply();
    expect((await project.run("show")).out).not.toContain("suspended");
    expect((await project.recorded("hosting_service.a"))?.private).not.toHaveProperty("suspended");
  });

  it("outranks changes with 4, and is none after the apply that restores it", async () => {
    const project = await live();
    project.control.suspendService(await idOf(project, "a"));
    await project.declare(sites({ a: { suspended: false }, b: {} }));
    expect((await project.run("plan", "--detailed-exitcode")).code).toBe(2);
    expect((await project.run("plan", "--detailed-exitcode", "--fail-on", "offline")).code).toBe(4);
    expect((await project.run("apply", "--auto-approve", "--fail-on", "offline,drift")).code).toBe(0);
    expect((await conditionsOf(project)).found).toEqual([]);
  });

  it("is none while the declaration says so, and one again when that was taken out", async () => {
    const project = await live(sites({ a: { suspended: true }, b: {} }));
    expect((await conditionsOf(project, "--fail-on", "offline,drift")).found).toEqual([]);
    await project.declare(AB);
    const ran = await project.run("plan", "--fail-on", "offline");
    expect(ran.code).toBe(4);
    expect(ran.text.replace(/\s+/g, " ")).toContain("stays suspended, but is no longer declared as suspended");
    expect(ran.text).toContain("suspended: false");
    await project.declare(sites({ a: { suspended: false }, b: {} }));
    await project.apply("--fail-on", "offline,drift");
    await project.expectNoChanges();
  });
});

it("a terminated site is a condition: the plan is not complete, and --fail-on gone fails", async () => {
  const project = await live();
  project.control.terminateService(await idOf(project, "b"));
  const { found, complete, code } = await conditionsOf(project, "--fail-on", "gone");
  expect([found, complete, code]).toEqual([["gone b"], false, 4]);
  expect((await project.run("plan")).text).toContain("1 declared object no longer exists.");
  expect((await project.run("watch", "--max-runs", "1", "--fail-on", "gone,offline")).code).toBe(4);
});

/** Sites whose orders are paid and whose renewals stay unpaid. */
async function paidOnce(names: readonly string[], over: object = {}): Promise<Project> {
  const declare = sites(Object.fromEntries(names.map((name) => [name, over])));
  const project = await startProject({ declare, sandbox: { autoPay: false } });
  await project.apply("--max-orders", "100");
  for (const { id } of project.control.list("invoices")) project.control.payInvoice(id);
  project.clock.advance(60_000);
  await project.apply();
  return project;
}

const unpaidOf = (project: Project) => project.control.list("invoices").filter(({ status }) => status === "unpaid");

describe("an unpaid renewal", () => {
  it("is a condition from the day on which the term ends, and none once it is paid", async () => {
    const project = await paidOnce(["a", "b"]);
    expect((await conditionsOf(project)).found).toEqual([]);
    project.control.advanceClock({ months: 1, days: 1 });
    const { found, conditions, complete } = await conditionsOf(project);
    expect([found, complete]).toEqual([["unpaid a", "unpaid b"], true]);
    const id = await idOf(project, "a");
    const invoice = unpaidOf(project).find(({ order_id }) => order_id === id);
    expect(conditions[0].summary).toContain(`is not renewed: invoice ${invoice?.invoice_number}`);
    expect(conditions[0].invoice).toMatchObject({ number: invoice?.invoice_number, due_date: invoice?.due_date });
    for (const { id: open } of unpaidOf(project)) project.control.payInvoice(open);
    expect((await conditionsOf(project, "--fail-on", "drift")).found).toEqual([]);
  });

  it("that took 51 sites offline is in the headline, and has one request for invoices", async () => {
    const names = Array.from({ length: 51 }, (_, n) => `site${n}`);
    const project = await paidOnce(names);
    project.control.advanceClock({ months: 1, days: 8 });
    project.sent();
    const ran = await project.run("plan", "--fail-on", "offline,unpaid");
    expect(project.sent().filter((line) => line.includes("/invoices"))).toHaveLength(1);
    expect(ran.code).toBe(4);
    expect(ran.text.replace(/\s+/g, " ")).toContain(
      "No changes. 51 sites are offline but not declared as suspended. 51 sites have unpaid invoices.",
    );
    expect(ran.text.match(/is suspended for unpaid invoice/g)?.length).toBe(10);
    const { found, conditions } = await conditionsOf(project);
    expect(found).toHaveLength(102);
    expect(conditions[0].fix).toContain("Pay the invoice");
    const page = await project.run("plan", "--format", "html");
    expect(page.out).toContain("<dt>Sites offline, but not declared as suspended</dt><dd>51</dd>");
  });

  it("keeps a site suspended that is declared as online: nothing is planned before it is paid", async () => {
    const project = await paidOnce(["a"]);
    await project.declare(sites({ a: { suspended: false } }));
    project.control.advanceClock({ months: 1, days: 8 });
    project.sent();
    const ran = await project.run("plan", "--detailed-exitcode");
    expect(ran.code).toBe(0);
    expect(ran.text).not.toContain("comes back online");
    expect(ran.text).toContain(String(unpaidOf(project)[0]?.invoice_number));
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    for (const { id } of unpaidOf(project)) project.control.payInvoice(id);
    expect((await conditionsOf(project, "--fail-on", "drift")).code).toBe(0);
  });
});

describe("the reason of a suspension", () => {
  /** The host suspends a site in November, before its unpaid renewal of December. */
  const olderThanInvoice = async () => {
    const project = await paidOnce(["a"]);
    project.control.suspendService(await idOf(project, "a"));
    await project.apply();
    project.control.advanceClock({ months: 1, days: 8 });
    project.sent();
    return project;
  };

  it("is no younger invoice", async () => {
    const { found, conditions } = await conditionsOf(await olderThanInvoice());
    expect(found).toEqual(["offline a", "unpaid a"]);
    expect(conditions[0]).not.toHaveProperty("invoice");
    expect(conditions[0].detail).toBe(
      "Suspended since 2026-11-21 or earlier. Its unpaid invoice was not due at that time.",
    );
    expect(conditions[0].fix).toContain("No apply unsuspends the service before the payment.");
    expect(conditions[1].invoice).toMatchObject({ number: expect.stringContaining("INV-") });
  });

  it("may be another one than a due invoice, which still delays the end of the suspension", async () => {
    const project = await olderThanInvoice();
    await project.declare(sites({ a: { suspended: false } }));
    expect((await project.run("plan", "--detailed-exitcode")).code).toBe(0);
    await project.apply();
    expect(project.changesSent()).toEqual([]);
    for (const { id } of unpaidOf(project)) project.control.payInvoice(id);
    await project.apply();
    expect(project.changesSent()).toHaveLength(1);
  });

  it("is searched from the second suspension on, if a restore without waiting is between two applies", async () => {
    const project = await live(sites({ a: {} }), { jobSeconds: 600 });
    const id = await idOf(project, "a");
    project.control.suspendService(id);
    await project.apply();
    project.clock.advance(3 * 86_400_000);
    await project.declare(sites({ a: { suspended: false } }));
    await project.apply("--no-wait");
    expect((await project.recorded("hosting_service.a"))?.private).not.toHaveProperty("suspended");
    project.clock.advance(86_400_000);
    project.control.suspendService(id);
    await project.declare(sites({ a: {} }));
    await project.apply();
    expect((await project.recorded("hosting_service.a"))?.private.suspended).toMatchObject({
      since: expect.stringMatching(/^2026-11-25T/),
    });
  });
});

describe("invoices", () => {
  it("are not read while every site is live and paid", async () => {
    const project = await live();
    await project.run("plan");
    expect(project.sent().filter((line) => line.includes("/invoices"))).toEqual([]);
  });

  it("cost a token without the ability one request and one line", async () => {
    const project = await paidOnce(["a", "b", "c"]);
    project.control.advanceClock({ months: 1, days: 8 });
    project.control.addFault({ method: "GET", path: "/invoices", phase: "before", status: 403, times: 100 });
    project.sent();
    const ran = await project.run("plan", "--fail-on", "unread");
    expect(project.sent().filter((line) => line.includes("/invoices"))).toHaveLength(1);
    expect(ran.code).toBe(4);
    expect(ran.text.match(/^ {2}! Invoices not read: .*/gm)).toEqual([
      "  ! Invoices not read: hosting_service.a, hosting_service.b, hosting_service.c",
    ]);
    expect(ran.text).toContain('it lacks the ability "billing"');
    const unseen = await project.run("plan", "--fail-on", "unpaid");
    const why = "Exit code 4 because of --fail-on: unpaid (not fully checked).";
    expect([unseen.code, unseen.text]).toEqual([4, expect.stringContaining(why)]);
    const { found } = await conditionsOf(project);
    expect(found).toEqual(["offline a", "unread a", "offline b", "unread b", "offline c", "unread c"]);
  });

  it("are read up to ten pages", async () => {
    const project = await live(sites({ a: {} }));
    project.control.suspendService(await idOf(project, "a"));
    project.control.seedServices({ count: 1_100 });
    project.sent();
    const { found, conditions } = await conditionsOf(project);
    expect(found).toEqual(["offline a", "unread a"]);
    expect(conditions[1].detail).toContain("is incomplete. The list has more than 10 pages. An invoice may be unpaid.");
    expect(project.sent().filter((line) => line.includes("/invoices"))).toHaveLength(10);
  });
});

describe("an order that waits for its payment", () => {
  const unpaid = { declare: sites({ a: {} }), sandbox: { autoPay: false } };

  it("is a condition of the apply that ordered it, and of each plan until it is paid", async () => {
    const project = await startProject(unpaid);
    expect((await project.run("apply", "--auto-approve", "--fail-on", "unpaid")).code).toBe(4);
    project.clock.advance(60_000);
    const { found, conditions } = await conditionsOf(project);
    expect(found).toEqual(["unpaid a"]);
    expect(conditions[0].summary).toContain("waits for payment");
    for (const { id } of unpaidOf(project)) project.control.payInvoice(id);
    expect((await conditionsOf(project, "--fail-on", "drift")).code).toBe(0);
  });

  it("has its invoice as well where a later run adopts it", async () => {
    const project = await startProject(unpaid);
    project.control.addFault({ method: "POST", path: "/services", phase: "after", drop: true, times: 100 });
    expect((await project.run("apply", "--auto-approve")).code).toBe(1);
    project.control.clearFaults();
    project.clock.advance(60_000);
    const ran = await project.run("apply", "--auto-approve", "--fail-on", "unpaid");
    expect(ran.code, ran.text).toBe(4);
    const [invoice] = unpaidOf(project);
    expect(unpaidOf(project)).toHaveLength(1);
    expect(ran.text).toContain(String(invoice?.invoice_number));
    project.clock.advance(60_000);
    const { conditions } = await conditionsOf(project);
    expect(conditions).toMatchObject([{ condition: "unpaid", invoice: { number: invoice?.invoice_number } }]);
  });
});

describe("--fail-on", () => {
  it("refuses an unknown name and lists the names", async () => {
    const project = await startProject({ declare: AB });
    const ran = await project.run("plan", "--fail-on", "offline,unpayd");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain('"unpayd" is no condition');
    expect(ran.text.replace(/\s+/g, " ")).toContain("offline, unpaid, gone, handed_over, unread, unknown_status");
    expect(project.sent()).toEqual([]);
  });
});
